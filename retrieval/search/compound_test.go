package search

import (
	"testing"
	"testing/fstest"

	"golang.org/x/text/unicode/norm"

	"tandem/retrieval/passages"
)

// A word with accents is found, whichever way the file or the question spells it.
func TestAccentsInEitherForm(t *testing.T) {
	const text, word = "Die Bäckerei öffnet um sieben Uhr.", "Bäckerei"
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		x := memoryOf(t, fstest.MapFS{"a.txt": {Data: form.Bytes([]byte(text))}, "b.txt": {Data: []byte("Das Museum ist alt.")}})
		for _, asked := range []norm.Form{norm.NFC, norm.NFD} {
			finds(t, x, asked.String(word), "a.txt")
		}
	}
	if shared := SharedWords(norm.NFD.String(word), passages.Passage{Text: text}); len(shared) != 1 {
		t.Errorf("shared: %q", shared)
	}
}
