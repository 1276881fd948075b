package extract

import (
	"testing"

	"tandem/aggregator"
	"tandem/retrieval/passages"
)

// The brackets behind a name say when a person was born and died; it must be the person of the question.
func TestBirthOrDeath(t *testing.T) {
	const text = "Agnes Oldenhuis (9 May 1799 – 21 March 1858) was a clockmaker. Her rival Tom Rae (1801–1866) lived in Leith.\nThe works (1820 – 1857) were hers."
	for _, c := range []struct{ question, want string }{
		{"When was Agnes Oldenhuis born?", "9 May 1799"},
		{"When did Oldenhuis die?", "21 March 1858"},
		{"What year was Tom Rae born?", "1801"},
		{"When did Tom Oldenhuis die?", ""},
		{"When did she die?", ""},
		{"Where was Agnes Oldenhuis born?", ""},
		{"When was Agnes Oldenhuis born and when did she die?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Clocks", Text: text})
		got := ""
		if from, to, ok := p.birthOrDeath(queryOf(c.question)); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
	d := open(t, config(0), "When did Agnes Oldenhuis die?", []passages.Passage{{Title: "Clocks", Text: text}})
	if got := answer(t, aggregator.Rule{Greedy: true}, d); got != "21 March 1858" {
		t.Errorf("%q, want 21 March 1858", got)
	}
}

const soup = "Serves four\n\nIngredients\n\n- 200 g red lentils, washed\n- 40 g butter (half of it for the onion)\n- 2 large onions\n- salt\n\nMelt 20 g butter."

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
			got += p.text[at.from:at.to]
		}
		if got != c.want {
			t.Errorf("%s %q, want %q", c.question, got, c.want)
		}
	}
}

// A code behind the whole name of what it opens is its code; one behind another name, or behind more than the name, is not.
func TestCodeThatOpens(t *testing.T) {
	const notes = "boat lock 4190 ; Anna Berg 4471; summer house 3962; shed door 1962; garage door until 2200; safe 9921; shed padlock 7731\nAda's bike lock: 2218, gym locker no. 212\nmill gate meter reading 5150"
	for question, want := range map[string]string{
		"What's the code for the shed padlock?":            "7731",
		"What is the combination of the boat lock?":        "4190",
		"What's the code of the bike lock?":                "", // Ada's
		"What's the code for Ada's bike lock?":             "2218",
		"What's the code for the lock on Tobi's bicycle?":  "",
		"What is the code of the garage door?":             "",
		"What is the code of the safe?":                    "9921",
		"What is the pin of Anna Berg?":                    "",
		"What is the code of the summer house?":            "",
		"What is the code of the shed door?":               "", // a year?
		"What's the code for the padlock?":                 "",
		"What is the code of the gym locker?":              "",
		"What is the code of the mill gate?":               "",
		"Where is the shed padlock?":                       "",
		"What is the pin of the shed padlock in Kiel?":     "", // which Kiel?
		"What is the pin of the shed padlock in my notes?": "7731",
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: notes})
		got := ""
		if from, to, ok := p.codeThatOpens(queryOf(question)); ok {
			got = p.text[from:to]
		}
		if got != want {
			t.Errorf("%s %q, want %q", question, got, want)
		}
	}
	twice := config(0).passage(passages.Passage{Title: "Notes", Text: "shed padlock 7731\nshed padlock 7732"})
	if _, _, ok := twice.codeThatOpens(queryOf("What's the code for the shed padlock?")); ok {
		t.Error("one of two codes")
	}
}
