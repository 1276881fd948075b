package search

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/retrieval/passages"
)

var (
	cabin  = passages.Passage{Title: "Lake cabin", Text: "The wifi password of the lake cabin is tumbral-5827. The door code of the lake cabin is 4471."}
	office = passages.Passage{Title: "Office", Text: "The wifi password of the office is quillbrook-3390. The alarm code of the office is 7716."}
	museum = passages.Passage{Title: "Harbour museum", Text: "The harbour museum opens at 9:30 and closes at 17:00. The entry fee of the museum is 8 euros."}
	clocks = passages.Passage{Title: "Clock museum", Text: "The clock museum opens at 11:00 and closes at 16:40. The clock museum is closed on Tuesdays."}
)

// A question of two parts does not decide between passages; the sentence being written does.
func TestLexicalFollowsTheSentence(t *testing.T) {
	ps := []passages.Passage{cabin, office, museum, clocks}
	const question = "What is the wifi password of the lake cabin, and when does the harbour museum open?"
	scores := Lexical().Prepare(ps)
	for _, c := range []struct {
		query string
		best  int
		gap   float64
	}{
		{"What is the wifi password of the lake cabin", 0, 3},
		{"when does the harbour museum open?", 2, 3},
		{question + " The wifi password of the lake cabin is", 0, 2},
		{question + " The harbour museum opens at", 2, 2},
		{"The harbour museum opens at", 2, 3},
		{"The wifi password of the off", 1, 0}, // "off" is not yet a word of the office's passage
	} {
		r := scores(nil, c.query)
		for i := range r {
			if i != c.best && r[c.best]-r[i] < c.gap {
				t.Errorf("%q: R = %.2f, want passage %d ahead by %v", c.query, r, c.best, c.gap)
				break
			}
		}
	}
}

// score returns the relevance of one passage.
func score(query string, p passages.Passage) float64 {
	return Lexical().Prepare([]passages.Passage{p})(nil, query)[0]
}

// TestLexicalGolden pins the scorer lexical-1: R must mean the same on two sides with that scorer, whatever their builds. A
// change to these numbers makes a new scorer, which needs a new name.
func TestLexicalGolden(t *testing.T) {
	if name := Lexical().Name(); name != "lexical-1" {
		t.Fatalf("scorer %s: write new numbers here", name)
	}
	got := ""
	for _, p := range []passages.Passage{cabin, office, museum, {Title: "Café Züri", Text: "Löwenbräu: 3.50 €"}, {}} {
		got += fmt.Sprintf("%.9f ", score("What is the wifi password of the café, and when does the harbour museum open? It costs 3.50 euros.", p))
	}
	const want = "4.103136147 4.140437385 8.406731914 5.217342090 0.000000000"
	if strings.TrimSpace(got) != want {
		t.Errorf("scores %s, want %s", got, want)
	}
}

// A passage's relevance does not depend, to the bit, on the other passages. It is never negative, infinite or NaN. The
// order of the query's words does not matter, and words that no passage holds change only the scale.
func TestLexicalProperties(t *testing.T) {
	word := rapid.SampledFrom([]string{"lake", "cabin", "wifi", "the", "museum", "opens", "zebra", "5827", "é", "of", "?", "harbour"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "words"), " ")
	})
	passage := rapid.Custom(func(t *rapid.T) passages.Passage {
		return passages.Passage{Title: text.Draw(t, "title"), Text: text.Draw(t, "text")}
	})
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(passage, 0, 6).Draw(t, "passages")
		query := text.Draw(t, "query")
		scores := Lexical().Prepare(ps)([]float64{7}, query)
		if len(scores) != len(ps)+1 || scores[0] != 7 {
			t.Fatalf("%d scores for %d passages", len(scores), len(ps))
		}
		for i, p := range ps {
			if r := score(query, p); r != scores[i+1] {
				t.Fatalf("R = %v alone, %v among others", r, scores[i+1])
			} else if !(r >= 0) || math.IsInf(r, 0) {
				t.Fatalf("R = %v", r)
			}
		}
		fields := strings.Fields(query)
		for i, j := 0, len(fields)-1; i < j; i, j = i+1, j-1 {
			fields[i], fields[j] = fields[j], fields[i]
		}
		for i, r := range Lexical().Prepare(ps)(nil, strings.Join(fields, " ")) {
			if math.Abs(r-scores[i+1]) > 1e-9*(1+r) {
				t.Fatalf("the query's order matters: %v, %v", r, scores[i+1])
			}
		}
		if len(ps) == 2 {
			more := Lexical().Prepare(ps)(nil, query+" xylophone")
			if (more[0] > more[1]) != (scores[1] > scores[2]) {
				t.Fatalf("a word in neither passage changes their order: %v, %v", scores[1:], more)
			}
		}
	})
}

func TestStatistics(t *testing.T) {
	weight := func(s string) float64 { return lexicalOne.weight([]byte(s)) }
	if weight("the") != 0 || weight("what") != 0 {
		t.Error("function words have weight")
	}
	if !(weight("citi") > 0 && weight("citi") < weight("harbour") && weight("harbour") < weight("tumbral")*1.3) {
		t.Errorf("citi %v, harbour %v, unknown %v", weight("citi"), weight("harbour"), weight("tumbral"))
	}
}
