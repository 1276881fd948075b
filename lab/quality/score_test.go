package quality

import (
	"testing"
)

func TestHoldsWord(t *testing.T) {
	for _, c := range []struct {
		text, value string
		want        bool
	}{
		{"It opens at 9:30.", "9:30", true},
		{"It opens at 19:30.", "9:30", false},
		{"It opens at 9:301.", "9:30", false},
		{"Not 19:30 but 9:30", "9:30", true},
		{"a", "", false},
		{"", "x", false},
	} {
		if holdsWord(c.text, c.value) != c.want {
			t.Errorf("%q in %q: %v", c.value, c.text, !c.want)
		}
	}
}

func TestResultAdds(t *testing.T) {
	known := Question{Kind: "one-part", Answer: "It opens at 9:30.", Answers: []string{"9:30"}, Values: []string{"9:30"}}
	nobody := Question{Kind: "unanswerable", Answer: "The code is unknown."}
	squad := Question{Kind: "xquad", Answers: []string{"The Broncos", "Denver Broncos"}, Values: []string{"Denver"}}
	for _, c := range []struct {
		q      Question
		answer string
		want   Result
	}{
		{known, "It opens at 9:30.", Result{Exact: 1, F1: 1, Holds: 1}},
		{known, "9:30", Result{Exact: 1, F1: 1, Holds: 1}},
		{known, "it opens at 9:30", Result{F1: 1, Holds: 1}}, // answers of worlds must match exactly
		{known, "It opens at 9:301.", Result{F1: 0.75}},
		{known, "That is unknown.", Result{Refused: 1}},
		{known, "9:30 or unknown", Result{F1: 0.5, Holds: 1, Refused: 1}},
		{nobody, "The code is unknown.", Result{Exact: 1, F1: 1, Holds: 1, Refused: 1}},
		{nobody, "I do not know.", Result{Exact: 1, Holds: 1, Refused: 1}},
		{nobody, "The code is 4471.", Result{F1: 2. * 2 / (3 + 3)}},
		{squad, "the denver broncos!", Result{Exact: 1, F1: 1}},
		{squad, "Broncos", Result{Exact: 1, F1: 1}},
	} {
		got := Result{}
		right := got.Add(c.q, c.answer)
		c.want.N = 1
		if got != c.want || right != (c.want.Exact == 1) {
			t.Errorf("%q to %+v: %v, %+v; want %+v", c.answer, c.q, right, got, c.want)
		}
		if got.Add(c.q, c.answer); got.N != 2 || got.F1 != 2*c.want.F1 || got.Exact != 2*c.want.Exact {
			t.Errorf("%q twice: %+v", c.answer, got)
		}
	}
}
