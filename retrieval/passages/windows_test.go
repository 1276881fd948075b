package passages

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/retrieval/documents"
	"tandem/retrieval/internal/english"
)

// prose returns n sentences of ten words.
func prose(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Sentence number %d has neither more nor less than words. ", i)
	}
	return b.String()
}

func cutText(t *testing.T, name, text string, words int) []Passage {
	t.Helper()
	_, ps, err := FromFile(t.Context(), name, []byte(text), words)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// A short document is one window, with its headings as lines.
func TestShortDocumentIsOneWindow(t *testing.T) {
	ps := cutText(t, "cabin.md", "# Lake cabin\n\nThe password is tumbral-5827.\n\n## Keys\n\n- Spare key: blue tin\n- Door code: 4471\n", DefaultWords)
	if len(ps) != 1 || ps[0].Title != "Lake cabin" || ps[0].Text != "The password is tumbral-5827.\n\nKeys\n- Spare key: blue tin\n- Door code: 4471" {
		t.Errorf("%q", ps)
	}
}

// Messages of a mailbox share no window, however short they are.
func TestMessagesStayApart(t *testing.T) {
	const box = "From ada@x Mon May  6 10:00:00 2024\nSubject: Keys\nFrom: Ada\n\nThe code is 4471.\n\nFrom ben@x Tue May  7 10:00:00 2024\nSubject: Boat\nFrom: Ben\n\nThe code is 5827.\n"
	var titles []string
	for _, p := range cutText(t, "inbox.mbox", box, DefaultWords) {
		titles = append(titles, p.Title)
		if strings.Contains(p.Text, "4471") && strings.Contains(p.Text, "5827") {
			t.Errorf("both messages in %q", p.Text)
		}
	}
	if want := []string{"Inbox: Keys, from Ada", "Inbox: Boat, from Ben"}; !slices.Equal(titles, want) {
		t.Errorf("titles %q, want %q", titles, want)
	}
}

// The place of what an attachment says names the attachment, however short the mail is.
func TestAttachmentsAreNamed(t *testing.T) {
	const mail = "Subject: Roof\nFrom: Ada\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSee below.\n" +
		"--b\nContent-Type: text/plain; name=offer.txt\nContent-Disposition: attachment\n\nIt costs 4500 euros.\n" +
		"--b\nContent-Type: text/csv; name=fees.csv\n\nwho,fee\nguests,7 euros\n--b--\n"
	var got []string
	for _, p := range cutText(t, "a.eml", mail, DefaultWords) {
		got = append(got, Place(p.Title))
	}
	if want := []string{"Roof, from Ada", "Roof, from Ada: offer.txt", "Roof, from Ada: fees.csv"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The headings above a window are in its title, each below the one of a higher level.
func TestHeadingPath(t *testing.T) {
	text := "# House\n\n" + prose(6) + "\n\n## Cellar\n\n" + prose(6) + "\n\n### Boiler\n\n" + prose(6) + "\n\n## Attic\n\n" + prose(6)
	var titles []string
	for _, p := range cutText(t, "house.md", text, DefaultWords) {
		titles = append(titles, p.Title)
	}
	if want := []string{"House", "House: Cellar", "House: Cellar: Boiler", "House: Attic"}; !slices.Equal(titles, want) {
		t.Errorf("%q", titles)
	}
}

// No window ends between a question and the answer below it.
func TestQuestionsKeepAnswers(t *testing.T) {
	for _, form := range []string{"Q: May I use %d?\n\nA: %s\n\n", "- May I use %d?\n- %s\n"} {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, form, i, strings.TrimSpace(prose(i%5+1)))
		}
		ps := cutText(t, "faq.md", b.String(), DefaultWords)
		if len(ps) < 4 {
			t.Errorf("%d windows", len(ps))
		}
		for _, p := range ps {
			if strings.HasSuffix(p.Text, "?") {
				t.Errorf("a window ends %q", p.Text[max(0, len(p.Text)-40):])
			}
		}
	}
}

// Windows have about the target length, and none ends within a sentence.
func TestWindowsOfProse(t *testing.T) {
	text := strings.ReplaceAll(prose(60), "number", "of Prof. J. K. Lang, Gärtnerstr.")
	for _, p := range cutText(t, "a.txt", text, DefaultWords) {
		if n := english.CountWords(p.Text); n < DefaultWords/2 || n > DefaultWords*3/2 || !strings.HasPrefix(p.Text, "Sentence of Prof.") || !strings.HasSuffix(p.Text, "words.") {
			t.Errorf("%d words: %q", n, p.Text)
		}
	}
}

// A window within a table begins with the table's head.
func TestTableHeadIsRepeated(t *testing.T) {
	doc := documents.Document{Title: "Prices"}
	doc.Add(documents.TableHead, "Item | Price")
	for i := range 40 {
		doc.Add(documents.TableRow, fmt.Sprintf("Thing %d of our shop | %d euros", i, i))
	}
	doc.Add(documents.Paragraph, "Closed on Mondays.")
	ps := Cut(doc, "prices.md", DefaultWords)
	if len(ps) < 3 {
		t.Fatalf("%d windows", len(ps))
	}
	for _, p := range ps {
		if !strings.HasPrefix(p.Text, "Item | Price\nThing ") || strings.Count(p.Text, "Item") != 1 {
			t.Errorf("%q", p.Text)
		}
	}
}

// A window within a list begins with the line above the list, if that introduces it.
func TestListIsIntroducedAgain(t *testing.T) {
	for above, repeated := range map[string]bool{"We pack these for Norway:": true, "For Norway": true, "We pack for Norway.": false} {
		doc := documents.Document{Title: "Packing"}
		doc.Add(documents.Paragraph, "It is a long list.")
		doc.Add(documents.Paragraph, above)
		for i := range 30 {
			doc.Add(documents.Line, fmt.Sprintf("- item %d for the long way to the north", i))
		}
		for _, p := range Cut(doc, "a.md", DefaultWords)[1:] {
			if strings.HasPrefix(p.Text, above+"\n- item") != repeated {
				t.Errorf("%q: %q", above, p)
			}
		}
	}
}

// A window that continues a section and holds the beginning of the next names both.
func TestSectionIsNamedAgain(t *testing.T) {
	doc := documents.Document{Title: "House"}
	doc.Add(documents.Heading, "Cellar")
	doc.Add(documents.Paragraph, "It is dry. It is cold.")
	doc.Add(documents.Heading, "Attic")
	doc.Add(documents.Paragraph, "It is hot.")
	ps := pieces(doc, DefaultWords)
	if p := window("House", "a", ps, 2, 5); p.Title != "House" || p.Text != "Cellar\nIt is cold.\n\nAttic\nIt is hot." {
		t.Errorf("%q", p)
	}
}

// A window that goes on below several headings names all of them that its title does not.
func TestSectionsAreNamedAgain(t *testing.T) {
	doc := documents.Document{Title: "Changes"}
	for _, version := range []string{"2.1", "2.0"} {
		doc.AddHeading(2, version)
		doc.AddHeading(3, "Added")
		doc.Add(documents.Line, "- a lid")
		doc.AddHeading(3, "Removed")
		doc.Add(documents.Code, "    go()")
	}
	ps := pieces(doc, DefaultWords)
	if p := window("Changes", "a", ps, 3, 7); p.Text != "2.1\n\nRemoved\n        go()\n\n2.0\n\nAdded" {
		t.Errorf("%q", p.Text)
	}
	if p := window("Changes", "a", ps, 4, 7); p.Text != "2.1\n\nRemoved\n        go()\n\n2.0\n\nAdded" {
		t.Errorf("%q", p.Text)
	}
}

// Windows hold every sentence, line and row whole and in order, invent nothing, have a bounded size and strand no heading.
func TestWindowProperties(t *testing.T) {
	n := 0
	fresh := func() string { n++; return fmt.Sprintf("w%d", n) }
	rapid.Check(t, func(t *rapid.T) {
		doc := documents.Document{Title: "Title"}
		var want []string
		for range rapid.IntRange(0, 30).Draw(t, "blocks") {
			kind := rapid.SampledFrom([]documents.Kind{documents.Paragraph, documents.Paragraph, documents.Line, documents.TableHead, documents.TableRow, documents.Heading}).Draw(t, "kind")
			var block []string
			for range rapid.IntRange(1, 5).Draw(t, "sentences") {
				s := "W" + fresh()
				for range rapid.IntRange(0, map[bool]int{true: 4, false: 20}[kind == documents.Heading]).Draw(t, "words") {
					s += " " + fresh()
				}
				block = append(block, s+".")
				if kind != documents.Paragraph {
					break
				}
			}
			if kind == documents.Heading {
				doc.AddHeading(rapid.IntRange(1, 3).Draw(t, "level"), block[0])
				continue
			}
			want = append(want, block...)
			doc.Add(kind, strings.Join(block, " "))
		}
		target := rapid.IntRange(48, 100).Draw(t, "target")
		ps := Cut(doc, "source", target)
		all := ""
		for i, p := range ps {
			if w := english.CountWords(p.Text); w > max(target*longOf, minLong)+longestLead+documents.MaxHeading {
				t.Fatalf("%d words in %q", w, p.Text)
			}
			lines := strings.Split(p.Text, "\n")
			if last := lines[len(lines)-1]; i < len(ps)-1 && isHeading(doc, last) {
				t.Fatalf("stranded heading %q", last)
			}
			all += p.Text + "\n"
		}
		last := -1
		for _, s := range want {
			at := strings.Index(all, s)
			if at <= last {
				t.Fatalf("%q is lost, divided or out of order in %q", s, all)
			}
			last = at
		}
		if again := Cut(doc, "source", target); !slices.Equal(ps, again) {
			t.Fatal("cutting twice gives different windows")
		}
	})
}
