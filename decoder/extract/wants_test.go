package extract

import (
	"testing"

	"tandem/retrieval/passages"
)

// A span loses if nothing in its sentence is a time or a number though the question asks for one, if it stands in the condition that the
// question repeats, if it is denied, cancelled or no longer so, if the journey goes the other way, if it lacks the shape of what is asked for, and if it says no more than the question.
func TestMisfit(t *testing.T) {
	for _, c := range []struct {
		text, span, question string
		against              float64
		lacks                bool
	}{
		{"The mill was built by monks.", "monks", "When was the mill built?", wrongKind, true},
		{"The mill was built in 1604.", "1604", "When was the mill built?", 0, false},
		{"The mill was built while the king was away.", "while the king was away", "When was the mill built?", 0, false},
		{"Die Mühle öffnet montags.", "montags", "When does the mill open?", 0, false},
		{"News.\n\n4 March 2025\nThe mill was sold.", "The mill was sold", "When was the mill sold?", echoed, false},
		{"The weir needs patience.", "patience", "How high is the weir?", wrongKind, true},
		{"The weir is waist-high, a metre.", "a metre", "How high is the weir?", 0, false},
		{"If you pay within 14 days, the lease runs for three years.", "14 days", "How long does the lease run if you pay at once?", wrongPart, false},
		{"If you pay within 14 days, the lease runs for three years.", "three years", "How long does the lease run if you pay at once?", 0, false},
		{"If you pay within 14 days, the lease runs for three years.", "14 days", "How long do I have to pay?", 0, false},
		{"Boat 7: Vaasa – Umeå, 9:00", "9:00", "When does the boat to Vaasa sail?", wrongPart, true},
		{"Boat 7: Vaasa – Umeå, 9:00", "9:00", "When does the boat to Umeå sail?", 0, false},
		{"Boat 7: Vaasa – Umeå, 9:00", "9:00", "When does the boat from Umeå sail?", wrongPart, true},
		{"Boat 7: Vaasa – Umeå – Vaasa, 9:00", "9:00", "When does the boat to Vaasa sail?", 0, false},
		{"The prize went to number 14.", "14", "Who got the prize?", wrongKind, true},
		{"The prize went to number 14.", "number 14", "Who got the prize?", 0, false},
		{"Ada Lund did not want the keys again, so Per Holm has them.", "Ada Lund", "Who has the keys?", wrongPart, false},
		{"Ada Lund did not want the keys again, so Per Holm has them.", "Per Holm", "Who has the keys?", 0, false},
		{"Ada Lund did not want the keys again, so Per Holm has them.", "Ada Lund", "Who did not want the keys?", 0, false},
		{"Ada Lund, resigned in May as keeper.", "Ada Lund", "Who is the keeper?", wrongPart, false},
		{"The sack weighs 9 kg and lasts 3 weeks.", "3 weeks", "How heavy is the sack?", wrongKind, true},
		{"The sack weighs 9 kg and lasts 3 weeks.", "9 kg", "How heavy is the sack?", 0, false},
		{"The wall is 2 m high and took 9 days.", "9 days", "How high is the wall?", wrongKind, true},
		{"The fee for a wall is 900 €.", "900 €", "How high is the fee for a wall?", 0, false},
		{"The wall cost 900 € on 2 March.", "2 March", "What did the wall cost?", wrongKind, true},
		{"The wall cost 900 € a day in March.", "900 € a day in March", "What did the wall cost?", 0, false},
		{"The fee of 9 € had 14 votes.", "9 €", "How many voted for the fee?", wrongKind, true},
		{"The fee is 9 euros.", "9 euros", "How many euros is the fee?", 0, false},
		{"The oak chair is 9 kg, the ash chair 7 kg.", "oak", "Which chair is heavier?", wrongKind, true},
		{"The oak chair is heavier than the ash chair.", "The oak chair", "Which chair is heavier?", 0, false},
		{"Older members may vote.", "Older members", "Who may vote if they are older?", 0, false},
		{"Mina was eleven when she came.", "eleven", "What was the name of Mina's dog?", wrongKind, true},
		{"Mina was eleven when Rex came.", "Rex", "What was the name of Mina's dog?", 0, false},
		{"The barrow stands by the shed.", "the shed", "What colour is the barrow?", wrongKind, true},
		{"The barrow is dark red.", "dark red", "What colour is the barrow?", 0, false},
		{"Colours\n\n- barrow: RAL 3003", "RAL 3003", "What colour is the barrow?", 0, false},
		{"Write to Ada Lund.", "Ada Lund", "What is Ada's e-mail address?", wrongKind, true},
		{"Write to ada@mill.example.", "ada@mill.example", "What is Ada's e-mail address?", 0, false},
		{"The pump has three lamps.", "three", "How loud is the pump?", wrongKind, true},
		{"Ada Lund complained in March 1984.", "March 1984", "When was Ada Lund born?", wrongKind, true},
		{"Ada Lund (1984–2020) complained.", "1984", "When was Ada Lund born?", 0, false},
		{"Your walk with Ada on 3 May is cancelled.", "3 May", "When is the walk?", wrongPart, false},
		{"Your walk with Ada on 3 May is cancelled.", "3 May", "Which walk was cancelled?", 0, false},
		{"The walk was moved from 3 May to 10 May.", "3 May", "When is the walk?", wrongPart, false},
		{"The walk was moved from 3 May to 10 May.", "10 May", "When is the walk?", 0, false},
		{"The walk was moved from 3 May to 10 May.", "3 May", "When was the walk before?", 0, false},
		{"The guide likes tea.", "tea", "Does the guide like tea?", 0, false},
		{"The guide likes tea.", "tea", "What tea does the guide like?", echoed, false},
		{"The guide likes tea.", "tea", "What does the guide like, tea or coffee?", 0, false},
	} {
		p, err := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		if err != nil {
			t.Fatal(err)
		}
		against, lacks := wantsOf(c.question).misfit(p, find(p, c.span))
		if against != c.against || lacks != c.lacks {
			t.Errorf("%s %q: %v against, lacks %v, want %v and %v", c.question, c.span, against, lacks, c.against, c.lacks)
		}
	}
}

// What is counted must be spoken of, under one of its names; people, and measures, have too many.
func TestUncounted(t *testing.T) {
	for _, c := range []struct {
		question string
		want     bool
	}{
		{"How many bicycles are in the shed?", true},
		{"How many canoes are in the shed?", false},
		{"How many heavy canoes are there?", false},
		{"How many berries grow by the shed?", false},
		{"How many people sleep in the shed?", false},
		{"How many days is the shed closed?", false},
		{"What is in the shed?", false},
	} {
		p, err := config(0).passage(passages.Passage{Title: "Shed", Text: "Three canoes and 40 paddles. A berry bush hides the door."})
		if err != nil {
			t.Fatal(err)
		}
		none := func(string) map[string]float64 { return nil }
		if got := wantsOf(c.question).uncounted(p, none); got != c.want {
			t.Errorf("%s %v, want %v", c.question, got, c.want)
		}
		also := func(string) map[string]float64 { return map[string]float64{"paddle": 0.5} }
		if wantsOf(c.question).uncounted(p, also) {
			t.Errorf("%s: a related word does not count", c.question)
		}
	}
}
