package extract

import (
	"strings"
	"testing"

	"tandem/aggregator"
	"tandem/decoder"
	"tandem/retrieval/passages"
)

func TestReplaces(t *testing.T) {
	for _, c := range []struct {
		sentence, value, question string
		want                      bool
	}{
		{"The regatta has been moved from 9 June to 16 June.", "Sunday, 9 June", "When is the regatta?", true},
		{"The regatta has been moved from 9 June to 16 June.", "16 June", "When is the regatta?", false},
		{"The regatta has been moved from 3 May to 3 June.", "3 May", "When is the regatta?", true},
		{"The regatta has been moved from 3 May to 3 June.", "3 June", "When is the regatta?", false},
		{"Correction: the rent is £31, not £29.", "£29", "What is the rent?", true},
		{"Correction: the rent is £31, not £29.", "£31", "What is the rent?", false},
		{"We pay repairs of 110 €, but not more than 8 % of the rent.", "8 %", "What do we pay?", false},
		{"Moved from Saturday, 24 October to Sunday, 1 November.", "24 October", "When is the work day?", true},
		{"Moved from Saturday, 24 October to Sunday, 1 November.", "Sunday, 1 November", "When is the work day?", false},
		{"The quiz starts at 7:30 p.m. instead of 8 p.m. this time.", "20:00", "When does the quiz start?", true},
		{"The quiz starts at 7:30 p.m. instead of 8 p.m. this time.", "7:30 p.m.", "When does the quiz start?", false},
		{"The barn is let, so we dance in the town hall instead.", "the barn", "Where do we dance?", true},
		{"The barn is let, so we dance in the town hall instead.", "town hall", "Where do we dance?", false},
		{"We dance in the barn instead.", "barn", "Where do we dance?", false},
		{"Ask Ada Moor rather than Piet Holm.", "Piet Holm", "Who has the key?", true},
		{"Die Probe wird vom 3. auf den 5. Mai verlegt.", "3. Mai", "When is the Probe?", false}, // the verb comes last
		{"Die Probe wurde verlegt vom 3. Mai auf den 5. Mai.", "3. Mai", "When is the Probe?", true},
		{"Le cours aura lieu à 18 h au lieu de 17 h.", "17 h", "At what time is the cours?", true},
		{"Le cours est déplacé de 17 h à 18 h.", "17 h", "At what time is the cours?", true},
		{"Le cours est déplacé de 17 h à 18 h.", "18 h", "At what time is the cours?", false},
		{"La salle est louée, on danse au moulin à la place.", "La salle", "Where do we dance?", true},
		{"The shop is open from 9 to 17:30.", "9", "When does the shop open?", false},
		{"The club moved to Quay 4 in 1987.", "Quay 4", "Where is the club?", false},
		{"The fee is 30 euros (was 25).", "25", "What is the fee?", true},
		{"The fee is 30 euros (was 25).", "30 euros", "What is the fee?", false},
		{"Ring 555 1204 (until May 2026 it was 555 1203).", "555 1203", "What number do I ring?", true},
		{"The rent is £31, not £29; we misheard.", "£29", "What is the rent?", true},
		{"The rent is £31, not £29; we misheard.", "£31", "What is the rent?", false},
		{"change of plan, leaving friday 16:30 not 14:00", "14:00", "When are you leaving?", true},
		{"change of plan, leaving friday 16:30 not 14:00", "16:30", "When are you leaving?", false},
		{"The rent is £31 a month not £29.", "£29", "What is the rent?", true},
		{"The fee is 30 euros.", "30 euros", "What is the fee?", false},
		{"The bus goes at 8.40 instead of 8.20.", "8.20 am", "When does the bus go?", true},
		{"The bus goes at 8.40 instead of 8.20.", "8.40 am", "When does the bus go?", false},
		{"The box is ready Wednesdays not Thursdays.", "Thursday", "Which day is the box ready?", true},
		{"The box is ready Wednesdays not Thursdays.", "Wednesdays", "Which day is the box ready?", false},
		{`p. 11: for "18 inches from the wall" read 24 inches.`, "18 inches", "How far from the wall?", true},
		{`p. 11: for "18 inches from the wall" read 24 inches.`, "24 inches", "How far from the wall?", false},
		{"Piet takes over the keys from Ada.", "Ada", "Who has the keys?", true},
		{"Piet takes over the keys from Ada.", "Piet", "Who has the keys?", false},
		{"Piet took the keys over from Ada Moor in May.", "Ada Moor", "Who has the keys?", true},
		{"Ada hands the keys over to Piet.", "Ada", "Who has the keys?", true},
		{"Ada hands the keys over to Piet.", "Piet", "Who has the keys?", false},
		{"Ada Moor hands over the keys to Piet.", "Ada", "Who has the keys?", true},
		{"Piet replaces Ada as keeper.", "Ada", "Who is the keeper?", true},
		{"Piet replaces Ada as keeper.", "Piet", "Who is the keeper?", false},
		{"Ada is replaced by Piet.", "Ada", "Who is the keeper?", true},
		{"Ada is replaced by Piet.", "Piet", "Who is the keeper?", false},
		{"Ada has left; Piet does the books.", "Ada", "Who does the books?", true},
		{"Ada has left; Piet does the books.", "Piet", "Who does the books?", false},
		{"Ada left the keys with Piet.", "Ada", "Who has the keys?", false},
		{"Piet does the books in Ada's place.", "Ada", "Who does the books?", true},
		{"Piet replaces Ada during the holidays.", "Ada", "Who is the keeper?", false},
		{"Piet replaces Ada during the holidays.", "Ada", "Who is the keeper in the holidays?", true},
		{"Piet takes over the round from Ada for two weeks.", "Ada", "Who does the round?", false},
		{"Piet takes over the round from Ada on Fridays only.", "Ada", "Who does the round?", false},
		{"Piet succeeds Ada Moor.", "Ada Moor", "Who is the keeper?", true},
		{"Piet übernimmt die Schlüssel von Ada.", "Ada", "Who has the keys?", true},
		{"Piet löst Ada ab.", "Ada", "Who is the keeper?", true},
		{"Piet remplace Ada.", "Ada", "Who is the keeper?", true},
		{"Ada est remplacée par Piet.", "Piet", "Who is the keeper?", false},
		{"The new pump replaces the old one.", "The new pump", "What is in the cellar?", false},
	} {
		if got := replaces(c.sentence, c.value, c.question); got != c.want {
			t.Errorf("%q of %q: %v", c.value, c.sentence, got)
		}
	}
}

