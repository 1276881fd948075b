package extract

import (
	"testing"

	"tandem/retrieval/passages"
)

// A code after the whole name of what it opens is its code; one after another name, or after more than the name, is not.
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
		if got := p.foundBy(passage.codeThatOpens, question); got != want {
			t.Errorf("%s %q, want %q", question, got, want)
		}
	}
	for _, c := range []struct{ title, text string }{
		{"Budget", "bike lock 350\nhelmet 120"},
		{"Notes", "Shopping\n- bike lock 350\n- helmet 120"},
		{"Notes", "- bike lock 350\n- lamp 80"},
	} {
		amounts := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		if from, to, ok := amounts.codeThatOpens(queryOf("What is the code of the bike lock?")); ok {
			t.Errorf("%s, %s: %s is an amount", c.title, c.text, amounts.text[from:to])
		}
	}
	twice := config(0).passage(passages.Passage{Title: "Notes", Text: "shed padlock 7731\nshed padlock 7732"})
	if _, _, ok := twice.codeThatOpens(queryOf("What's the code for the shed padlock?")); ok {
		t.Error("one of two codes")
	}
}
