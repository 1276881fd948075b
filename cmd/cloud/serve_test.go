package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
	"tandem/cmd/internal/server"
	"tandem/decoder/kvstore"
	"tandem/model/remote"
	"tandem/node"
	"tandem/node/batch"
	"tandem/pair"
)

// startServing starts a server and reads into said what it says of itself in JSON. end ends it.
func startServing(t *testing.T, h clitest.Home, said any, flags ...string) (end func()) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	cmd := h.Command(ctx, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = json.NewDecoder(bufio.NewReader(out)).Decode(said)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		cancel()
		cmd.Wait()
	}
}

// A server says what it serves: the samples, until something was indexed or if they are asked for, and nothing if all was
// removed.
func TestServeSaysWhatItServes(t *testing.T) {
	h := clitest.NewHome(t)
	serves := func(flags ...string) (said struct {
		Documents int
		From      string
	}) {
		startServing(t, h, &said, flags...)()
		return said
	}
	if said := serves(); said.Documents == 0 || said.From != "samples" {
		t.Errorf("at first it serves %+v", said)
	}
	clitest.Write(t, h.Dir, "boat.md", "The berth of the Marigold is C17.\n")
	for _, args := range [][]string{{"index", "add", "boat.md"}, {"index", "remove", "boat.md"}} {
		if _, stderr, err := h.Run(args...); err != nil {
			t.Fatalf("%q: %v, %s", args, err, stderr)
		}
	}
	if said := serves(); said.Documents != 0 || said.From != "index" {
		t.Errorf("after everything was removed it serves %+v", said)
	}
	if said := serves("--reader", "decoder", "--draft", "auto,history,forecast"); said.From != "index" {
		t.Errorf("with other drafters it serves %+v", said)
	}
	if _, aside, err := h.Run("serve", "--listen", "127.0.0.1:0", "--draft", "auto,history"); err == nil || !strings.Contains(aside, "--reader decoder") {
		t.Errorf("a reader of words with drafters for a decoder: %v, %q", err, aside)
	}
	if said := serves("--sample"); said.Documents == 0 || said.From != "samples" {
		t.Errorf("with --sample it serves %+v", said)
	}
}

// A server that chooses its ports says in JSON which ones they are.
func TestServeSaysWhereItListens(t *testing.T) {
	for flags, want := range map[string][]string{"": {"listening"}, "--http 127.0.0.1:0 --metrics 127.0.0.1:0": {"http", "listening", "metrics"}} {
		var said map[string]any
		end := startServing(t, clitest.NewHome(t), &said, strings.Fields(flags)...)
		var at []string
		for _, name := range []string{"http", "listening", "metrics"} {
			if text, ok := said[name].(string); ok && regexp.MustCompile(`^127\.0\.0\.1:[1-9]\d*$`).MatchString(text) {
				at = append(at, name)
			}
		}
		if !slices.Equal(at, want) {
			t.Errorf("%s: %v has addresses under %q, want %q", flags, said, at, want)
		}
		if flags != "" {
			r, err := http.Get(fmt.Sprintf("http://%v/metrics", said["metrics"]))
			if err != nil || r.StatusCode != http.StatusOK {
				t.Errorf("%v, %v", r, err)
			}
		}
		end()
	}
}

// A server says at its start what devices are shown, and where it ends answers.
func TestServeSaysItsLimits(t *testing.T) {
	h := clitest.NewHome(t)
	for flags, want := range map[string]string{
		"--max-tokens 5":            "titles and sentences are shown to devices. Answers that it takes part in end at 5 tokens (--max-tokens).",
		"--quotes no":               "titles, but no sentences, are shown to devices.",
		"--titles no --quotes auto": "sentences, but no titles, are shown to devices.",
		"--titles no --quotes no":   "neither titles nor sentences are shown to devices.",
	} {
		ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
		cmd := h.Command(ctx, append([]string{"serve", "--sample", "--listen", "127.0.0.1:0"}, strings.Fields(flags)...)...)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for in := bufio.NewScanner(out); !strings.HasSuffix(said, "Pair a device with: cloud pair ") && in.Scan(); {
			said += in.Text() + " "
		}
		end()
		cmd.Wait()
		if !strings.Contains(said, want) || (flags != "--max-tokens 5") != !strings.Contains(said, "Answers that it takes part in") {
			t.Errorf("%s: %q, want %q", flags, said, want)
		}
	}
}

