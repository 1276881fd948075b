package passages

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandem/retrieval/documents"
	"tandem/retrieval/internal/english"
)

func TestAntecedent(t *testing.T) {
	for _, c := range []struct {
		before, sentence, titles string
		want                     bool
	}{
		{"The lake cabin lies in Sarn.", "It was built in 1958.", "", true},
		{"The lake cabin lies in Sarn.", "It's cold.", "", true},
		{"Anna Roth is a nurse.", "Anna lives in Orla.", "", true},
		{"Anna Roth is a nurse.", "Anna's dog is Rex.", "", true},
		{"Anna Roth is a nurse.", "Anna Berg lives in Orla.", "", false},
		{"Nobody was there.", "Anna lives in Orla.", "", false},
		{"The lake cabin lies in Sarn.", "The spare key is kept in the tin.", "", true},
		{"The lake cabin lies in Sarn.", "- Fee: 8 euros", "", true},
		{"The lake cabin lies in Sarn.", "- The Kelett cheese shop: fee 8 euros", "", false},
		{"The lake cabin lies in Sarn.", "The door code of the town flat is 4471.", "", false},
		{"", "The cabin was built in 1958.", "Lake cabin", false},
		{"", "The spare key is kept in the tin.", "Lake cabin", true},
		{"", "Bring candles.", "Lake cabin", false},
		{"", "", "", false},
		{"The sports hall of Orla is new.", "Since last year the caretaker of the hall has been Rita.", "", true},
		{"The sports hall of Orla is new.", "You can reach the hall at 4471.", "", true},
		{"The sports hall of Orla is new.", "The owner of the harbour hall is Rita.", "", false},
		{"The sports hall of Orla is new.", "The caretaker of the hall is Rita.", "Sports hall", false},
		{"The grey ferry has a head driver.", "The driver of the Orla bus is Rita.", "", false},
		{"The sports hall of Orla is new.", "Since 1958 its owner has been Rita.", "", true},
		{"The film club meets on Mondays.", "The west cabin: wifi password tumbral-5827", "", false},
		{"The film club meets on Mondays.", "Spare key: in the tin", "", true},
		{"The film club meets on Mondays.", "Dana Roth is the conductor.", "", true},
		{"The film club meets on Mondays.", "As host, note Dana Roth.", "", true},
		{"The film club meets on Mondays.", "As for Dana Roth, the car is red.", "", false},
		{"The film club meets on Mondays.", "The number of members is 80.", "", true},
		{"The small inn opens at 8:00.", "The royal inn closes at 9:00.", "", false},
		{"The inn opens at 8:00.", "The spare key is in the tin.", "", true},
		{"The sports hall of Orla is new.", "Dana is the hall's keeper.", "", true},
		{"The sports hall of Orla is new.", "The hall's keeper is Dana.", "", true},
		{"The film club meets on Mondays.", "Number of pages: 80", "", true},
		{"The film club meets on Mondays.", "Time to cook: 9 minutes", "", true},
		{"The film club meets on Mondays.", "Owner of the mill: Dana", "Orla mill", false},
		{"The water mill is old.", "Owner of the mill: Dana", "", true},
		{"The film club meets on Mondays.", "Name of the dog: Dana", "", true},
		{"The film club meets on Mondays.", "As place of birth, note Orla.", "", true},
		{"The film club meets on Mondays.", "In the tin is the place of the key.", "", false},
		{"The film club meets on Mondays.", "80 is the number of people.", "", true},
		{"The film club meets on Mondays.", "The animal on the coat of arms of Sarn is the otter.", "", false},
		{"The film club meets on Mondays.", "We keep the black sofa in the hall.", "", false},
		{"The film club meets on Mondays.", "We like the black sofa.", "", true},
		{"The film club meets on Mondays.", "The sofa: serial number 80.", "", false},
	} {
		n := newEntities()
		n.add(c.before, 0)
		if _, got := n.antecedent(c.sentence, c.titles); got != c.want {
			t.Errorf("%q after %q under %q refers back: %v", c.sentence, c.before, c.titles, got)
		}
	}
}

// A chat message is about what it says, not about its writer.
func TestSpeakers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[10:32] Ben: the owner of the harbour mill is Rita. It was built in 1958.\n[10:33] Ada: thanks.\n", "Harbour mill"},
		{"Ben: The owner of the harbour mill is Rita. It was built in 1958.\nAda: The lake is cold.\n", "Harbour mill"},
		{"Fee: 8 euros\nOwner: Rita. It was built in 1958.\n", ""},
		{"Ben: fee 8 euros\nAda: The owner of the harbour mill is Rita. It was built in 1958.\nBen: One more thing:\n", "Harbour mill"},
	} {
		doc, _ := documents.Parse(t.Context(), "chat.txt", []byte(c.text))
		ps := Cut(doc, "chat.txt", SentenceWords)
		found := false
		for _, p := range ps {
			if strings.HasPrefix(p.Text, "It was built") {
				found = c.want == "" || p.Title == "Chat: "+c.want
			}
		}
		if found != (c.want != "") {
			t.Errorf("%q: %q", c.text, ps)
		}
	}
}

