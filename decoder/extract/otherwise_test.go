package extract

import (
	"strings"
	"testing"

	"tandem/decoder"
	"tandem/model/tokenizer"
)

func TestDisagree(t *testing.T) {
	for _, c := range []struct {
		question, answer, sentence, value string
		want                              bool
	}{
		{"When does the library open?", "9:00", "It opens at 10:15.", "10:15", true},
		{"When does the library open?", "The library opens at 9:00 and closes at 18:00.", "It opens at 9:00.", "9:00", false},
		{"When does the library open?", "9:00 on weekdays", "Monday: 10:15 on weekdays", "10:15 on weekdays", true},
		{"Who runs the library?", "Ada Moor", "It is run by Ada Moor's aunt.", "Ada Moor's aunt", false},
		{"Who runs the library?", "Ada Moor", "Library: Piet Holm.", "Piet Holm", true},
		{"Who runs the library?", "Ada Moor", "Library: Ben Moor.", "Ben Moor", true},
		{"Who runs the library?", "Mr Holm", "Library: Piet Holm.", "Piet Holm", false},
		{"What is the number?", "01632 960 811", "Call 01632 960 899.", "01632 960 899", true},
		{"When is the party?", "Tuesday, 3 March 2027", "It is on Thursday, 5 March 2027.", "Thursday, 5 March 2027", true},
		{"When is the party?", "3 March", "It is on 3 April.", "3 April", true},
		{"When is the party?", "3 March", "It is on 03/03.", "03/03", false},
		{"When is the party?", "3 May", "It is on 3 June.", "3 June", true},
		{"When is the party?", "3 May", "Es ist am 3. Mai.", "3. Mai", false},
		{"When is the party?", "3 Jan", "It is on January 3rd.", "January 3rd", false},
		{"When is the party?", "3 Jan", "It is on 3 Feb.", "3 Feb", true},
		{"When is the party?", "the 3rd of Oct.", "Es ist am 3. Okt.", "3. Okt.", false},
		{"When is the party?", "3 March", "Le 3 mars.", "3 mars", false},
		{"How much is it?", "£1,200.00", "It is £1,200.", "£1,200", false},
		{"How much is it?", "1.200,50 €", "It is 1200.50 €.", "1200.50 €", false},
		{"When does it open?", "9 a.m.", "It opens at 09:00.", "09:00", false},
		{"When does it open?", "5 p.m.", "It opens at 17:00.", "17:00", false},
		{"When does it open?", "5 p.m.", "It opens at 5:30 p.m.", "5:30 p.m.", true},
		{"When does it open?", "5.30 p.m.", "It opens at 17:30.", "17:30", false},
		{"When does it open?", "12 a.m.", "It opens at 12 p.m.", "12 p.m.", true},
		{"When does it open?", "12 p.m.", "It opens at 12:00.", "12:00", false},
		{"When does it open?", "12.30 a.m.", "It opens at 0:30.", "0:30", false},
		{"Who runs the library?", "Ada Moor", "The library has 3 rooms.", "3 rooms", false},    // answers another question
		{"Who runs the library?", "Ada Moor", "The library is run by them.", "library", false}, // says nothing
	} {
		from := strings.Index(c.sentence, c.value)
		q := decoder.Quote{Text: c.sentence, From: from, To: from + len(c.value)}
		if got := disagree(c.question, c.answer, q); got != c.want {
			t.Errorf("%q and %q: %v, want %v", c.answer, c.value, got, c.want)
		}
	}
}

// A full stop or a comma before three digits parts thousands, but not after a zero and not before a fourth digit.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"1,200.00": "1200", "1.200,50": "1200.50", "12.345.678": "12345678", "1\u00a0200": "1200", "0.125": "0.125", "0,125": "0.125", "5.2026": "5.2026",
	} {
		if got := numbers(text); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
}

// A side says what speaks against an answer, whoever gave it.
func TestOtherwise(t *testing.T) {
	const question, passport = "When does the town library open?", "When does my passport expire?"
	early, late := "Lib\nThe town library opens at 9:00 on weekdays and closes at 18:00.", "Library\nThe town library opens at 10:15 on weekdays."
	for _, c := range []struct {
		question string
		passages []string
		answer   string
		want     string
	}{
		{question, []string{early, late}, "9:00", "10:15"},
		{question, []string{late}, "9:00", "10:15"},
		{question, []string{early}, "9:00", ""},
		{question, []string{early, "Baths\nThe swimming baths open at 7:30 on weekdays."}, "9:00", ""}, // something else's
		{question, []string{late}, Unknown, ""},
		{question, []string{early, "Lib\nOn the first day the town library opens at 10:15."}, "9:00", ""}, // a document seldom contradicts itself
		{question, []string{late, "Rowing\nThe rowing club has 214 members."}, "10:15", ""},
		{passport, []string{"Tour\nPassports must be valid until 15 July 2027 at least."}, "17 February 2027", ""}, // on something near
		{passport, []string{"Tour\nThe passport expires on 15 July 2027."}, "17 February 2027", "15 July 2027"},
	} {
		d := open(t, config(0), c.question, notes(c.passages...))
		if err := d.Finish(t.Context(), d.cfg.Tokenizer.Encode(c.answer, tokenizer.Options{})); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, q := range d.Parts()[0].Otherwise {
			got += q.Text[q.From:q.To]
		}
		if got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%q of %q: %q speaks against it, want %q", c.answer, c.passages, got, c.want)
		}
	}
}
