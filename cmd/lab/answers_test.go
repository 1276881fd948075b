package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lab/answers"
)

const oneReading = `{"title": "Lake cabin", "passage": "The cabin is old. The wifi password is tumbral-5827.", "question": "What is the wifi password of the lake cabin?", "answers": ["tumbral-5827"], "support": [18, 52]}
{"title": "Museum", "passage": "The museum opens at 9:30.", "question": "Who is the owner of the museum?", "answers": [], "unanswerable": true}
`

func readSets(t *testing.T, path string) (results []answers.Result, recall []recallRow) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Results []answers.Result
		Recall  []recallRow
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return got.Results, got.Recall
}

// Sets that are there are asked by every method, those that are not are named; the same seed gives the same figures.
func TestAnswers(t *testing.T) {
	h := clitest.NewHome(t)
	clitest.Write(t, filepath.Join(h.Dir, "data", "reading", "qa", "judge"), "own.jsonl.gz", oneReading)
	clitest.Write(t, filepath.Join(h.Dir, "data"), "keep", "")
	run := func(file string) ([]answers.Result, []recallRow) {
		stdout, stderr, err := h.Run("answers", "--sets", "people/tune,reading,reading/own/gold,xquad/open,generated", "--limit", "3", "--data", "data", "--threads", "1", "--json", file)
		if err != nil || stdout != "" {
			t.Fatalf("%v: %s%s", err, stdout, stderr)
		}
		if !strings.Contains(stderr, "xquad/open is left out") {
			t.Errorf("a set that is not there is not named: %s", stderr)
		}
		return readSets(t, filepath.Join(h.Dir, file))
	}
	results, recall := run("a.json")
	if len(results) != 6+6+3+6 || len(recall) != 3*len(answers.Retrievals) {
		t.Fatalf("%d results, %d of recall", len(results), len(recall))
	}
	again, _ := run("b.json")
	for i, r := range results {
		want := map[string]int{"people/tune": 3, "reading/own": 2, "reading/own/gold": 2, "generated": 3}[r.Set]
		if r.N != want || r.Holds.N+r.RightlyUnknown.N != r.N {
			t.Errorf("%s, %s: %d questions, %d answerable, %d not; want %d", r.Set, r.Method, r.N, r.Holds.N, r.RightlyUnknown.N, want)
		}
		if a := again[i]; a.Holds != r.Holds || a.F1 != r.F1 || a.Invented != r.Invented {
			t.Errorf("%s, %s: the same seed gives %+v and %+v", r.Set, r.Method, r, a)
		}
		if knows := r.Method == "pair" || r.Method == "one-side" || r.Method == "quote"; r.Set == "reading/own" && knows && r.Sentence.Mean != 1 {
			t.Errorf("%s, %s: %+v", r.Set, r.Method, r)
		}
	}
	for _, r := range recall {
		if strings.HasPrefix(r.Set, "reading") && r.At[16].Mean != 1 {
			t.Errorf("%+v", r)
		}
	}
}

// Without --sets, the open set of people is asked.
func TestAnswersByDefault(t *testing.T) {
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("answers", "--methods", "quote", "--n", "2")
	if err != nil || !strings.Contains(stdout, "people/tune") {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
	stdout, stderr, err = h.Run("answers", "--methods", "quote", "--n", "2", "--markdown")
	if err != nil || !strings.HasPrefix(stdout, "| set | method | n | right |") || !strings.Contains(stdout, "\n| `people/tune` | quote | 2 | 50 (9–91) | 0 (") {
		t.Errorf("in Markdown: %v: %s%s", err, stdout, stderr)
	}
}

func TestAnswersShow(t *testing.T) {
	h := clitest.NewHome(t)
	clitest.Write(t, filepath.Join(h.Dir, "shared", "reading", "qa", "judge"), "own.jsonl.gz", oneReading)
	stdout, stderr, err := h.Run("answers", "--sets", "reading/own", "--methods", "quote", "--show", "wrong", "--n", "0")
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	for _, want := range []string{"2 , quote: wrong\n", "question  Who is the owner", "read      The museum opens", "recall", "reading/own"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

// A folder of the user's own is a set; what is wrong in it is said with its file and line.
func TestAnswersOwnSet(t *testing.T) {
	h := clitest.NewHome(t)
	own := filepath.Join(h.Dir, "mine")
	clitest.Write(t, filepath.Join(own, "documents"), "cabin.md", "# Lake cabin\n\nThe wifi password is tumbral-5827.\n")
	ask := func(set, questions string) (stdout, stderr string, err error) {
		clitest.Write(t, own, "questions.jsonl", questions)
		return h.Run("answers", "--sets", set, "--methods", "quote", "--show", "all", "--n", "0")
	}
	for _, set := range []string{own, "mine"} {
		stdout, stderr, err := ask(set, `{"question": "What is the wifi password?", "kind": "fact", "answers": ["tumbral-5827"]}`)
		if err != nil || !strings.Contains(stdout, "fact, quote: right") {
			t.Errorf("%s: %v: %s%s", set, err, stdout, stderr)
		}
	}
	if _, stderr, err := ask(own, "\n{}"); err == nil || !strings.Contains(stderr, "mine/questions.jsonl, line 2") {
		t.Errorf("a question without a text: %v, %s", err, stderr)
	}
	if _, stderr, err := h.Run("answers", "--sets", filepath.Join(own, "documents")); err == nil || !strings.Contains(stderr, "want a folder with documents/") {
		t.Errorf("a folder without questions: %v, %s", err, stderr)
	}
}

// What makes no sense is said, and named, before a model is opened.
func TestAnswersErrors(t *testing.T) {
	h := clitest.NewHome(t)
	clitest.Write(t, filepath.Join(h.Dir, "data", "reading", "qa", "judge"), "bad.jsonl.gz", "{}\n")
	clitest.Write(t, filepath.Join(h.Dir, "data", "data", "qa"), "xquad.en.half.json", "3")
	for _, c := range []struct{ args, want string }{
		{"--sets people/tune,one-part", "--sets one-part"},
		{"--sets people/other", "there is no such set"},
		{"--sets ./other", "nor is it a folder"},
		{"--sets reading/../x", "there is no such set"},
		{"--sets reading/none --data data", "nothing to ask of the sets reading/none"},
		{"--sets reading/bad --data data", "reading/bad, line 1"},
		{"--sets xquad/gold --data data", "xquad/gold"},
		{"--sets people/judge --show wrong", "people/tune"},
		{"--sets people/tune --show right", "--show"},
		{"--sets people/tune --n=-1", "--n -1"},
		{"--sets people/tune rows.json", "needs --json before it"},
		{"--sets people/tune --weights magic", "magic"},
		{"--sets people/tune --index bleve://x", "weaviate://"},
	} {
		stdout, stderr, err := h.Run(append([]string{"answers", "--model", "none.gguf"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("answers %s: %v, %q, %q; want %q", c.args, err, stdout, stderr, c.want)
		}
	}
	if _, stderr, err := h.Run("answers", "--sets", "people/tune", "--markdown", "--json"); err == nil || !strings.Contains(stderr, "leave it out with --json") {
		t.Errorf("Markdown in JSON: %v, %s", err, stderr)
	}
	if _, stderr, err := h.Run("answers", "--sets", "people/tune", "--methods", "magic"); err == nil || !strings.Contains(stderr, "pair, device") {
		t.Errorf("an unknown method: %v, %s", err, stderr)
	}
}
