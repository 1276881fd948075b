package search

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/examples"
	"tandem/internal/testfile"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/passages"
)

// trial is a query with the candidates of both sides.
type trial struct {
	query      string
	candidates []passages.Passage
	answers    []bool // which of them hold the answer
}

// outcome is the result of scoring trials: how often the best candidate holds the answer, the mean negative log of the
// weight of the answer's passages under softmax R, and the mean gap in nats between the best passage that holds the answer
// and the best that does not.
type outcome struct{ accuracy, loss, gap float64 }

func evaluate(trials []trial, score func(q string, ps []passages.Passage) []float64, scale float64) outcome {
	var o outcome
	for _, t := range trials {
		r := score(t.query, t.candidates)
		all, right := math.Inf(-1), math.Inf(-1)
		best, other := math.Inf(-1), math.Inf(-1)
		for i := range r {
			r[i] *= scale
			all = logAdd(all, r[i])
			if t.answers[i] {
				right, best = logAdd(right, r[i]), max(best, r[i])
			} else {
				other = max(other, r[i])
			}
		}
		if best > other {
			o.accuracy++
		}
		o.loss += all - right
		if !math.IsInf(other, 0) {
			o.gap += best - other
		}
	}
	n := float64(len(trials))
	return outcome{o.accuracy / n, o.loss / n, o.gap / n}
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// sampleTrials returns trials of the sample corpora's questions. A question with several parts makes a trial for each part,
// and more with the first half of the answer's words as the sentence being written.
func sampleTrials(t *testing.T) map[string][]trial {
	t.Helper()
	device, cloud := memoryOf(t, examples.Notes), memoryOf(t, examples.Public)
	out := make(map[string][]trial)
	for scan := bufio.NewScanner(bytes.NewReader(examples.Questions)); scan.Scan(); {
		var q struct {
			Question, Answer string
			Values           []string
		}
		if err := json.Unmarshal(scan.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		parts := clauses(q.Question)
		sentences := english.Sentences(q.Answer)
		if len(q.Values) != len(parts) || len(sentences) != len(parts) {
			if len(q.Values) > 0 {
				t.Errorf("%q has %d parts: %q; %q", q.Question, len(q.Values), parts, sentences)
			}
			continue
		}
		pool := candidates(t, q.Question, device, cloud)
		for i, v := range q.Values {
			holds := func(p passages.Passage) bool { return strings.Contains(p.Text, v) }
			fields := strings.Fields(sentences[i])
			begun := strings.Join(fields[:len(fields)/2], " ")
			add := func(kind, query string) {
				if tr, ok := newTrial(query, pool, holds); ok {
					out[kind] = append(out[kind], tr)
				}
			}
			if len(parts) == 1 {
				add("samples, question", q.Question)
			} else {
				add("samples, part", parts[i])
				add("samples, part+sentence", parts[i]+" "+begun)
				add("samples, question+sentence", q.Question+" "+begun)
			}
		}
	}
	return out
}

// xquadTrials returns trials of XQuAD's questions, with the articles dealt to the two sides.
func xquadTrials(t *testing.T) []trial {
	t.Helper()
	path, err := testfile.Find("data", "qa", "xquad.en.half.json")
	if err != nil {
		t.Logf("no XQuAD: %v", err)
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Data []struct {
			Title      string
			Paragraphs []struct {
				Context string
				QAs     []struct {
					Question string
					Answers  []struct{ Text string }
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	var sides [2]*Index
	for i := range sides {
		files := t.TempDir()
		for j, a := range set.Data {
			if j%2 == i {
				var text strings.Builder
				fmt.Fprintf(&text, "# %s\n", strings.ReplaceAll(a.Title, "_", " "))
				for _, p := range a.Paragraphs {
					fmt.Fprintf(&text, "\n%s\n", p.Context)
				}
				writeFile(t, filepath.Join(files, fmt.Sprintf("%02d.md", j)), text.String())
			}
		}
		sides[i] = memoryOf(t, os.DirFS(files))
	}
	var out []trial
	asked, found := 0, 0
	for _, a := range set.Data {
		for _, p := range a.Paragraphs {
			context := english.Collapse(p.Context)
			for _, qa := range p.QAs {
				holds := func(q passages.Passage) bool {
					// the passage is part of this paragraph and holds the answer
					return strings.Contains(q.Text, qa.Answers[0].Text) && shares(context, q.Text)
				}
				asked++
				if tr, ok := newTrial(qa.Question, candidates(t, qa.Question, sides[0], sides[1]), holds); ok {
					found++
					out = append(out, tr)
				}
			}
		}
	}
	t.Logf("XQuAD: %d questions, recall@4 of a side %.3f", asked, float64(found)/float64(asked))
	return out
}

// shares reports whether the paragraph holds a sentence of text.
func shares(paragraph, text string) bool {
	for _, s := range english.Sentences(strings.ReplaceAll(text, "\n", " ")) {
		if english.CountWords(s) > 4 && strings.Contains(paragraph, s) {
			return true
		}
	}
	return false
}

func newTrial(query string, pool []passages.Passage, holds func(passages.Passage) bool) (trial, bool) {
	t := trial{query: query, candidates: pool}
	any := false
	for _, p := range pool {
		t.answers = append(t.answers, holds(p))
		any = any || holds(p)
	}
	return t, any
}

func candidates(t *testing.T, question string, sides ...*Index) (out []passages.Passage) {
	t.Helper()
	for _, x := range sides {
		found, err := x.Search(t.Context(), passages.Query{Text: question}, 4)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	return out
}

func memoryOf(t *testing.T, files fs.FS) *Index {
	t.Helper()
	x, err := Memory(Options{Words: 64}) // as in DRAGON; the best scale is about the same for shorter passages
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	if _, err := x.AddFS(t.Context(), files, "."); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestCalibration prints how accuracy, log-loss and gap depend on the scale, relative to the shipped one, and checks that
// the shipped scale is good. Run it with -v.
func TestCalibration(t *testing.T) {
	sets := sampleTrials(t)
	bounds := map[string]outcome{ // least accuracy and gap, greatest loss
		"samples, question":          {0.97, 0.15, 4},
		"samples, part":              {0.97, 0.10, 4},
		"samples, part+sentence":     {0.97, 0.10, 4},
		"samples, question+sentence": {0.80, 0.45, 2},
		"XQuAD, question":            {0.80, 0.52, 2.5},
	}
	if x := xquadTrials(t); x != nil {
		sets["XQuAD, question"] = x
	}
	score := func(q string, ps []passages.Passage) []float64 { return Lexical().Prepare(ps)(nil, q) }
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		trials := sets[name]
		t.Logf("%s, %d trials", name, len(trials))
		for _, scale := range []float64{0.25, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 4} {
			o := evaluate(trials, score, scale)
			t.Logf("  scale × %.2f: accuracy %.3f  log-loss %.3f  gap %5.2f nats", scale, o.accuracy, o.loss, o.gap)
		}
		o, bound := evaluate(trials, score, 1), bounds[name]
		if o.accuracy < bound.accuracy || o.loss > bound.loss || o.gap < bound.gap {
			t.Errorf("%s: %+v, want at least the accuracy and gap and at most the loss of %+v", name, o, bound)
		}
	}
}
