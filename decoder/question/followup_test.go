package question

import (
	"strings"
	"testing"

	"tandem/internal/allocated"
	"tandem/model/chat"
	"tandem/retrieval/passages"
)

// A follow-up takes what it leaves out from all that was asked before, and "she" from the answer to "who".
func TestFollowUp(t *testing.T) {
	for _, c := range []struct {
		turns       []string // questions and answers in turn; the last is the question
		before, now string
	}{
		{[]string{"When  does the\nmuseum open?"}, "", "When does the museum open?"},
		{[]string{"When does the ferry sail?", "9:00", "And the car ferry?", "9:40", "When does it land?"}, "When does the car ferry sail?", "When does the car ferry land?"},
		{[]string{"When was Ada Holm born?", "1880", "When did she die?", "1951", "Who was her teacher?"}, "When did Ada Holm die?", "Who was Ada Holm's teacher?"},
		{[]string{"Who feeds the cat?", "Ida Berg", "What is her phone number?"}, "Who feeds the cat?", "What is Ida Berg's phone number?"},
		{[]string{"Who feeds the cat?", "ANN: I do, on Fridays.", "Where does she live?"}, "Who feeds the cat?", "Where does ANN live?"},
		{[]string{"Who feeds the cat?", "Ida Berg", "How old is it?"}, "Who feeds the cat?", "How old is the cat?"},
		{[]string{"Who feeds the cat?", "Our neighbour does.", "Where does she live?"}, "Who feeds the cat?", "Where does the cat live?"},
		{[]string{"What does tea cost?", "2 €", "Why is that?", "Rent.", "Who says so?"}, "Why is that?", "Who says so?"},
		{[]string{"Who owns the inn?", "Bo", "Who owns the mill?", "Ann Lee", "When was he born?"}, "Who owns the mill?", "When was Ann Lee born?"},
		{[]string{"When did Ada get her tablets?", "Monday", "What was the result?", "good", "When can she drive?"}, "What was the result?", "When can Ada drive?"},
		{[]string{"How much is the brown loaf?", "3 €", "And the rolls?"}, "How much is the brown loaf?", "How much is the rolls?"},
		{[]string{"How long can I keep novels?", "a month", "And comics?"}, "How long can I keep novels?", "How long can I keep comics?"},
		{[]string{"When do we have to pay the fee?", "1 May", "And the deposit?"}, "When do we have to pay the fee?", "When do we have to pay the deposit?"},
		{[]string{"Who trains the juniors?", "Bo", "And the veterans?"}, "Who trains the juniors?", "Who trains the veterans?"},
		{[]string{"What is Anna's number?", "1", "And Dr. Lee's?"}, "What is Anna's number?", "What is Dr. Lee's number?"},
		{[]string{"What is the code of the shed?", "1", "And Dad's?"}, "What is the code of the shed?", "What is Dad's code?"},
		{[]string{"How many pills can an adult take a day?", "3", "And a child?"}, "How many pills can an adult take a day?", "How many pills can a child take a day?"},
		{[]string{"What does the course cost?", "9 €", "And before?"}, "What does the course cost?", "What does the course cost before?"},
		{[]string{"How much does the ticket cost?", "9 €", "From when?"}, "How much does the ticket cost?", "From when does the ticket cost?"},
		{[]string{"When does the boat arrive?", "9:40", "And the bus, what does it cost?"}, "When does the boat arrive?", "what does the bus cost?"},
		{[]string{"What is Ada's address?", "Elm Road 1", "And her phone number?"}, "What is Ada's address?", "What is Ada's phone number?"},
		{[]string{"How much is the rent?", "9 €", "What if it's late?"}, "How much is the rent?", "What if the rent's late?"},
		{[]string{"Who feeds the cat?", "Bo", "Who repairs the bridge?", "Ann", "When was it built?"}, "Who repairs the bridge?", "When was the bridge built?"},
		{[]string{"What is the port of Nextcloud?", "8443", "And Grafana?"}, "What is the port of Nextcloud?", "What is the port of Grafana?"},
		{[]string{"What does the hotel in Porto cost?", "88 €", "And Braga?"}, "What does the hotel in Porto cost?", "What does Braga cost?"},
		{[]string{"What is the code of Ann Lee?", "1", "What about Bo?"}, "What is the code of Ann Lee?", "What is the code of Bo?"},
		{[]string{"Who is the manager of Ulm?", "Bo", "And Friday?"}, "Who is the manager of Ulm?", "Who is Friday of Ulm?"},
		{[]string{"electricity in february", "9 €", "and in july?", "8 €", "Who paid then?"}, "electricity in july?", "Who paid electricity in july?"},
		{[]string{"electricity in july", "8 €", "Who paid then?", "Bo", "And the internet?"}, "Who paid electricity in july?", "Who paid the internet in july?"},
		{[]string{"Who paid in july?", "Bo", "and in august?", "Ann", "What about the rent?"}, "Who paid in august?", "Who paid the rent in august?"},
		{[]string{"When does the ferry sail on Friday?", "9:00", "Who drives then?"}, "When does the ferry sail on Friday?", "Who drives the ferry on Friday?"},
		{[]string{"How much was the internet in July?", "9 €", "Who paid then?"}, "How much was the internet in July?", "Who paid the internet in July?"},
		{[]string{"How much was the internet in July?", "9 €", "Who lived in the flat then?"}, "How much was the internet in July?", "Who lived in the flat in July?"},
		{[]string{"How much is the rent?", "9 €", "Who pays then?"}, "How much is the rent?", "Who pays then?"},
		{[]string{"price of butter unsalted", "9 €", "and salted?"}, "price of butter unsalted", "price of butter salted?"},
		{[]string{"What does salted butter cost?", "9 €", "And unsalted?"}, "What does salted butter cost?", "What does unsalted butter cost?"},
		{[]string{"What does salted butter cost?", "9 €", "And jam?"}, "What does salted butter cost?", "What does jam cost?"},
		// These ask by themselves.
		{[]string{"Who feeds the cat?", "Bo", "spare key garage"}, "Who feeds the cat?", "spare key garage"},
		{[]string{"Who feeds the cat?", "Bo", "Which setting makes the tool read only its cache?"}, "Who feeds the cat?", "Which setting makes the tool read only its cache?"},
	} {
		var r Asked
		for i, s := range c.turns[:len(c.turns)-1] {
			r.History = append(r.History, chat.Message{Role: []string{"user", "assistant"}[i%2], Content: s})
		}
		r.Text = c.turns[len(c.turns)-1]
		if before, now := r.FollowUp(); before != c.before || now != c.now {
			t.Errorf("%q: %q, then %q; want %q, then %q", c.turns, before, now, c.before, c.now)
		}
	}
}

