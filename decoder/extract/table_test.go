package extract

import (
	"strings"
	"testing"

	"tandem/aggregator"
	"tandem/retrieval/passages"
)

// A row, or several of its cells, is said with the names of the columns. Where a table names none, commas part the cells.
func TestWithColumnNames(t *testing.T) {
	for _, c := range []struct{ text, said, want string }{
		{"Pier | Departs | Fare\nNorth | 7:10 | 4.20 €\nSouth | 8:40 | 5.10 €", "South | 8:40 | 5.10 €", "Pier: South; Departs: 8:40; Fare: 5.10 €"},
		{"Pier | Departs | Fare\nNorth | 7:10 | 4.20 €\nSouth | 8:40 | 5.10 €", "8:40 | 5.10 €", "Departs: 8:40; Fare: 5.10 €"},
		{"Ferries run daily.\nPier: | Departs: | Fare\nNorth | | 4.20 €", "North | | 4.20 €", "Pier: North; Fare: 4.20 €"},
		{" | Small | Large\nTea | 2.10 € | 2.90 €", "Tea | 2.10 € | 2.90 €", "Tea; Small: 2.10 €; Large: 2.90 €"},
		{"| Small | Large\nTea | 2.10 € | 2.90 €", "Tea | 2.10 € | 2.90 €", "Tea; Small: 2.10 €; Large: 2.90 €"},
		{"Cup | Small | Large\nTea | 2.10 € | 2.90 €\n| 3.10 € | 3.90 €", "| 3.10 € | 3.90 €", "Small: 3.10 €; Large: 3.90 €"},
		{"3 May | Ann Lee | 9 km\n4 May | Bo Ek | 7 km", "4 May | Bo Ek | 7 km", "4 May, Bo Ek, 7 km"},
		{"Name | Town\nAnn | Ulm | 3\nBo | Kiel | 4", "Bo | Kiel | 4", "Bo, Kiel, 4"},
		{"Pier | Departs | Fare\nNorth | 7:10 | 4.20 €", "7:10", "7:10"},
		{"Pier | Departs | Fare\nNorth | 7:10 | 4.20 €", "Pier | Departs | Fare", "Pier, Departs, Fare"},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		at := p.body + strings.LastIndex(c.text, c.said)
		if got := p.withColumnNames(at, at+len(c.said)); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.said, c.text, got, c.want)
		}
	}
}

// The quote of an answer out of one cell names its column; that of another answer names none.
func TestColumnOfAnswer(t *testing.T) {
	const table = "Pier | Departs | Fare EUR\nNorth | 7:10 | 4.20\nSouth | 8:40 | 5.10\nDogs go free."
	p := config(0).passage(passages.Passage{Title: "Ferry", Text: table})
	for said, want := range map[string]string{"5.10": "Fare EUR", "8:40": "Departs", "South": "Pier", "South | 8:40": "", "Departs": "", "Dogs": ""} {
		at := p.body + strings.LastIndex(table, said)
		if got := p.quote(at, at+len(said)).Column; got != want {
			t.Errorf("%s: column %q, want %q", said, got, want)
		}
	}
}

// Whose answer is a whole row reads what its cells mean, and below it the row as it stands in the document.
func TestRowAnswer(t *testing.T) {
	const row = "F07 | The brush does not turn | Remove the hair from the roller"
	d := open(t, config(0), "What should I do when the vacuum cleaner shows F07?", notes("Vacuum cleaner\nCode | Fault | Remedy\nF02 | The bag is full | Change the bag\n"+row))
	if got, want := answer(t, aggregator.Rule{Greedy: true}, d), "Code: F07; Fault: The brush does not turn; Remedy: Remove the hair from the roller"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if q := d.Parts()[0].Quotes[0]; q.Text != row {
		t.Errorf("quoted %q", q.Text)
	}
}
