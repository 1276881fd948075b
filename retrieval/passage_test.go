package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSmallDocumentIsOnePassage(t *testing.T) {
	doc, reason := parse(t.Context(), "cabin.md", []byte("# Lake cabin\n\nThe password is tumbral-5827.\n\n## Keys\n\n- Spare key: blue tin\n- Door code: 4471\n"))
	if reason != "" {
		t.Fatal(reason)
	}
	ps := doc.passages("cabin.md", sizesOf(64))
	if len(ps) != 1 || ps[0].Title != "Lake cabin" || ps[0].Text != "The password is tumbral-5827.\nKeys\n- Spare key: blue tin\n- Door code: 4471" {
		t.Errorf("%q", ps)
	}
}

func TestSectionsBecomeTitles(t *testing.T) {
	sentence := "This is a sentence of just eight words. "
	text := "# House\n\n" + strings.Repeat(sentence, 6) + "\n\n## Boiler room\n\n" + strings.Repeat(sentence, 14) + "\n\n## Attic\n\nEnd of it.\n"
	doc, _ := parse(t.Context(), "house.md", []byte(text))
	var titles []string
	for i, p := range doc.passages("house.md", sizesOf(64)) {
		titles = append(titles, p.Title)
		if strings.HasSuffix(p.Text, "Boiler room") || strings.HasSuffix(p.Text, "Attic") {
			t.Errorf("passage %d ends in a heading: %q", i, p.Text)
		}
	}
	if want := []string{"House", "House: Boiler room", "House"}; !slices.Equal(titles, want) && !slices.Equal(titles, append(want[:2:2], want[1:]...)) {
		t.Errorf("titles %q", titles)
	}
}

func TestSplitSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"Mr. Oduya has it. The fee is 1.50 euros. See Dr. A. Hale at St. Olan!": {"Mr. Oduya has it.", "The fee is 1.50 euros.", "See Dr. A. Hale at St. Olan!"},
		"It opens at 9:30": {"It opens at 9:30"},
		"The fee is 14 euros. 8 pounds is the deposit. £3 more.":       {"The fee is 14 euros.", "8 pounds is the deposit.", "£3 more."},
		"Mail to Ada. ada@inn.example is new. Is it in chap. 5 of it?": {"Mail to Ada. ada@inn.example is new.", "Is it in chap. 5 of it?"},
		"It weighs approx. 5 kg, opens at 6 p.m. 30 people come.":      {"It weighs approx. 5 kg, opens at 6 p.m. 30 people come."},
		"So do I. We go.": {"So do I.", "We go."},
		"":                nil,
	} {
		if got := splitSentences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestPassageProperties: no word is lost or invented, sizes are bounded, no heading is stranded, IDs are
// distinct and stable.
func TestPassageProperties(t *testing.T) {
	n := 0
	fresh := func() string { n++; return fmt.Sprintf("w%d", n) }
	rapid.Check(t, func(t *rapid.T) {
		doc := document{title: "Title"}
		var all []string
		for range rapid.IntRange(0, 12).Draw(t, "blocks") {
			kind := rapid.SampledFrom([]blockKind{paragraph, paragraph, listLine, heading}).Draw(t, "kind")
			size := rapid.IntRange(1, 100).Draw(t, "size")
			if kind == heading {
				size = size%5 + 1
			}
			var b strings.Builder
			for i := range size {
				w := fresh()
				if kind == paragraph && rapid.IntRange(0, 9).Draw(t, "stop") == 0 {
					w += "."
				}
				if i == 0 {
					w = "W" + w
				}
				all = append(all, w)
				b.WriteString(w + " ")
			}
			doc.add(kind, b.String())
		}
		ps := doc.passages("source", sizesOf(64))
		var got []string
		ids := make(map[string]bool)
		for i, p := range ps {
			if w := words(p.Text); w > sizesOf(64).whole+maxHeading {
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
		// Words of headings that nothing follows may go: they say nothing.
		for _, b := range doc.blocks {
			for w := range strings.FieldsSeq(b.text) {
				if b.kind != heading && !seen[w] {
					t.Fatalf("%q was lost", w)
				}
			}
		}
		again := doc.passages("source", sizesOf(64))
		if !slices.Equal(ps, again) {
			t.Fatal("not the same twice")
		}
	})
}

func isHeading(d document, line string) bool {
	return slices.ContainsFunc(d.blocks, func(b block) bool { return b.kind == heading && b.text == line })
}

// TestPassageSize: long prose is cut to about 64.
func TestPassageSize(t *testing.T) {
	doc := document{title: "t"}
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "word%d ", i)
		if i%9 == 8 {
			b.WriteString("end. Next ")
		}
	}
	doc.add(paragraph, b.String())
	ps := doc.passages("s", sizesOf(64))
	for i, p := range ps[:len(ps)-1] {
		if w := words(p.Text); w < 50 || w > 64 {
			t.Errorf("passage %d has %d words", i, w)
		}
	}
	// text without spaces is bounded, too
	doc = document{title: "t"}
	doc.add(paragraph, strings.Repeat("長い文章", 5000))
	for _, p := range doc.passages("s", sizesOf(64)) {
		if n := utf8.RuneCountInString(p.Text); n > (64+1)*longWord || !utf8.ValidString(p.Text) {
			t.Errorf("%d characters in a passage", n)
		}
	}
}

func TestPassageIDSeparatesFields(t *testing.T) {
	if passageID(Passage{Source: "a", Title: "bc"}) == passageID(Passage{Source: "ab", Title: "c"}) {
		t.Error("fields run into each other")
	}
}
