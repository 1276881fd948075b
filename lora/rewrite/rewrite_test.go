package rewrite

import (
	"slices"
	"strings"
	"testing"

	"tandem/model/span"
)

var words = span.NewVocabulary(strings.Fields("the of and to in is are was you we they have has i a an please send letter received receive address really real hello garden water occurred report door open letter by at should want first"))

// waysOf returns the texts of a sentence's slot.
func waysOf(t *testing.T, sentence string, slot int) (texts []string) {
	t.Helper()
	list := slotsOf(sentence, words)
	if slot >= len(list) {
		t.Fatalf("%q has %d slots", sentence, len(list))
	}
	for _, w := range list[slot].Ways {
		texts = append(texts, w.Text)
	}
	return texts
}

func TestSlots(t *testing.T) {
	for _, c := range []struct {
		sentence string
		slot     int
		has, not string // ways, separated by |
	}{
		{"I have recieved the letter.", 2, "recieved|received", "have"},
		{"We realy have water.", 1, "realy|really|real", ""},
		{"we have water.", 0, "we|We", "i"},
		{"Their is the garden.", 0, "Their|There|They're", "their"},
		{"Send a letter", 2, "letter|letter.|letter?", ""},
		{"You are in the garden.", 4, "garden.|garden?", "water"},
		{"The letter is is in the garden.", 2, "is is|is", ""},
		{"We should of received the letter.", 1, "should of|should have", ""},
		{"I have alot of water.", 2, "alot|a lot", ""},
		{"Didnt you open the door?", 0, "Didnt|Didn't", "didn't"},
		{"You wasnt in the garden.", 1, "wasnt|wasn't", ""},
		{"You was'nt in the garden.", 1, "was'nt|wasn't", ""},
		{"Please send water,please.", 2, "water,please.|water, please.", ""},
		{"Send the letter on friday.", 4, "friday.|Friday.", ""},
		{"You did opened the door.", 2, "opened|open", ""},
		{"You did open the door.", 2, "open", "opens"},
		{"You didnt open the door.", 2, "open", "opens"},
		{"I have a hour of water.", 2, "a|an", ""},
		{"I have an hour of water.", 2, "an", "a"},
		{"I have an unit.", 2, "an|a", ""},
		{"WHO is at the door?", 0, "WHO", "Whose"},
	} {
		got := waysOf(t, c.sentence, c.slot)
		for w := range strings.SplitSeq(c.has, "|") {
			if !slices.Contains(got, w) {
				t.Errorf("%q: slot %d has the ways %q, not %q", c.sentence, c.slot, got, w)
			}
		}
		if c.not != "" && slices.Contains(got, c.not) {
			t.Errorf("%q: slot %d has the way %q", c.sentence, c.slot, c.not)
		}
	}
}

func TestSuspect(t *testing.T) {
	for line, want := range map[string]bool{
		"- she drink tea": true, "does she drink tea": false, "let it go home": false, "- he go to": true, "and they goes to": true, "- i have a": false, "- he have a": true, "does he have a": false,
		"- - your right": true, "- is your dog": false, "- is to cold": true, "- want to go": false, "is better then the": true, "and how much tickets": true, "and how much time": false,
		"- there is two": true, "- there is a": false, "if it were me": false, "you know were my": true, "- i is sorry": true,
	} {
		f := strings.Split(strings.ReplaceAll(line, "-", ""), " ") // "-" stands for none
		if suspect(f[0], f[1], f[2], f[3]) != want {
			t.Errorf("%q: want %v", line, want)
		}
	}
}

