package documents

import (
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Letters with accents are one character each, in the text and in the title, however the file and its name spell them.
func TestAccentsAreComposed(t *testing.T) {
	for name, text := range map[string]string{
		"Töpferei.txt": "Die Bäckerei öffnet um sieben.\n\nGaststätte: Süßholz\n",
		"été.md":       "# Café\n\n| Plat | Prix |\n|---|---|\n| pâté | 4 € |\n\n    naïve()\n",
	} {
		want, err := Parse(t.Context(), name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		apart := norm.NFD.String(text)
		got, err := Parse(t.Context(), norm.NFD.String(name), []byte(apart))
		if err != nil || show(got) != show(want) || utf8.RuneCountInString(apart) == utf8.RuneCountInString(text) {
			t.Errorf("%+q, want %+q; %v", show(got), show(want), err)
		}
	}
}