// A sentence that refers to another stays with it. If both are too long for one passage, the title of the second passage
// says what it is about.
func TestReferringSentencesKeepTheirTopic(t *testing.T) {
	doc, err := documents.Parse(t.Context(), "notes.md", []byte(`# Notes

The river barn's owner is Dana Roth. It has a red roof and a very old stove that nobody ever used. It was built in 1958 by two brothers who came from Sarn.
Its roof was repaired in the spring of last year by the roofer of Orla. Its two small windows look over the river and were never opened. The harbour flat is cleaned on Mondays by a company from the town of Brenn.
`))
	if err != nil {
		t.Fatal(err)
	}
	ps := cutSentences(doc, "notes.md", 24)
	if len(ps) < 2 {
		t.Fatalf("%d passages: %q", len(ps), ps)
	}
	for _, p := range ps {
		if strings.Contains(p.Text, "It") && !strings.Contains(strings.ToLower(p.Title+p.Text), "river barn") {
			t.Errorf("%q does not say what it is about", p.Text)
		}
		if w := english.CountWords(p.Text); w > sizesOf(24).bound {
			t.Errorf("%d words in %q", w, p.Text)
		}
	}
	if second := ps[1]; second.Title != "Notes: River barn" || !strings.HasPrefix(second.Text, "It was built") {
		t.Errorf("the second passage is %q", second)
	}
}

func TestTopicOf(t *testing.T) {
	for sentence, want := range map[string][2]string{
		"The river barn belongs to Dana Roth.":                    {"river barn"},
		"The late fee of the mountain pharmacy comes to 8 euros.": {"mountain pharmacy"},
		"The west brewery's owner is Rita.":                       {"west brewery"},
		"The code that belongs to the west brewery is 4471.":      {"west brewery"},
		"At Bistro Sarn, the weekly day off is Monday.":           {"Bistro Sarn"},
		"As for the projector, the length is 2 m.":                {"projector"},
		"- The fund of Orla Rovers is now Dana.":                  {"Orla Rovers"},
		"The mountain pharmacy: wifi password tumbral-5827":       {"mountain pharmacy"},
		"Note: the owner of the small inn is Rita.":               {"small inn"},
		"The bungalow of Orla's size is 80.":                      {"bungalow of Orla's size"},
		"Renting the hall of Orla costs 8 euros.":                 {"hall of Orla"},
		"Dana Roth's room is 5.":                                  {"Dana Roth's room", "Dana Roth"},
		"Rita is founder of the film club.":                       {"film club", "Rita"},
		"Rita works as the founder of the film club.":             {"film club", "Rita"},
		"8 euros is the film club's fee.":                         {"film club"},
		"Call 4471 for the code of the old mill.":                 {"old mill"},
		"Night train 11 sets off at 9:30.":                        {"Night train 11"},
		"Captain Roth founded Orla.":                              {"Orla", "Captain Roth"},
		"In the cellar is the charger of the old mill.":           {"old mill"},
		"You can reach the town farm at 4471.":                    {"town farm"},
		"We keep the guest towels of my niece in the tin.":        {"my niece"},
		"Keep the key of the old mill in the tin.":                {"old mill"},
		"Renting the village hall costs 8 euros.":                 {"village hall"},
		"Pash pays for Orla United.":                              {"Orla United", "Pash"},
		"Dana Roth runs Rita's mill.":                             {"Rita's mill", "Dana Roth"},
		"Sarn United trains on Saturdays.":                        {"Sarn United"},
		"The students' bus leaves at 9:30.":                       {"students' bus"},
		"4471 is the web server's password.":                      {"web server"},
		"land-44 is Dana's oven's password.":                      {"Dana's oven"},
		"Rita is tyre helper of the dance class.":                 {"dance class", "Rita"},
		"The bus to Orla leaves at 9:30.":                         {"bus to Orla"},
		"Ida tells the story of Dana.":                            {"Ida"},
		"It was built in 1958.":                                   {},
		"to the mill it is far":                                   {"mill it"},
		"As host, note Rita.":                                     {},
		"Thanks":                                                  {},
		"":                                                        {},
	} {
		if thing, person := topicOf(sentence); thing != want[0] || person != want[1] {
			t.Errorf("%q is about %q and %q, not %q", sentence, thing, person, want)
		}
	}
}