// Names, numbers and what is no word have one way, and the ways as they are give the sentence, white space and all.
func TestSlotsAsTheyAre(t *testing.T) {
	const sentence = "  Send\tRuddle  the letter of 10:30 at x@y.de, please. "
	var all strings.Builder
	for _, s := range slotsOf(sentence, words) {
		all.WriteString(s.Space + s.Ways[0].Text)
		if text := s.Ways[0].Text; strings.ContainsAny(text, "R0@") && len(s.Ways) > 1 {
			t.Errorf("%q has the ways %v", text, s.Ways)
		}
	}
	for _, pair := range []string{"the\nthe", "in\n to"} { // words that belong together, on two lines
		if got := slotsOf(pair, words)[0].Ways[0].Text; got != pair {
			t.Errorf("%q as it is becomes %q", pair, got)
		}
	}
	if got := all.String(); got != strings.TrimRight(sentence, " ") {
		t.Errorf("%q is %q", sentence, got)
	}
	if list := slotsOf(" \n", words); len(list) != 0 {
		t.Errorf("white space has the slots %v", list)
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct{ sentence, tone, want string }{
		{"Send me the slides!", "polite", "Could you please send me the slides?"},
		{"Can you pick up Lena at 3?", "formal", "I would be grateful if you could pick up Lena at 3."},
		{"We can't come.", "polite", "We are sorry, but we cannot come."},
		{"Don't park here!", "neutral", "Please do not park here."},
		{"Why didn't you call me?", "polite", "Excuse me, why did you not call me?"},
		{"Anna is ill.", "formal", "I would like to inform you that Anna is ill."},
		{"Hi Marta, I need the contract.", "polite", "Dear Marta, could I please have the contract?"},
		{"Marta, where is it?", "jovial", "Hey Marta, quick question, my friend: where is it?"},
		{"hey can you send me the file.", "formal", "I would be grateful if you could send me the file."},
		{"Hi, we can't come.", "polite", "We are sorry, but we cannot come."},
		{"Hi Marta,", "formal", "Dear Marta,"},
		{"Where is my damn letter?", "neutral", "Where is my letter?"},
		{"Could you please open the door?", "jovial", "Hey, could you open the door? You are the best!"},
	} {
		got := versionsOf(c.sentence, c.tone)
		if !slices.Contains(got, c.want) {
			t.Errorf("%q, %s: %q lack %q", c.sentence, c.tone, got, c.want)
		}
		for _, v := range got {
			if strings.ContainsAny(v, "{}") {
				t.Errorf("%q, %s: %q", c.sentence, c.tone, v)
			}
		}
	}
	for _, s := range []string{"", "?", "...", "—"} {
		if got := versionsOf(s, "polite"); len(got) > 0 {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// Every act has four tones, and each of its ways leads back to it.
// The end of a letter is no sentence, and stays.
func TestVersionsOfSignatures(t *testing.T) {
	for _, line := range []string{"Anna", "Anna Smith", "Anna-Lena O'Neill", "J. R. Smith", "Thanks", "Best regards", "Kind regards,", "Yours sincerely,", "Many thanks", "Best wishes", "Cheers,"} {
		for _, tone := range Tones {
			if got := versionsOf(line, tone); !slices.Equal(got, []string{line}) || !Keeps(line, line) {
				t.Errorf("%q in the tone %s is %q", line, tone, got)
			}
		}
	}
	for _, line := range []string{"Stop!", "Stop", "Call Anna", "Call me", "Thanks!", "Best regards to Anna", "Hi Anna", "Send me the report", "Thanks for the report", "Open the Window"} {
		if got := versionsOf(line, "polite"); len(got) == 0 || slices.Contains(got, line) {
			t.Errorf("%q has the versions %q", line, got)
		}
	}
}

func TestActs(t *testing.T) {
	for _, a := range acts() {
		for _, p := range a.patterns {
			if !slices.ContainsFunc(p.re.SubexpNames(), func(n string) bool { return n != "" && n != "i" }) {
				t.Errorf("%s: %v has no slot", a.name, p.re)
			}
		}
		if len(a.tones) != len(Tones) || len(a.patterns) < len(Tones) {
			t.Errorf("%s: %d tones, %d ways", a.name, len(a.tones), len(a.patterns))
		}
	}
}

func TestForeign(t *testing.T) {
	for sentence, want := range map[string]bool{"Ich komme morgen nicht zum Treffen.": true, "You have recieved the letter.": false, "Komme nicht.": false, "": false} {
		if foreign(sentence, words) != want {
			t.Errorf("%q: want %v", sentence, want)
		}
	}
}

func TestWithoutGreeting(t *testing.T) {
	for sentence, want := range map[string]string{"Hi Tom, can you come?": "Can you come?", "Tom, can you come?": "Tom, can you come?", "Hello Tom, I am late.": "I am late."} {
		if got := WithoutGreeting(sentence); got != want {
			t.Errorf("%q: %q", sentence, got)
		}
	}
}
