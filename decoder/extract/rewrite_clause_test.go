package extract

import (
	"strings"
	"testing"

	"tandem/retrieval/passages"
)

// answered returns what a rewrite makes of a value that the reader points at.
func answered(text, value string, question string, rewrite func(p passage, w wants, t answerText) answerText) string {
	p := config(0).passage(passages.Passage{Title: "Notes", Text: text})
	at := strings.Index(p.text, value)
	t := textAt(p, at, at+len(value))
	t.text = value
	return rewrite(p, wantsOf(question), t).text
}

// A value in another subject's clause gives way to the one of the subject's own clause, or to the sentence. Where
// nothing is said of the subject by itself, the value stays.
func TestInItsClause(t *testing.T) {
	const (
		joined = "Ann joined in 2019, Bob in 2021 and Cid in 2023."
		plots  = "Plot 7 belongs to the Kaya family, plot 8 to Mr Brandl and plot 9 is vacant."
		rooms  = "Room 1 costs 24 euros, room 2 19 euros and room 3 is closed."
		sold   = "Ann bought the boat in 2019 and Bob sold it in 2021."
	)
	for _, c := range []struct{ text, value, question, want string }{
		{joined, "2019", "When did Cid join?", "2023"},
		{joined, "2021", "When did Bob join?", "2021"},
		{joined, "2023", "When did Ann join?", "2019"},
		{joined, "2019", "When did the first of them join?", "2019"},
		{plots, "Mr Brandl", "Who owns plot 9?", plots},
		{plots, "Mr Brandl", "Who owns plot 8?", "Mr Brandl"},
		{rooms, "24 euros", "What does room 2 cost?", "19 euros"},
		{rooms, "room 2 19 euros", "What does room 3 cost?", rooms},
		{"Ann has the flute, Bob the oboe.", "the flute", "What does Bob have?", "Ann has the flute, Bob the oboe."},
		{sold, "2021", "When did Ann buy the boat?", "2021"}, // "it" may be the boat
		{"Ann bought the boat in 2019 and Bob sold the car in 2021.", "2021", "When did Ann sell the car?", "Ann bought the boat in 2019 and Bob sold the car in 2021."},
		{"Ann and Bob joined in 2019.", "2019", "When did Ann join?", "2019"},
		{"Ann married Bob in 1998, and Bob died in 2015.", "1998", "When did Bob marry?", "1998"},
		{"Ann sent 40 ships, Bob 25.", "40", "How many ships did Bob send?", "25"},
		{"Ann, Bob and Cid joined in 2019.", "2019", "When did Bob join?", "2019"},
		{"Ann from Ulm and Bob joined in 2019.", "2019", "When did Ann join?", "2019"},
		{"Ann, a smith, and Bob, a baker, joined in 2019.", "2019", "When did Ann join?", "2019"},
		{"Ann met Bob in 2019 and Cid in 2021.", "2021", "When did Ann meet Cid?", "2021"},
		{"Ann met Bob and Cid in 2019.", "2019", "When did Ann meet Bob?", "2019"},
		{"Ann gave 20 euros to Eva, Bob and Cid.", "20 euros", "How much did Cid get?", "20 euros"},
		{"From 1 May, Ann takes over.", "1 May", "From when does Ann take over?", "1 May"},
	} {
		got := answered(c.text, c.value, c.question, passage.inItsClause)
		if got != c.want {
			t.Errorf("%s %s %s: %q, want %q", c.text, c.question, c.value, got, c.want)
		}
	}
}

