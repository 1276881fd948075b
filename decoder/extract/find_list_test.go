package extract

import (
	"testing"

	"tandem/retrieval/passages"
)

// A list is looked up in a passage that is about the thing which the question names.
func TestListBelowHeading(t *testing.T) {
	for _, c := range []struct{ title, question, want string }{
		{"Lentil soup", "What are the ingredients of the lentil soup?", soup[len("Serves four\n\nIngredients\n\n") : len(soup)-len("\n\nMelt 20 g butter.")]},
		{"Lentil soup", "What ingredients does the lentil soup need?", soup[len("Serves four\n\nIngredients\n\n") : len(soup)-len("\n\nMelt 20 g butter.")]},
		{"Lentil soup", "What are the ingredients of the cake?", ""},
		{"Lentil soup", "What are the members?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: soup})
		got := ""
		for _, at := range p.find(queryOf(c.question)).ranges {
			got += p.slice(at)
		}
		if got != c.want {
			t.Errorf("%s %q, want %q", c.question, got, c.want)
		}
	}
}
