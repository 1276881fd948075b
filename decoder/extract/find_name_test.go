package extract

import (
	"testing"

	"tandem/aggregator"
	"tandem/retrieval/passages"
)

// The brackets after a name say when a person was born and died; it must be the person of the question.
func TestBirthOrDeath(t *testing.T) {
	const text = "Agnes Oldenhuis (9 May 1799 – 21 March 1858) was a clockmaker. Her rival Tom Rae (1801–1866) lived in Leith.\nThe works (1820 – 1857) were hers."
	const smith = "Lena Brandt died in 1899. Karl, son of Lena Brandt and Otto Falk (1844–1910), was a smith."
	for _, c := range []struct{ text, question, want string }{
		{text, "When was Agnes Oldenhuis born?", "9 May 1799"},
		{text, "When did Oldenhuis die?", "21 March 1858"},
		{text, "What year was Tom Rae born?", "1801"},
		{text, "When did Tom Oldenhuis die?", ""},
		{text, "When did she die?", ""},
		{text, "Where was Agnes Oldenhuis born?", ""},
		{text, "When was Agnes Oldenhuis born and when did she die?", ""},
		{smith, "When did Lena Brandt die?", ""},
		{smith, "When did Otto Falk die?", "1910"},
		{"Ada Holm married the painter Emil Voss (1901–1980).", "When was Ada Holm born?", ""},
		{"The Ada Holm Museum (1950–1990) was in Leith.", "When was Ada Holm born?", ""},
		{"Ada King, Countess of Lovelace (1815–1852), wrote it.", "When was Ada Lovelace born?", "1815"},
	} {
		p := config(0).passage(passages.Passage{Title: "Clocks", Text: c.text})
		got := ""
		if from, to, ok := p.birthOrDeath(queryOf(c.question)); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.text, c.question, got, c.want)
		}
	}
	d := open(t, config(0), "When did Agnes Oldenhuis die?", []passages.Passage{{Title: "Clocks", Text: text}})
	if got := answer(t, aggregator.Rule{Greedy: true}, d); got != "21 March 1858" {
		t.Errorf("%q, want 21 March 1858", got)
	}
}

const soup = "Serves four\n\nIngredients\n\n- 200 g red lentils, washed\n- 40 g butter (half of it for the onion)\n- 2 large onions\n- salt\n\nMelt 20 g butter."

// The name below a letter answers who wrote it.
func TestSignature(t *testing.T) {
	const letter = "Dear Ms Holm,\nyour policy goes on.\n\nKind regards\n\nHjalmar Prüß\nHead of Policies"
	for _, c := range []struct{ text, question, want string }{
		{letter, "Who signed the letter from Norrholm?", "Hjalmar Prüß"},
		{letter, "Who wrote the letter about the policy?", "Hjalmar Prüß"},
		{letter, "Who wrote the letter about the bridge?", ""},
		{letter, "Who has the policy?", ""},
		{"your policy goes on", "Who signed the letter from Norrholm?", ""},
		{"Kind regards\nsee you", "Who signed the letter from Norrholm?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Letter, from Norrholm", Text: c.text})
		got := ""
		if from, to, ok := p.signature(queryOf(c.question)); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}
