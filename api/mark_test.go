package api

import "testing"

// A quote is shown without the mark of the list in which it stands, but with a number that belongs to the text.
func TestWithoutMark(t *testing.T) {
	for text, want := range map[string]string{
		"- The key is in the tin.":    "The key is in the tin.",
		"  * The key is in the tin.":  "The key is in the tin.",
		"• The key":                   "The key",
		"4. Bonfires are forbidden.":  "Bonfires are forbidden.",
		"12) Shed. It is locked.":     "Shed. It is locked.",
		"3. April. Hive 1 was alive.": "3. April. Hive 1 was alive.",
		"3. Oktober ist Feiertag":     "3. Oktober ist Feiertag",
		"2. Stock links":              "2. Stock links",
		"2. Reihe: Familie Müller":    "2. Reihe: Familie Müller",
		"3. eggs":                     "3. eggs",
		"-5 degrees":                  "-5 degrees",
		"10.30 is tea":                "10.30 is tea",
		"- ":                          "- ",
		"":                            "",
	} {
		if c := (Citation{Text: text, To: len(text)}).WithoutMark(); c.Text != want || c.From != 0 || c.To != len(want) {
			t.Errorf("%q: %+v, want %q", text, c, want)
		}
	}
	c := Citation{Text: "- The key is in the tin.", From: 16, To: 23}.WithoutMark()
	if c.Text[c.From:c.To] != "the tin" {
		t.Errorf("%+v", c)
	}
	if c := (Citation{Text: "4. Bonfires", To: 2}).WithoutMark(); c.Text != "4. Bonfires" {
		t.Errorf("the number answers: %+v", c)
	}
}