// To the question what was before, a value that only holds since then is shown with the one before it.
func TestWithFormer(t *testing.T) {
	for _, c := range []struct{ text, value, want string }{
		{"It used to be 21 °C, but since January it is 17 °C.", "17 °C", "It used to be 21 °C, but since January it is 17 °C."},
		{"It used to be 21 °C, but since January it is 17 °C.", "21 °C", "21 °C"},
		{"The code is 4471. It was 9013 until May.", "4471", "The code is 4471. It was 9013 until May."},
		{"The code is 4471. It was 9013 until May.", "9013", "9013"},
		{"The float is 150 euros. It used to be 100 euros.", "150 euros", "The float is 150 euros. It used to be 100 euros."},
		{"The key is here. Originally it was behind the bar.", "here", "The key is here. Originally it was behind the bar."},
		{"The code is 4471. It was set by Ann.", "4471", "4471"},
		{"The code is 4471.\nIt was 9013 until May.", "4471", "4471"},
		{"The mill was sold in 1990. Before that, it was a bakery.", "1990", "1990"},
	} {
		if got := answered(c.text, c.value, "", passage.withFormer); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.text, c.value, got, c.want)
		}
	}
	for question, want := range map[string]bool{
		"What was the code before?": true, "What was it set to before May?": true, "Where did the key use to hang?": true, "Who was the old chair?": true,
		"When must I be there before the race?": false, "What is the old code?": false, "Where was it originally?": true,
	} {
		if got := asksFormer.MatchString(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}

// A time is no place, the end of a range of times not its beginning, and what is struck out no longer so: the sentence
// is shown. Who says that he does something is named.
func TestInSentence(t *testing.T) {
	for _, c := range []struct{ text, value, question, want string }{
		{"Meeting: 3 May, 19:00, laundry.", "19:00", "Where is the meeting?", "Meeting: 3 May, 19:00, laundry."},
		{"Meeting: 3 May, 19:00, laundry.", "3 May, 19:00", "Where is the meeting?", "Meeting: 3 May, 19:00, laundry."},
		{"Meeting: 3 May, 19:00, laundry.", "laundry", "Where is the meeting?", "laundry"},
		{"Meeting: 3 May, 19:00, laundry.", "19:00", "When is the meeting?", "19:00"},
		{"The tap is 30 m behind the mill.", "30 m behind the mill", "Where is the tap?", "30 m behind the mill"},
		{"Until May, Ann is in Ulm.", "May", "Since when is Ann in Ulm?", "Until May, Ann is in Ulm."},
		{"Until May, Ann is in Ulm.", "Until May", "Since when is Ann in Ulm?", "Until May, Ann is in Ulm."},
		{"Until May, Ann is in Ulm.", "May", "Until when is Ann in Ulm?", "May"},
		{"Ann is in Ulm since May.", "May", "Until when is Ann in Ulm?", "Ann is in Ulm since May."},
		{"Ann is in Ulm since May.", "May", "Since when is Ann in Ulm?", "May"},
		{"~~painter: Mr Lang~~ we paint", "Mr Lang", "Who is the painter?", "~~painter: Mr Lang~~ we paint"},
		{"~~Peter Salt~~ Hugh", "Hugh", "Who is the painter?", "Hugh"},
		{"~~Peter Salt~~ Hugh", "Peter Salt", "Who was the painter?", "Peter Salt"},
		{"9:04 Piet: Me! I bring the grill.", "the grill", "Who brings the grill?", "Piet: Me! I bring the grill."},
		{"9:04 Piet: I bring the grill.", "the grill", "Who brings the grill?", "Piet: I bring the grill."},
		{"9:04 Piet: I am off, Nadia stands in for me.", "Nadia", "Who stands in?", "Nadia"},
		{"9:04 Piet: I bring the grill.", "the grill", "What does Piet bring?", "the grill"},
		{"9:04 Piet: Nadia has it.", "Nadia", "Who has the grill?", "Nadia"},
	} {
		got := answered(c.text, c.value, c.question, passage.inSentence)
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.value, c.question, got, c.want)
		}
	}
}

// Since when something has a number, the first of the rows in turn says that have it, if they are in the order of time.
func TestFirstSince(t *testing.T) {
	row := func(cells ...string) string { return strings.Join(cells, passages.CellMark) + "\n" }
	table := row("month", "rent", "gas") + row("January", "980", "90") + row("March", "1010", "80") + row("April", "1010", "70") + row("May", "1010", "60")
	back := row("month", "rent", "gas") + row("May", "1010", "90") + row("April", "1010", "80") + row("March", "980", "70")
	for _, c := range []struct{ text, value, question, want string }{
		{table, "May", "Since when is the rent 1010?", "March"},
		{table, "April", "Since when is the rent 1010?", "March"},
		{table, "January", "Since when is the rent 980?", "January"},
		{table, "April", "When is the rent 1010?", "April"},
		{table, "April", "Since when is the gas 70?", "April"},
		{back, "April", "Since when is the rent 1010?", "April"},
	} {
		got := answered(c.text, c.value, c.question, passage.firstSince)
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.value, c.question, got, c.want)
		}
	}
}
