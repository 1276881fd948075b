package extract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/decoder"
)

// otherwise returns the sentence that says something else than what was said and is likeliest to be right, if it would have
// been the answer had nobody said more; at most one. Only values are compared: sentences differ in too many ways. It must speak
// of what the question speaks of, as far as the sentence does that says the answer here. A document that says the answer seldom
// contradicts itself: what else it says is about something else. In a conversation, another document than the one that it is about must
// speak of what was asked before, too.
func (s *part) otherwise(said string, quotes []decoder.Quote, nothing float64) []decoder.Quote {
	if s.form != value {
		return nil
	}
	topic := decoder.ContentWords(s.clause)
	before := decoder.WithoutWords(s.asked, topic)
	least := about * float64(len(topic))
	says := func(q decoder.Quote) bool { return q.Weight >= decoder.MinShare }
	shares := func(q decoder.Quote) float64 { return float64(decoder.SharedWords(topic, s.wordsAround(q))) }
	var sayers []string // the documents that say the answer
	for _, q := range quotes {
		if says(q) {
			least, sayers = max(least, shares(q)), append(sayers, s.known[q.Passage].source)
		}
	}
	var best []decoder.Quote
	for _, q := range quotes {
		likelier := q.Relevance >= nothing && (best == nil || q.Relevance > best[0].Relevance)
		follows := len(before) == 0 || s.contexts[q.Passage].ofLastSource || decoder.SharedWords(before, s.wordsAround(q)) > 0
		if likelier && follows && !slices.Contains(sayers, s.known[q.Passage].source) && shares(q) >= least && disagree(s.clause, said, q) {
			best = []decoder.Quote{q}
		}
	}
	return best
}

// about is the share of a question's words that a sentence must have, with its title, to be about the same.
const about = 0.6

// wordsAround returns the words of a quote with its passage's title, and with the question that it answers in the line above.
func (s *part) wordsAround(q decoder.Quote) []string {
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
	maxWords = 10
	fewWords = 4 // of values without a number: longer ones may say the same in other words
)

// disagree reports whether what a quote answers to a question says something else than an answer: other numbers or, where
// neither has one, other words. One that says more, or less, says the same. Of a number and a word it does not say so: they
// answer different questions.
func disagree(question, answer string, q decoder.Quote) bool {
	other := q.Text[q.From:q.To]
	if len(strings.Fields(other)) > maxWords || other == "" {
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
	thousand = regexp.MustCompile(`^([1-9]\d{0,2}(?:[.,\x{00a0}\x{202f}]\d{3})+)([.,]\d+)?$`)
	whole    = regexp.MustCompile(`[.,:]00?$`)
)

// numbers returns the numbers of a text, written in one way: "1,200.00" is 1200, "09:00" and "9 a.m." are 9, "5.30 p.m." is 17:30.
// Of a date they have the month's name, too.
func numbers(text string) (out []string) {
	for _, m := range number.FindAllStringSubmatch(strings.ToLower(text), -1) {
		n := m[1]
		if t := thousand.FindStringSubmatch(n); t != nil {
			n = strings.NewReplacer(",", "", ".", "", "\u00a0", "", "\u202f", "").Replace(t[1]) + t[2]
		}
		if m[2] != "" {
			n = strings.Replace(n, ".", ":", 1) // 5.30 p.m.
		}
		n = strings.Replace(whole.ReplaceAllString(n, ""), ",", ".", 1)
		if len(n) > 1 && n[0] == '0' && (len(n) == 2 || n[2] == ':' || n[2] == '.') {
			n = n[1:]
		}
		if hour, rest, _ := strings.Cut(n, ":"); m[2] != "" {
			if h, err := strconv.Atoi(hour); err == nil && h <= 12 {
				h %= 12
				if strings.Contains(m[2], "p") {
					h += 12
				}
				n = strings.TrimSuffix(strconv.Itoa(h)+":"+rest, ":")
			}
		}
		out = append(out, n)
	}
	if len(out) > 0 {
		out = append(out, monthsIn(strings.ToLower(text))...)
	}
	return out
}

// monthsIn returns the months that a text in lower case names. One of three letters must stand beside a number: "may" is mostly a verb, and
// Jan a name.
func monthsIn(text string) (out []string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	counts := func(i int) bool { return i >= 0 && i < len(words) && words[i][0] >= '0' && words[i][0] <= '9' }
	for i, w := range words {
		before := i - 1
		if before > 0 && (words[before] == "of" || words[before] == "de") {
			before--
		}
		if m := months[w]; m != "" && (utf8.RuneCountInString(w) > 3 || counts(before) || counts(i+1)) {
			out = append(out, m)
		}
	}
	return out
}

// months has the names of months with the first of each line, which stands for them.
var months = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(`jan january januar jänner janvier enero
		feb february februar fév février febrero
		mar march mär märz mrz mars marzo
		apr april avr avril abr abril
		may mai mayo
		jun june juni juin junio
		jul july juli juil juillet julio
		aug august août ago agosto
		sep sept september septembre septiembre
		oct october okt oktober octobre octubre
		nov november novembre noviembre
		dec december dez dezember déc décembre dic diciembre`) {
		names := strings.Fields(line)
		for _, name := range names {
			m[name] = names[0]
		}
	}
	return m
}()