// A replica names the folder with which devices pair: "cloud pair" alone would pair them with another key.
func TestReplicaSaysHowToPair(t *testing.T) {
	h := clitest.NewHome(t)
	shared := filepath.Join(h.Dir, "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
	defer end()
	cmd := h.Command(ctx, "serve", "--sample", "--listen", "127.0.0.1:0", "--service", shared, "--advertise", "127.0.0.1:4433")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for in := bufio.NewScanner(out); !strings.HasPrefix(said, "Pair a device") && in.Scan(); {
		said = in.Text()
	}
	end()
	cmd.Wait()
	if want := `Pair a device with: cloud pair --service ` + shared; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// A cloud that will refuse every question says so at its start.
func TestServeWarnsOfTooLittleMemory(t *testing.T) {
	for flags, want := range map[string]bool{"--kv-memory 1": true, "": false} {
		ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
		cmd := clitest.NewHome(t).Command(ctx, append([]string{"serve", "--sample", "--reader", "decoder", "--listen", "127.0.0.1:0"}, strings.Fields(flags)...)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for in.Scan() && !strings.HasPrefix(in.Text(), "Pair a device with") {
		}
		cmd.Process.Signal(os.Interrupt) // it warns, if at all, before it looks at that
		io.Copy(io.Discard, out)
		err = cmd.Wait()
		end()
		if err != nil || strings.Contains(said.String(), "level=WARN msg=\"every question will be refused: raise --kv-memory\"") != want {
			t.Errorf("%q: %v, %s", flags, err, said.String())
		}
	}
}

// A server whose terminal goes away ends as if it was told to.
func TestServeEndsWithItsTerminal(t *testing.T) {
	caught := make(chan os.Signal, 1) // else the server ignores what these tests ignore, as under nohup
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
	defer end()
	cmd := clitest.NewHome(t).Command(ctx, "serve", "--sample", "--json", "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGHUP)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// /metrics has a series for each count of an answer, summed over answers.
func TestMetrics(t *testing.T) {
	engine := remote.Stats{Requests: 5, Retries: 1, Failures: 2, Rows: 8, Kept: 9, Covered: 7.5, Took: time.Second}
	load := node.Load{Devices: 3, Answers: 2, Waiting: 1, KVReserved: 1 << 20}
	m := server.NewMetrics(append(server.LoadMetrics(func() node.Load { return load }), slices.Concat(server.BatchMetrics(batch.New(nil, batch.Config{})), server.EngineMetrics(func() remote.Stats { return engine }),
		server.BucketMetrics(func() kvstore.Shares { return kvstore.Shares{Fetched: 1, Missed: 2, Sent: 3, Failed: 4, Left: 5} }))...)...)
	server := httptest.NewServer(m)
	defer server.Close()
	stats := pair.Stats{
		Steps: 20, Alone: 1, Together: 19, Accepted: [2]int{17, 12}, Rejected: [2]int{2, 7}, Divergences: 1,
		Passes: 10, Room: 60, Places: 33, Hedged: 4, Checked: 8, Guessed: 11, OfHedges: 2, OfChecks: 5, OfGuesses: 3, Hedges: 6,
	}
	m.Observe(node.Served{Pair: stats, Took: time.Second})
	m.ObserveRequest("GET /health", http.StatusOK, time.Millisecond)
	m.Observe(node.Served{Pair: stats, Took: time.Second, Error: errors.New("gone")})
	m.Observe(node.Served{Error: fmt.Errorf("answer: %w", context.Canceled)})
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
		`tandem_answers_total{outcome="cancelled"} 1`,
		`tandem_answers_total{outcome="complete"} 1`,
		`tandem_tokens_total 40`,
		`tandem_drafts_total{fate="accepted",side="device"} 34`,
		`tandem_drafts_total{fate="rejected",side="cloud"} 14`,
		`tandem_engine_requests_total 5`, `tandem_engine_retries_total 1`, `tandem_engine_failures_total 2`, `tandem_engine_rows_total 8`,
		`tandem_engine_kept_rows_total 9`, `tandem_engine_covered_total 7.5`, `tandem_engine_seconds_total 1`,
		`tandem_bucket_fetched_total 1`, `tandem_bucket_missed_total 2`, `tandem_bucket_sent_total 3`, `tandem_bucket_failed_total 4`, `tandem_bucket_left_total 5`,
		`tandem_http_request_seconds_count{route="GET /health",status="200"} 1`,
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
		`tandem_answer_seconds_count 3`,
		`tandem_batch_passes_total 0`,
		`tandem_batch_waiting 0`,
		`tandem_devices 3`,
		`tandem_answering 2`,
		`tandem_waiting 1`,
		`tandem_kv_reserved_bytes 1.048576e+06`,
	} {
		if !strings.Contains("\n"+string(page), "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	dashboard(t, string(page))
}

// dashboard checks that docs/grafana.json asks for series that exist, and shows all that are tandem's.
func dashboard(t *testing.T, page string) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "grafana.json"))
	if err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(data, &shown); err != nil {
		t.Fatal(err)
	}
	series := map[string]bool{} // whether it is shown
	for line := range strings.Lines(page) {
		if name := regexp.MustCompile(`^\w+`).FindString(line); name != "" {
			series[name] = false
		}
	}
	for _, p := range shown.Panels {
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`\b(tandem|process)_\w+`).FindAllString(target.Expr, -1) {
				if _, ok := series[name]; !ok {
					t.Errorf("docs/grafana.json asks for %s, which nothing counts", name)
				}
				series[name] = true
			}
		}
	}
	left := map[string]bool{ // shown as what they are parts of
		"tandem_answer_seconds_sum": true, "tandem_answer_seconds_count": true, "tandem_http_request_seconds_sum": true, "tandem_batch_rows_total": true,
		"tandem_divergences_total": true, "tandem_further_rows_total": true, "tandem_device_hedges_used_total": true,
	}
	for name, ok := range series {
		if strings.HasPrefix(name, "tandem_") && !ok && !left[name] {
			t.Errorf("docs/grafana.json does not show %s", name)
		}
	}
}
