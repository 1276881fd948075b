package extract

import (
	"math"
	"strings"
	"testing"

	"tandem/model/span"
	"tandem/retrieval/passages"
)

// A span becomes likelier in the sentence that has the question's own words: they may stand in the heading above it or,
// where it begins with a pronoun, in the sentence before. Words of the title say nothing, and those of all sentences
// little.
func TestReweigh(t *testing.T) {
	for _, c := range []struct {
		title, text, question, first, second string
		p                                    float64 // of the second
	}{
		{"Ferry", "The small ferry sails at 9:10. The car ferry sails at 9:40.", "When does the car ferry sail?", "9:10", "9:40", 0.3},
		{"Ferry", "Gate 12 opens at 8:05. Gate 14 opens at 8:15.", "When does gate 14 open?", "8:05", "8:15", 0.12},
		{"Prizes", "Mr Lund won in 1931. Ida Berg taught in Kiel. She won in 1947.", "When did Ida Berg win?", "1931", "1947", 0.3},
		{"Camp", "Intro.\n\nSpring\nWe meet at 10:00.\n\nAutumn\nWe meet at 11:30.", "When do you meet in autumn?", "10:00", "11:30", 0.3},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		a, b := find(p, c.first), find(p, c.second)
		a.P, b.P = 0.5, c.p
		spans := []span.Span{a, b}
		p.reweigh(wantsOf(c.question), spans, patternCache{})
		if got := p.text[spans[0].Begin:spans[0].End]; got != c.second {
			t.Errorf("%s: %q, want %q", c.question, got, c.second)
		}
		if sum := spans[0].P + spans[1].P; math.Abs(sum-0.5-c.p) > 1e-9 {
			t.Errorf("%s: probabilities sum to %v, want %v", c.question, sum, 0.5+c.p)
		}
	}
	p := config(0).passage(passages.Passage{Title: "The old mill", Text: "The mill opens at 9:00. We shut at 17:00."})
	a, b := find(p, "17:00"), find(p, "9:00")
	a.P, b.P = 0.5, 0.4
	spans := []span.Span{a, b}
	p.reweigh(wantsOf("When does the mill close?"), spans, patternCache{})
	if spans[0].Begin != a.Begin {
		t.Errorf("a word of the title moved the answer to %q", p.text[spans[0].Begin:spans[0].End])
	}
}

// find returns the first place of a text in a passage.
func find(p passage, s string) span.Span {
	at := strings.Index(p.text, s)
	return span.Span{Begin: at, End: at + len(s)}
}
