package extract

import (
	"slices"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// valueKinds are the kinds of values of which a sentence may go through several: "£33", "9:40", "3 days".
var valueKinds = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)` + amount),
	lazyregexp.New(`(?i)\b\d{1,2}[:.]\d\d\b(?: ?[ap]\.?m\b)?|\b\d{1,2} ?[ap]\.?m\b`),
	lazyregexp.New(`(?i)\b(?:\d+(?:[.,]\d+)?|an?|half an?|one|two|three|four|five|six) (?:minutes?|hours?|days?|weeks?|months?|years?)\b`),
}

// sameThing matches what says that a second value is of the same thing as the first: "it was", "later".
var sameThing = lazyregexp.New(`(?i)` + apart(`it|its|they|their|he|she|now|since|then|later|instead|currently|was|were|used to|rais\pL*|reduc\pL*|chang\pL*|es|er|sie|jetzt|seit|war|dann|statt|il|elle|maintenant|depuis|était|ahora|desde|era`))

// enumeratedValue is one of several values of a kind that a sentence names each after its own words: "a morning £33, an
// afternoon £30".
type enumeratedValue struct {
	from, to int      // offsets in the sentence
	before   []string // the words between the value before it and this one
	those    bool     // "those of" stands there
}

// named returns the words before a value, with those before the first if "those" stands for them.
func (v enumeratedValue) named(first enumeratedValue) []string {
	if v.those {
		return slices.Concat(v.before, first.before)
	}
	return v.before
}

// standsForOthers matches what stands for a thing that the sentence has named: "those of the gates".
var standsForOthers = lazyregexp.New(`(?i)\b(?:those|that|the ones?) (?:of|for|in|on|at|from|with)\b`)

// enumerationsIn returns the values of each kind that a sentence goes through, if each has words before it and the last has
// none after it. Otherwise the words may as well follow their values.
func enumerationsIn(said string) (kinds [][]enumeratedValue) {
	for _, kind := range valueKinds {
		found := kind.FindAllStringIndex(said, -1)
		if len(found) < 2 || len(words.Content(said[found[len(found)-1][1]:])) > 0 {
			continue
		}
		values, begin := make([]enumeratedValue, len(found)), 0
		for i, v := range found {
			values[i] = enumeratedValue{v[0], v[1], words.Content(said[begin:v[0]]), i > 0 && standsForOthers.MatchString(said[begin:v[0]])}
			begin = v[1]
		}
		if !slices.ContainsFunc(values, func(v enumeratedValue) bool { return len(v.before) == 0 }) && !sameThing.MatchString(said) {
			kinds = append(kinds, values)
		}
	}
	return kinds
}

// isOtherEnumerated reports whether the value is another one of several in turn than the one that stands after all words of
// the question, except those of the title.
func (c candidate) isOtherEnumerated(topic []string) bool {
	if !hasDigit(c.value) {
		return false
	}
	if !c.enumerationsKnown {
		c.enumerations, c.enumerationsKnown = enumerationsIn(c.said), true
	}
	if len(c.enumerations) == 0 {
		return false
	}
	topic = words.Without(excluding(topic, asksOnly), words.Content(c.title()))
	from, to := c.from-c.begin, c.from-c.begin+len(c.value)
	for _, values := range c.enumerations {
		asked := -1
		for i, v := range values {
			if before := v.named(values[0]); len(topic) > 0 && words.HasAll(before, topic) {
				if asked >= 0 {
					return false
				}
				asked = i
			}
		}
		covers := func(v enumeratedValue) bool { return v.from < to && from < v.to }
		if asked >= 0 && slices.ContainsFunc(values, covers) && !covers(values[asked]) {
			return true
		}
	}
	return false
}

// countedIn returns the words for what a question wants to be counted or measured: "eggs".
func countedIn(question string) []string {
	m := asksCount.FindStringSubmatch(question)
	if m == nil {
		return nil
	}
	return words.Content(m[1])
}

// asksCount matches a question about how much or how many of something: "how many eggs does it need".
var asksCount = lazyregexp.New(`(?i)` + questionStart + `how (?:much|many) ((?:\pL+ ){0,2}?\pL+)(?:$|\W*$| (?:do|does|did|is|are|was|were|can|could|should|will|must|have|has|had|go(?:es)?|in|for|per|to)\b)`)

// countsSomethingElse reports whether a line gives an amount of something other than is counted, and another line of
// the passage says how much of that there is.
func (c candidate) countsSomethingElse(counted []string) bool {
	if words.Shared(counted, words.Content(c.said)) > 0 || !countsItself.MatchString(c.said) && !beginsWithDate.MatchString(c.said) {
		return false
	}
	for begin, end := range c.lines() {
		line := c.text[begin:end]
		if (end <= c.begin || c.end <= begin) && begin >= c.body && hasDigit(line) && words.HasAll(words.Content(line), counted) {
			return true
		}
	}
	return false
}

// countsItself matches a line that is only an amount of something: "2 carrots", "500 g of flour".
var countsItself = lazyregexp.New(`(?i)^[^\pL\d]*\d[\d.,/]* ?(?:(?:g|kg|mg|ml|cl|l|litres?|tsp|tbsp|cups?|pinch(?:es)?|spoons?) )?(?:of )?\pL+(?: \pL+){0,2}\W*$`)

// isGoal reports whether a value is that up to which one does again what the question asks about, and its sentence has no
// condition that says when: "refill to 2 bar". What is inflated or set at once has that value.
func (c candidate) isGoal(w wants) bool {
	m := doneTo.FindStringSubmatch(c.before())
	return m != nil && words.Shared(words.Content(m[1]), w.words) > 0 && !c.says(condition)
}

var (
	// doneTo matches, before a value, what is done again up to it: "refill the boiler to between ".
	doneTo = lazyregexp.New(`(?i)\b(refill\pL*|replenish\pL*|top(?:ped|ping)?)(?: (?:it|them|the \pL+|\pL+)){0,3}? (?:up )?to (?:between|about|at least|at most|max\.?)? ?$`)
	// asksGoal matches a question for it: "to what pressure".
	asksGoal = lazyregexp.New(`(?i)` + questionStart + `(?:(?:up )?to|until) `)
	// condition matches what says when something is to be done: "when".
	condition = lazyregexp.New(`(?i)` + apart(`when|if|once|whenever|as soon as|below|under|wenn|sobald|unter|si|quand|dès que`))
)
