package decoder

import (
	"slices"
	"testing"

	"tandem/model/chat"
)

// A clause that leaves something out takes it from the clause before it, so that each can be asked alone.
func TestClauses(t *testing.T) {
	for _, c := range []struct {
		before, question string
		want             []string
	}{
		{"", "Who owns the marina?", []string{"Who owns the marina?"}},
		{"", "What is the wifi password of the lake cabin, and when does the harbour museum open?",
			[]string{"What is the wifi password of the lake cabin", "when does the harbour museum open?"}},
		{"", "What is the phone number of Anna, and of Ben?", []string{"What is the phone number of Anna", "What is the phone number of Ben?"}},
		{"", "What is the wifi password, and the door code, of the lake cabin?",
			[]string{"What is the wifi password of the lake cabin?", "What is the door code of the lake cabin?"}},
		{"What is the wifi password of the lake cabin?", "And the door code?", []string{"What is the door code of the lake cabin?"}},
		{"Who owns the harbour museum?", "When does it open?", []string{"When does it open? Who owns the harbour museum"}},
		{"Who owns the harbour museum?", "When does the bakery open?", []string{"When does the bakery open?"}},
		{"What is the phone number of Anna?", "And of Ben?", []string{"What is the phone number of Ben?"}},
		{"", "After rejecting confession, what did Luther call for?", []string{"After rejecting confession, what did Luther call for?"}},
		{"", "Who was the enemy in Italy, the Byzantine Empire and Armenia?", []string{"Who was the enemy in Italy, the Byzantine Empire and Armenia?"}},
		{"", "Who feeds the cat and when does the vet open?", []string{"Who feeds the cat", "when does the vet open?"}},
		{"", "Is it in the hall and what does it cost?", []string{"Is it in the hall and what does it cost?"}},
		{"", "Who is Ben? When was he born?", []string{"Who is Ben?", "When was he born? Who is Ben"}},
		{"", "", []string{""}},
	} {
		req := Request{Question: c.question}
		if c.before != "" {
			req.History = []chat.Message{{Role: "user", Content: c.before}, {Role: "assistant", Content: "So and so."}}
		}
		if got := Clauses(req); !slices.Equal(got, c.want) {
			t.Errorf("%q after %q: got %q, want %q", c.question, c.before, got, c.want)
		}
	}
}