// What was changed is not the answer, though the reader finds it likelier; of other things a change says nothing.
func TestReplacedValue(t *testing.T) {
	const news = "Choir, newsletter\nThe choir sings at the mill on 9 June. Summer concert: Saturday 24 June, Castle yard. The barbecue of the choir is on 30 June at Ole's. The keys of the choir are with Ole Holm. Sofie books the load test."
	const board = "Choir, board\n- Summer concert: the Castle yard is closed, so we sing in the Corn hall instead.\n- Barbecue postponed from 30 June to 7 July.\n- Keys: ask Mina Roth rather than Ole Holm."
	for _, c := range []struct{ question, notes, want, marked string }{
		{"Where is the summer concert of the choir?", board, "Summer concert: the Castle yard is closed, so we sing in the Corn hall instead.", "the Corn hall"},
		{"When is the barbecue of the choir?", board, "Barbecue postponed from 30 June to 7 July.", "7 July"},
		{"Who has the keys of the choir?", board, "Keys: ask Mina Roth rather than Ole Holm.", "Mina Roth"},
		{"Who has the keys of the choir?", "Choir, board\n- Mina Roth takes over the keys from Ole Holm.", "Mina Roth", "Mina Roth"},
		{"Who books the load test?", "Project, weekly meeting\n- Dmitri takes over the load test from Sofie.", "Dmitri takes over the load test from Sofie.", "Dmitri"},
		{"When is the barbecue of the choir?", "Band, board\nThe barbecue in Ulm was postponed from 30 June to 7 July.", "30 June", ""},
	} {
		d := open(t, config(0), c.question, notes(news, c.notes))
		if got := answer(t, aggregator.Rule{Greedy: true}, d); got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
		if q := d.Parts()[0].Quotes[0]; c.marked != "" && (q.Passage != 1 || q.Text[q.From:q.To] != c.marked) {
			t.Errorf("%s: passage %d is quoted, and %q answers, want %q", c.question, q.Passage, q.Text[q.From:q.To], c.marked)
		}
	}
}

