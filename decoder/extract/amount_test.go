package extract

import (
	"testing"

	"tandem/retrieval/passages"
)

const soup = "Serves four\n\nIngredients\n\n- 200 g red lentils, washed\n- 40 g butter (half of it for the onion)\n- 2 large onions\n- salt\n\nMelt 20 g butter."

// Amounts and lists are looked up in a passage that is about the thing which the question names.
func TestAmount(t *testing.T) {
	for _, c := range []struct{ title, question, want string }{
		{"Lentil soup", "How much butter does the lentil soup need?", "40 g butter"},
		{"Lentil soup", "how many onions do I need", "2 large onions"},
		{"Lentil soup", "And how much red lentils?", "200 g red lentils"},
		{"Lentil soup", "How much salt?", ""},                      // has no amount
		{"Lentil soup", "How much butter does the cake need?", ""}, // of something else
		{"Lentil soup", "How much is the butter?", ""},             // asks for a price
		{"Lentil soup", "How many minutes does the lentil soup take?", ""},
		{"Lentil soup", "What butter is in the lentil soup?", ""},
		{"Lentil soup", "What are the ingredients of the lentil soup?", soup[len("Serves four\n\nIngredients\n\n") : len(soup)-len("\n\nMelt 20 g butter.")]},
		{"Lentil soup", "What ingredients does the lentil soup need?", soup[len("Serves four\n\nIngredients\n\n") : len(soup)-len("\n\nMelt 20 g butter.")]},
		{"Lentil soup", "What are the ingredients of the cake?", ""},
		{"Lentil soup", "What are the members?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: soup})
		got := ""
		at, _ := p.named(c.question, wantsOf(c.question))
		for _, at := range at {
			got += p.text[at[0]:at[1]]
		}
		if got != c.want {
			t.Errorf("%s %q, want %q", c.question, got, c.want)
		}
	}
}
