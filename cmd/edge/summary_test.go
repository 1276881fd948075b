package main

import (
	"strings"
	"testing"

	"tandem/api"
)

// The words above texts that come close do not say whether these support an answer: nobody has checked that.
func TestHeading(t *testing.T) {
	for _, c := range []struct {
		part partJSON
		want string
	}{
		{partJSON{Text: "At nine."}, "also close:"},
		{partJSON{Text: "I don't know.", Unknown: true}, "nearest:"},
	} {
		if got := nearHeading(c.part); got != c.want {
			t.Errorf("%q: %s", c.part.Text, got)
		}
	}
}

// A sentence that is long is cut around what answers, at the ends of words.
func TestQuotedIsCut(t *testing.T) {
	plain := func(s string) string { return s }
	long := strings.Repeat("über words ", 100)
	for _, c := range []struct{ before, says, after, want string }{
		{"The fee is ", "8 euros", " a day.", "“The fee is 8 euros a day.” – Fees, device"},
		{long, "8 euros", " a day.", "“… words " + strings.Repeat("über words ", 21) + "8 euros a day.” – Fees, device"},
		{"The fee is ", "8 euros", " " + strings.TrimSpace(long), "“The fee is 8 euros " + strings.Repeat("über words ", 21) + "über …” – Fees, device"},
		{strings.Repeat("x", 4<<20), "8", strings.Repeat("é", 1<<20), "“…" + strings.Repeat("x", mostAside) + "8" + strings.Repeat("é", mostAside) + "…” – Fees, device"},
	} {
		text := c.before + c.says + c.after
		got := quoteOf(api.Citation{Title: "Fees", Side: "device", Text: text, From: len(c.before), To: len(c.before) + len(c.says)}, plain)
		if got != c.want {
			t.Errorf("%.400q\nwant\n%.400q", got, c.want)
		}
	}
}
