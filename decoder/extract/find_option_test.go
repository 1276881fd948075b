package extract

import (
	"testing"

	"tandem/aggregator"
	"tandem/retrieval/passages"
)

const knobs = "Options\n- --depth N: how deep to look. Default: 12.\n- -k, --keep-days: days until a copy goes.\n- --cache DIR: where copies lie (default /tmp/kiln); made at the start.\n" +
	"max_rows (integer, default 500): Rows of a page. More are cut off.\nnick (no default): Your name.\n" +
	"- LANES_MAX - How many run at a time. The default is 3.\n" +
	"The retry limit defaults to 3 attempts. Two sizes matter: block_size (default 4k), and page_size (default 64k)."

// A question for a default is answered by the value that the option's own entry gives, and one for what an option does by what
// stands after its name.
func TestOptions(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "kiln", Text: knobs})
	for _, c := range []struct{ question, want string }{
		{"What is the default of --depth?", "12"},
		{"Which cache directory does kiln use by default?", ""}, // no line says directory
		{"default --cache", "/tmp/kiln"},
		{"What is the default value of max_rows in kiln?", "500"},
		{"What's the default nick?", "no default"},
		{"What is the default retry limit?", "3 attempts"},
		{"default page_size", "64k"},
		{"default block_size", "4k"},
		{"What is the default of --keep-days?", ""},
		{"What does --keep-days do?", "days until a copy goes."},
		{"What does the option -k do?", "days until a copy goes."},
		{"What does max_rows set?", "Rows of a page. More are cut off."},
		{"What does the nick option do?", "Your name."},
		{"What is the default of LANES_MAX?", "3"},
		{"What does --colour do?", ""},
		{"What does kiln do?", ""},
	} {
		from, to, ok := p.whatItDoes(queryOf(c.question))
		if !ok {
			from, to, _ = p.defaultValue(queryOf(c.question))
		}
		if got := p.text[from:to]; got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// Nobody knows the default of an option whose entry gives none, though others have one.
func TestNoDefault(t *testing.T) {
	ps := []passages.Passage{{Title: "kiln", Text: knobs}}
	for question, want := range map[string]string{"What is the default of --keep-days?": Unknown, "What is the default of --depth?": "12"} {
		if got := answer(t, aggregator.Rule{Greedy: true}, open(t, config(0), question, ps)); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}

// What an option does may stand in a table, and what a part is for below its heading.
func TestWhatItDoes(t *testing.T) {
	for _, c := range []struct{ title, text, question, want string }{
		{"Pump", "Name | Type | Description\nidleTime | int | How long it rests.\nmaxLoad | int | What it bears.", "What does maxLoad do?", "What it bears."},
		{"Pump", "Name | Type\nidleTime | int", "What does idleTime do?", ""},
		{"Pump", "The left lever\nIt opens the lid.\n\nThe right lever\nIt turns the fan. It is red.", "What is the right lever of the pump for?", "It turns the fan. It is red."},
		{"Pump", "The left lever\nIt opens the lid.\n\nThe right lever\nIt turns the fan.", "What is the third lever for?", ""},
		{"Pump: The right lever", "It turns the fan.", "What is the right lever for?", "It turns the fan."},
		{"Pump: The right lever", "It turns the fan.", "What is the third lever for?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		got := ""
		if from, to, ok := p.whatItDoes(queryOf(c.question)); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}
