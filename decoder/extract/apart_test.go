package extract

import (
	"testing"

	"tandem/model/span"
	"tandem/retrieval/passages"
)

// A passage without a word of the question, in whatever form or language, is no neighbour of its answer. One with words that are
// closely related to one of the question's is.
func TestIsApart(t *testing.T) {
	c := config(0)
	soup := passages.Passage{Source: "/notes/soup.md", Title: "Lentil soup", Text: "Serve it with lemon. The main spice is smoked paprika."}
	rats := passages.Passage{Source: "/notes/compost.md", Title: "Compost", Text: "Marek saw rats there."}
	mail := passages.Passage{Source: "/mail/plumber.eml", Title: "Rechnung 371", Text: "Für die Reparatur des Bades berechnen wir Ihnen 231 Euro. Der Schlüssel ist bei mir."}
	flat := passages.Passage{Source: "/notes/flat.md", Title: "Flat", Text: "Wi-Fi name: Lindenbaum."}
	for _, q := range []struct {
		text  string
		p     passages.Passage
		apart bool
	}{
		{"What is the capital of France?", soup, true},
		{"Who serves the soup?", soup, false},
		{"Which spices go into it?", soup, false},
		{"What is it?", soup, false},
		{"Any rodents?", rats, false},
		{"How tall is the Eiffel tower?", rats, true},
		{"What do we owe to the plumber?", mail, false},
		{"Who has the key?", mail, false},
		{"Who wrote Hamlet?", mail, true},
		{"What is the wifi called?", flat, false},
	} {
		p := c.passage(q.p)
		if got := c.isApart(c.query(q.text, span.English, []passage{p}), p); got != q.apart {
			t.Errorf("%q and %q: %v", q.text, q.p.Text, got)
		}
	}
}
