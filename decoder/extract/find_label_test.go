package extract

import (
	"testing"

	"tandem/model/span"
	"tandem/retrieval/passages"
)

// A question with all words of a name is answered by the value after it, if the passage speaks of the rest of the
// question and the value is of the kind that is asked for.
func TestValueBehindLabel(t *testing.T) {
	const pump = "Tank: 4.5 l\nNoise: 46 dB\nLoan: two weeks\nSpare seal: 9 €\nSerial no.: VK-L-0048 Key no. 5A 33\nYour policy no. HH-77 204 is new.\nRed lamp: empty\nRed lamp: full"
	for _, c := range []struct{ question, want string }{
		{"How big is the tank of the Brookpump?", "4.5 l"},
		{"How big is the tank of the mill?", ""},
		{"How loud is the Brookpump?", "46 dB"},
		{"How loud is the lamp?", ""},
		{"serial number Brookpump", "VK-L-0048"},
		{"What is the key number?", "5A 33"},
		{"policy number", "HH-77 204"},
		{"What does the spare seal cost?", "9 €"},
		{"What does the loan cost?", ""},
		{"What does the red lamp mean?", ""}, // two say so
		{"Who has the tank?", ""},
		{"What is the lamp of the tank?", ""},
		{"Is the tank big?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Brookpump", Text: pump})
		got := ""
		if from, to, ok := p.valueBehindLabel(queryOf(c.question)); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// A value after a name is not that of what is named below it.
func TestValueBehindLabelAbove(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Soups", Text: "Red soup\n\n- Maker: Ada Lund\n\nViolet soup\n\n- Its maker is Ole Holm"})
	for question, want := range map[string]bool{"Who is the maker of the violet soup?": false, "Who is the maker of the red soup?": true} {
		if _, _, ok := p.valueBehindLabel(queryOf(question)); ok != want {
			t.Errorf("%s %v", question, ok)
		}
	}
}

// The lines above a mail are about the mail.
func TestValueBehindLabelMail(t *testing.T) {
	const question = "What time does the concert begin?"
	for text, want := range map[string]bool{"Subject: Concert\nFrom: Ada Lund\nDate: 20 Oct 2025 21:40": false, "Choir\nDate: 20 Oct 2025 21:40": true} {
		p := config(0).passage(passages.Passage{Title: "Concert", Text: text})
		if _, _, ok := p.valueBehindLabel(queryOf(question)); ok != want {
			t.Errorf("%q: %v", text, ok)
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

// The name below a letter answers who wrote it.
func TestSignature(t *testing.T) {
	const letter = "Dear Ms Holm,\nyour policy goes on.\n\nKind regards\n\nHjalmar Prüß\nHead of Policies"
	for _, c := range []struct{ text, question, want string }{
		{letter, "Who signed the letter from Norrholm?", "Hjalmar Prüß"},
		{letter, "Who wrote the letter about the policy?", "Hjalmar Prüß"},
		{letter, "Who wrote the letter about the bridge?", ""},
		{letter, "Who has the policy?", ""},
		{"your policy goes on", "Who signed the letter from Norrholm?", ""},
		{"Kind regards\nsee you", "Who signed the letter from Norrholm?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Letter, from Norrholm", Text: c.text})
		got := ""
		if from, to, ok := p.signature(queryOf(c.question)); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
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
}

// A row without names of columns ends with what its thing costs.
func TestSumOnReceipt(t *testing.T) {
	const bill = "Pos 3 | Labour, 9.5 h | 294.50\nPos 4 | Firebricks, 24 pcs | 141.60\nPos 5 | Old firebricks, taken away | 10.00\nPos 6 | Seal | by post"
	for _, c := range []struct{ text, question, want string }{
		{bill, "What did the labour cost altogether?", "294.50"},
		{bill, "What did the labour for the seal cost?", ""},
		{bill, "What did the firebricks cost?", ""}, // two rows
		{bill, "What did the seal cost?", ""},
		{bill, "Who did the labour?", ""},
		{"Work | Hours | Paid\nLabour | 9 | 294.50\nSeal | 1 | 9.50", "What did the labour cost?", ""}, // it names its columns
	} {
		p := config(0).passage(passages.Passage{Title: "Invoice", Text: c.text})
		got := ""
		if from, to, ok := p.sumOnReceipt(queryOf(c.question)); ok {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}