// "Its" after "Rita is founder of the film club." may refer to either, so the sentence is repeated.
func TestAmbiguousAntecedentIsRepeated(t *testing.T) {
	doc, _ := documents.Parse(t.Context(), "notes.md", []byte(`# Notes

Rita is founder of the film club. Its old secretary of many years is Hartsen, a friend of ours. Its website is filmclub.example.
`))
	for _, p := range cutSentences(doc, "notes.md", 12) {
		if !strings.Contains(strings.ToLower(p.Title+p.Text), "film club") {
			t.Errorf("%q does not say what it is about", p)
		}
	}
}

// Titles say what a passage is about, also where headings have no marks and where a sentence names only a person or an
// amount.
func TestWhatPassagesAreAbout(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.md", "# News\n\n# Old gallery\nIt can be reached at 4471.\nMill clinic:\nIt can be reached at 9918.\n", "[News: Mill clinic] It can be reached at 9918."},
		{"a.md", "# News\n\nMill clinic:\n- Fee: 8 euros\nChess club\nIts host is Rita\n", "[News: Mill clinic] - Fee: 8 euros"},
		{"a.md", "# News\n\nMill clinic:\n- Fee: 8 euros\nChess club\nIts host is Rita\n", "[News: Chess club] Its host is Rita"},
		{"a.md", "# Horse\n\nThe owner is Dana Roth. It must not have mustard.\n", "[Horse] It must not have mustard."},
		{"a.md", "# Tram 61\n\nThe length is 10 m. The frequency is 50 minutes.\n", "[Tram 61] The frequency is 50 minutes."},
		{"a.md", "# News\n\nMill clinic: overview\n- Fee: 8 euros\n", "[News: Mill clinic: overview] - Fee: 8 euros"},
		{"a.md", "# News\n\nMill clinic: overview:\n8 euros is the fee.\n", "[News: Mill clinic: overview] 8 euros is the fee."},
		{"a.md", "# News\n\n- Server WG 390 is on the shelf.\n- Fee: 8 euros\n", "[News: Server WG 390] - Fee: 8 euros"},
		{"a.md", "# News\n\n- Brovk costs 8 euros.\n- Shelf mark: M 8\n", "[News: Brovk] - Shelf mark: M 8"},
		{"a.md", "# News\n\nThe pier of the upper bus is 13. Dogs must stay on the lead. The fare is 9 euros.\n", "[News: Upper bus] The fare is 9 euros."},
		{"a.md", "# News\n\nThe wet mill's fee is 8 euros. As rent, note 9 euros.\n- Area: 4 hectares\n", "[News: Wet mill] - Area: 4 hectares"},
		{"a.txt", "Since last year the gate of the wet mill has been locked by Rita\nThe owner of the mill is Dana Hartsen\n", "[A: Wet mill] The owner of the mill is Dana Hartsen"},
		{"a.txt", "- The deposit of the lake caravan comes to 32.90 euros of late\n£97 is the deposit of the grey garage\n", "[A] £97 is the deposit of the grey garage"},
		{"a.txt", "Since last year the gate of the wet mill has been locked by Rita\nHartsen, who lives there and\nowns it, too.\n", "[A] Since last year the gate of the wet mill has been locked by Rita Hartsen, who lives there and owns it, too."},
		{"a.txt", "Mill\n\nPassword: 3232\n\nInn\n\nIt is old.\n", "[Mill] Password: 3232"},
		{"a.txt", "The inn was new. It must not have guests.\n", "[A] The inn was new. It must not have guests."},
	} {
		_, ps, err := FromFile(t.Context(), c.name, []byte(c.text), SentenceWords)
		var got []string
		for _, p := range ps {
			got = append(got, fmt.Sprintf("[%s] %s", p.Title, p.Text))
		}
		if err != nil || !slices.Contains(got, c.want) {
			t.Errorf("%q is cut into %q, %v: want %q among them", c.text, got, err, c.want)
		}
	}
}

// FromFile cuts what it can parse and reports what it cannot.
func TestFromFile(t *testing.T) {
	_, ps, err := FromFile(t.Context(), "inn.txt", []byte("The inn\n\nIt opens at 8:00 and closes at 22:00 every day. Dana Roth from Sarn has lived in Orla since 1958.\n"), 12)
	if err != nil || len(ps) != 2 || ps[0].Title != "The inn" || ps[0].Source != "inn.txt" {
		t.Errorf("%q, %v", ps, err)
	}
	for name, words := range map[string]int{"inn.txt": 0, "inn.xyz": 12} {
		if _, _, err := FromFile(t.Context(), name, []byte("The inn"), words); err == nil {
			t.Errorf("%s: passages of %d words are accepted", name, words)
		}
	}
}
