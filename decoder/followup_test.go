package decoder

import (
	"testing"

	"tandem/model/chat"
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
	} {
		var r Request
		for i, s := range c.turns[:len(c.turns)-1] {
			r.History = append(r.History, chat.Message{Role: []string{"user", "assistant"}[i%2], Content: s})
		}
		r.Question = c.turns[len(c.turns)-1]
		if before, now := r.FollowUp(); before != c.before || now != c.now {
			t.Errorf("%q: %q, then %q; want %q, then %q", c.turns, before, now, c.before, c.now)
		}
	}
}
