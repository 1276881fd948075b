package extract

import (
	"regexp"

	"tandem/decoder"
)

var (
	// asksNoDate matches a question that wants another kind of thing by its first words, "which room", and mentionsDate one that may want a
	// date all the same: "which room is free until May?"
	asksNoDate   = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:(?:in|at|on|to|from|with|by) )?(?:where|who|whom|whose|which (?:room|house|flat|unit|floor|place|town|city|country|street|address|firm|company|person|colou?r|number|size|model|brand|platform)|what (?:room|colou?r|size|model|brand|kind|type|sort)|how (?:much|tall|high|deep|wide|heavy|big))\b`)
	mentionsDate = regexp.MustCompile(`(?i)\b(?:dates?|days?|when|months?|years?|until|till|since|deadline|due|expir\pL*|valid\pL*|time|birthday|born|notice|ahead|advance|back|up to|stop\pL*|start\pL*|beg[aiu]n\pL*|ends?|ended)\b`)
)

// wantsNoDate reports whether a question wants something else than a date.
func wantsNoDate(question string) bool {
	return asksNoDate.MatchString(question) && !mentionsDate.MatchString(question)
}

// ofOtherDay reports whether an offset is in a heading that is a day, as in a diary, and what stands above it has more of some words than what
// stands below: the day is that of the text below.
func (p passage) ofOtherDay(at int, words []string) bool {
	begin, end := p.lineStart(at), p.lineEnd(at)
	if !p.isDay(begin, end) {
		return false
	}
	from, to := begin, end
	for from > p.body && !(from < begin && p.isDay(from, p.lineEnd(from))) {
		from = p.lineStart(from - 1)
	}
	for to < len(p.text) && !p.isDay(to+1, p.lineEnd(to+1)) {
		to = p.lineEnd(to + 1)
	}
	shared := func(text string) int { return decoder.SharedWords(words, decoder.ContentWords(text)) }
	return shared(p.text[from:begin]) > shared(p.text[end:to])
}
