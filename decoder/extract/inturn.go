package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
)

// valuesInTurn match values of one kind, of which a sentence may have several in turn: amounts of money, times.
var valuesInTurn = []*regexp.Regexp{
	regexp.MustCompile(`(?i)[€£$] ?\d[\d.,]*\d|[€£$] ?\d|\d[\d.,]* ?(?:€|euros?\b|eur\b|pounds?\b|dollars?\b|chf\b|francs?\b|kr\b)`),
	regexp.MustCompile(`(?i)\b\d{1,2}[:.]\d\d\b(?: ?[ap]\.?m\b)?|\b\d{1,2} ?[ap]\.?m\b`),
}

// sameThing matches what says that a second value is of the same thing as the first.
var sameThing = regexp.MustCompile(`(?i)` + apart(`it|its|they|their|he|she|now|since|then|later|instead|currently|was|were|used to|rais\pL*|reduc\pL*|chang\pL*|es|er|sie|jetzt|seit|war|dann|statt|il|elle|maintenant|depuis|était|ahora|desde|era`))

// valueInTurn is one of several values of a kind that a sentence names each behind its own words: "a morning £33, an afternoon £30".
type valueInTurn struct {
	from, to int      // offsets in the sentence
	before   []string // the words between the value before it and this one
}

// inTurn returns the values of each kind in a sentence, if it has several, and words before each but none after the last: where the words
// may as well follow their values, it has none.
func inTurn(said string) (kinds [][]valueInTurn) {
	for _, kind := range valuesInTurn {
		found := kind.FindAllStringIndex(said, -1)
		if len(found) < 2 || len(decoder.ContentWords(said[found[len(found)-1][1]:])) > 0 {
			continue
		}
		values, begin := make([]valueInTurn, len(found)), 0
		for i, v := range found {
			values[i] = valueInTurn{v[0], v[1], decoder.ContentWords(said[begin:v[0]])}
			begin = v[1]
		}
		if !slices.ContainsFunc(values, func(v valueInTurn) bool { return len(v.before) == 0 }) && !sameThing.MatchString(said) {
			kinds = append(kinds, values)
		}
	}
	return kinds
}

// valueOfOther reports whether the value is not the one of several in turn behind which all words of the question stand, but for those of the
// title.
func (at pointed) valueOfOther(words []string) bool {
	if !strings.ContainsAny(at.value, "0123456789") {
		return false
	}
	if !at.turned {
		at.turns, at.turned = inTurn(at.said), true
	}
	if len(at.turns) == 0 {
		return false
	}
	words = decoder.WithoutWords(besides(words, asksOnly), decoder.ContentWords(at.title()))
	from, to := at.from-at.begin, at.from-at.begin+len(at.value)
	for _, values := range at.turns {
		asked := -1
		for i, v := range values {
			if len(words) > 0 && decoder.SharedWords(words, v.before) == len(words) {
				if asked >= 0 {
					return false
				}
				asked = i
			}
		}
		covers := func(v valueInTurn) bool { return v.from < to && from < v.to }
		if asked >= 0 && slices.ContainsFunc(values, covers) && !covers(values[asked]) {
			return true
		}
	}
	return false
}
