package extract

import (
	"regexp"

	"tandem/decoder"
)

// asksFormer matches a question for what was so before something else was.
var asksFormer = regexp.MustCompile(`(?i)\b(?:was|were|did|had)\b.*\b(?:before|at first|originally|initially|previously|formerly|used to|use to)\b|\b(?:what|who|where|which)\b.*\bused to\b|\b(?:was|were) (?:the|our|my|his|her|their) (?:old|former|previous|original)\b`)

var (
	usedTo = regexp.MustCompile(`(?i)\b(?:used to (?:be|have|cost|live|open|close|start|meet|run|work|pay|hang|stand)|formerly|previously|originally|at first|(?:was|were|cost) [^,;.]{1,40}? until)\b`)
	// wasOfOld matches a sentence that says what the thing of the sentence before it was: "It was 9013 until last summer."
	wasOfOld = regexp.MustCompile(`(?i)^(?:(?:it|they) used to (?:be|cost|hang|stand|lie|live)\b|(?:it|they|that|this|he|she) (?:was|were|had been|cost)\b.*\b(?:until|before|previously|formerly|at first|originally|used to)\b|(?:before(?: that)?|until (?:then|[^,;.]{1,30})|previously|formerly|at first|originally),? (?:it|they|he|she) (?:was|were|had|cost|used to)\b)`)
)

// sinceThen returns where the text ends that shows a value to be a new one: its sentence says first what used to be so, or the next one
// says what was. It returns ok false if nothing shows that.
func (p passage) sinceThen(begin, from, end int) (to int, ok bool) {
	said := p.text[begin:max(begin, from)]
	if was := usedTo.FindStringIndex(said); was != nil {
		return end, isNow.MatchString(said[was[1]:])
	}
	if end+1 >= len(p.text) || wasSo.MatchString(said) {
		return end, false
	}
	next, to := p.sentence(min(len(p.text), end+1), min(len(p.text), end+2))
	if next < end || to > p.lineEnd(begin) {
		return end, false
	}
	return to, wasOfOld.MatchString(p.text[next:to])
}

// withFormer replaces a new value, where the question asks for the one before it, by the sentences that say both.
func (p passage) withFormer(texts []weighed) []weighed {
	for i, t := range texts {
		if t.quote.From == t.quote.To || len(decoder.ContentWords(t.quote.Text)) == 0 {
			continue
		}
		if to, ok := p.sinceThen(t.at, t.at+t.quote.From, t.at+len(t.quote.Text)); ok {
			texts[i].text = p.antecedent(t.at) + unmarked(p.cells(t.at, to))
		}
	}
	return texts
}
