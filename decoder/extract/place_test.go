package extract

import (
	"strings"
	"testing"

	"tandem/aggregator"
	"tandem/model/span"
	"tandem/retrieval/passages"
)

// What the reader points at becomes a whole answer: no abbreviation, number of an item, heading, question or part of a row.
func TestWholeAnswers(t *testing.T) {
	for _, c := range []struct{ title, text, question, want string }{
		{"Contacts", "The electrician is Hr. Baumgärtner from Fulda.", "Who is the electrician?", "The electrician is Hr. Baumgärtner from Fulda."},
		{"Pets", "The vet is Dra. Pilar Echeverría.", "Who is the vet?", "The vet is Dra. Pilar Echeverría."},
		{"Family", "Grandma was born on 3. Mai 1950 in Ulm.", "When was grandma born?", "Grandma was born on 3. Mai 1950 in Ulm."},
		{"Law", "The lawyer is Frau Dr. med. Anna Roth.", "Who is the lawyer?", "The lawyer is Frau Dr. med. Anna Roth."},
		{"Bridge", "The bridge was checked by Dipl.-Ing. Weber.", "Who checked the bridge?", "The bridge was checked by Dipl.-Ing. Weber."},
		{"Office", "The notary sits at Bd. Voltaire 7.", "Where does the notary sit?", "The notary sits at Bd. Voltaire 7."},
		{"Friends", "The birthday of Fritz is Di., 5. März 1968.", "When is the birthday of Fritz?", "The birthday of Fritz is Di., 5. März 1968."},
		{"Flat", "Write to Mme. Curie about the keys.", "Who should I write to about the keys?", "Mme. Curie"},
		{"Tasks: How to reset the router", "1. Hold the red button for ten seconds.\n2. Wait until the lamp is green.\n3. Enter the code 4410.", "How do I reset the router?",
			"1. Hold the red button for ten seconds. 2. Wait until the lamp is green. 3. Enter the code 4410."},
		{"Tasks: How to change the filter", "1) Open the lid.\n2) Pull out the old filter.\n3) Push in the new one.", "How do I change the filter?",
			"1) Open the lid. 2) Pull out the old filter. 3) Push in the new one."},
		{"Boiler", "- F.22: too little water. Refill to 2 bar.\n- F.28: no ignition. Check the gas cock, then press reset.", "What should I do if the boiler shows F.28?", "F.28: no ignition. Check the gas cock, then press reset."},
		{"Boiler", "The lamp blinks when the tank is empty. Fill it up. Then press reset. The tank is blue.", "What do I do when the lamp of the boiler blinks?", "The lamp blinks when the tank is empty. Fill it up. Then press reset."},
		{"Boiler", "The lamp blinks when the tank is empty. Fill it up.", "Why does the lamp blink?", "The lamp blinks when the tank is empty."},
		{"Café", "- Coffee: 2.40 €\n- Tea: 3.10 €", "What does tea cost?", "3.10 €"},
		{"Dentist", "The number of the dentist is +49 (0)561/12 34-56 on weekdays.", "What is the number of the dentist?", "+49 (0)561/12 34-56"},
		{"Alarm", "The PIN of the alarm is *4711#.", "What is the PIN of the alarm?", "*4711#"},
		{"Swimming baths", "Q: Can I pay by card?\nA: Yes, from 5 euros on.\nQ: Are dogs allowed?\nA: No.", "Can I pay by card at the swimming baths?", "Yes, from 5 euros on."},
		{"Ferry", "Departure | Adult | Bicycle\n6:50 | 5.00 € | 3.00 €\n9:20 | 6.00 € | 4.00 €\n14:10 | 6.50 € | 4.50 €", "What does a bicycle cost on the 6:50 ferry?", "3.00 €"},
	} {
		d := open(t, config(0), c.question, []passages.Passage{{Title: c.title, Text: c.text}})
		if got := answer(t, aggregator.Rule{Greedy: true}, d); got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
		if q := d.Parts()[0].Quotes[0]; q.Text == "1." {
			t.Errorf("%s: quoted %q", c.question, q.Text)
		}
	}
}

