package documents

import (
	"strings"
	"testing"
)

// Lines that a program wrapped are joined, at any width of mail programs; lines that someone broke are not, though they are
// long and the next begins in lower case.
func TestWrappedLines(t *testing.T) {
	const mail = "Thank you for the offer that came on Monday. We have talked about it in the board, and most of us think that the " +
		"roof of the boat house should be done first, because rain gets in behind the stove. Could Mr. Baumgärtner come on 4 November, or " +
		"on one of the days after that? The key hangs at Renate Lindqvist's, who lives across the road in number 12."
	for width := 62; width <= 90; width += 4 {
		text := "Dear Ada,\n" + wrapped(mail, width) + "\n\n" + wrapped(mail, width) + "\n\nKind regards\nZoé Picard\nreception\n"
		doc, err := parseText(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := show(doc)
		if strings.Count(got, "\np "+mail) != 2 || !strings.HasSuffix(got, "\np Zoé Picard\np reception") {
			t.Errorf("at %d:\n%s", width, got)
		}
	}
	const notes = "Cat Müsli gets 2 x 60 g a day, vet: Dra. Pilar Echeverría, 0171 555 0199\n" +
		"electrician Hr. Baumgärtner, came on 4 Nov 2025, cost 186,40 €\nAunt Renate's birthday: 29 May\n" +
		"bike: blue, frame number WG 39058, insured with the\nHarbour Mutual since 2021\nwifi of the cabin tumbral-5827\n会议在北京饭店\n地点是三楼\n"
	want := "title \n" + "p " + strings.Replace(strings.ReplaceAll(strings.TrimSuffix(notes, "\n"), "\n", "\np "), "the\np Harbour", "the Harbour", 1)
	if got := show(textDocument(splitLines(notes), true)); got != want {
		t.Errorf("notes:\n%s\nwant\n%s", got, want)
	}
}

// wrapped breaks the lines of a text as mail programs do.
func wrapped(text string, width int) string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && fits(line, word, width) {
			line += " " + word
			continue
		}
		if line != "" {
			out = append(out, line)
		}
		line = word
	}
	return strings.Join(append(out, line), "\n")
}

// A line that ends with a word such as "by" goes on in the next, whatever that begins with. A short note may end so.
func TestLinesThatCannotEnd(t *testing.T) {
	const text = "Rooms\n\nThe keys for the cellar are kept by the caretaker in\nRoom 12 of the annexe. The costs are put at\n£400 in total.\n\n" +
		"Der nächste Termin zur Ablesung ist am Freitag, dem\n11. Dezember, um neun.\n\nSwitch the lights on\nClose the windows\n"
	const want = "title Rooms\np The keys for the cellar are kept by the caretaker in Room 12 of the annexe. The costs are put at £400 in total.\n" +
		"p Der nächste Termin zur Ablesung ist am Freitag, dem 11. Dezember, um neun.\np Switch the lights on\np Close the windows"
	if got := show(textDocument(splitLines(text), true)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
