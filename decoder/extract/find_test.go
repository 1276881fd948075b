package extract

import (
	"strings"
	"testing"

	"tandem/model/span"
	"tandem/retrieval/passages"
)

// queryOf returns an English question as it is read if no word of it is misspelt.
func queryOf(question string) query {
	return query{text: question, wants: wantsOf(question)}
}

// Each finder finds its example, and no finder before it does.
func TestFinders(t *testing.T) {
	const cell = passages.CellMark
	examples := []struct{ title, text, question, want string }{
		{"Changes", "2.1\n\n- Drop IPv4", "Which version dropped IPv4?", "2.1"},
		{"Notes", "To start the server:\n" + passages.CodeMark + "serve", "How do I start the server?", "serve"},
		{"Notes", "--all: prints hidden files", "What does --all do?", "prints hidden files"},
		{"Notes", "--depth N: levels to print (default 5)", "What is the default of --depth?", "5"},
		{"Soup", "Ingredients:\n- oil\n- salt", "What are the ingredients?", "- oil\n- salt"},
		{"Notes", "E11: the filter is full", "What does E11 mean?", "the filter is full"},
		{"Boats", "Boat" + cell + "Berths\nHeron" + cell + "2\nPlover" + cell + "2", "Which boats have 2 berths?", "Heron" + cell + "2\nPlover"},
		{"Ferry", "Day" + cell + "Price\nSaturday" + cell + "8 €\nSunday" + cell + "9 €", "How much is the ferry on Sunday?", "9 €"},
		{"Notes", "Ada Lovelace (1815–1852) wrote it.", "When was Ada Lovelace born?", "1815"},
		{"Notes", "The letter is late.\n\nKind regards,\nAda Lund", "Who signed the letter?", "Ada Lund"},
		{"Notes", "The ferry is €9.\nThe bus is €4.", "Which is cheaper, the ferry or the bus?", "bus"},
		{"Shop", "Tap" + cell + "12.50\nBolt" + cell + "0.90", "What did the tap cost?", "12.50"},
		{"Groups", "audio: may use the sound card of the machine without the rights of root", "What is the audio group?", "may use the sound card of the machine without the rights of root"},
		{"Notes", "Tank: 4.5 l", "How big is the tank?", "4.5 l"},
	}
	if len(examples) != len(finders) {
		t.Fatalf("%d examples for %d finders", len(examples), len(finders))
	}
	for n, e := range examples {
		p := config(0).passage(passages.Passage{Title: e.title, Text: e.text})
		for i, f := range finders[:n+1] {
			if at := f(p, queryOf(e.question)).ranges; (len(at) > 0) != (i == n) {
				t.Errorf("%s: finder %d finds %v", e.question, i, at)
			} else if i == n && p.slice(at[0]) != e.want {
				t.Errorf("%s: %q, want %q", e.question, p.slice(at[0]), e.want)
			}
		}
	}
}

// Where the reader points into the line that the question names, what it points at stands; else the value does.
func TestInLineOf(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Brookpump", Text: "Weight: 9 kg\nTank: 4.5 l, steel"})
	for said, want := range map[string]string{"4.5 l": "4.5 l", "9 kg": "4.5 l, steel"} {
		var e Evidence
		spans := p.spansFor(queryOf("How big is the tank of the Brookpump?"), 0.5, &e, []span.Span{find(p, said)})
		if got := p.text[spans[0].Begin:spans[0].End]; got != want || e.Named != (said != want) || e.Line != (said == want) {
			t.Errorf("%q: %q, %+v", said, got, e)
		}
	}
}

// The reader points into a line if its likeliest span is there, and no less likely than all outside of it.
func TestInLineOfLikeliest(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Contacts", Text: "Phone: 555 01\nalso at weekends"})
	at := func(text string, odds float64) span.Span {
		from := strings.Index(p.text, text)
		return span.Span{Begin: from, End: from + len(text), P: odds}
	}
	phone, also := at("555 01", 0.3), at("weekends", 0.3)
	for _, c := range []struct {
		spans []span.Span
		want  bool
	}{
		{nil, false},
		{[]span.Span{phone}, true},
		{[]span.Span{phone, also}, true},
		{[]span.Span{also, phone}, false},
		{[]span.Span{phone, also, at("also", 0.1)}, false},
		{[]span.Span{phone, at("Phone", 0.2), also}, true},
	} {
		if got := p.inLineOf(c.spans, phone.Begin); got != c.want {
			t.Errorf("%v: %v", c.spans, got)
		}
	}
}

// "My" in a chat is the speaker's.
func TestAskedBySpeaker(t *testing.T) {
	const chat = "[10:10] Ada: thanks!! who has my green towel?\n[10:31] Per: me, washing it"
	p := config(0).passage(passages.Passage{Title: "Chat", Text: chat})
	if from, to, asks := p.ownQuestion("Who has Ada's green towel?"); !asks || p.text[from:to] != "[10:31] Per: me, washing it" {
		t.Errorf("%q %v", p.text[from:to], asks)
	}
	if _, _, asks := p.ownQuestion("Who has Mina's green towel?"); asks {
		t.Error("another's towel")
	}
	for text, want := range map[string]string{
		"[10:10] Ada: who has the barn key?? need it\n[10:31] Per: me, sorry":                                    "[10:31] Per: me, sorry",
		"Ada | 2026-05-03T10:10:00 | who has the barn key?? cant find it\nPer | 2026-05-03T10:31:00 | me, sorry": "Per | 2026-05-03T10:31:00 | me, sorry",
		"[10:10] Ada: who has the barn key? ah, I do\n[10:31] Per: ok":                                           "", // she says it herself
		"[10:10] Ada: who has the barn key? need it\n\nThe barn is red.":                                         "", // nobody answers
	} {
		p := config(0).passage(passages.Passage{Title: "Chat", Text: text})
		if from, to, _ := p.ownQuestion("Who has the barn key?"); p.text[from:to] != want {
			t.Errorf("%q: %q", text, p.text[from:to])
		}
	}
}
