package extract

import (
	"slices"
	"strconv"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// asksCompared matches a question about which of two things has more of something, and names both: "Which is cheaper
// for a child, the ferry or the bus?"
var asksCompared = lazyregexp.New(`(?i)^\W*(?:and )?(?:which|what|who)\b(.*?)\b(cheaper|more expensive|dearer|heavier|lighter|longer|shorter|bigger|larger|smaller|higher|lower|taller|wider|deeper|more|less|fewer)\b(.*?)[,:] (.+?),? or ([^,?]+)\?*$`)

// comparison is what the word means by which a question compares.
type comparison struct {
	less  bool               // the thing with less of it answers
	value *lazyregexp.Regexp // what stands after a thing's name
}

var comparisons = map[string]comparison{
	"cheaper": {true, amountBehind}, "more expensive": {false, amountBehind}, "dearer": {false, amountBehind}, "heavier": {false, weightBehind}, "lighter": {true, weightBehind},
	"longer": {false, quantityBehind}, "shorter": {true, quantityBehind}, "bigger": {false, quantityBehind}, "larger": {false, quantityBehind}, "smaller": {true, quantityBehind},
	"higher": {false, quantityBehind}, "lower": {true, quantityBehind}, "taller": {false, quantityBehind}, "wider": {false, quantityBehind}, "deeper": {false, quantityBehind},
	"more": {false, quantityBehind}, "less": {true, quantityBehind}, "fewer": {true, quantityBehind},
}

var (
	// amountBehind matches an amount of money after a name: ": £31".
	amountBehind = lazyregexp.New(`(?i)^[^\d\n,;]{0,20}?(` + amount + `)`)
	// weightBehind matches a weight after a name: ": 9 kg".
	weightBehind = lazyregexp.New(`(?i)^[^\d\n,;]{0,20}?(\d[\d.,]* ?(?:kg|g|t|lbs?)\b)`)
	// quantityBehind matches any number with its unit after a name: ": 4 nights".
	quantityBehind = lazyregexp.New(`^[^\d\n,;]{0,20}?(` + aQuantity + `)`)
	// numberOf matches such a number anywhere.
	numberOf = lazyregexp.New(aQuantity)
)

// aQuantity matches a number with its unit, or with what it counts: "4 nights".
const aQuantity = `\d[\d.,]*(?: ?[\pL%²³/]+)?`

// oneOfTwo returns the name of the thing that has more, or less, where a question names two and asks which: their
// numbers stand in two rows of a table, or after their names. A reader that points cannot weigh them.
func (p passage) oneOfTwo(q query) (from, to int, ok bool) {
	question := q.text
	m := asksCompared.FindStringSubmatch(question)
	if m == nil {
		return 0, 0, false
	}
	k := comparisons[strings.ToLower(m[2])]
	var found [2]quantified
	for i, name := range m[4:6] {
		if found[i], ok = p.numberInTable(question, words.Content(name)); ok {
			continue
		}
		if found[i], ok = p.numberBehind(words.Content(name), words.Content(m[1]+" "+m[3]), k.value); !ok {
			return 0, 0, false
		}
	}
	a, b := found[0], found[1]
	if a.unit != b.unit || a.value == b.value {
		return 0, 0, false
	}
	if (a.value < b.value) != k.less {
		a = b
	}
	return a.from, a.to, true
}

// quantified is the place of a thing's name, and its number.
type quantified struct {
	from, to int
	value    float64
	unit     string
}

// numberInTable returns the thing in whose row a question names a column with a number.
func (p passage) numberInTable(question string, name []string) (out quantified, ok bool) {
	rows := p.rows
	if len(rows) == 0 || len(name) == 0 {
		return out, false
	}
	column, _ := columnOf(rows[0].names, question, words.Content(question))
	for _, r := range rows {
		label := r.cells[0]
		if column < 1 || column >= len(r.cells) || !slices.Equal(r.names, rows[0].names) {
			return out, false
		}
		if !words.HasAll(words.Content(p.slice(label)), name) {
			continue
		}
		value, unit, number := numberIn(p.slice(r.cells[column]))
		if ok || !number {
			return out, false
		}
		out, ok = quantified{label.from, label.to, value, unit}, true
	}
	return out, ok
}

// numberBehind returns the thing whose name stands before a number, in the line that has most of the other words of the question.
func (p passage) numberBehind(name, others []string, value *lazyregexp.Regexp) (out quantified, ok bool) {
	if len(name) == 0 || len(name) > maxWords {
		return out, false
	}
	most := -1
	for begin, end := range p.lines() {
		line := p.text[begin:end]
		if strings.Contains(line, passages.CellMark) {
			line = "" // columns say more than the next number
		}
		for _, at := range placesOf(name, line) {
			said := quantityOf(line[at.to:], others, value)
			if said == "" {
				continue
			}
			n, unit, number := numberIn(said)
			switch shared := words.Shared(others, words.Content(line)); {
			case !number || shared < most:
			case shared == most: // two numbers
				return out, false
			default:
				out, ok, most = quantified{begin + at.from, begin + at.to, n, unit}, true, shared
			}
		}
	}
	return out, ok
}

// quantityOf returns the number, with its unit, that the text behind a name gives: of what the question counts, or the
// only one of the clause. Of "plays at 9:00 for 40 minutes" neither is known to be meant.
func quantityOf(behind string, counted []string, value *lazyregexp.Regexp) string {
	m := value.FindStringSubmatch(behind)
	switch {
	case m == nil:
		return ""
	case value != quantityBehind:
		return m[1]
	}
	for _, n := range numberOf.FindAllString(upTo(sentenceEnd, behind), -1) {
		if words.Shared(counted, words.Content(n)) > 0 {
			return n
		}
	}
	if len(numberOf.FindAllString(upTo(clauseStop, behind), 2)) > 1 {
		return ""
	}
	return m[1]
}

var (
	// sentenceEnd matches the end of a sentence.
	sentenceEnd = lazyregexp.New(`[.!?;](?: |$)`)
	// clauseStop matches the end of a clause or a sentence.
	clauseStop = lazyregexp.New(`[.!?;,](?: |$)`)
)

// upTo returns a text up to the first match.
func upTo(end *lazyregexp.Regexp, text string) string {
	if at := end.FindStringIndex(text); at != nil {
		return text[:at[0]]
	}
	return text
}

// placesOf returns where the words of a name stand one after the other in a line, with up to three bytes between them.
func placesOf(name []string, line string) (out []textRange) {
	words := wordAt.FindAllStringIndex(line, -1)
	for i := range words[:max(0, len(words)-len(name)+1)] {
		found := true
		for k, w := range name {
			at := words[i+k]
			found = found && strings.ToLower(line[at[0]:at[1]]) == w && (k == 0 || at[0]-words[i+k-1][1] <= 3)
		}
		if found {
			out = append(out, textRange{words[i][0], words[i+len(name)-1][1]})
		}
	}
	return out
}

// numberIn returns the only number of a text and the rest of it.
func numberIn(text string) (value float64, unit string, ok bool) {
	n := numbers(text)
	if len(n) != 1 {
		return 0, "", false
	}
	value, err := strconv.ParseFloat(n[0], 64)
	return value, strings.ToLower(strings.Trim(number.ReplaceAllString(text, ""), " .,")), err == nil
}
