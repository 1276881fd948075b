package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lab/quality"
)

// ownWorld is a line of --set.
const ownWorld = `{"device": [{"name": "cabin.md", "text": "# Lake cabin\n\nThe wifi password is tumbral-5827.\n"}],
"cloud": [{"name": "museum.md", "text": "# Harbour museum\n\nThe museum opens at 9:30.\n"}], "questions": [
{"kind": "one-part", "where": "device", "question": "What is the wifi password of the lake cabin?",
 "answer": "The wifi password of the lake cabin is tumbral-5827.", "values": ["tumbral-5827"]},
{"kind": "two-part", "where": "both", "question": "What is the wifi password of the lake cabin, and when does the harbour museum open?",
 "answer": "The wifi password of the lake cabin is tumbral-5827. The harbour museum opens at 9:30.", "values": ["tumbral-5827", "9:30"]},
{"kind": "follow-up", "where": "device", "question": "And the wifi password?", "answer": "The wifi password of the lake cabin is tumbral-5827.",
 "values": ["tumbral-5827"], "earlier": [{"question": "Where is the lake cabin?", "answer": "The lake cabin is unknown."}]}]}`

// ownSQuAD has passages for both sides, and a question without an answer.
const ownSQuAD = `{"data": [
{"title": "Lake_cabin", "paragraphs": [
 {"context": "The wifi password is tumbral-5827.", "qas": [{"question": "What is the wifi password?", "answers": [{"text": "tumbral-5827"}, {"text": "tumbral"}]}]},
 {"context": "The door code is 4471.", "qas": [{"question": "What is the door code?", "answers": [{"text": "4471"}]}, {"question": "Who?", "answers": []}]},
 {"context": "The key is under the mat.", "qas": []}]},
{"title": "Museum", "paragraphs": [
 {"context": "The museum opens at 9:30.", "qas": [{"question": "When does the museum open?", "answers": [{"text": "9:30"}]}]}]}]}`

