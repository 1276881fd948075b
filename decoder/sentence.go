package decoder

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
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
	maxAsked       = 4096 // bytes of a question that is cut into parts
	maxClauseWords = 64
)

// parseQuestion cuts a question at question marks and semicolons, and at full stops, commas and "and" before words that begin
// another question. There are at most maxClauses clauses; the last one holds the rest.
func parseQuestion(text string) question {
	q := question{text: strings.TrimSpace(text)}
	rest := q.text
	for rest != "" {
		part := rest
		if at := clauseEnd(rest); at > 0 && len(q.clauses) < maxClauses-1 {
			part, rest = rest[:at], rest[at:]
		} else {
			rest = ""
		}
		c := clause{text: strings.Trim(part, " \t\r\n,;")}
		c.words = ContentWords(c.text)
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

// clauseEnd returns the offset after the first clause of s, or 0 if s is one clause.
func clauseEnd(s string) int {
	for i := 1; i < len(s); i++ {
		after := s[i+1:]
		switch c := s[i]; {
		case c == '?' || c == ';' || c == '\n':
			if strings.TrimSpace(after) != "" {
				return i + 1
			}
		case c == '.' && strings.HasPrefix(after, " ") && !abbreviation([]byte(s[:i])) && opensClause(strings.TrimPrefix(after[1:], "Also, ")):
			return i + 1
		case c == ',' && (opensClause(strings.TrimPrefix(strings.TrimSpace(after), "and ")) || isElliptical(strings.CutPrefix(after, " and "))):
			return i + 1
		case c == ' ' && strings.HasPrefix(after, "and ") && opensClause(after[len("and "):]):
			return i
		}
	}
	return 0
}

// opensClause reports whether s begins like a further part of a question: with a question word, an article or a preposition
// ("…, and of Ben?").
func opensClause(s string) bool {
	s = strings.TrimSpace(s)
	word, _, _ := strings.Cut(s[:min(len(s), longestOpener+2)], " ")
	return clauseOpeners[strings.ToLower(strings.Trim(word, ",.?'\""))]
}

// isElliptical reports whether the words after ", and" are short for a question: "the old mill's contact?"
func isElliptical(s string, and bool) bool {
	s = s[:strings.IndexAny(s+"?", ",?")]
	return and && (strings.Contains(s, " of ") || strings.Contains(s, "'s ") || strings.Contains(s, "s' "))
}

const longestOpener = len("should")

var clauseOpeners = set(`what when where who whom whose which why how is are was were does do did can could
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
	finished, said := ContentWords(string(answer[:at])), ContentWords(sentence)
	clause = whole
	most := -1.0
	for i, c := range q.clauses {
		if q.answered(i, finished) {
			continue
		}
		if part := float64(SharedWords(c.words, said)) / float64(len(c.words)); part > most {
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
		if left := WithoutWords(own, earlier.words); len(left) > 0 {
			own = left
		}
	}
	return 2*SharedWords(own, finished) > len(own)
}

// sentenceStart returns the offset of the last sentence in text. A sentence ends at a line end, and at '.', '!' or '?' before
// white space unless the word before looks like an abbreviation. The end of text does not end a sentence: "1." may become
// "1.5".
func sentenceStart(text []byte) int {
	for i := len(text) - 1; i > 0; i-- {
		if c := text[i]; c == '\n' {
			return skipSpace(text, i)
		} else if c != ' ' && c != '\t' {
			continue
		}
		j := i - 1 // over closing quotes and brackets
		for j > 0 && bytes.IndexByte([]byte(`"')]`), text[j]) >= 0 {
			j--
		}
		switch text[j] {
		case '!', '?':
			return skipSpace(text, i)
		case '.':
			if !abbreviation(text[:j]) {
				return skipSpace(text, i)
			}
		}
	}
	return 0
}

func skipSpace(text []byte, at int) int {
	return len(text) - len(bytes.TrimLeft(text[at:], " \t\r\n"))
}

var abbreviations = set("mr mrs ms dr st prof no nr e.g i.e etc vs approx ca dept jr sr")

// abbreviation reports whether the last word of text is an abbreviation or an initial. A full stop follows it.
func abbreviation(text []byte) bool {
	word := text[bytes.LastIndexAny(text, " \n(\"")+1:]
	if len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' {
		return true
	}
	return abbreviations[strings.ToLower(string(word))]
}

// wholeWords drops a last word that the next token may lengthen.
func wholeWords(text []byte) string {
	i := len(text)
	for i > 0 {
		r, n := utf8.DecodeLastRune(text[:i])
		if unicode.IsSpace(r) {
			break
		}
		i -= n
	}
	return strings.TrimSpace(string(text[:i]))
}

// ContentWords returns the words of text in lower case, without function words.
func ContentWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	kept := words[:0]
	for _, w := range words {
		if !functionWords[w] {
			kept = append(kept, w)
		}
	}
	return kept
}

var functionWords = set(`a an the and or but of in on at to for from by with as is are was were be been it its
	this that these those what when where who whom whose which why how does do did has have had can could
	will would should may might must i you he she we they me him her us them my your his our their there
	please tell give know need also not no yes if than then so s t re ve ll d m`)

// SharedWords counts the words of a that are also in b, perhaps with another ending ("open", "opens", "opening").
func SharedWords(a, b []string) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			if sameStem(x, y) {
				n++
				break
			}
		}
	}
	return n
}

// WithoutWords returns the words of a that are not in b.
func WithoutWords(a, b []string) []string {
	var left []string
	for _, x := range a {
		if SharedWords([]string{x}, b) == 0 {
			left = append(left, x)
		}
	}
	return left
}

// sameStem reports whether two words are equal, or one is the other plus an ending of up to three letters.
func sameStem(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 3 && len(b)-len(a) <= 3 && strings.HasPrefix(b, a)
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
