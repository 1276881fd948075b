package extract

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"tandem/decoder"
	"tandem/decoder/ground"
)

// otherwise returns the sentence that says something else than what was said and is likeliest to be right, if it would have
// been the answer had nobody said more; at most one. Only values are compared: sentences differ in too many ways. It must speak
// of what the question speaks of, as far as the sentence does that says the answer here.
func (s *part) otherwise(said string, quotes []decoder.Quote, nothing float64) []decoder.Quote {
	if s.form != value || said == Unknown {
		return nil
	}
	topic := words(s.clause)
	least := about * float64(len(topic))
	for _, q := range quotes {
		if q.Weight >= decoder.LeastShare {
			least = max(least, float64(shared(topic, s.told(q))))
		}
	}
	var best []decoder.Quote
	for _, q := range quotes {
		switch {
		case q.Weight >= decoder.LeastShare, q.Relevance < nothing, float64(shared(topic, s.told(q))) < least, !disagree(s.clause, said, q):
		case best == nil || q.Relevance > best[0].Relevance:
			best = []decoder.Quote{q}
		}
	}
	return best
}

// about is the share of a question's words that a sentence must have, with its title, to be about the same.
const about = 0.6

// told returns the words of a quote with its passage's title, and with the question that it answers in the line above.
func (s *part) told(q decoder.Quote) map[string]bool {
	p := s.known[q.Passage]
	text := p.text[:p.body] + q.Text
	if at := strings.Index(p.text[p.body:], q.Text); at > 0 {
		above := p.lineStart(p.body + at)
		if before := p.text[p.lineStart(max(0, above-1)):above]; strings.HasSuffix(strings.TrimSpace(before), "?") {
			text += " " + before
		}
	}
	return words(text)
}

// shared returns how many words of a question are in a text, in whatever form: "opens" is in "opening".
func shared(question, text map[string]bool) (n int) {
	for a := range question {
		for b := range text {
			if a == b || len(a) > 3 && len(b) > 3 && a[:min(len(a), max(4, len(a)-3))] == b[:min(len(b), max(4, len(a)-3))] {
				n++
				break
			}
		}
	}
	return n
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
		asked := words(question)
		a, b = without(words(answer), asked), without(words(other), asked)
		if len(a) == 0 || len(b) == 0 {
			return false
		}
		if max(len(a), len(b)) > fewWords {
			return !meet(a, b)
		}
	case len(a) == 0 || len(b) == 0:
		return false
	}
	return !holds(a, b) && !holds(b, a)
}

// holds reports whether a has all of b.
func holds(a, b map[string]bool) bool {
	for x := range b {
		if !a[x] {
			return false
		}
	}
	return true
}

// meet reports whether a has any of b.
func meet(a, b map[string]bool) bool {
	for x := range b {
		if a[x] {
			return true
		}
	}
	return false
}

var (
	number   = regexp.MustCompile(`(\d+(?:[.,:\x{00a0}\x{202f}]\d+)*)(\s?[ap]\.?m\b)?`)
	thousand = regexp.MustCompile(`^\d{1,3}(?:[.,\x{00a0}\x{202f}]\d{3})+`)
	whole    = regexp.MustCompile(`[.,:]00?$`)
)

// numbers returns the numbers of a text, written in one way: "1,200.00" is 1200, "09:00" and "9 a.m." are 9, "5 p.m." is 17.
// Of a date they have the month's name, too.
func numbers(text string) map[string]bool {
	out := map[string]bool{}
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
		out[n] = true
	}
	if len(out) > 0 {
		for w := range words(text) {
			if months[w] {
				out[w[:3]] = true
			}
		}
	}
	return out
}

var months = set(`january february march april may june july august september october november december
 januar februar märz mai juni juli oktober dezember`)

// words returns the words of a text in lower case, without function words.
func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !functionWords[w] {
			out[w] = true
		}
	}
	return out
}

// functionWords include titles: "Mr Holm" and "Piet Holm" may be one.
var functionWords = set(strings.Join(ground.Words(), " ") + " mr mrs ms miss dr prof herr frau hr fr mme m sir madam")

func without(words, others map[string]bool) map[string]bool {
	for w := range others {
		delete(words, w)
	}
	return words
}
