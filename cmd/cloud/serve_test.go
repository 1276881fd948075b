package main

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tandem/node"
	"tandem/node/batch"
	"tandem/pair"
)

// /metrics has a series for each count of an answer, summed over answers.
func TestMetrics(t *testing.T) {
	m, handler := newMetrics(batch.New(nil, batch.Config{}))
	server := httptest.NewServer(handler)
	defer server.Close()
	stats := pair.Stats{
		Steps: 20, Alone: 1, Together: 19, Accepted: [2]int{17, 12}, Rejected: [2]int{2, 7}, Divergences: 1,
		Passes: 10, Room: 60, Contexts: 33, Hedged: 4, Checked: 8, Guessed: 11, OfHedges: 2, OfChecks: 5, OfGuesses: 3, Hedges: 6,
	}
	m.observe(node.Served{Pair: stats, Took: time.Second})
	m.observe(node.Served{Pair: stats, Took: time.Second, Error: errors.New("gone")})
	answer, err := server.Client().Get(server.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`tandem_answers_total{outcome="broken"} 1`,
		`tandem_answers_total{outcome="complete"} 1`,
		`tandem_tokens_total 40`,
		`tandem_drafts_total{fate="accepted",side="device"} 34`,
		`tandem_drafts_total{fate="rejected",side="cloud"} 14`,
		`tandem_divergences_total 2`,
		`tandem_passes_total 20`,
		`tandem_rows_total{fate="valid"} 40`,
		`tandem_rows_total{fate="wasted"} 26`,
		`tandem_rows_total{fate="underutilised"} 54`,
		`tandem_further_rows_total{kind="hedge"} 8`,
		`tandem_further_rows_total{kind="check"} 16`,
		`tandem_further_rows_total{kind="guess"} 22`,
		`tandem_spared_passes_total{kind="hedge"} 4`,
		`tandem_spared_passes_total{kind="check"} 10`,
		`tandem_spared_passes_total{kind="guess"} 6`,
		`tandem_device_hedges_used_total 12`,
		`tandem_answer_seconds_count 2`,
		`tandem_batch_passes_total 0`,
		`tandem_batch_waiting 0`,
	} {
		if !strings.Contains("\n"+string(page), "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}
