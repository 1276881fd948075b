package extract

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tandem/decoder"
	"tandem/internal/scripts"
	"tandem/internal/words"
	"tandem/model/span"
	"tandem/retrieval/passages"
)

// Whatever the script, what is cited stands in the file byte for byte, except that white space of any length is a
// blank, and that accents are one character with their letters. The title above a passage joins those of its document
// and section.
func TestCitationsAreOfTheFile(t *testing.T) {
	files := 2000
	if testing.Short() {
		files = 200
	}
	r := rand.New(rand.NewPCG(22, 11))
	ends := []string{". ", "。", "！", "? ", "؟ ", "। ", "… ", " ", "\n", "\n\n", ".\n"}
	plain := strings.NewReplacer("#", "x", "|", "x", ";", "x", "*", "x", "=", "x", "~", "x", "_", "x", "\u00ad", "x") // what marks headings, tables and rules, and what is dropped
	cited, gapless := 0, 0
	check := func(file, title, quote string) {
		for line := range strings.Lines(quote) {
			line = strings.TrimSpace(line)
			if !strings.Contains(file, line) && !strings.Contains(title, line) {
				t.Fatalf("%q is cited from %q", line, file)
			}
			cited++
			if strings.Contains(line, "。") {
				gapless++
			}
		}
	}
	for n := range files {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			if text := strings.Join(strings.Fields(plain.Replace(scripts.Text(r))), " "); text != "" {
				b.WriteString(text + ends[r.IntN(len(ends))])
			}
		}
		limit := []int{passages.SentenceWords, 12, passages.DefaultWords}[n%3]
		_, ps, err := passages.FromFile(t.Context(), "a.txt", []byte(b.String()), limit)
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		file := strings.Join(strings.Fields(words.Composed(b.String())), " ")
		asked := strings.Fields(file)
		d, err := New(t.Context(), config(1), decoder.Request{Question: "What is " + asked[r.IntN(len(asked))] + "?", Passages: ps[:min(2, len(ps))]})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.parts {
			for i, c := range p.contexts[:len(p.contexts)-1] {
				heading := ps[i].Title
				for _, text := range c.texts {
					check(file, heading, text.quote.Text)
				}
				for _, near := range c.near {
					check(file, heading, near.quote.Text)
				}
				check(file, heading, c.whole.Text)
			}
		}
	}
	if cited < 2*files || gapless < files/20 {
		t.Errorf("%d lines were cited, %d of them with a mark that no blank follows", cited, gapless)
	}
}

// A greeting, a signature, the names of columns and the lines above a mail are shown after what says something.
func TestNearest(t *testing.T) {
	for text, said := range map[string]string{
		"Dear Ms Lund,\nThe pump is on order.":                         "Dear Ms Lund",
		"Part | Price\nPump | 9 €\nTap | 4 €\n\nThe pump is on order.": "Part",
		"The pump is on order.\nKind regards,\nAda Lund":               "Ada Lund",
		"The pump is on order.\n\nThanks again!\nAda":                  "Thanks again",
	} {
		p := config(0).passage(passages.Passage{Title: "Mail", Text: text})
		at := strings.Index(p.text, said)
		pump := strings.Index(p.text, "The pump")
		near := p.nearestSentences([]span.Span{{Begin: at, End: at + len(said), P: 0.6}, {Begin: pump, End: pump + len("The pump"), P: 0.4}}, false)
		if len(near) != 2 || near[0].quote.Text != "The pump is on order." || near[0].odds < near[1].odds {
			t.Errorf("%q: %+v", text, near)
		}
	}
	for _, text := range []string{"Thanks to Ada the pump is on order.\nIt is red.", "Cheers from the shore all day.\nIt is red."} {
		p := config(0).passage(passages.Passage{Title: "Mail", Text: text})
		if p.signs(p.body) || p.signs(strings.Index(p.text, "It is")) {
			t.Errorf("%q signs a letter", text)
		}
	}
}

// A short sentence within an item or below a label is quoted with what it is about.
func TestQuoteWithLabel(t *testing.T) {
	for _, c := range []struct{ text, quote, want string }{
		{"- keepalive is how long connections stay open. Default: 2m.\n- other. Default: 3m.", "Default: 2m.", "keepalive is how long connections stay open. Default: 2m."},
		{"publishDir: (string) Where the site is put. Default is public.", "Default is public.", "publishDir: (string) Where the site is put. Default is public."},
		{"- keepalive: open. It is a duration that has a unit after its number.", "It is a duration that has a unit after its number.", "It is a duration that has a unit after its number."},
		{"The mill is old. It opens at 9.", "It opens at 9.", "It opens at 9."},
		{"- " + strings.Repeat("word ", 80) + "ends. Default is 2m.", "Default is 2m.", "Default is 2m."},
		{"Ann: I do. It is 9.", "It is 9.", "It is 9."},
	} {
		p := config(0).passage(passages.Passage{Title: "Keys", Text: c.text})
		at := strings.Index(p.text, c.quote)
		q := p.withLabel(decoder.Quote{Text: c.quote, From: 2, To: len(c.quote)}, at)
		if q.Text != c.want || q.Text[q.From:] != c.quote[2:] {
			t.Errorf("%q: %+v", c.text, q)
		}
	}
}

// What another quote says is not said again before a short one.
func TestLabelsAreSaidOnce(t *testing.T) {
	const text = "- keepalive is how long connections stay open. Default: 2m."
	p := config(0).passage(passages.Passage{Title: "Keys", Text: text})
	quote := func(said string) quotable {
		at := strings.Index(p.text, said)
		return quotable{at: at, quote: decoder.Quote{Text: said, To: len(said)}}
	}
	long, short := quote("keepalive is how long connections stay open."), quote("Default: 2m.")
	s := &part{known: []passage{p}, contexts: []docContext{{near: []quotable{long, short}}}}
	for _, c := range []struct{ quotes, want []string }{
		{[]string{"Default: 2m."}, []string{"keepalive is how long connections stay open. Default: 2m."}},
		{[]string{"Default: 2m.", long.quote.Text}, []string{"Default: 2m.", long.quote.Text}},
	} {
		var quotes []decoder.Quote
		for _, said := range c.quotes {
			quotes = append(quotes, quote(said).quote)
		}
		s.addLabels(quotes)
		for i, q := range quotes {
			if q.Text != c.want[i] {
				t.Errorf("%q: %q, want %q", c.quotes, q.Text, c.want[i])
			}
		}
	}
}
