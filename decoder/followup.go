package decoder

import (
	"slices"
	"strings"

	"tandem/model/chat"
)

// FollowUp returns the question as it can be asked alone, and the one before it, each on one line. Follow-ups are completed from the
// beginning of the conversation: "when does it arrive?" after "and the flight back?" is about a flight. before is empty if nothing was
// asked before. A question of several parts comes back as it was.
func (r Request) FollowUp() (before, now string) {
	now = oneLine(r.Question)
	before, _ = r.before()
	if parts := Clauses(r); before != "" && len(parts) == 1 {
		now = oneLine(parts[0])
	}
	return oneLine(before), now
}

// before returns the last part of the question before, completed, and the person that the answer to it names, if it asks who.
func (r Request) before() (question, person string) {
	for _, m := range r.History {
		switch m.Role {
		case "user":
			for _, part := range askedParts(m.Content) {
				if c := completedFor(question, person, part); question == "" || !strings.HasSuffix(c, " "+trimQuestion(question)) {
					part = c // else both questions stand in it
				}
				question = part
			}
		case "assistant":
			person = personSaid(question, m)
		}
	}
	return question, person
}

// completedFor is completed, where "he" and "she" may be the person of the answer before.
func completedFor(before, person, clause string) string {
	if person != "" && slices.ContainsFunc(lowerWords(clause), func(w string) bool { return personal[w] }) {
		return completed("who is "+person, clause)
	}
	return completed(before, clause)
}

var personal = set("he she him his her hers")

// personSaid returns the name that answers a question for a person: the whole answer, or who speaks in it ("ANN: I do.").
func personSaid(question string, answer chat.Message) string {
	if first := firstWord(question); first != "who" && first != "whom" && first != "whose" {
		return ""
	}
	said, _, _ := strings.Cut(strings.TrimSpace(answer.Content), "\n")
	if name, _, ok := strings.Cut(said, ": "); ok {
		said = name
	}
	words := strings.Fields(trimQuestion(said))
	if len(words) == 0 || len(words) > mostOfName || slices.ContainsFunc(words, func(w string) bool { return !capital(w) && !particles[w] }) {
		return ""
	}
	return strings.Join(words, " ")
}

// mostOfName is the most words of a person's name.
const mostOfName = 5

// oneLine returns a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
