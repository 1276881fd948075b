package decoder

import (
	"strings"

	"tandem/internal/words"
)

// question is a question cut into the clauses that an answer takes up one by one.
type question struct {
	text    string
	clauses []clause // at least one
}

// clause is one of a question's parts, "when does the harbour museum open?".
type clause struct {
	text  string
	words []string // its content words in lower case
}

// Limits of a question, which may come from the other side.
const (
	maxClauses     = 8
	maxClauseWords = 64
)

// focusClauses cuts a question at question marks and semicolons, and at full stops, commas and "and" before words that begin
// another question. There are at most maxClauses clauses; the last one holds the rest.
//
// Questions are divided in three places, each by rules of its own, because a wrong cut costs something else:
//   - here, to find the clause that a sentence of the answer is about; it only shifts weights between passages;
//   - by question.Asked.Clauses, for what is answered; each clause is answered alone, so a wrong cut spoils the answer;
//   - by clauses in retrieval/search, for what is searched; the whole question is searched too, so it may cut too often.
func focusClauses(text string) question {
	q := question{text: strings.TrimSpace(text)}
	rest := q.text
	for rest != "" {
		part := rest
		if at := focusClauseEnd(rest); at > 0 && len(q.clauses) < maxClauses-1 {
			part, rest = rest[:at], rest[at:]
		} else {
			rest = ""
		}
		c := clause{text: strings.Trim(part, " \t\r\n,;")}
		c.words = words.Content(c.text)
		c.words = c.words[:min(len(c.words), maxClauseWords)]
		if len(c.words) > 0 {
			q.clauses = append(q.clauses, c)
		}
	}
	if len(q.clauses) == 0 {
		q.clauses = []clause{{text: q.text}}
	}
	return q
}

// focusClauseEnd returns the offset after the first clause of s, or 0 if s is one clause.
func focusClauseEnd(s string) int {
	for i := 1; i < len(s); i++ {
		after := s[i+1:]
		switch c := s[i]; {
		case c == '?' || c == ';' || c == '\n':
			if strings.TrimSpace(after) != "" {
				return i + 1
			}
		case c == '.' && strings.HasPrefix(after, " ") && !words.Abbreviated(s[:i]) && opensFocusClause(strings.TrimPrefix(after[1:], "Also, ")):
			return i + 1
		case c == ',' && (opensFocusClause(strings.TrimPrefix(strings.TrimSpace(after), "and ")) || isEllipticalFocusClause(strings.CutPrefix(after, " and "))):
			return i + 1
		case c == ' ' && strings.HasPrefix(after, "and ") && opensFocusClause(after[len("and "):]):
			return i
		}
	}
	return 0
}

// opensFocusClause reports whether s begins like a further part of a question: with a question word, an article or a preposition
// ("…, and of Ben?").
func opensFocusClause(s string) bool {
	s = strings.TrimSpace(s)
	word, _, _ := strings.Cut(s[:min(len(s), longestOpener+2)], " ")
	return focusClauseOpeners[strings.ToLower(strings.Trim(word, ",.?'\""))]
}

// isEllipticalFocusClause reports whether the words after ", and" are short for a question: "the old mill's contact?"
func isEllipticalFocusClause(s string, and bool) bool {
	if end := strings.IndexAny(s, ",?"); end >= 0 {
		s = s[:end]
	}
	return and && (strings.Contains(s, " of ") || strings.Contains(s, "'s ") || strings.Contains(s, "s' "))
}

const longestOpener = len("should")

var focusClauseOpeners = words.Set(`what when where who whom whose which why how is are was were does do did can could
	will would should has have tell give i the its his her their of in at on for from by`)

// focus returns the clause that the last sentence of the answer is about, and that sentence without a last word that may
// still grow. Of the clauses that no finished sentence has answered, it is the one that shares most with the sentence; at
// the start of a sentence it is the first. If every clause is answered, it is len(q.clauses), the whole question.
func (q question) focus(answer []byte) (clause int, sentence string) {
	at := sentenceStart(answer)
	sentence = wholeWords(answer[at:])
	whole := len(q.clauses)
	if whole == 1 {
		return whole, sentence
	}
	finished, said := words.Content(string(answer[:at])), words.Content(sentence)
	clause = whole
	most := -1.0
	for i, c := range q.clauses {
		if q.answered(i, finished) {
			continue
		}
		if part := float64(words.Shared(c.words, said)) / float64(len(c.words)); part > most {
			clause, most = i, part
		}
	}
	return clause, sentence
}

// part returns the text of a clause that focus returned.
func (q question) part(clause int) string {
	if clause == len(q.clauses) {
		return q.text
	}
	return q.clauses[clause].text
}

// answered reports whether the finished sentences hold more than half of clause i's content words. It ignores words that
// earlier clauses have too, unless no others are left.
func (q question) answered(i int, finished []string) bool {
	if len(finished) == 0 {
		return false
	}
	own := q.clauses[i].words
	for _, earlier := range q.clauses[:i] {
		if left := words.Without(own, earlier.words); len(left) > 0 {
			own = left
		}
	}
	return 2*words.Shared(own, finished) > len(own)
}
