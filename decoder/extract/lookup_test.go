package extract

import (
	"testing"

	"tandem/aggregator"
	"tandem/retrieval/passages"
)

const (
	hulls = "Boat | Length (m) | Fare (£) | Berths | Notes\nHeron 20 | 6.1 | 85 | 2 | leaks at the bow\nHeron 24 | 7.3 | 110 | 4 | new sails\nPlover | 5.2 | – | 2 | red hull"
	lamps = "Lamp codes\n- 1: the tank is empty\n- 4: the pump is blocked\nD17: the cable is loose\nHours\n- 4: open late"
	stops = "Run | Time | Mon | Tue\n1 | 6:10 | mill | pier\n2 | 7:25 | pier | farm"
)

// A question that names a row and a column is answered by the cell where they meet, and one for a code by what stands behind it. If it
// names two rows, another row's word or a word that is not there, the reader answers.
func TestLooked(t *testing.T) {
	for _, c := range []struct{ title, text, question, want string }{
		{"Boats", hulls, "How much does the Heron 24 cost?", "110"},
		{"Boats", hulls, "fare plover", ""}, // a dash says nothing
		{"Boats", hulls, "What is the length of the Plover?", "5.2"},
		{"Boats", hulls, "How many berths does the Heron 20 have?", "2"},
		{"Boats", hulls, "Which boat has a red hull?", "Plover"},
		{"Boats", hulls, "Which boat has a green hull?", ""},
		{"Boats", hulls, "What is the fare of the Heron?", ""},
		{"Boats", hulls, "What is the fare of the Heron 31?", ""},
		{"Boats", hulls, "What is the fare of the wooden blue Heron 24?", ""},
		{"Boats", hulls, "Is the fare of the Heron 24 high?", ""},
		{"Boats", hulls, "Who owns the Heron 24?", ""},
		{"Bus", stops, "When does run 2 start?", "7:25"},
		{"Bus", stops, "Where does run 1 go on Tue?", "pier"},
		{"Pump", lamps, "What does D17 mean?", "the cable is loose"},
		{"Pump", lamps, "What does lamp code 1 of the pump mean?", "the tank is empty"},
		{"Pump", lamps, "What does gate 1 mean?", ""},
		{"Bus", "Run | Time\n1 | 6:10\nPrices\nFare | Price\nchild | 2 €", "What time is the child?", ""},
		{"Codes", "Code | Fault | Remedy\nK2 | no water | open the tap\nK3 | no power | plug it in", "What does K3 on the display mean?", "no power"},
	} {
		p, err := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if from, to, ok := p.looked(c.question); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// What was looked up is the answer even where the reader prefers another cell.
func TestLookedAnswers(t *testing.T) {
	d := open(t, config(0), "How much does the Heron 24 cost?", []passages.Passage{{Title: "Boats", Text: hulls}, {Title: "Inn", Text: "The Heron inn has 24 rooms, and a room costs 60 €."}})
	if got := answer(t, aggregator.Rule{Greedy: true}, d); got != "110" {
		t.Errorf("%q, want 110", got)
	}
}
