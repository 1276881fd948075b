package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/spec"
)

// specResult is what lab spec --json writes.
type specResult struct {
	Rows  []spec.Result
	Costs []float64 `json:"costs_ms"`
	Whose string    `json:"costs_of"`
	Cut   int
	Model string
}

// A user's own prompts are measured, with a table, a picture or a JSON file as the result.
func TestBenchSpec(t *testing.T) {
	h := clitest.NewHome(t)
	clitest.Write(t, h.Dir, "prompts.jsonl", `{"prompt": "When does the museum open?", "context": "The harbour museum opens at 9:30."}

{"prompt": "What does it say?", "context": "`+strings.Repeat("The mill is closed. ", 2000)+`"}
`)
	args := []string{"spec", "--inputs", "prompts.jsonl", "--methods", "plain,sam,all", "--max-tokens", "8", "--threads", "1", "--svg", "spec.svg"}
	stdout, stderr, err := h.Run(args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, want := range []string{"(the model)", "1 prompts were cut", "underutilised", "own      own                  plain", "own      own                  sam", "own      own                  all"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if svg, err := os.ReadFile(filepath.Join(h.Dir, "spec.svg")); err != nil || !strings.Contains(string(svg), "<svg") || !strings.Contains(string(svg), ">own<") {
		t.Errorf("picture: %v, %.80s", err, svg)
	}
	if stdout, stderr, err = h.Run(append(args, "--limit", "1", "--json", "rows.json")...); err != nil || stdout != "" {
		t.Fatalf("%v: %s\n%s", err, stdout, stderr)
	}
	data, err := os.ReadFile(filepath.Join(h.Dir, "rows.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got specResult
	if err := json.Unmarshal(data, &got); err != nil || len(got.Rows) != 3 || len(got.Costs) != 32 || got.Cut != 0 || got.Whose != "the model" || got.Model != modelcmd.BuiltInDecoder {
		t.Fatalf("%v: %s", err, data)
	}
	for i, r := range got.Rows {
		if r.Task != "own" || r.Method != []string{"plain", "sam", "all"}[i] || r.Inputs != 1 || r.Tokens == 0 || r.AcceptLength < 1 {
			t.Errorf("%+v", r)
		}
	}
	// References are what people wrote, here made up; whose words a row has stands in it.
	clitest.Write(t, h.Dir, "answers.jsonl", `{"prompt": "When does it open?", "context": "The harbour museum opens at 9:30.", "answer": "The harbour museum opens at 9:30 every day."}`+"\n")
	stdout, stderr, err = h.Run("spec", "--inputs", "answers.jsonl", "--words", "own,reference,reference:.5", "--methods", "pld", "--max-tokens", "8", "--threads", "1", "--json")
	got = specResult{}
	if err != nil || json.Unmarshal([]byte(stdout), &got) != nil || len(got.Rows) != 3 {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	for i, want := range []string{"own", "reference", "reference, 50 % other"} {
		if r := got.Rows[i]; r.Words != want || r.Others.Known != (i > 0) || i > 0 && r.Tokens != 8 {
			t.Errorf("%+v, want words %s", r, want)
		}
	}
}

// With --step, two runs print the same.
func TestBenchSpecInVirtualTime(t *testing.T) {
	h := clitest.NewHome(t)
	args := []string{"spec", "--task", "rag,reply", "--limit", "2", "--max-tokens", "8", "--threads", "1", "--passes", "1=1ms,32=4ms", "--step", "1us,2us"}
	first, stderr, err := h.Run(args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, want := range []string{"(given times)", "mixed mean (worst)", "pld      1, 3, ...", "auto     2, 4, ..."} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	if second, _, err := h.Run(args...); err != nil || second != first {
		t.Errorf("%v:\n%s\nand then\n%s", err, first, second)
	}
	var got struct {
		Rows  []spec.VirtualResult
		Steps []time.Duration `json:"steps_ns"`
	}
	stdout, _, err := h.Run(append(args, "--methods", "sam", "--json")...)
	if err != nil || json.Unmarshal([]byte(stdout), &got) != nil || len(got.Rows) != 2 || got.Rows[0].Method != "sam" || len(got.Rows[1].Ratios) != 3 || len(got.Steps) != 2 {
		t.Errorf("%v: %s", err, stdout)
	}
}

// Bad flags and files are named.
func TestBenchSpecErrors(t *testing.T) {
	h := clitest.NewHome(t)
	clitest.Write(t, h.Dir, "bad.jsonl", `{"prompt": "fine"}`+"\n"+`{"question": "not a prompt"}`+"\n")
	clitest.Write(t, h.Dir, "good.jsonl", `{"prompt": "fine"}`+"\n")
	clitest.Write(t, h.Dir, "empty.jsonl", "\n")
	clitest.Write(t, h.Dir, "broken.gguf", "GGUF but no more")
	clitest.Write(t, filepath.Join(h.Dir, "data"), "other", "")
	for _, c := range []struct{ args, want string }{
		{"--task poem", "summary, rag, ui, reply"},
		{"--methods magic", "pld+both"},
		{"--words hers", "own, reference"},
		{"--inputs good.jsonl --words reference", "no input has a reference"},
		{"--rows 1", "2 to 64"},
		{"--max-tokens 0", "1 or more"},
		{"--limit=-1", "0 or more"},
		{"rows.json", "needs --json before it"},
		{"--inputs missing.jsonl", "missing.jsonl"},
		{"--inputs bad.jsonl", "bad.jsonl: line 2"},
		{"--inputs empty.jsonl", "no inputs for task own"},
		{"--task reply --max-tokens 100000", "lower --max-tokens"},
		{"--task rag --data data", filepath.Join("specbench", "questions.jsonl")},
		{"--task ui --data data", filepath.Join("ui", "tasks.json")},
		{"--costs broken.gguf", "broken.gguf"},
		{"--model missing.gguf", "missing.gguf"},
		{"--step 1us", "with --passes"},
		{"--step=-1us --passes 1=1ms", "negative"},
		{"--step 1us --passes 1=1ms --words reference", "nor --words"},
		{"--step 1us --passes 1=1ms --methods all", "pld, sam, auto"},
		{"--step 1us --passes 1=1ms --task rag --limit 1", "raise --limit"},
		{"--passes 8=fast", "8=910us"}, {"--passes 65=1ms", "1 to 64"}, {"--passes 1=1ms --costs broken.gguf", "one of them"},
	} {
		stdout, stderr, err := h.Run(append([]string{"spec", "--threads", "1"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("spec %s: %v, %q, %q; want %q", c.args, err, stdout, stderr, c.want)
		}
	}
}

// A limit takes inputs from the whole of a list, not from its beginning.
func TestSpread(t *testing.T) {
	list := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for n, want := range map[int][]int{0: list, 3: {0, 3, 6}, 5: {0, 2, 4, 6, 8}, 10: list, 20: list} {
		if got := pickEvenly(list, n); !slices.Equal(got, want) {
			t.Errorf("%d of %v: %v, want %v", n, list, got, want)
		}
	}
}
