package extract

import (
	"testing"

	"tandem/retrieval/passages"
)

// What is counted must be spoken of, under one of its names; people, and measures, have too many.
func TestUncounted(t *testing.T) {
	for _, c := range []struct {
		question string
		want     bool
	}{
		{"How many bicycles are in the shed?", true},
		{"How many canoes are in the shed?", false},
		{"How many heavy canoes are there?", false},
		{"How many berries grow by the shed?", false},
		{"How many people sleep in the shed?", false},
		{"How many days is the shed closed?", false},
		{"What is in the shed?", false},
	} {
		p := config(0).passage(passages.Passage{Title: "Shed", Text: "Three canoes and 40 paddles. A berry bush hides the door."})
		none := func(string) map[string]float64 { return nil }
		if got := wantsOf(c.question).uncounted(p, none); got != c.want {
			t.Errorf("%s %v, want %v", c.question, got, c.want)
		}
		also := func(string) map[string]float64 { return map[string]float64{"paddle": 0.5} }
		if wantsOf(c.question).uncounted(p, also) {
			t.Errorf("%s: a related word does not count", c.question)
		}
	}
}