func TestSupersedes(t *testing.T) {
	for _, c := range []struct {
		sentence, value string
		want            bool
	}{
		{"The regatta has been moved from 9 June to 16 June.", "16 June", true},
		{"The regatta has been moved from 9 June to 16 June.", "9 June", false},
		{"The regatta has been moved from 3 May to 3 June.", "3 June", true},
		{"The regatta has been moved from 3 May to 3 June.", "3 May", false},
		{"The quiz starts at 7:30 p.m. instead of 8 p.m. this time.", "7:30 p.m.", true},
		{"Ask Ada Moor rather than Piet Holm.", "Ada Moor", true},
		{"The board has 7 members, and meets at the mill rather than the barn.", "7", false}, // another kind
		{"The fee is 30 euros.", "30 euros", false},
		{"The new keeper of the mill is Ada Holm.", "Ada Holm", true},
		{"Ada Holm has a new bicycle.", "Ada Holm", false}, // nobody asks for it
		{"The keeper now costs £4.", "£4", true},
		{"A sack now costs £4.", "£4", false}, // nobody asks for sacks
		{"The barn is let, so we dance in the hall instead.", "the hall", true},
		{"The barn is let, so we dance in the hall instead.", "The barn", false},
	} {
		from := strings.Index(c.sentence, c.value)
		if got := supersedes(decoder.Quote{Text: c.sentence, From: from, To: from + len(c.value)}, "Who is the keeper, and what is it?"); got != c.want {
			t.Errorf("%q of %q: %v", c.value, c.sentence, got)
		}
	}
}

// What was changed is not the answer either where one side has the value of before and the other the change.
func TestReplacedOnTheOtherSide(t *testing.T) {
	for _, c := range []struct{ question, before, change, want string }{
		{
			"When is the barbecue of the choir?",
			"Choir, newsletter\nThe choir sings at the mill on 9 June. The barbecue of the choir is on 30 June at Ole's.",
			"Choir, board\n- The barbecue is postponed from 30 June to 7 July.", "7 July",
		},
		{
			"What is the default width of the scanner?",
			"Scanner, manual\nThe default width of the scanner is 200.",
			"Scanner, changes\nThe scanner reads more pages at once, and its default of the width is now 240, as small text was read badly.", "240",
		},
	} {
		before, change := notes(c.before), notes(c.change)
		for _, ps := range [][2][]passages.Passage{{before, change}, {change, before}} {
			device, cloud := open(t, config(0), c.question, ps[0]), open(t, config(0), c.question, ps[1])
			if got := answer(t, aggregator.Rule{Greedy: true}, device, cloud); !strings.Contains(got, c.want) {
				t.Errorf("%s: %q, want %q", c.question, got, c.want)
			}
		}
	}
}

