package answers

import (
	"slices"
	"testing"

	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/npu/native"
)

// A span reader finds both answers, in words of the documents only, and refuses what nobody says.
func TestSpan(t *testing.T) {
	f, err := gguf.Open("../../models/span.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := span.New(f, native.New(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), cabin(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, q := range []Question{wifi, open} {
		a, err := Span(r).Answer(t.Context(), l, q)
		if err != nil {
			t.Fatal(err)
		}
		if s := Judge(q, a); !s.Exact || !s.Sentence || len(s.Invented) > 0 {
			t.Errorf("%q: %q, shown %q: %+v", q.Text, a.Text, a.Shown, s)
		}
	}
	if a, _ := Span(r).Answer(t.Context(), l, Question{Text: "Who painted the ceiling of the opera?"}); !a.Unknown {
		t.Errorf("nobody says it, the answer is %q", a.Text)
	}
}

// The answer is the likeliest span of a window that the reader does not refuse; of refused windows the sentences are
// still shown.
func TestPointed(t *testing.T) {
	windows := []string{"It opens at 9.", "It closes at 5."}
	found := []*span.Posterior{
		{None: .9, Spans: []span.Span{{Begin: 12, End: 13, P: .1}}},
		{None: .2, Spans: []span.Span{{Begin: 13, End: 14, P: .05}, {Begin: 10, End: 14, P: .04}}},
	}
	answer, shown := bestSpan(found, windows, .6)
	if answer != "5" || !slices.Equal(shown, windows) {
		t.Errorf("%q, shown %q", answer, shown)
	}
	if answer, _ := bestSpan(found, windows, .1); answer != "" {
		t.Errorf("%q, though all windows are refused", answer)
	}
}