// The last answer that says something is kept, with its question.
func TestLastAnswered(t *testing.T) {
	r := Asked{Text: "And Ben?", History: []chat.Message{
		{Role: "user", Content: "Who feeds the cat, and who walks the dog?"}, {Role: "assistant", Content: "Ida Berg\nI don't know."},
		{Role: "user", Content: "What does it eat?"}, {Role: "assistant", Content: "I don't know."},
	}}
	if asked, said := r.LastAnswered(); asked != "who walks the dog?" || said != "Ida Berg" {
		t.Errorf("%q: %q", asked, said)
	}
	if asked, said := (Asked{Text: "Who is Ben?"}).LastAnswered(); asked != "" || said != "" {
		t.Errorf("%q: %q", asked, said)
	}
}

// An answer came from the passage that has all its words and the most of the question's.
func TestAnsweringPassage(t *testing.T) {
	ps := []passages.Passage{
		{Title: "Inn", Text: "Breakfast is 9 €. The room is 80 €."},
		{Title: "Boat", Text: "The crossing is 9 €, and for children 4 €."},
		{Title: "Bus", Text: "Crossing the bridge takes 10 minutes."},
	}
	for _, c := range []struct {
		question, answer string
		want             int
	}{
		{"What does the crossing cost?", "9 €", 1},
		{"What is breakfast?", "9 €", 0},
		{"What does the crossing cost?", "80 €", -1}, // nothing of the question stands there
		{"What does the crossing cost?", "7 €", -1},
	} {
		if got := AnsweringPassage(c.question, c.answer, ps); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.question, c.answer, got, c.want)
		}
	}
}

// Each question completes the next, and what is completed does not grow with each.
func TestCompletionsDoNotGrow(t *testing.T) {
	a := Asked{Text: "what of it it?", History: []chat.Message{{Role: "user", Content: "what of Zorbas keys?"}}}
	for range 14 {
		a.History = append(a.History, chat.Message{Role: "user", Content: "what of it it?"})
	}
	before, now := a.FollowUp()
	if len(now) > maxAsked || len(before) > maxAsked {
		t.Errorf("%d and %d bytes", len(before), len(now))
	}
	long := Asked{Text: strings.Repeat("it ", maxAsked), History: []chat.Message{{Role: "user", Content: "what of Zorbas keys?"}}}
	if _, now := long.FollowUp(); now != oneLine(long.Text) {
		t.Errorf("%d bytes of %d", len(now), len(long.Text))
	}
}

// The time to understand a question does not grow with the square of its length: twice the words take about twice the memory.
func TestQuestionsOfAnyLength(t *testing.T) {
	for name, ask := range map[string]func(n int) Asked{
		"commas": func(n int) Asked { return Asked{Text: strings.Repeat("a, ", n)} },
		"asking": func(n int) Asked { return Asked{Text: strings.Repeat("x, who a", n/8) + strings.Repeat(" and a", n/8)} },
		"stops":  func(n int) Asked { return Asked{Text: strings.Repeat("x. who a", n/8) + strings.Repeat(" and a", n/8)} },
		"names": func(n int) Asked {
			return Asked{Text: "what about it?", History: []chat.Message{{Role: "user", Content: "what is " + strings.Repeat("I ", n)}}}
		},
		"pronouns": func(n int) Asked {
			return Asked{Text: "what is " + strings.Repeat("it ", n), History: []chat.Message{{Role: "user", Content: "what is " + strings.Repeat("I ", n)}}}
		},
		"there": func(n int) Asked {
			return Asked{Text: strings.Repeat("is there ", n/9), History: []chat.Message{{Role: "user", Content: "what is it?"}}}
		},
	} {
		cost := func(n int) uint64 {
			return allocated.Bytes(func() {
				a := ask(n)
				a.Clauses()
				a.FollowUp()
			})
		}
		if one, two := cost(640), cost(1280); two > 3*one {
			t.Errorf("%s: %d kB, %d kB for twice the words", name, one>>10, two>>10)
		}
	}
}
