package lab

import (
	"strings"
	"testing"
	"time"
)

// Passes of several contexts give the same text, and the result says what they decoded. Passes of one context hedge nothing.
func TestHedge(t *testing.T) {
	b := setup(t)
	x := Hedge{Setup: b, RTT: []time.Duration{0, 20 * ms}, Contexts: []int{1, 4}, Decode: [2]time.Duration{ms, ms}}
	done := 0
	rows, err := x.Run(t.Context(), func(n, total int) {
		if done++; n != done || total != 4 {
			t.Errorf("%d of %d at %d", n, total, done)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 || done != 4 {
		t.Fatalf("%d results, %d reports of progress", len(rows), done)
	}
	for i, r := range rows {
		first := rows[i/2*2]
		if r.RTT != float64(i/2*20) || r.Contexts != x.Contexts[i%2] || r.Answers != len(b.Questions) || r.Tokens != first.Tokens || r.Tokens == 0 {
			t.Errorf("result %d: %+v", i, r)
		}
		if r.TokenMs <= 0 || r.Ratio != first.TokenMs/r.TokenMs || r.DraftBytes <= 0 || r.Shares.Passes <= 0 || r.Shares.Hedges+r.Shares.Checks+r.Shares.Guesses > 1 {
			t.Errorf("result %d: %+v", i, r)
		}
		if r.Contexts == 1 && (r.Hedges != 0 || r.Shares.Hedges+r.Shares.Checks+r.Shares.Guesses != 0) {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	l, err := x.connect(Path{}, [2]time.Duration{ms, ms})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if _, err := x.result(t.Context(), l, []string{"", "another text"}); err == nil || !strings.Contains(err.Error(), b.Questions[1]) || !strings.Contains(err.Error(), "another text") {
		t.Errorf("with another text: %v", err)
	}
}
