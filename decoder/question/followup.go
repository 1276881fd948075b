package question

import (
	"slices"
	"strings"

	"tandem/internal/refusal"
	"tandem/internal/words"
	"tandem/model/chat"
	"tandem/retrieval/passages"
)

// FollowUp returns the question in a form that can be asked alone (now), and the question before it, each on one line.
// Follow-ups are completed in order from the beginning of the conversation: "when does it arrive?" after "and the flight back?"
// is about a flight. before is empty if nothing was asked before. A question of several parts is returned unchanged.
func (a Asked) FollowUp() (before, now string) {
	now = oneLine(a.Text)
	before, _ = a.before()
	if parts := a.Clauses(); before != "" && len(parts) == 1 {
		now = oneLine(parts[0])
	}
	return oneLine(before), now
}

// before returns the last part of the previous question, completed, and the person that "he" or "she" may refer to
// after it.
func (a Asked) before() (question, person string) {
	t := a.talk()
	return t.question, t.person
}

// LastAnswered returns the last answer of the conversation that is not a refusal, and the question that it answers, completed.
// Both are empty if there is none.
func (a Asked) LastAnswered() (question, answer string) {
	t := a.talk()
	return oneLine(t.asked), t.said
}

// talk is the state of a conversation after its turns.
type talk struct {
	question string // the last, completed
	person   string // whom the answer to it names, if it asks who, or else, if it names nobody, who was named last
	asked    string // the last question that was answered, completed
	said     string // the answer
}

// talk returns the state of the conversation before the question.
func (a Asked) talk() (t talk) {
	named := ""
	for _, m := range a.recent() {
		switch m.Role {
		case "user":
			for _, part := range askedParts(m.Content) {
				c := completedFor(t.question, t.person, part)
				if t.question == "" || !strings.HasSuffix(c, " "+trimQuestion(t.question)) {
					part = c // else both questions stand in it
				}
				t.question, t.person = part, ""
				if name := nameIn(part); name != "" {
					named = name
				} else {
					t.person = named
				}
			}
		case "assistant":
			if person := personSaid(t.question, m); person != "" {
				t.person, named = person, person
			}
			for line := range strings.Lines(m.Content) {
				if line = strings.TrimSpace(line); line != "" && !refusal.In(line) {
					t.asked, t.said = t.question, line
				}
			}
		}
	}
	return t
}

// recent returns the last turns of the conversation, of at most maxTalk bytes.
func (a Asked) recent() []chat.Message {
	from, size := len(a.History), 0
	for ; from > 0; from-- {
		if size += len(a.History[from-1].Content); size > maxTalk {
			break
		}
	}
	return a.History[from:]
}

// AnsweringPassage returns the index of the passage that an answer probably came from: of the passages that contain all
// content words of the answer, the one that contains most of the question's, the first of equals. It returns -1 if no passage
// contains all of the answer's, or if those that do contain none of the question's.
func AnsweringPassage(question, answer string, ps []passages.Passage) int {
	said, asked := words.Content(answer), words.Content(question)
	best, most := -1, 0
	for i, p := range ps {
		has := words.Content(p.Title + " " + p.Text)
		if n := words.Shared(asked, has); n > most && words.HasAll(has, said) {
			best, most = i, n
		}
	}
	return best
}

// completedFor is completed, except that "he" and "she" may also refer to person, whom the answer before named, and that a clause
// stays as it is if it or what completes it is longer than any that people ask. Each question completes the next: without that limit,
// a few that say "it" twice would make one that no memory holds.
func completedFor(before, person, clause string) string {
	if person != "" && slices.ContainsFunc(lowerWords(clause), func(w string) bool { return personal[w] }) {
		before = "who is " + person
	}
	if len(before) > maxAsked || len(clause) > maxAsked {
		return clause
	}
	if c := completed(before, clause); len(c) <= maxAsked {
		return c
	}
	return clause
}

// personal pronouns stand for a person.
var personal = words.Set("he she him his her hers")

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
	if len(words) == 0 || len(words) > maxNameWords || slices.ContainsFunc(words, func(w string) bool { return !isCapitalized(w) && !particles[w] }) {
		return ""
	}
	return strings.Join(words, " ")
}

// maxNameWords is the largest number of words in a person's name.
const maxNameWords = 5

// oneLine returns a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