// The results have all fields, and the pair answers more than its sides.
func TestQuality(t *testing.T) {
	h := clitest.NewHome(t)
	line := strings.ReplaceAll(ownWorld, "\n", " ") + "\n"
	clitest.Write(t, h.Dir, "own.jsonl", line+strings.NewReplacer("device", "cloud", "cloud", "device").Replace(line))
	clitest.Write(t, h.Dir, "squad.json", ownSQuAD)
	stdout, stderr, err := h.Run("quality", "--n", "2", "--sets", "one-part,two-part,follow-up,xquad", "--set", "own.jsonl", "--xquad", "squad.json",
		"--methods", strings.Join(quality.Methods, ","), "--weights", "reader;static", "--threads", "1", "--json", "rows.json")
	if err != nil || stdout != "" {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	rows := readRows(t, filepath.Join(h.Dir, "rows.json"))
	if want := 4 * (len(quality.Methods) + 1); len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	exact := map[string]any{}
	for _, r := range rows {
		for _, key := range []string{"set", "method", "weights", "n", "exact_match", "f1"} {
			if _, ok := r[key]; !ok {
				t.Errorf("no %q in %v", key, r)
			}
		}
		if r["n"] != 2. {
			t.Errorf("%v questions, want 2: %v", r["n"], r)
		}
		if f1, ok := r["f1"].(float64); !ok || f1 < 0 || f1 > 1 {
			t.Errorf("F1 of %v", r)
		}
		if weights, ok := r["weights"].(string); ok && strings.HasPrefix(weights, "reader") {
			exact[r["set"].(string)+" "+r["method"].(string)] = r["exact_match"]
		}
	}
	for row, want := range map[string]float64{"one-part device": 0.5, "one-part cloud": 0.5, "one-part pair": 1, "one-part given": 1, "one-part sequence-thorough": 1,
		"follow-up device": 0.5, "follow-up cloud": 0.5, "follow-up pair": 1, "two-part device": 0, "two-part cloud": 0, "two-part pair": 1, "two-part one-side": 1, "two-part sequence-thorough": 0, "two-part sequence-fast": 0,
		"one-part device-context": 0.5, "one-part cloud-context": 0.5, "two-part device-context": 0, "two-part cloud-context": 0} {
		if exact[row] != want {
			t.Errorf("%s: exact match %v, want %v", row, exact[row], want)
		}
	}
}

// Without files, the built-in questions are asked, --n of each set.
func TestQualityBuiltIn(t *testing.T) {
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("quality", "--n", "2", "--methods", "device,pair", "--sets", "one-part,unanswerable,xquad", "--threads", "1", "--json")
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	var got struct {
		Rows []quality.Result
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Rows) != 4 || got.Rows[0].N != 2 {
		t.Errorf("%v: %s", err, stdout)
	}
	if !strings.Contains(stderr, "--xquad") {
		t.Errorf("a set that is not there is not named: %s", stderr)
	}
}

func readRows(t *testing.T, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return got.Rows
}

// Bad flags and files are named before a model is opened.
func TestQualityErrors(t *testing.T) {
	h := clitest.NewHome(t)
	clitest.Write(t, h.Dir, "bad.jsonl", "{")
	clitest.Write(t, h.Dir, "bad.json", `{"data": 3}`)
	clitest.Write(t, h.Dir, "broken.gz", "\x1f\x8b no more")
	clitest.Write(t, h.Dir, "own.jsonl", strings.ReplaceAll(ownWorld, "\n", " "))
	for _, c := range []struct{ args, want string }{
		{"rows.json", "needs --json before it"},
		{"--set missing.jsonl", "missing.jsonl"},
		{"--set bad.jsonl", "bad.jsonl, line 1"},
		{"--set broken.gz", "broken.gz"},
		{"--sets xquad --xquad bad.json", "bad.json"},
		{"--sets three-part", "no questions of the sets three-part"},
		{"--set own.jsonl --sets unanswerable", "no questions of the sets unanswerable"},
		{"--methods magic", "one-context"},
		{"--wikitext --methods pair", "--methods pair: use one-context"},
		{"--weights magic", "magic"},
		{"--wikitext", "wiki.test.raw"},
		{"--sets people/tune,one-part", "lab answers --sets people/tune,one-part"},
		{"--sets reading", "lab answers --sets reading"},
		{"--index weaviate://x", "unknown flag --index"},
	} {
		stdout, stderr, err := h.Run(append([]string{"quality", "--model", "none.gguf"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("quality %s: %v, %q, %q; want %q", c.args, err, stdout, stderr, c.want)
		}
	}
}

// All methods agree without documents and with one document, if they have it. A document that contains the text helps.
func TestQualityWikitext(t *testing.T) {
	h := clitest.NewHome(t)
	words := strings.Fields(strings.Repeat("The harbour museum opens at 9:30 and the old mill on the river is closed in winter . ", 6))
	dir := filepath.Join(h.Dir, "shared", "data", "wikitext2")
	clitest.Write(t, dir, "wiki.test.raw", "= Museum =\n\n "+strings.Join(words, " ")+"\n")
	clitest.Write(t, dir, "wiki.valid.raw", "The harbour museum opens at 9:30.\n\nThe old mill is closed in winter.\n\nA river flows to the harbour.\n")
	if _, stderr, err := h.Run("quality", "--wikitext", "--threads", "1", "--json", "rows.json"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	bits := map[string]map[float64]float64{}
	rows := readRows(t, filepath.Join(h.Dir, "rows.json"))
	for _, r := range rows {
		method := r["method"].(string)
		if bits[method] == nil {
			bits[method] = map[float64]float64{}
		}
		b := r["bits_per_byte"].(float64)
		if bits[method][r["documents"].(float64)] = b; b <= 0 || b > 16 || r["n"] != 1. {
			t.Errorf("%v", r)
		}
	}
	if len(rows) != len(quality.WikitextMethods)*6 || bits["output"][16] == 0 {
		t.Errorf("%d rows: %v", len(rows), bits)
	}
	for _, method := range quality.WikitextMethods {
		one := 1. // documents
		if method == "cloud-context" {
			one = 0 // the first document is the device's
		}
		if b := bits[method]; math.Abs(b[0]-bits["output"][0]) > 1e-9 || math.Abs(b[1]-bits["output"][one]) > 1e-9 || method != "cloud-context" && b[1] == b[0] {
			t.Errorf("%s: %v; output: %v", method, b, bits["output"])
		}
	}
	if _, stderr, err := h.Run("quality", "--wikitext", "--methods", "output", "--threads", "1", "--json", "rows.json"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	for i, r := range readRows(t, filepath.Join(h.Dir, "rows.json")) {
		if r["method"] != "output" || i >= 6 {
			t.Errorf("row %d of --methods output: %v", i, r)
		}
	}
	clitest.Write(t, dir, "wiki.test.raw", "Too short.\n")
	if _, stderr, err := h.Run("quality", "--wikitext"); err == nil || !strings.Contains(stderr, "no paragraph of 80 words") {
		t.Errorf("a short text: %v, %s", err, stderr)
	}
}
