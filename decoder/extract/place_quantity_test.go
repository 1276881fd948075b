package extract

import (
	"testing"

	"tandem/model/span"
	"tandem/retrieval/passages"
)

// A number is not cut out of the range whose end or bound it is, an amount keeps what it is for, and a command its options. Of a stretch of
// time a question wants one end.
func TestWholeQuantity(t *testing.T) {
	for _, c := range []struct{ text, value, question, want string }{
		{"Salary: EUR 2,850–3,200 gross", "EUR 2,850", "What is the salary?", "EUR 2,850–3,200"},
		{"Salary: EUR 2,850 – 3,200 gross", "3,200", "What is the salary?", "2,850 – 3,200"},
		{"It takes 10-15 minutes.", "15 minutes", "How long does it take?", "10-15 minutes"},
		{"Open 9–17 daily.", "9", "When does it open?", "9"},
		{"Paid on 2024-05-06.", "2024", "What is the year?", "2024-05-06"},
		{"Call 030-12-34 now.", "030", "What is the number?", "030-12-34"},
		{"The temperature was -5 to begin with.", "5", "How cold was it?", "-5"},
		{"- 5 chairs", "5 chairs", "How many chairs are there?", "5 chairs"},
		{"Score 3 - 5 players came.", "5 players", "How many players came?", "5 players"},
		{"The PIN is 3306 – 3 tries only.", "3306", "What is the PIN?", "3306"},
		{"He handed over £300.", "£300", "How much did he hand over?", "£300"},
		{"They add up to 412 euros.", "412 euros", "How much is it?", "412 euros"},
		{"It costs £310 a year ago.", "£310", "How much did it cost?", "£310"},
		{"Donors must be under 60.", "60", "How old may donors be?", "under 60"},
		{"It holds at most 4 kg.", "4 kg", "How much does it hold?", "at most 4 kg"},
		{"The over 60 boxes", "boxes", "What is there?", "boxes"},
		{"Tasting, 18 € per person.", "18 €", "How much is the tasting?", "18 € per person"},
		{"Late: 10 € per started quarter.", "10 €", "How much is it to be late?", "10 €"},
		{"Hire: £4 a day.", "£4", "What does hire cost?", "£4 a day"},
		{"It has 4 a side.", "4", "How many are there?", "4"},
		{"Undo with fleetctl revert --to 4.6.3 now.", "fleetctl revert", "What is the command to undo?", "fleetctl revert --to 4.6.3"},
		{"Run make --help.", "make", "What do I run?", "make --help"},
		{"Run make -- it is quick.", "make", "What do I run?", "make"},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		spans := []span.Span{find(p, c.value)}
		p.wholeQuantity(wantsOf(c.question), spans)
		if got := p.text[spans[0].Begin:spans[0].End]; got != c.want {
			t.Errorf("%s %s: %q, want %q", c.value, c.question, got, c.want)
		}
	}
}

// A sentence is said with the exception that follows it.
func TestExcepted(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Pets are not allowed. Exception: guide dogs. Ask Ann.", "Pets are not allowed. Exception: guide dogs."},
		{"Pets are not allowed.\nExcept on Fridays.\nAsk Ann.", "Pets are not allowed.\nExcept on Fridays."},
		{"Pets are not allowed.\n\nExcept on Fridays.", "Pets are not allowed."},
		{"Pets are not allowed. Exceptional cases go to Ann.", "Pets are not allowed."},
		{"Pets are not allowed.", "Pets are not allowed."},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		if got, _ := p.say(find(p, "not allowed"), sentence); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}
