package extract

import (
	"testing"

	"tandem/retrieval/passages"
)

// foundBy returns what a finder finds for a question, empty for nothing.
func (p passage) foundBy(find rangeFinder, question string) string {
	if from, to, ok := find(p, queryOf(question)); ok {
		return p.text[from:to]
	}
	return ""
}

// A question with all words of a name is answered by the value after it, if the passage speaks of the rest of the
// question and the value is of the kind that is asked for.
func TestValueBehindLabel(t *testing.T) {
	const pump = "Tank: 4.5 l\nNoise: 46 dB\nLoan: two weeks\nSpare seal: 9 €\nSerial no.: VK-L-0048 Key no. 5A 33\nYour policy no. HH-77 204 is new.\nRed lamp: empty\nRed lamp: full"
	for _, c := range []struct{ question, want string }{
		{"How big is the tank of the Brookpump?", "4.5 l"},
		{"How big is the tank of the mill?", ""},
		{"How loud is the Brookpump?", "46 dB"},
		{"How loud is the lamp?", ""},
		{"serial number Brookpump", "VK-L-0048"},
		{"What is the key number?", "5A 33"},
		{"policy number", "HH-77 204"},
		{"What does the spare seal cost?", "9 €"},
		{"What does the loan cost?", ""},
		{"What does the red lamp mean?", ""}, // two say so
		{"Who has the tank?", ""},
		{"What is the lamp of the tank?", ""},
		{"Is the tank big?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Brookpump", Text: pump})
		if got := p.foundBy(passage.valueBehindLabel, c.question); got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// A label of a contact is found by its name in German, too, unless the passage has that word.
func TestContactLabel(t *testing.T) {
	const card = "Organisation: Holm Klempner\nPhone (work): +49 171 555\nE-mail: bo@example.org"
	for _, c := range []struct{ title, text, question, want string }{
		{"Contacts: Bo Holm", card, "Bo Holm Telefon", "+49 171 555"},
		{"Contacts: Bo Holm", card, "Telefonnummer Klempner", "+49 171 555"},
		{"Contacts: Bo Holm", card, "Ada Holm Telefon", ""},
		{"Contacts: Bo Holm", card, "Bo Holm Adresse", ""},
		{"Contacts: Bo Handy", card, "Bo Handy", ""}, // a name
		{"Contacts: Bo Holm", card + "\nPhone (mobile): +49 172 555", "Bo Holm Telefon", ""},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text})
		if got := p.foundBy(passage.valueBehindLabel, c.question); got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// A question about what something is, and no more, is answered by the sentence after its name.
func TestDefinition(t *testing.T) {
	const groups = "audio: This group may use the sound card of the machine, without the rights of root. Use it sparingly.\n" +
		"video: This group may use the camera of the machine, without the rights of root.\nfloppy: drives\n" +
		"lamp: It is off while the machine rests, and on while it works for you.\nlamp: It is a lamp that belongs to the table in the hall."
	for _, c := range []struct{ question, want string }{
		{"what is the audio group", "This group may use the sound card of the machine, without the rights of root."},
		{"What is video for?", "This group may use the camera of the machine, without the rights of root."},
		{"What does video mean?", "This group may use the camera of the machine, without the rights of root."},
		{"What does video do?", ""}, // as one asks about people, too
		{"What is the floppy group?", ""},
		{"What is the price of video?", ""},
		{"What is the lamp?", ""}, // two say so
		{"Who is in the audio group?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: "Users and groups", Text: groups})
		if got := p.foundBy(passage.definition, c.question); got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// A value after a name is not that of what is named below it.
func TestValueBehindLabelAbove(t *testing.T) {
	p := config(0).passage(passages.Passage{Title: "Soups", Text: "Red soup\n\n- Maker: Ada Lund\n\nViolet soup\n\n- Its maker is Ole Holm"})
	for question, want := range map[string]bool{"Who is the maker of the violet soup?": false, "Who is the maker of the red soup?": true} {
		if _, _, ok := p.valueBehindLabel(queryOf(question)); ok != want {
			t.Errorf("%s %v", question, ok)
		}
	}
}

// The lines above a mail are about the mail.
func TestValueBehindLabelMail(t *testing.T) {
	const question = "What time does the concert begin?"
	for text, want := range map[string]bool{"Subject: Concert\nFrom: Ada Lund\nDate: 20 Oct 2025 21:40": false, "Choir\nDate: 20 Oct 2025 21:40": true} {
		p := config(0).passage(passages.Passage{Title: "Concert", Text: text})
		if _, _, ok := p.valueBehindLabel(queryOf(question)); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}

// What somebody says in a chat does not answer about their things, if somebody else speaks of these.
func TestValueBehindLabelSpeaker(t *testing.T) {
	const chat = "Ada: Per, your parcel is upstairs\nPer: Ada, your bike is in the cellar\nInes: no fish\nLotte: wants the clock most\nMum: the ring goes to Lotte"
	for question, want := range map[string]string{
		"Where is Ada's bike?":           "",
		"What does Lotte get from Mum?":  "",
		"What does Lotte want in chats?": "wants the clock most",
	} {
		p := config(0).passage(passages.Passage{Title: "News chat", Text: chat})
		if got := p.foundBy(passage.valueBehindLabel, question); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
