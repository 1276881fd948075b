package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
)

// closely is the least grade of a word that stands for another in a question.
const closely = 0.7

// wh matches the word that says what a question asks for.
var wh = regexp.MustCompile(`(?i)\b(?:how (?:much|many|long|far|often)|how|where|when|who|why)\b`)

// ownQuestionAlike returns where a passage answers a question that it asks itself in other words of like meaning: below that question, or
// in what of it has the word that the passage's question lacks.
func (p passage) ownQuestionAlike(question string, related func(word string) map[string]float64) (from, to int, ok bool) {
	at := wh.FindStringIndex(question)
	if at == nil {
		return 0, 0, false
	}
	asked := decoder.ContentWords(question[at[1]:])
	wanted := p.besidesNames(asked)
	for _, ask := range p.questions() {
		said := p.text[ask[0]:ask[1]]
		in := wh.FindStringIndex(said)
		if in == nil || !strings.EqualFold(said[in[0]:in[1]], question[at[0]:at[1]]) {
			continue
		}
		all := decoder.ContentWords(said[in[1]:])
		words := p.besidesNames(all)
		if decoder.SharedWords(all, asked) == 0 || len(all) < fewestAsked || len(words) == 0 || len(unlike(words, wanted, related)) > 0 {
			continue
		}
		extra := unlike(wanted, words, related)
		if len(extra) > 1 {
			continue
		}
		begin, end := p.belowAsked(ask[1])
		for begin < end {
			n := p.lineEnd(begin)
			if len(extra) > 0 {
				if !p.isCode(begin) && decoder.SharedWords(extra, decoder.ContentWords(p.text[begin:n])) > 0 {
					from, to = p.sayingIn(begin, n, extra)
					return from, to, true
				}
			} else if begin < n && !p.isCode(begin) {
				from, to = p.firstSaid(begin + len(lineMark.FindString(p.text[begin:n])))
				return from, to, from < to
			}
			begin = n + 1
		}
	}
	return 0, 0, false
}

// questions returns the questions of a passage: the last heading of its title, and those in its text.
func (p passage) questions() (out [][2]int) {
	if title := strings.TrimRight(p.text[p.start:p.body], "\n"); strings.HasSuffix(title, "?") {
		out = append(out, [2]int{p.start + strings.LastIndex(title, ": ") + 1, p.start + len(title)})
	}
	for _, end := range p.ends {
		if begin := p.begun(end - 1); begin >= p.body && p.asks(begin) {
			out = append(out, [2]int{begin, end})
		}
	}
	return out
}

// belowAsked returns the text behind or below a question: up to the next question or heading.
func (p passage) belowAsked(at int) (from, to int) {
	for from = at; from < len(p.text) && (p.text[from] == ' ' || p.text[from] == '\n'); {
		from++
	}
	for to = from; to < len(p.text); to = p.lineEnd(to) + 1 {
		if end := p.lineEnd(to); to < end && (p.asks(to) || to > from && p.heading(to, end) && !p.isCode(to)) {
			break
		}
	}
	return from, min(to, len(p.text))
}

// sayingIn returns the sentence of a line that has a word, or the line if it is a list's.
func (p passage) sayingIn(from, to int, words []string) (int, int) {
	if mark := len(lineMark.FindString(p.text[from:to])); mark > 0 {
		return from + mark, to
	}
	for _, s := range p.entries(from, to) {
		if decoder.SharedWords(words, decoder.ContentWords(p.text[s[0]:s[1]])) > 0 {
			return s[0], s[1]
		}
	}
	return from, to
}

// unlike returns the words of a that neither are in b nor stand for one there.
func unlike(a, b []string, related func(word string) map[string]float64) []string {
	return slices.DeleteFunc(without(a, b), func(w string) bool {
		for r, grade := range related(w) {
			if grade >= closely && decoder.SharedWords([]string{r}, b) > 0 {
				return true
			}
		}
		return false
	})
}
