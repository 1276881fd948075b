package passages

import (
	"testing"
	"unicode/utf8"

	"tandem/retrieval/documents"
	"tandem/retrieval/internal/english"
)

// FuzzCut checks that passages are bounded and readable whatever the file holds.
func FuzzCut(f *testing.F) {
	for name, text := range map[string]string{
		"a.txt":  "Title\n\nText. More.\n- a\n  b\nAnna: it is here.\nold mill stone house garden wall",
		"a.md":   "# T\n\n*a* [b](c)\n## S\nThe mill is old. Its owner is Rita.\n- Fee: 8",
		"a.html": "<title>a</title><p>b<br>c: d<br>e<ul><li><p>x<li>y",
	} {
		f.Add(name, []byte(text), 4)
		f.Add(name, []byte(text), 64)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte, words int) {
		if len(name) > 64 || words < 1 || words > MaxWords {
			return
		}
		_, ps, err := FromFile(t.Context(), name, data, words)
		if err != nil {
			return
		}
		limits, window := sizesOf(words), max(words*longOf, minLong)+longestLead
		for _, p := range ps {
			if p.Text == "" || !utf8.ValidString(p.Text) || !utf8.ValidString(p.Title) {
				t.Fatalf("passage %q", p)
			}
			most := max(limits.most, limits.whole, limits.unit, window) + documents.MaxHeading
			if n, title := english.CountWords(p.Text), english.CountWords(p.Title); n > most || title > documents.MaxTitle+documents.LowestLevel*documents.MaxHeading+2 {
				t.Fatalf("%d words in %q, %d in %q", n, p.Text, title, p.Title)
			}
		}
	})
}