func TestAnnounces(t *testing.T) {
	for _, c := range []struct {
		text, sentence, value string
		want                  bool
	}{
		{"", "The default of --width is now 240.", "240", true},
		{"", "Swimming is 8 to 9 now.", "8 to 9", true},
		{"", "2025-03-08: moved the backup to 03:15, it was too early", "03:15", true},
		{"", "2025-03-08: moved the backup to 03:15, it was too early", "2025-03-08", false},
		{"", "Notice of 2 July: the late boat leaves at 20:00.", "20:00", true},
		{"", "From 14 July the late boat leaves at 20:00.", "20:00", true},
		{"", "From 14 July the late boat leaves at 20:00.", "14 July", false}, // when, not what
		{"", "Open from 1 May–30 June, daily at 20:00.", "20:00", false},
		{"", "So no more flowerpots: Mr Holm has the key.", "Mr Holm", true},
		{"", "The late boat leaves at 20:00.", "20:00", false},
		{"", "She knows the hall, and pays £4.", "£4", false},
		{"The boat leaves at 19:30.\nADDENDUM of 3 May\n", "The boat leaves at 20:00.", "20:00", true},
		{"The boat leaves at 19:30.\nSee the addendum.\n", "The boat leaves at 20:00.", "20:00", false},
	} {
		p := passage{text: c.text + c.sentence}
		from := strings.Index(c.sentence, c.value)
		if got := p.announces(decoder.Quote{Text: c.sentence, From: from, To: from + len(c.value)}); got != c.want {
			t.Errorf("%q of %q: %v", c.value, c.text+c.sentence, got)
		}
	}
}

