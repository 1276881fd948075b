package extract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tandem/decoder"
)

// otherwise returns the sentence that says something else than what was said and is likeliest to be right, if it would have
// been the answer had nobody said more; at most one. Only values are compared: sentences differ in too many ways. It must speak
// of what the question speaks of, as far as the sentence does that says the answer here. A document that says the answer seldom
// contradicts itself: what else it says is about something else. In a conversation, another document than the one that it is about must
// speak of what was asked before, too.
func (s *part) otherwise(said string, quotes []decoder.Quote, nothing float64) []decoder.Quote {
	if s.form != value || said == Unknown {
		return nil
	}
	topic := decoder.ContentWords(s.clause)
	before := decoder.WithoutWords(s.asked, topic)
	least := about * float64(len(topic))
	says := func(q decoder.Quote) bool { return q.Weight >= decoder.LeastShare }
	shares := func(q decoder.Quote) float64 { return float64(decoder.SharedWords(topic, s.told(q))) }
	var sayers []string // the documents that say the answer
	for _, q := range quotes {
		if says(q) {
			least, sayers = max(least, shares(q)), append(sayers, s.known[q.Passage].source)
		}
	}
	var best []decoder.Quote
	for _, q := range quotes {
		likelier := q.Relevance >= nothing && (best == nil || q.Relevance > best[0].Relevance)
		follows := len(before) == 0 || s.contexts[q.Passage].told || decoder.SharedWords(before, s.told(q)) > 0
		if likelier && follows && !slices.Contains(sayers, s.known[q.Passage].source) && shares(q) >= least && disagree(s.clause, said, q) {
			best = []decoder.Quote{q}
		}
	}
	return best
}

// about is the share of a question's words that a sentence must have, with its title, to be about the same.
const about = 0.6

// told returns the words of a quote with its passage's title, and with the question that it answers in the line above.
func (s *part) told(q decoder.Quote) []string {
	p := s.known[q.Passage]
	text := p.text[:p.body] + q.Text
	if at := strings.Index(p.text[p.body:], q.Text); at > 0 {
		above := p.lineStart(p.body + at)
		if before := p.text[p.lineStart(max(0, above-1)):above]; strings.HasSuffix(strings.TrimSpace(before), "?") {
			text += " " + before
		}
	}
	return decoder.ContentWords(text)
}

// Bounds of the values that are compared, in words.
const (
	mostWords = 10
	fewWords  = 4 // of values without a number: longer ones may say the same in other words
)

// disagree reports whether what a quote answers to a question says something else than an answer: other numbers or, where
// neither has one, other words. One that says more, or less, says the same. Of a number and a word it does not say so: they
// answer different questions.
func disagree(question, answer string, q decoder.Quote) bool {
	other := q.Text[q.From:q.To]
	if len(strings.Fields(other)) > mostWords || other == "" {
		return false
	}
	a, b := numbers(answer), numbers(other)
	switch {
	case len(a)+len(b) == 0:
		a, b = named(answer, question), named(other, question)
		if len(a) == 0 || len(b) == 0 {
			return false
		}
		if max(len(a), len(b)) > fewWords {
			return !slices.ContainsFunc(b, func(x string) bool { return slices.Contains(a, x) })
		}
	case len(a) == 0 || len(b) == 0:
		return false
	}
	return !holds(a, b) && !holds(b, a)
}

// holds reports whether a has all of b.
func holds(a, b []string) bool {
	return !slices.ContainsFunc(b, func(x string) bool { return !slices.Contains(a, x) })
}

// named returns the words of a text that say who or what: those that the question does not have. A title says nothing: "Mr Holm"
// and "Piet Holm" may be one.
func named(text, question string) []string {
	left := decoder.WithoutWords(decoder.ContentWords(text), decoder.ContentWords(question))
	return besides(left, titles)
}

var titles = set("mr mrs ms miss dr prof herr frau hr fr mme sir madam")

var (
	number   = regexp.MustCompile(`(\d+(?:[.,:\x{00a0}\x{202f}]\d+)*)(\s?[ap]\.?m\b)?`)
	thousand = regexp.MustCompile(`^\d{1,3}(?:[.,\x{00a0}\x{202f}]\d{3})+`)
	whole    = regexp.MustCompile(`[.,:]00?$`)
)

// numbers returns the numbers of a text, written in one way: "1,200.00" is 1200, "09:00" and "9 a.m." are 9, "5 p.m." is 17.
// Of a date they have the month's name, too.
func numbers(text string) (out []string) {
	for _, m := range number.FindAllStringSubmatch(strings.ToLower(text), -1) {
		n := m[1]
		if t := thousand.FindString(n); t != "" && !strings.Contains(n, ":") {
			n = strings.NewReplacer(",", "", ".", "", "\u00a0", "", "\u202f", "").Replace(t) + n[len(t):]
		}
		n = strings.Replace(whole.ReplaceAllString(n, ""), ",", ".", 1)
		if len(n) > 1 && n[0] == '0' && (len(n) == 2 || n[2] == ':' || n[2] == '.') {
			n = n[1:]
		}
		if hour, rest, _ := strings.Cut(n, ":"); strings.Contains(m[2], "p") && len(hour) <= 2 {
			if h, err := strconv.Atoi(hour); err == nil && h < 12 {
				n = strings.TrimSuffix(strconv.Itoa(h+12)+":"+rest, ":")
			}
		}
		out = append(out, n)
	}
	if len(out) > 0 {
		for _, w := range decoder.ContentWords(text) {
			if months[w] {
				out = append(out, w[:3])
			}
		}
	}
	return out
}

var months = set(`january february march april may june july august september october november december
 januar februar märz mai juni juli oktober dezember`)