// Neither a title nor a heading says how, nor does a question say anything.
func TestNoAnswerFromHeadings(t *testing.T) {
	const question = "How do I upgrade seedbox from 1.x?"
	for _, p := range []passages.Passage{
		{Title: "Upgrade from 1.x", Text: "Seedbox keeps logs."},
		{Title: "Seedbox", Text: "Upgrade from 1.x\nStop the service and run the migration.\n\nOther\nLogs are in the folder logs."},
		{Title: "Seedbox", Text: "Intro.\n\nUpgrade from 1.x\nStop the service and run the migration."},
		{Title: "Seedbox", Text: "How do I upgrade seedbox from 1.x?"},
		{Title: "Seedbox", Text: "4. Logs\nThey are in the folder logs.\n\n5. How to upgrade seedbox from 1.x\nStop the service and run the migration."},
	} {
		d := open(t, config(0), question, []passages.Passage{p})
		for _, c := range d.parts[0].contexts[:1] {
			for _, x := range c.texts {
				if x.text == p.Title || strings.Contains(x.text, "pgrade from 1.x") || strings.Contains(x.text, "How to upgrade") || x.text == question {
					t.Errorf("%q answers with %q", p.Text, x.text)
				}
			}
		}
	}
}

// Code gives no reason.
func TestPlaceOfReasons(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Notes", Text: "It hums, as it is on:\n" + passages.CodeMark + "lamp --on"})
	for form, want := range map[form]bool{formReason: false, formSteps: true} {
		at := strings.Index(p.text, "lamp")
		if from, to := p.place(at, at+4, form); (from < to) != want {
			t.Errorf("form %d: %q", form, p.text[from:to])
		}
	}
}

// A range over several rows becomes the first of them; what touches a value, and a telephone number, stay whole.
func TestPlace(t *testing.T) {
	for _, c := range []struct{ text, span, want string }{
		{"6:50 | 3.00 €\n9:20 | 4.00 €\n14:10 | 4.50 €", "3.00 €\n9:20 | 4.00 €\n14:10", "6:50 | 3.00 €"},
		{"6:50 | 3.00 €\n9:20 | 4.00 €", "3.00", "3.00 €"},
		{"The PIN is *4711#.", "4711", "*4711#"},
		{"Call +49 (0)561/12 34-56 now.", "+49", "+49 (0)561/12 34-56"},
		{"Ask Frau Dr. med. Anna Roth.", "Anna Roth", "Dr. med. Anna Roth"},
		{"On 3. Mai 1950 it rained.", "Mai 1950", "3. Mai 1950"},
		{"1. Hold it.\n2. Wait.", "1.", ""},
		{"The desk is at Quay 3 (behind the mill).", "Quay 3 (behind", "Quay 3 (behind the mill)"},
		{"The desk is at Quay 3 (or, when the water is too high for all of the carts, at the mill).", "Quay 3 (or", "Quay 3"},
		{"Ring 0172 555 018 (day", "0172 555 018 (day", "0172 555 018"},
		{"1. Hold it.\n2. Wait.", "Hold it", "Hold it"},
		{"Is it open?\nYes.", "open", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		at := p.body + strings.Index(c.text, c.span)
		from, to := p.place(at, at+len(c.span), formValue)
		if got := p.text[from:to]; got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.span, c.text, got, c.want)
		}
	}
}

// A sentence is cut at no abbreviation.
func TestSentenceAgrees(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Contacts", Text: "Ask Frau Dr. med. Anna Roth. She lives at Bd. Voltaire 7. It is far."})
	for _, c := range []struct{ from, to int }{{p.body, p.body + 3}, {p.body + 19, p.body + 23}} {
		if q := p.quote(c.from, c.to); q.Text != "Ask Frau Dr. med. Anna Roth." {
			t.Errorf("quoted %q", q.Text)
		}
	}
	if from, to := p.answerBelow(p.body); p.text[from:to] != "She lives at Bd. Voltaire 7." {
		t.Errorf("below is %q", p.text[from:to])
	}
}