// A value that a later sentence announces is the answer, if it speaks of all of the question that the one before speaks of.
func TestNewerValue(t *testing.T) {
	const table = "Island ferry, timetable\nThe early boat leaves the pier at 7:10. The late boat leaves the pier at 19:30. A ticket of the boat costs £9."
	const notice = "Island ferry, board\nNotice of 2 July: from 14 July the late boat leaves the pier at 20:00."
	for _, c := range []struct{ question, want string }{
		{"When does the late boat leave the pier?", "20:00"},
		{"What time did the late boat leave the pier before?", "19:30"},
		{"When does the early boat leave the pier?", "7:10"},
		{"What does a ticket of the boat cost?", "£9"},
	} {
		d := open(t, config(0), c.question, notes(table, notice))
		if got := answer(t, aggregator.Rule{Greedy: true}, d); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// A later sentence of the same text need not speak of all that the question speaks of, but it must not be about another thing.
func TestNewerInOneText(t *testing.T) {
	const lease = "Lease, Tanner Lane\nThe rent of the flat is £865 a month, due on the 3rd. The flat has two keys.\n\nADDENDUM of 3 January\nFrom 1 March the rent is raised to £890. Parking is £30 now."
	const log = "Boat log\n- 2 May. The gate code is 7315. Diesel at 96 cents.\n- 9 June. Gate code changed again. 4096 now.\n- Mina: leaving the yard at 14:00 on Friday\n- Mina: change of plan, I leave on Friday at 16:30 not 14:00\n- Piet: the crane is free at 9:00 not 10:00"
	const cafes = "Cafes\nMill Cafe\nThe best dish is now noodles.\nCafe Stoon\n2.3 stars is the rating.\n- Best dish: falafel"
	const chat = "Chat\n[3 Nov, 19:10] Jo: chimney sweep comes thu 12.11 between 8 and 10, who's home?\n[3 Nov, 19:11] Mia: me\n[9 Nov, 20:01] Jo: sweep moved to Fri 13th, 12-14"
	const choir = "Chat\n[3 Nov, 19:10] Jo: the choir sings on thu 12.11 at 8\n[3 Nov, 19:11] Mia: ok\n[9 Nov, 20:01] Jo: choir practice moved to Fri 13th, 12-14"
	for _, c := range []struct{ text, question, want string }{
		{chat, "When does the chimney sweep come?", "Fri 13th"},
		{chat, "When was the sweep to come before?", "12.11"},
		{chat, "Who is home for the chimney sweep?", "me"},
		{choir, "When does the choir sing?", "12.11"},
		{lease, "What is the rent in Tanner Lane?", "£890"},
		{lease, "How many keys does the flat have?", "two"},
		{log, "What time is Mina leaving the yard?", "16:30"},
		{log, "What is the gate code?", "4096"},
		{log, "What does diesel cost?", "96"},
		{cafes, "What is the best dish of Cafe Stoon?", "falafel"},
		{cafes, "What is the best dish of the Mill Cafe?", "noodles"},
	} {
		d := open(t, config(0), c.question, notes(c.text))
		if got := answer(t, aggregator.Rule{Greedy: true}, d); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

func TestLaterNamed(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          bool
	}{
		{"/a/boat log 2023.txt", "/b/boat 2024.md", true},
		{"/a/boat log 2024.txt", "/b/boat 2023.md", false},
		{"/a/boat log 2024-03.txt", "/b/boat 2024-09.md", false}, // in which order they were written within a year may not be told
		{"/a/boat log.txt", "/b/boat 2024.md", false},
	} {
		if got := laterNamed(c.before, c.after); got != c.want {
			t.Errorf("%s, %s: %v", c.before, c.after, got)
		}
	}
}

// Of documents whose names differ in their dates alone, the later one says what is so, unless the question names a year or asks
// for what was.
func TestLaterOfSeries(t *testing.T) {
	const before = "Club fees 2022\nThe yearly fee of the rowing club is 40 €. A locker of the club costs 6 €.\n\nEntry | Price\nsauna, members | 9 €\nsauna, guests | 14 €"
	const between = "Club fees 2023\nThe yearly fee of the rowing club is 46 €. A locker of the club costs 6 €."
	const after = "Club fees 2025\nThe yearly fee of the rowing club is 52 €. Guests of the club pay 3 €.\n\nEntry | Price\nsauna, members | 11 €\nsauna, guests | 16 €"
	for _, c := range []struct{ question, want string }{
		{"What is the yearly fee of the rowing club?", "52 €"},
		{"What was the yearly fee of the rowing club in 2022?", "40 €"},
		{"What is the yearly fee of the rowing club in 2023?", "46 €"},
		{"What does a locker of the club cost?", "6 €"},
		{"What do guests of the club pay?", "3 €"},
		{"What does the sauna for members cost?", "11 €"},
	} {
		for _, all := range [][]passages.Passage{notes(before, between, after), notes(after, before, between)} {
			d := open(t, config(0), c.question, all)
			if got := answer(t, aggregator.Rule{Greedy: true}, d); !strings.Contains(got, c.want) {
				t.Errorf("%s: %q, want %q", c.question, got, c.want)
			}
		}
	}
}

// A later document of a series need not be about the same thing.
func TestOtherOfSeries(t *testing.T) {
	all := notes("Kessler 2024-04\nInvoice of April 2024, for gutter clips\nTotal: 96.10 €\nDue by 5 May.\nHive A: 8 frames of brood",
		"Kessler 2024-05\nInvoice of May 2024, for slates and lead\nTotal: 1,204.00 €\nDue by 3 June.\nHive A: honey\nHive C: 4 frames of brood")
	for _, c := range []struct{ question, want string }{
		{"What is the total of the Kessler invoice for gutter clips?", "96.10"},
		{"By when is the April invoice due?", "5 May"},
		{"How many frames of brood does hive A have?", "8"},
	} {
		d := open(t, config(0), c.question, all)
		if got := answer(t, aggregator.Rule{Greedy: true}, d); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

func TestInSeries(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          bool
	}{
		{"/a/fees 2022.md", "/a/Fees 2024.md", true},
		{"/a/fees 2024.md", "/a/fees 2022.md", false},
		{"/a/fees 2022.md", "/a/fees 2022.md", false},
		{"/a/minutes-2024-03-01.txt", "/b/minutes-2024-05-02.txt", true},
		{"/a/20240301 minutes.txt", "/a/20240502 minutes.txt", true},
		{"/a/minutes 2024.txt", "/a/minutes 2025-01.txt", false},
		{"/a/fees 2022.md", "/a/rules 2024.md", false},
		{"/a/fees 2022.md", "/a/fees 2024.txt", false},
		{"/a/fees.md", "/a/fees 2024.md", false},
		{"/a/tax 2022-23.txt", "/a/tax 2023-24.txt", true},
		{"/a/tax 2022-2023.txt", "/a/tax 2023-2024.txt", true},
	} {
		if got := inSeries(c.before, c.after); got != c.want {
			t.Errorf("%s, %s: %v", c.before, c.after, got)
		}
	}
}
