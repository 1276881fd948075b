package textline

import (
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for what, c := range map[string]struct {
		is      func(string) bool
		yes, no []string
	}{
		"an item":               {IsItem, []string{"- milk", "1. first", "• bread", "[ ] eggs", "[x] oil", "☑ tea", "b) oil"}, []string{"-milk", "B) oil", "b)oil", "[ ]eggs", "[sic] oil", "20260. was", "milk - bread"}},
		"a label":               {IsLabel, []string{"Fee: 8 euros", "Wifi password: x-1"}, []string{"Fee:", "The fee. It is: 8", "Note: " + strings.Repeat("word ", 13)}},
		"a stamped line":        {IsStamped, []string{"[03.03.24, 18:02] Sven: the water is back", "2024-03-03 18:02 started", "(a) Any person may join."}, []string{"3 March, 18:02", "[sic] the water", "(see above) Any person", "12.5 km"}},
		"a title":               {LooksLikeTitle, []string{"The old mill", "Opening hours: overview"}, []string{"It is open.", "The orchid is kept under the stairs", "Ada, Ben,"}},
		"a marked heading":      {IsMarked, []string{"PRICES", "§ 3 Membership"}, []string{"Prices", "IBAN DE12 5205 0353", "STOP!"}},
		"a figure":              {IsFigure, []string{"9:30", "12 km", "ada@inn.example"}, []string{"Monday", "Room 2 of the mill"}},
		"lower case":            {BeginsLower, []string{"and so on", "über alles"}, []string{"And", "3 km"}},
		"the end of a sentence": {EndsSentence, []string{"It rains.", "\"Why?\"", "namely:"}, []string{"It rains", "Ada, Ben,"}},
		"an open end":           {Binds, []string{"the key of the mill by the river is kept by"}, []string{"Lights on", "the key of the mill by the river is kept"}},
		"the mark of an item":   {ListMark.MatchString, []string{"-", "a)", "(ii)", "3.", "1.2"}, []string{"3", "mill", "12 km"}},
	} {
		for _, line := range c.yes {
			if !c.is(line) {
				t.Errorf("%q is not %s", line, what)
			}
		}
		for _, line := range c.no {
			if c.is(line) {
				t.Errorf("%q is %s", line, what)
			}
		}
	}
	for text, want := range map[string]string{"2": "²", "10": "¹⁰", " ": " ", "th": "th"} {
		if got := Raised(text); got != want {
			t.Errorf("%q raised is %q, want %q", text, got, want)
		}
	}
}

func TestHyphens(t *testing.T) {
	c := Compounds{}
	c.Add("a well-known mill")
	for _, words := range []struct{ last, next, want string }{
		{"infor", "mation.", ""}, {"well", "known,", "-"}, {"lunch", "and", "- "}, {"Jean", "Pierre", "-"}, {"e", "mail", "-"}, {"20", "30", "-"}, {"state-of", "the", "-"},
	} {
		if got := c.Hyphen(words.last, words.next); got != words.want {
			t.Errorf("%q between %q and %q", got, words.last, words.next)
		}
	}
	if got := c.Join([]string{"old - or young -", "- of the vil\u2010", "lage --", "then", "gone"}); got != "old - or young - - of the village -- then gone" {
		t.Errorf("%q", got)
	}
}
