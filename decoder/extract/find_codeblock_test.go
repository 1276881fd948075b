package extract

import (
	"testing"

	"tandem/aggregator"
	"tandem/retrieval/passages"
)

const pump = "Building\n    make -C src\n    cp src/pump /usr/local/bin\nNeeds a C compiler.\n\nOperation\nTo empty the spool:\n    pump flush --all\nThe daemon may keep running. Show the version:\n    pump -V"

// A question how to do something is answered by the code below the heading or the line that says so, as it stands there.
func TestCodeBlock(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"How do I build pump?", "make -C src\ncp src/pump /usr/local/bin"},
		{"How can I compile the pump?", "make -C src\ncp src/pump /usr/local/bin"},
		{"What is the command to empty pump's spool?", "pump flush --all"},
		{"how to show the version of pump", "pump -V"},
		{"How do I uninstall pump?", ""},
		{"How do I empty the tank of the pump?", ""},
		{"How long does pump flush?", ""},
		{"Why do I build pump?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "pump", Text: pump})
		got := ""
		if from, to, ok := p.codeBlock(queryOf(c.question)); ok {
			got = dedented(p.text[from:to])
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// The lines of code are lines of the answer, but not in a part of several.
func TestCodeBlockAnswers(t *testing.T) {
	ps := []passages.Passage{{Title: "pump", Text: pump}}
	for question, want := range map[string]string{
		"How do I build pump?": "make -C src\ncp src/pump /usr/local/bin",
		"How do I build pump, and what is the command to empty its spool?": "make -C src; cp src/pump /usr/local/bin\npump flush --all",
	} {
		if got := answer(t, aggregator.Rule{Greedy: true}, open(t, config(0), question, ps)); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
