package extract

import (
	"strings"
	"testing"

	"tandem/retrieval/passages"
)

// textAt returns the text of a span as an answer, before anything is said of it.
func textAt(p passage, from, to int) answerText {
	quote := p.quote(from, to)
	return answerText{quote: quote, at: from - quote.From}
}

// Each rewrite is of use: values that alone would be wrong or mean little are said otherwise.
func TestRewritten(t *testing.T) {
	row := func(cells ...string) string { return strings.Join(cells, passages.CellMark) + "\n" }
	for _, c := range []struct{ text, value, question, want string }{
		{"The trip was planned for 13 May. It has been moved to 20 May.", "13 May", "When is the trip?", "The trip was planned for 13 May. It has been moved to 20 May."},
		{"Ann joined in 2019, Bob in 2021.", "2019", "When did Bob join?", "2021"},
		{row("month", "members") + row("April", "38") + row("May", "40") + row("June", "40"), "June", "Since when has the club 40 members?", "May"},
		{"The party is at 9:00.", "9:00", "Where is the party?", "The party is at 9:00."},
		{"A ticket costs 9 € now. It was 8 € until May.", "9 €", "What did a ticket cost before?", "A ticket costs 9 € now. It was 8 € until May."},
		{"Friday 7 Feb\n\nLunch with Ada.", "Lunch", "When did we have lunch with Ada?", "Friday 7 Feb: Lunch with Ada."},
		{"The class ended on 3 May.", "3 May", "When is the class?", "The class ended on 3 May."},
		{"The class ended on 3 May.", "3 May", "When did the class end?", "3 May"},
		{"The class stopped on 3 May.", "3 May", "When did the class stop?", "3 May"},
		{"The class ended with a dance on 3 May.", "3 May", "When was the dance?", "3 May"},
		{"The party is at 9:00.", "9:00", "When is the party?", "9:00"},
		{"Bo's dose is high. It was 50 µg until May.", "50 µg", "What is Bo's dose?", "Bo's dose is high. It was 50 µg until May."},
		{"Below 1 bar, refill it by the blue tap.", "the blue tap", "At which pressure do I refill it?", "Below 1 bar, refill it by the blue tap."},
		{"It was 50 µg until May.", "50 µg", "What was Bo's dose?", "50 µg"},
		{"The pump is oiled every month, last on 3 May.", "3 May", "When is the pump oiled next?", "The pump is oiled every month, last on 3 May."},
		{"The next fire drill is on 3 May.", "3 May", "When is the next oil change?", "The next fire drill is on 3 May."},
		{"The next fire drill is on 3 May.", "3 May", "When is the next drill?", "3 May"},
	} {
		got := answered(c.text, c.value, c.question, func(p passage, w wants, t answerText) answerText {
			return p.rewritten(w, []answerText{t})[0]
		})
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// A value that the text takes back is shown with what says so, and any other alone.
func TestWithWhatUndoes(t *testing.T) {
	for _, c := range []struct{ text, value, want string }{
		{"The trip was planned for 13 May. Because of the strike it has been moved to 20 May. Bring boots.", "13 May", "The trip was planned for 13 May. Because of the strike it has been moved to 20 May."},
		{"The trip was planned for 13 May. Because of the strike it has been moved to 20 May.", "20 May", ""},
		{"The pump was to be here on 2 April but is delayed.", "2 April", "The pump was to be here on 2 April but is delayed."},
		{"The pump was to be here on 2 April. Unfortunately we can only come on 6 May.", "2 April", "The pump was to be here on 2 April. Unfortunately we can only come on 6 May."},
		{"The fair was to be on 3 August and has been moved to 10 August. The mayor has postponed the race.", "10 August", ""},
		{"The trip was planned for 13 May. Bring boots.", "13 May", ""},
		{"We'd announced 13 May for the trip. This can't be: Bo is ill.", "13 May", "We'd announced 13 May for the trip. This can't be: Bo is ill."},
		{"The trip is planned for 13 May. It has been moved.", "13 May", ""},
		{"The trip was planned for 13 May. Only eight families came. The rent has been moved.", "13 May", ""},
		{"The trip was planned for 13 May.\nIt has been moved.", "13 May", ""},
		{"The race on 10 May has been cancelled.", "10 May", "The race on 10 May has been cancelled."},
		{"The hearing of 10 May is vacated. Another one is not set.", "10 May", "The hearing of 10 May is vacated."},
		{"The concert of 10 May will not take place.", "10 May", "The concert of 10 May will not take place."},
		{"The class of 10 May doesn't go ahead.", "10 May", "The class of 10 May doesn't go ahead."},
		{"The market on Mondays was given up in May.", "Mondays", "The market on Mondays was given up in May."},
		{"The Christmas market has been scrapped for 10 May.", "10 May", "The Christmas market has been scrapped for 10 May."},
		{"The walk on Mondays no longer takes place.", "Mondays", "The walk on Mondays no longer takes place."},
		{"The walk is on 10 May. Sadly it has been called off. Bring boots.", "10 May", "The walk is on 10 May. Sadly it has been called off."},
		{"The walk is on 10 May. It may be called off.", "10 May", ""},
		{"The walk is on 10 May. The fair is cancelled.", "10 May", ""},
		{"The walk on 10 May will take place whatever the weather.", "10 May", ""},
		{"Trips may be scrapped until 10 May.", "10 May", ""},
		{"The market on Mondays was nearly given up.", "Mondays", ""},
		{"10 May is cancelled; training starts again on 14 May.", "14 May", ""},
		{"Cancelled shows are refunded within 10 days.", "10 days", ""},
		{"Meals can be cancelled until 8:30.", "8:30", ""},
		{"Tickets cannot be cancelled; a change costs 60 euros.", "60 euros", ""},
		{"We will not charge the delivery of 60 euros.", "60 euros", "We will not charge the delivery of 60 euros."},
		{"You won't get the 60 euros back.", "60 euros", "You won't get the 60 euros back."},
		{"Dogs may not come in, and a ticket is 60 euros.", "60 euros", ""},
		{"Seats are not numbered and cost 60 euros.", "60 euros", ""},
		{"The fair is not in Nyborg but in Odby.", "Odby", ""},
		{"Please do not ring before 9:00.", "9:00", ""},
		{"The fee will not be raised before 1 April 2026.", "1 April 2026", ""},
		{"Plots are not smaller than 200 square metres.", "200 square metres", ""},
		{"He has not smoked since 2009.", "2009", ""},
		{"Don't forget the birthday on 28 June.", "28 June", ""},
		{"If it is not fetched on 3 May, it is sold.", "3 May", ""},
		{"A ticket is 60 euros and not cheap.", "60 euros", ""},
		{"Neither Ann nor Bob has a car.", "Ann nor Bob", "Neither Ann nor Bob has a car."},
		{"Neither Ann nor Bob has a car.", "Bob", "Neither Ann nor Bob has a car."},
		{"Neither Ann nor Bob has a car; Cid has one.", "Cid", ""},
		{"Nobody but Cid has a car.", "Cid", ""},
		{"Weder Ann noch Bob hat ein Auto.", "Bob", "Weder Ann noch Bob hat ein Auto."},
		{"Knotty pine costs 60 euros.", "60 euros", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "News", Text: c.text})
		at := strings.Index(p.text, c.value)
		if got := p.withWhatUndoes(wants{}, textAt(p, at, at+len(c.value))).text; got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// A diary's sentence says when by the day above it, unless it has a time itself or speaks of what was to come. The date
// of a letter is no such day.
func TestUnderDay(t *testing.T) {
	const diary = "Friday 7 Feb\n\nLunch with Samira at the mill. Paid the roofer 410 euros. The shop will close.\n\nSunday 9 Feb\n\nThe choir sang at 18:00. Lunch with Samira at the mill."
	for _, c := range []struct{ text, said, want string }{
		{diary, "Lunch with Samira at the mill.", "Sunday 9 Feb: Lunch with Samira at the mill."},
		{diary, "Paid the roofer 410 euros.", "Friday 7 Feb: Paid the roofer 410 euros."},
		{diary, "The choir sang at 18:00.", ""},
		{diary, "The shop will close.", ""},
		{"Fees\n\nThe roofer gets 410 euros.", "The roofer gets 410 euros.", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Diary", Text: c.text})
		at := strings.LastIndex(p.text, c.said)
		if got := p.underDay(wants{}, textAt(p, at, at+1)).text; got != c.want {
			t.Errorf("%s: %q, want %q", c.said, got, c.want)
		}
	}
}
