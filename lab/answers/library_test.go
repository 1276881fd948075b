package answers

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tandem/decoder"
	"tandem/model"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// cabin is a world with a document on each side, and one of a type that is not read.
func cabin() World {
	return World{Sides: [2][]Document{
		{{"cabin.md", []byte("# Lake cabin\n\nThe wifi password is tumbral-5827.\n\nThe boat is green. It was bought in 1998.\n")}, {"plan.xyz", []byte("The plan is blue.")}},
		{{"museum.md", []byte("# Harbour museum\n\nThe museum opens at 9:30.\n")}},
	}}
}

func ask(text, answer, sentence string, names ...string) Question {
	return Question{Text: text, Answers: []string{answer}, Parts: []Part{{Answers: []string{answer}, Sentence: sentence}}, Names: names}
}

var (
	wifi = ask("What is the wifi password of the lake cabin?", "tumbral-5827", "The wifi password is tumbral-5827.", "cabin.md")
	open = ask("When does the harbour museum open?", "9:30", "The museum opens at 9:30.", "museum.md")
	plan = ask("What colour is the plan?", "blue", "The plan is blue.", "plan.xyz")
)

// A cluster holds all documents but the device's.
func TestLibraryInCluster(t *testing.T) {
	made := 0
	o := Options{Cluster: func(_ context.Context, o search.Options) (Index, error) {
		made++
		return search.Memory(o)
	}}
	o.Words = passages.DefaultWords
	l, err := Open(t.Context(), cabin(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if made != 2 || l.Windows != l.All {
		t.Errorf("%d indexes in the cluster, want those of the cloud and of all", made)
	}
}

func TestLibrary(t *testing.T) {
	l, err := Open(t.Context(), cabin(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, q := range []Question{wifi, open} {
		recall, err := l.Recall(t.Context(), q)
		if err != nil || len(recall) != len(Retrievals) || slices.Contains(slices.Concat(recall...), false) {
			t.Errorf("%q: recall %v, %v", q.Text, recall, err)
		}
		a, err := Quote(t.Context(), l, q)
		if err != nil || a.Text != q.Parts[0].Sentence || !Judge(q, a).Sentence {
			t.Errorf("%q: %+v, %v", q.Text, a, err)
		}
	}
	if a, err := Quote(t.Context(), l, Question{Text: "zzz?"}); err != nil || !a.Unknown || a.Text != "" {
		t.Errorf("without a word in common: %+v, %v", a, err)
	}
	gone := ask("Which boat?", "1999", "It was sold in 1999.", "cabin.md")
	for _, c := range []struct {
		q    Question
		s    Score
		want Stage
	}{
		{wifi, Score{Read: true}, LostInReading},
		{wifi, Score{}, LostInRetrieval},
		{plan, Score{}, LostInParsing},
		{gone, Score{}, LostInParsing},
		{Question{Text: "No sentence", Parts: []Part{{Answers: []string{"x"}}}}, Score{}, ""},
	} {
		if got := l.Lost(c.q, c.s); got != c.want {
			t.Errorf("%q: lost in %q, want %q", c.q.Text, got, c.want)
		}
	}
	l.cut["cabin.md"] = nil
	if got := l.Lost(wifi, Score{}); got != LostInCutting {
		t.Errorf("without passages: lost in %q", got)
	}
}

// Two sentences of which one has more of the question's rarer words.
func TestBM25(t *testing.T) {
	var b BM25
	for _, s := range []string{"The boat is green.", "The green boats of the lake were sold.", "A lake.", "Nothing else."} {
		b.add("", s)
	}
	if got := b.Best("Which boat was sold on the lake?", 2); !slices.Equal(got, []string{"The green boats of the lake were sold.", "A lake."}) {
		t.Errorf("%q", got)
	}
	if got := b.Best("xyz", 3); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// The pair knows what each side knows, and each side alone only its own.
func TestMethods(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	l, err := Open(t.Context(), cabin(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := Product{Config: decoder.Config{Model: m, Scorer: search.Lexical(), Weights: decoder.Supported, MaxTokens: 64}, Documents: 4}
	right := map[string][2]bool{"pair": {true, true}, "one-side": {true, true}, "device": {true, false}, "cloud": {false, true}, "quote": {true, true}}
	for _, method := range p.Methods() {
		for i, q := range []Question{wifi, open} {
			a, err := method.Answer(t.Context(), l, q)
			if err != nil {
				t.Fatalf("%s: %v", method.Name, err)
			}
			s := Judge(q, a)
			if want := right[method.Name][i]; s.Holds != want || s.Sentence != want || s.Read != want {
				t.Errorf("%s, %q: %q, shown %q: %+v", method.Name, q.Text, a.Text, a.Shown, s)
			}
			if s.Holds && len(s.Invented) > 0 {
				t.Errorf("%s, %q: %q invents %q", method.Name, q.Text, a.Text, s.Invented)
			}
			if method.Name != "quote" && (a.Took <= 0 || strings.HasSuffix(a.Text, "unknown.") != a.Unknown) {
				t.Errorf("%s, %q: %+v", method.Name, q.Text, a)
			}
		}
	}
}
