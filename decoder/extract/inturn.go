package extract

import (
	"regexp"
	"slices"

	"tandem/decoder"
)

// valuesInTurn match values of one kind, of which a sentence may have several in turn: amounts of money, times.
var valuesInTurn = []*regexp.Regexp{
	regexp.MustCompile(`(?i)[€£$] ?\d[\d.,]*\d|[€£$] ?\d|\d[\d.,]* ?(?:€|euros?\b|eur\b|pounds?\b|dollars?\b|chf\b|francs?\b|kr\b)`),
	regexp.MustCompile(`(?i)\b\d{1,2}[:.]\d\d(?: ?[ap]\.?m\b)?|\b\d{1,2} ?[ap]\.?m\b`),
}

// sameThing matches what says that a second value is of the same thing as the first.
var sameThing = regexp.MustCompile(`(?i)` + apart(`it|its|they|their|he|she|now|since|then|later|instead|currently|was|were|used to|rais\pL*|reduc\pL*|chang\pL*|es|er|sie|jetzt|seit|war|dann|statt|il|elle|maintenant|depuis|était|ahora|desde|era`))

// ofOther reports whether the value stands behind other words than the question's, in a sentence that has another value of its kind behind
// one of the question's: "a morning £33, an afternoon £30". Where the words follow their values, it cannot tell.
func (at pointed) ofOther(words []string) bool {
	from, to := at.from-at.begin, at.from-at.begin+len(at.value)
	for _, kind := range valuesInTurn {
		all := kind.FindAllStringIndex(at.said, -1)
		own := slices.IndexFunc(all, func(v []int) bool { return from <= v[0] && v[1] <= to })
		if own < 0 {
			continue
		}
		if len(all) < 2 || slices.ContainsFunc(all[own+1:], func(v []int) bool { return v[0] < to }) || len(decoder.ContentWords(at.said[all[len(all)-1][1]:])) > 0 {
			return false
		}
		before, begin := make([][]string, len(all)), 0
		for i, v := range all {
			before[i], begin = decoder.ContentWords(at.said[begin:v[0]]), v[1]
		}
		if slices.ContainsFunc(before, func(w []string) bool { return len(w) == 0 }) || sameThing.MatchString(at.said) {
			return false
		}
		return slices.ContainsFunc(words, func(w string) bool {
			holds := func(segment []string) bool { return decoder.SharedWords([]string{w}, segment) > 0 }
			n := 0
			for _, b := range before {
				if holds(b) {
					n++
				}
			}
			return n == 1 && !holds(before[own])
		}) && decoder.SharedWords(words, before[own]) == 0
	}
	return false
}
