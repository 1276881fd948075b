package extract

import (
	"strings"
	"testing"

	"tandem/aggregator"
	"tandem/decoder"
)

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
