package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"tandem/api"
	"tandem/cmd/internal/clitest"
)

// Where nobody knows, the likeliest sentence of a passage stands alone, and what is around it in the line below.
func TestNearestSentenceComesFirst(t *testing.T) {
	h := newHome(t)
	if err := os.Mkdir(filepath.Join(h.Dir, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.Write(t, h.Dir, "notes/notes.txt", "The boiler was serviced in May.\nThe plumber left his ladder behind the shed.\nBins go out on Thursdays.")
	const question = "Who rang about the ladder on Sunday?"
	got := h.ask("--notes", "notes", "--local-only", question)
	if !got.Parts[0].Unknown {
		t.Fatalf("%q", got.Answer)
	}
	_, stderr, err := h.Run("ask", "--notes", "notes", "--local-only", question)
	if err != nil {
		t.Fatal(err)
	}
	_, nearest, _ := strings.Cut(stderr, "nearest:\n")
	lines := strings.Split(nearest, "\n")
	if len(lines) < 2 || lines[0] != "  “The plumber left his ladder behind the shed.” – Notes, device" ||
		lines[1] != "    The boiler was serviced in May. / … / Bins go out on Thursdays." {
		t.Errorf("%s", stderr)
	}
}

// A heading or a fragment is shown with what follows it, and an item without its mark.
func TestNearestFragments(t *testing.T) {
	const text = "2. Rents. A plot costs £48.\n3. Water. The mains are off in winter. Hosepipes are forbidden.\nOpening hours\nMon to Fri, 9 to 17\n- tent\n- boots"
	for sentence, want := range map[string]string{
		"3. Water.":                "“Water. The mains are off in winter.” – Minutes, device",
		"Opening hours":            "“Opening hours / Mon to Fri, 9 to 17” – Minutes, device",
		"- tent":                   "“tent” – Minutes, device",
		"2. Rents.":                "“Rents. A plot costs £48.” – Minutes, device",
		"- boots":                  "“boots” – Minutes, device",
		"Hosepipes are forbidden.": "“Hosepipes are forbidden.” – Minutes, device",
	} {
		from := strings.Index(text, sentence)
		c := api.Citation{Side: "device", Title: "Minutes", Text: text, From: from, To: from + len(sentence)}
		_, near := quotesOf(partJSON{Unknown: true, Citations: []api.Citation{c}}, 80, func(s string) string { return s })
		if len(near) != 2 || near[0] != "  "+want {
			t.Errorf("%s: %q, want %s", sentence, near, want)
		}
	}
}

// What is around a sentence takes three lines at most and has no marks of items. The sentence is whole.
func TestNearestIsShort(t *testing.T) {
	items := strings.Repeat("- a tent for four\n- boots, two pairs\n", 12)
	const sentence = "The plumber left his ladder behind the shed, because the van was full, and nobody has asked for it since."
	text := items + sentence + "\n" + items + "The end."
	from := strings.Index(text, sentence)
	c := api.Citation{Side: "device", Title: "Notes", Text: text, From: from, To: from + len(sentence)}
	for _, columns := range []int{40, 80, 200} {
		_, near := quotesOf(partJSON{Unknown: true, Citations: []api.Citation{c}}, columns, func(s string) string { return s })
		if len(near) != 2 || !strings.Contains(near[0], sentence) {
			t.Fatalf("%q", near)
		}
		around := near[1]
		if n := utf8.RuneCountInString(around); n > 3*columns || n < 3*columns/2 || strings.Contains(around, "- ") ||
			!strings.Contains(around, "boots, two pairs / … / a tent for four / boots") {
			t.Errorf("%d columns: %d: %s", columns, n, around)
		}
	}
}