// Not every line with a question mark is a question.
func TestIsQuestion(t *testing.T) {
	for line, want := range map[string]bool{
		"When does it open?": true, "And on Sundays, when does it open?": true, "Q: Dogs?": true, "May my dog come along?": true, "¿Abre el lunes?": true,
		"Was kostet das?": true, "几点开门？": true,
		"- Locker combination: 17-04-33?": false, "- Dentist: Dr. Süß, Tuesday 8:20 (or 8:40?)": false, "The plumber comes at 9?": false, "It opens at 9.": false,
	} {
		p := read(t, "Notes\nFirst.\n"+line+"\nLast.")
		if got := p.isQuestion(strings.Index(p.text, line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// A sentence ends after a unit or a time of day, and not after an abbreviation that its number follows.
func TestSentencesOfPassages(t *testing.T) {
	for _, c := range []struct{ text, value, want string }{
		{"The gate is locked at 9 p.m. Bonfires are allowed on Friday.", "Friday", "Bonfires are allowed on Friday."},
		{"Open 8–18 h. The warranty is two years. Mix it.", "two years", "The warranty is two years."},
		{"Spare filter: part no. AD-FL-0207. Call us.", "AD-FL-0207", "Spare filter: part no. AD-FL-0207."},
	} {
		p := read(t, "Notes\n"+c.text)
		at := strings.Index(p.text, c.value)
		if got := p.quote(at, at+len(c.value)).Text; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A password has the marks at its end.
func TestPasswordEnd(t *testing.T) {
	for _, c := range []struct{ line, value, want string }{
		{"The password is plómur-1949!", "plómur-1949", "plómur-1949!"}, {"wifi code: Ab12#, new since May", "Ab12", "Ab12#"},
		{"The code is 4417! Keep it.", "4417", "4417"}, {"We met at gate B12! Great.", "B12", "B12"}, {"The password is a1? No.", "a1", "a1?"},
	} {
		p := read(t, "Notes\n"+c.line)
		at := strings.Index(p.text, c.value)
		from, to := p.widen(at, at+len(c.value))
		if got := p.text[from:to]; got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// read reads a passage with a title.
func read(t *testing.T, text string) passage {
	p := config(0).passage(notes(text)[0])
	return p
}

// A document that asks the question itself answers it with what is below; where it leaves it open, nothing is said.
func TestAskedAndAnswered(t *testing.T) {
	for _, c := range []struct{ title, text, question, want string }{
		{"Kiln", "The kiln looks for its plan in plan.txt.\nHow do I stop the firing early?\nPress Hold twice:\nHOLD HOLD\nIs there a timer?\nNo.",
			"How do I stop the firing of the kiln early?", "Press Hold twice: HOLD HOLD"},
		{"Kiln", "Is there a timer in the lid?\nNo, see the plan.\nThe plan has a timer.", "Is there a timer in the lid of the kiln?", "No, see the plan."},
		{"Fête", "Still open:\n- who brings the bench to the meadow?\n- lamps and cables\n- Ole pays the band", "Who brings the bench to the meadow?", ""},
		{"Re: Fête, from Ida: Bo Ek wrote", "When does the band play? I need to know by Friday.", "When does the band play?", ""},
		{"Re: Fête, from Ida", "The band plays on Monday at nine.\n\nBo Ek wrote\nWhen does the band play? I need to know by Friday.", "When does the band play?", "The band plays on Monday at nine."},
		{"Fête", "Who brings the bench to the meadow?\n\nMusic\nOle pays the band.", "Who brings the bench to the meadow?", ""},
	} {
		d := open(t, config(0), c.question, notes(c.title+"\n"+c.text))
		want := c.want
		if want == "" {
			want = Unknown
		}
		if got := answer(t, aggregator.Rule{Greedy: true}, d); got != want {
			t.Errorf("%s: %q, want %q", c.question, got, want)
		}
	}
}

// A question in other words than the document's is read, and so is one that asks for more.
func TestAskedOtherwise(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Kiln", Text: "How do I stop the firing early?\nPress Hold twice."})
	for question, want := range map[string]bool{
		"How do I stop the firing early?": true, "How can I stop the firing of the kiln early?": true, "How do I stop the firing?": false,
		"How do I stop the firing early on Sundays?": false, "Why?": false,
	} {
		if _, _, asks := p.ownQuestion(question); asks != want {
			t.Errorf("%s: %v", question, asks)
		}
	}
}

// A word that stands for another says nothing by itself: the sentence does.
func TestNoPronounAlone(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Fête", Text: "Ole and Ida ring; they pay the band."})
	at := p.body + strings.Index(p.text[p.body:], "they")
	if got, _ := p.say(span.Span{Begin: at, End: at + 4}, formValue); got != "Ole and Ida ring; they pay the band." {
		t.Errorf("%q", got)
	}
}

// Where the heading above a passage asks the question, its first line answers. In a chat or a transcript another
// answers, in the next line, and not who asks.
func TestAskedAbove(t *testing.T) {
	for _, c := range []struct{ title, text, question, want string }{
		{"Hostel: How do I get a towel?", "Ask at the desk before nine.\nTowels are 2 €.", "How do I get a towel?", "Ask at the desk before nine."},
		{"Hostel: How do I get a towel?", "Ask at the desk before nine.", "How do I get a key?", "-"},
		{"Hostel: How do I get a towel?", "Where is the desk?\nUpstairs.", "How do I get a towel at the hostel?", ""},
		{"Crew", "[2025-03-04 08:11] Ida: who brings the mast? I can't\n[2025-03-04 08:15] Bo Ek: me", "Who brings the mast?", "[2025-03-04 08:15] Bo Ek: me"},
		{"Crew", "LARS: And who brings the mast? Not me.\nANN: I do, on Friday.", "Who brings the mast?", "ANN: I do, on Friday."},
		{"Re: Mast, from Ida: Bo Ek wrote", "Who brings the mast?\nI need to know by Friday.", "Who brings the mast?", ""},
		{"Re: Mast, from Ida: Am 3.5.2026 um 17:40 schrieb Bo Ek", "Who brings the mast? I need to know.", "Who brings the mast?", ""},
		{"Re: Mast, from Ida", "Ole does.\n\nOn 3 May 2026 Bo Ek wrote\nHi,\nWho brings the mast?\nI need to know.", "Who brings the mast?", ""},
		{"Re: Mast, from Ida", "> Who brings the mast? I need to know.\n> It is long.\nYes, it is.", "Who brings the mast?", ""},
		{"Re: Mast, from Ida", "> Who brings the mast? I need to know.\nOle does.\n> When?", "Who brings the mast?", "Ole does."},
		{"Re: Mast, from Ida: Bo Ek wrote", "> Who brings the mast?\nOle does.", "Who brings the mast?", "Ole does."},
		{"Crew", "In 1925 Bo wrote it.\n\nMast\nWho brings the mast?\nOle does.", "Who brings the mast?", "Ole does."},
		{"Crew", "Who brings the mast? Ida does.\nNote: the mast is long.", "Who brings the mast?", "Ida does."},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		got := "-"
		if from, to, asks := p.ownQuestion(c.question); asks {
			got = p.text[from:to]
		}
		if got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.question, c.text, got, c.want)
		}
	}
}

// A time that begins or ends a longer one is said with it, unless the question is for one of its ends.
func TestTimeRanges(t *testing.T) {
	for _, c := range []struct{ text, span, want string }{
		{"The trip is from Monday 19 May to Friday 23 May 2025 at Ven.", "Friday 23 May 2025", "Monday 19 May to Friday 23 May 2025"},
		{"The heating runs from 1 October to 30 April.", "1 October", "1 October to 30 April"},
		{"Mill open 9:30–17:00 daily.", "9:30", "9:30–17:00"},
		{"Mill open 9 a.m. until 5 p.m. daily.", "5 p.m.", "9 a.m. until 5 p.m."},
		{"The mill is open on 3 May and on 5 May.", "3 May", "3 May"},
		{"The trip was moved from 3 May to 5 May.", "5 May", "5 May"},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		spans := []span.Span{find(p, c.span)}
		p.widenToTimeRanges(spans)
		if got := p.text[spans[0].Begin:spans[0].End]; got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.span, c.text, got, c.want)
		}
	}
	for question, want := range map[string]bool{
		"When is the trip?": true, "From when to when does the heating run?": true, "What time does the mill open?": false, "When does the trip end?": false, "Until when is the mill open?": false,
	} {
		if got := wantsOf(question).timeRange; got != want {
			t.Errorf("%s %v", question, got)
		}
	}
}

// A quotation mark at the end of a value stays only with its partner, or as inches.
func TestDropOpenQuote(t *testing.T) {
	for marked, want := range map[string]string{
		`name "[vogt-gast"], off`: `vogt-gast`, `name [“x” and "vogt-gast]", off`: `“x” and "vogt-gast`, `name ["vogt-gast]", off`: `vogt-gast`,
		`name ["vogt-gast"], off`: `"vogt-gast"`, `a rack of [19"], steel`: `19"`, `the room "[19"]`: `19`, `it is ["]`: `"`,
	} {
		from, to := strings.Index(marked, "["), strings.Index(marked, "]")-1
		p := passage{text: strings.NewReplacer("[", "", "]", "").Replace(marked)}
		if from, to = p.dropOpenQuote(from, to); p.text[from:to] != want {
			t.Errorf("%s: %q, want %q", marked, p.text[from:to], want)
		}
	}
}

// A number is not cut out of the range whose end or bound it is, an amount keeps what it is for, and a command its
// options. Of a range of times a question wants one end.
func TestWidenQuantities(t *testing.T) {
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
		p.widenQuantities(wantsOf(c.question), spans)
		if got := p.text[spans[0].Begin:spans[0].End]; got != c.want {
			t.Errorf("%s %s: %q, want %q", c.value, c.question, got, c.want)
		}
	}
}

// A sentence is said with the exception that follows it.
func TestExceptionAfter(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Pets are not allowed. Exception: guide dogs. Ask Ann.", "Pets are not allowed. Exception: guide dogs."},
		{"Pets are not allowed.\nExcept on Fridays.\nAsk Ann.", "Pets are not allowed.\nExcept on Fridays."},
		{"Pets are not allowed.\n\nExcept on Fridays.", "Pets are not allowed."},
		{"Pets are not allowed. Exceptional cases go to Ann.", "Pets are not allowed."},
		{"Pets are not allowed.", "Pets are not allowed."},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		if got, _ := p.say(find(p, "not allowed"), formSentence); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// An item of a list of what is not so is said with the lead of the list.
func TestDenyingLead(t *testing.T) {
	for _, c := range []struct{ title, text, span, want string }{
		{"Leaflet", "Do not take it\n- with juice\n- if you are ill", "ill", "Do not take it: if you are ill"},
		{"Leaflet", "Please do not give blood if you:\n\n* had a fever\n* are ill", "are ill", "Please do not give blood if you: are ill"},
		{"Leaflet: Not covered", "- floods\n- frost", "frost", "Not covered: frost"},
		{"Leaflet: Not covered", "Covered\n- floods\n- frost", "frost", "frost"},
		{"Leaflet", "Do not take it\n- with juice\nStorage\n- keep it cold", "cold", "keep it cold"},
		{"Leaflet", "Do not take it\nKeep it cold.", "cold", "Keep it cold."},
		{"Notes (from my phone, don't lose)", "- padlock 3904", "3904", "padlock 3904"},
		{"Leaflet", "Store it upright, never on its side.\n1. Errors", "Errors", "Errors"},
		{"Runbook: fulmar does not answer", "- A reboot takes six minutes.", "six", "A reboot takes six minutes."},
		{"Policy", "What is not covered:\n- floods", "floods", "What is not covered: floods"},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		if got, _ := p.say(find(p, c.span), formSentence); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// An item that goes on with a sentence above its list is said with that sentence.
func TestUnfinishedLead(t *testing.T) {
	for _, c := range []struct{ text, span, want string }{
		{"A device dials again. It also moves, as soon as another is ready, when the server there\n- is full;\n- is told to end: it waits.", "told",
			"It also moves, as soon as another is ready, when the server there is told to end: it waits."},
		{"Tickets are refunded if:\n- the show is cancelled\n- you are ill", "ill", "Tickets are refunded if: you are ill"},
		{"Tickets are refunded if:\n- the show is cancelled. Ask Ann.\n- you are ill", "Ask", "Ask Ann."},
		{"Tickets are refunded in these cases:\n- the show is cancelled", "show", "the show is cancelled"},
		{"Tickets are refunded if asked for.\n- the show is cancelled", "show", "the show is cancelled"},
		{"When tickets are refunded\n- The show is cancelled", "show", "The show is cancelled"},
		{"Things to do before winter\n- clean the gutters", "gutters", "clean the gutters"},
		{"For the picnic\n- bread and cheese", "bread", "bread and cheese"},
	} {
		p := config(0).passage(passages.Passage{Title: "Notes", Text: c.text})
		if got, _ := p.say(find(p, c.span), formSentence); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// The text above a day does not go on with it.
func TestCutAtDay(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Diary", Text: "30 April\nThe mill has moved.\n\nIt is new.\n\n12 May\nThe dog is ill."})
	for said, want := range map[string]string{
		"The mill has moved.\n\nIt is new.\n\n12 May": "The mill has moved.\n\nIt is new.",
		"The mill has moved.\n\nIt is new.":           "The mill has moved.\n\nIt is new.",
		"12 May\nThe dog":                             "12 May\nThe dog",
	} {
		at := strings.Index(p.text, said)
		if got := p.text[at:p.cutAtDay(at, at+len(said))]; got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
