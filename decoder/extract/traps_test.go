package extract

import (
	"strings"
	"testing"

	"tandem/aggregator"
)

// What stands next to the question's words, but is not what they ask for, is no answer, whether the rules or the reader see to it.
func TestTraps(t *testing.T) {
	const mail = "From: Ada Lund <ada@mill.example>\nDate: Tue, 29 Apr 2025 08:12\nSubject: News\n\n"
	for _, c := range []struct{ text, question, not string }{
		{"The chapel was built by monks from Cluny.", "When was the chapel built?", "monks"},
		{"Wedding on 4 June, 14:00. Gifts: none please.", "Where is the wedding?", "14:00"},
		{"The prize went to number 14.", "Who got the prize?", "14"},
		{"Fixed the boiler valve on 3 May. Cost 120 €.", "Who fixed the boiler valve?", "Fixed"},
		{"Parking: 2 € an hour.", "How much is parking per day?", "2 €"},
		{"The dough has 68 % water rather than my summer 75 %.", "What hydration in summer?", "68"},
		{"- Moscar, port 1883\n- Zigor, on a stick", "What port does Zigor use?", "1883"},
		{"1.4 (3 June)\n- Faster start\n\n1.3 (2 May)\n- Needs Java 11", "Which Java does 1.4 need?", "11"},
		{"9:00 Piet: I bring the grill.\n9:05 Nadia: Good.", "What does Nadia bring?", "grill"},
		{"Hausmeister ist Herr Yilmaz, Tel. 0421 337 018.", "What is the number of Herr Dorn?", "0421"},
		{"Dr Price, Tuesdays, phone 555 2210. Dr Amin works on Fridays.", "What is Dr Amin's phone number?", "2210"},
		{mail + "The stove works again.", "Who mended the stove?", "Lund"},
		{mail + "The keys are missing since Sunday.", "Who has the keys?", "Lund"},
		{mail + "The trip is soon. Pack warm things.", "When is the trip?", "Apr"},
		{"Mr Toll no longer teaches the violin. Ms Rowe does.", "Who teaches the violin?", "Toll"},
		{"Take one tablet twice a day. Keep out of the reach of children.", "Can children take it?", "reach"},
		{"The weir is turned on in April.", "When is the weir turned off?", "April"},
		{"The mill closes at 5.", "When does the mill open?", "5"},
		{"The harbour museum opens at 9:30 on weekdays and closes at 17:00. It is closed on Mondays.", "When does the harbour museum close?", "Monday"},
		{"The ferry arrives in Lund at 9:40.", "When does the ferry depart?", "9:40"},
		{"In summer the pool opens at 7.", "When does the pool open in winter?", "7"},
		{"Registration starts on 3 May.", "When does registration end?", "3 May"},
		{"Adults pay 9 €.", "What do children pay?", "9"},
		{"2023-04-12: service, 212 €\n2025-05-02: tyres, 340 €", "What did the service cost in 2024?", "212"},
		{"Sat 10:00–14:00, closed on Mondays", "When does it open on Sunday?", "10:00"},
		{"Can I swim here?\nYes, on Mondays and Fridays.", "Can I swim here on Sundays?", "Yes"},
		{"The code is 4471. It was 9013 until May.", "What was the code before?", "4471"},
		{"The trip was planned for 13 May. It has been moved to 20 May.", "When is the trip?", "13"},
		{"The talk is in Ulm on 2–5 Dec. It takes 12 min.", "What time is the talk in Ulm?", "Dec"},
	} {
		if said := answer(t, aggregator.Rule{Greedy: true}, open(t, config(0), c.question, notes("Notes\n"+c.text))); strings.Contains(said, c.not) {
			t.Errorf("%s %q", c.question, said)
		}
	}
}
