package passages

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tandem/retrieval/documents"
	"tandem/retrieval/internal/english"
)

func TestSmallDocumentIsOnePassage(t *testing.T) {
	doc, err := documents.Parse(t.Context(), "cabin.md", []byte("# Lake cabin\n\nThe password is tumbral-5827.\n\n## Keys\n\n- Spare key: blue tin\n- Door code: 4471\n"))
	if err != nil {
		t.Fatal(err)
	}
	ps := cutSentences(doc, "cabin.md", 64)
	if len(ps) != 1 || ps[0].Title != "Lake cabin" || ps[0].Text != "The password is tumbral-5827.\nKeys\n- Spare key: blue tin\n- Door code: 4471" {
		t.Errorf("%q", ps)
	}
}

func TestSectionsBecomeTitles(t *testing.T) {
	sentence := "This is a sentence of just eight words. "
	text := "# House\n\n" + strings.Repeat(sentence, 6) + "\n\n## Boiler room\n\n" + strings.Repeat(sentence, 14) + "\n\n## Attic\n\nEnd of it.\n"
	doc, _ := documents.Parse(t.Context(), "house.md", []byte(text))
	var titles []string
	for i, p := range cutSentences(doc, "house.md", 64) {
		titles = append(titles, p.Title)
		if strings.HasSuffix(p.Text, "Boiler room") || strings.HasSuffix(p.Text, "Attic") {
			t.Errorf("passage %d ends in a heading: %q", i, p.Text)
		}
	}
	if want := []string{"House", "House: Boiler room", "House"}; !slices.Equal(titles, want) && !slices.Equal(titles, append(want[:2:2], want[1:]...)) {
		t.Errorf("titles %q", titles)
	}
}

// Cutting loses and invents no word, bounds sizes, strands no heading, and gives distinct IDs that are the same each time.
func TestPassageProperties(t *testing.T) {
	n := 0
	fresh := func() string { n++; return fmt.Sprintf("w%d", n) }
	rapid.Check(t, func(t *rapid.T) {
		doc := documents.Document{Title: "Title"}
		var all []string
		for range rapid.IntRange(0, 12).Draw(t, "blocks") {
			kind := rapid.SampledFrom([]documents.Kind{documents.Paragraph, documents.Paragraph, documents.Line, documents.Heading}).Draw(t, "kind")
			size := rapid.IntRange(1, 100).Draw(t, "size")
			if kind == documents.Heading {
				size = size%5 + 1
			}
			var b strings.Builder
			for i := range size {
				w := fresh()
				if kind == documents.Paragraph && rapid.IntRange(0, 9).Draw(t, "stop") == 0 {
					w += "."
				}
				if i == 0 {
					w = "W" + w
				}
				all = append(all, w)
				b.WriteString(w + " ")
			}
			doc.Add(kind, b.String())
		}
		ps := cutSentences(doc, "source", 64)
		var got []string
		ids := make(map[string]bool)
		for i, p := range ps {
			if w := english.CountWords(p.Text); w > sizesOf(64).whole+documents.MaxHeading {
				t.Fatalf("%d words in %q", w, p.Text)
			}
			if ids[p.ID] {
				t.Fatalf("ID %s twice", p.ID)
			}
			ids[p.ID] = true
			lines := strings.Split(p.Text, "\n")
			if last := lines[len(lines)-1]; i < len(ps)-1 && isHeading(doc, last) {
				t.Fatalf("stranded heading %q", last)
			}
			got = append(got, strings.Fields(strings.TrimPrefix(p.Title, "Title"))...)
			got = append(got, strings.Fields(p.Text)...)
		}
		want := make(map[string]bool)
		for _, w := range all {
			want[w] = true
		}
		seen := make(map[string]bool)
		for _, w := range got {
			if w != ":" && !want[w] {
				t.Fatalf("%q was invented", w)
			}
			seen[w] = true
		}
		// Headings without text below them may be dropped.
		for _, b := range doc.Blocks {
			for w := range strings.FieldsSeq(b.Text) {
				if b.Kind != documents.Heading && !seen[w] {
					t.Fatalf("%q was lost", w)
				}
			}
		}
		again := cutSentences(doc, "source", 64)
		if !slices.Equal(ps, again) {
			t.Fatal("cutting twice gives different passages")
		}
	})
}

func isHeading(d documents.Document, line string) bool {
	return slices.ContainsFunc(d.Blocks, func(b documents.Block) bool { return b.Kind == documents.Heading && b.Text == line })
}

// Long prose is cut into passages of about the target length.
func TestPassageSize(t *testing.T) {
	doc := documents.Document{Title: "t"}
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "word%d ", i)
		if i%9 == 8 {
			b.WriteString("end. Next ")
		}
	}
	doc.Add(documents.Paragraph, b.String())
	ps := cutSentences(doc, "s", 64)
	for i, p := range ps[:len(ps)-1] {
		if w := english.CountWords(p.Text); w < 50 || w > 64 {
			t.Errorf("passage %d has %d words", i, w)
		}
	}
	// text without spaces is bounded, too
	doc = documents.Document{Title: "t"}
	doc.Add(documents.Paragraph, strings.Repeat("長い文章", 5000))
	for _, p := range cutSentences(doc, "s", 64) {
		if n := utf8.RuneCountInString(p.Text); n > (64+1)*english.LongWord || !utf8.ValidString(p.Text) {
			t.Errorf("%d characters in a passage", n)
		}
	}
}

func TestPassageIDSeparatesFields(t *testing.T) {
	if passageID(Passage{Source: "a", Title: "bc"}) == passageID(Passage{Source: "ab", Title: "c"}) {
		t.Error("fields run into each other")
	}
}

// Rows of a table become lines without bars.
func TestRowLine(t *testing.T) {
	for row, want := range map[string]string{"Fee | 8 euros": "Fee: 8 euros", "Fee: | 8 euros": "Fee: 8 euros", "a | b |  | c": "a, b, c", "| a": "a"} {
		if got := rowLine(row); got != want {
			t.Errorf("%q: %q", row, got)
		}
	}
}
