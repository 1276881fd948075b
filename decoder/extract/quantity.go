package extract

import (
	"regexp"
	"strconv"
	"strings"

	"tandem/model/span"
)

// wholeQuantity widens spans that are a part of a quantity: "2,850" in "2,850–3,200" is not the salary, nor "60" in "under 60" the age. A
// question for a time asks for one end of a stretch more often than for both, so it is left alone.
func (p passage) wholeQuantity(w wants, spans []span.Span) {
	for i, s := range spans {
		begin, end := p.lineStart(s.Begin), p.lineEnd(s.End)
		if strings.Contains(p.text[s.Begin:s.End], "\n") {
			continue
		}
		to := s.End + len(options.FindString(p.text[s.End:end]))
		if w.time || !aNumeral.MatchString(p.text[s.Begin:to]) {
			spans[i].End = to
			continue
		}
		from := s.Begin
		if startsNumber.MatchString(p.text[from:to]) {
			if m := rangeBefore.FindStringSubmatch(p.text[begin:from]); m != nil && ascends(m[1], p.text[from:to]) {
				from -= len(m[1])
			}
			if m := boundBefore.FindStringSubmatch(p.text[begin:from]); m != nil {
				from -= len(m[1] + m[2])
			}
		}
		if m := rangeBehind.FindStringSubmatch(p.text[to:end]); m != nil && endsNumber.MatchString(p.text[from:to]) && ascends(p.text[from:to], m[1]) {
			to += len(m[1])
		}
		if ofMoney.MatchString(p.text[from:to]) {
			if m := eachBehind.FindStringSubmatch(p.text[to:end]); m != nil {
				to += len(m[1])
			}
		}
		spans[i].Begin, spans[i].End = p.widen(from, to)
	}
}

// ascends reports whether the first number of a text is smaller than that of another: 3306 – 3 is no range.
func ascends(a, b string) bool {
	x, y := firstNumber.FindString(a), firstNumber.FindString(b)
	left, err := strconv.ParseFloat(strings.ReplaceAll(x, ",", ""), 64)
	right, err2 := strconv.ParseFloat(strings.ReplaceAll(y, ",", ""), 64)
	return err == nil && err2 == nil && left < right
}

var (
	firstNumber = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

	// options matches the options of a command behind its name: " --to 4.6.3".
	options = regexp.MustCompile(`^(?: --[a-z][\w-]*(?:[ =][\w./@:+-]*\w)?)+`)

	startsNumber = regexp.MustCompile(`^[€£$~]?\d`)
	endsNumber   = regexp.MustCompile(`\d$`)

	// rangeBehind matches the end of a range whose beginning stands before it, and rangeBefore the beginning of one. A date or a telephone
	// number has more than two parts, and a time a colon.
	rangeBehind = regexp.MustCompile(`^((?:-| ?[–—] ?)[€£$]?\d+(?:[.,]\d+)*)(?:[^\pL\d:.,–—/-]|[.,](?:[^\d]|$)|$)`)
	rangeBefore = regexp.MustCompile(`(?:^|[^\pL\pN:./–—-])(\d+(?:[.,]\d+)*(?:-| ?[–—] ?))$`)

	// boundBefore matches what makes a number the bound of a range.
	boundBefore = regexp.MustCompile(`(?i)(?:\b|^)((?:below|above|at least|at most|(?:no |not )?(?:more|less|fewer) than|mindestens|höchstens|bis zu|au moins|au plus|al menos|como máximo) )$|` +
		`(?:^|[,;:(|]|\b(?:is|are|was|were|be|been|of|for|at|by|just|well|with|has|have|had|costs?|needs?|weighs?|holds?|if|aged|and|or)) ?((?:under|over|up to|unter|über) )$`)

	// eachBehind matches for what an amount of money is due: " per person".
	eachBehind = regexp.MustCompile(`(?i)^( (?:per|pro|par|por) (?:an? )?\pL+| each| an? (?:hour|day|night|week|month|year|head|person|piece|metre|litre|kilo)|/(?:h|hour|day|night|week|month|year|person|pers|kg|m²|kWh|km|l))(?:[.,;:)!?\n]|$| (?:and|or|but|if|when|plus|with|for|in|on|at|to|until|from|und|oder|et|ou|y|o)\b)`)
)
