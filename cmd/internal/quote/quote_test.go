package quote

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tandem/api"
)

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
		_, near := Of(api.Part{Unknown: true, Citations: []api.Citation{c}}, 80, func(s string) string { return s })
		if len(near) != 2 || near[0] != "  "+want {
			t.Errorf("%s: %q, want %s", sentence, near, want)
		}
	}
}

// A short sentence is shown with the label of its line and the heading above it.
func TestNearestOfWhom(t *testing.T) {
	const text = "Dr. Osei, dentist.\nLena: penicillin allergy. Blood group A negative. Nuts are fine.\nShoe size 38.\n\nTom\nInsured with Nord.\n- Allergies: none. Blood group unknown, because he never went to the hospital to have it taken."
	for sentence, want := range map[string]string{
		"Blood group A negative.":   "“Lena: … Blood group A negative.” – Medical, device",
		"Lena: penicillin allergy.": "“Lena: penicillin allergy.” – Medical, device",
		"Shoe size 38.":             "“Shoe size 38.” – Medical, device",
		"Insured with Nord.":        "“Insured with Nord.” – Medical: Tom, device",
		"Blood group unknown, because he never went to the hospital to have it taken.": "“Blood group unknown, because he never went to the hospital to have it taken.” – Medical, device",
	} {
		from := strings.Index(text, sentence)
		c := api.Citation{Side: "device", Title: "Medical", Text: text, From: from, To: from + len(sentence)}
		_, near := Of(api.Part{Unknown: true, Citations: []api.Citation{c}}, 80, func(s string) string { return s })
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
		_, near := Of(api.Part{Unknown: true, Citations: []api.Citation{c}}, columns, func(s string) string { return s })
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

// A row of a table is shown with the name of the column that answers, which is the document's and cannot command the terminal.
func TestQuotedColumn(t *testing.T) {
	c := api.Citation{Title: "Fees", Side: "device", Text: "Learn to row | 135 | 0", From: 15, To: 18, Column: "Fee\x1b[2J EUR", Weight: 1}
	say, _ := Of(api.Part{Text: "135", Citations: []api.Citation{c}}, 80, strings.ToUpper)
	if want := "“Learn to row | 135 | 0” (column: " + OneLine(c.Column) + ") – Fees, device"; len(say) != 1 || say[0] != want || strings.Contains(say[0], "\x1b") {
		t.Errorf("%q, want %q", say, want)
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
