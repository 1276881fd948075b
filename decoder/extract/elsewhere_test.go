package extract

import (
	"math"
	"slices"
	"testing"

	"tandem/retrieval/passages"
)

// A question that names one document as its place is not asked of another, unless that speaks of the place, too.
func TestElsewhere(t *testing.T) {
	var known []passage
	for _, p := range []passages.Passage{
		{Source: "/notes/hostel-rules.md", Title: "Mill hostel: Rules", Text: "Pets are not allowed."},
		{Source: "/notes/faq.md", Title: "Coworking: Questions", Text: "The kitchen is on the left."},
		{Source: "/notes/mail.eml", Title: "Pets", Text: "In the coworking, pets are welcome."},
		{Source: "/notes/house.md", Title: "House rules", Text: "Be quiet."},
	} {
		known = append(known, config(0).passage(p))
	}
	for question, want := range map[string][]bool{
		"Are pets allowed in the coworking?":         {true, false, false, true},
		"Are pets allowed in the coworking space?":   {true, false, false, true},
		"What are the hostel's rules?":               {false, true, true, true},
		"Are pets allowed in the house?":             {false, false, false, false},
		"Are pets allowed in the theatre?":           {false, false, false, false},
		"Are pets allowed?":                          {false, false, false, false},
		"Is the coworking open?":                     {false, false, false, false},
		"What is the rule for pets in our coworking": {true, false, false, true},
	} {
		if got := elsewhere(question, known); !slices.Equal(got, want) {
			t.Errorf("%s %v, want %v", question, got, want)
		}
	}
}

// An answer out of another document than the question names is unsure at best.
func TestElsewhereIsUnsure(t *testing.T) {
	e := Evidence{None: 0.001, Lead: 5, Lexical: 9, Echo: 9, Share: 0.99, Length: 40}
	_, sure := DefaultConstants.Judge(e)
	e.Elsewhere = true
	if _, r := DefaultConstants.Judge(e); Confidence(sure, math.Inf(-1)) < 0.75 || Confidence(r, math.Inf(-1)) >= 0.75 || r < DefaultConstants.Nothing {
		t.Errorf("relevance %.2f, and %.2f elsewhere", sure, r)
	}
}
