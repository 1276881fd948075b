package extract

import (
	"testing"

	"tandem/decoder"
	"tandem/retrieval/passages"
)

const kilnFAQ = "Where are the shards stored?\n- in summer: the shed\n- in winter: the cellar\n\nWell, but how do I make a glaze in a bucket?\nStir ash into water.\n\nHow can I upgrade Kiln?\n" +
	"It updates itself. On Linux, run the script:\n" + passages.CodeMark + "sh get.sh\n\nHow can I pay?\nAsk Ada.\nIt is hot. Why wait for the opening? Because it cracks."

// A question in words that stand for the document's is answered below that, in the line that has what is asked besides.
func TestAskedAlike(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Questions", Source: "kiln.md", Text: kilnFAQ})
	for question, want := range map[string]string{
		"Where does Kiln keep the shards in winter?":     "in winter: the cellar",
		"Where do you keep the shards in spring?":        "",
		"When do you keep the shards in winter?":         "",
		"How can I create a glaze in a bucket?":          "Stir ash into water.",
		"How can I create a blue glaze in a mud bath?":   "",
		"How do I update Kiln on Linux?":                 "On Linux, run the script:",
		"Why should I wait for the opening of the kiln?": "Because it cracks.",
		"How can I complain?":                            "",
	} {
		got := ""
		if from, to, ok := p.ownQuestionAlike(question, config(0).Reader.Related); ok {
			got = p.text[from:to]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}

// A sentence that does not stand by itself is said with the one before, the code or the items that it introduces.
func TestAround(t *testing.T) {
	text := "The valve is red. It opens at 3 bar. Ada fitted it.\nTo open it, run:\n" + passages.CodeMark + "valve -o\n\nTools of the trade:\n- a torch\n- gloves"
	p := config(0).passage(passages.Passage{Title: "Valve", Text: text})
	for _, c := range []struct {
		at   string
		form form
		want string
	}{
		{"opens", sentence, "The valve is red. It opens at 3 bar."},
		{"Ada", sentence, "Ada fitted it."},
		{"To open", sentence, "To open it, run:\nvalve -o"},
		{"Tools", list, "Tools of the trade:\n- a torch\n- gloves"},
		{"Tools", sentence, "Tools of the trade:"},
	} {
		if got := sayAt(p, c.at, c.form); got != c.want {
			t.Errorf("%s: %q, want %q", c.at, got, c.want)
		}
	}
}

// Where there is no room for the sentence before, the sentence is said without it.
func TestAntecedentTooLong(t *testing.T) {
	d := open(t, Config{Reader: config(0).Reader, Tokenizer: config(0).Tokenizer, Scorer: config(0).Scorer, MaxTokens: 24}, "Why?", nil)
	const said = "It opens at 3 bar."
	q := decoder.Quote{Text: said, From: 12, To: 17}
	for text, want := range map[string]string{said: said, "The valve of the great red boiler in the cellar below the old mill is of brass and of iron. " + said: said} {
		if got := d.spell(reason, []weighed{{text: text, p: 1, quote: q}}, nil)[0].text; got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
