package extract

import (
	"strings"
	"testing"

	"tandem/model/span"
	"tandem/retrieval/passages"
)

// sayAt returns what a passage says with the first place of a text as the span.
func sayAt(p passage, text string, form form) string {
	at := p.body + strings.Index(p.text[p.body:], text)
	said, _ := p.say(span.Span{Begin: at, End: at + len(text)}, form)
	return said
}

// A question for the option that does something is answered by that option's entry, and one for who did something by the name behind
// "by". What the passage does not say just so, the reader looks for.
func TestDoing(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "kiln", Text: "Options\n-m, --make-shelf: Make the potter's shelf. It is of oak.\n-F: Clean the shelf also where -m makes the potter's shelf for others.\n" +
		"-r: Make a round pot.\nThe kiln and the crane were built by Ada van Dyk. It was in 1903. The cranes of the yard were built by Bo Lund. The songs were sung by night."})
	for question, want := range map[string]string{
		"Which option of kiln makes the shelf?": "-m, --make-shelf: Make the potter's shelf.",
		"How do I make a round pot?":            "-r: Make a round pot.",
		"How do I make a square pot?":           "",
		"What makes a round pot?":               "",
		"Who built the crane?":                  "Ada van Dyk",
		"Who built the mill?":                   "",
		"Who sang the songs?":                   "",
	} {
		got := ""
		for _, find := range []func(string) (int, int, bool){p.option, p.doer} {
			if from, to, ok := find(question); ok {
				got = p.text[from:to]
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
