package extract

import (
	"testing"

	"tandem/retrieval/passages"
)

const soup = "Serves four\n\nIngredients\n\n- 200 g red lentils, washed\n- 40 g butter (half of it for the onion)\n- 2 large onions\n- salt\n\nMelt 20 g butter."

// A list is looked up in a passage that is about the thing which the question names.
func TestListUnder(t *testing.T) {
	for _, c := range []struct{ title, question, want string }{
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
