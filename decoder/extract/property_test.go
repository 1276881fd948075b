package extract

import (
	"testing"

	"tandem/retrieval/passages"
)

// A property is that of the heading above it.
func TestProperty(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Pump", Source: "pump.md", Text: "depth\n- Type: number of metres\n- Default: 4\n\ncolour\n- Type: name\n- Note: red is best"})
	for question, want := range map[string]string{
		"What type is the depth setting of the pump?": "number of metres", "type colour": "name", "What is the note of the depth?": "", "What is the type of the lid?": "",
		"What type is the red colour?": "", "What type?": "", "Why is the type of the depth a number?": "",
	} {
		got := ""
		if from, to, ok := p.property(question); ok {
			got = p.text[from:to]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
