package extract

import (
	"strconv"
	"strings"
	"unicode"

	"tandem/decoder"
	"tandem/internal/lazyregexp"
	"tandem/internal/sentences"
	"tandem/model/span"
)

const maxTried = 1024 // spans of a passage

// likeliestAnswers returns the n likeliest spans that may answer a question of some form, the likeliest first. An item's number
// is no answer, nor is a heading to "how" and "why". A question is none either: the text below it is.
func (p passage) likeliestAnswers(f *span.Posterior, form form, n int) []span.Span {
	var out []span.Span
	for _, s := range f.Best(maxTried) {
		if len(out) == n {
			break
		}
		if s.Begin, s.End = p.place(s.Begin, s.End, form); s.Begin < s.End {
			out = append(out, s)
		}
	}
	return out
}

// place returns the range that answers where the reader points at another one. It is empty if nothing there answers.
func (p passage) place(from, to int, form form) (int, int) {
	from, to = p.widen(from, to)
	to = p.cutAtDay(from, to)
	if form != formList {
		from, to = p.firstRow(from, to)
	}
	if p.isQuestion(from) {
		if form == formValue || form == formList {
			return from, from
		}
		from, to = p.answerBelow(from)
	}
	switch {
	case from >= to, form != formSteps && p.isOnlyMark(from, to):
		return from, from
	case form == formReason && p.isCode(from): // code gives no reason
		return from, from
	case (form == formReason || form == formSteps) && p.heading(from, to), from < p.body: // a title finds passages and says nothing
		return from, from
	}
	return p.dropOpenQuote(p.includeEvery(p.includeAbbreviation(from, to)), p.closeBracket(from, to))
}

// dropOpenQuote returns a range without a quotation mark at its end whose partner is outside the range. The mark of 19" has
// no partner.
func (p passage) dropOpenQuote(from, to int) (int, int) {
	switch said := p.text[from:to]; {
	case strings.Count(said, `"`) != 1 || len(said) < 3:
	case said[0] == '"':
		return from + 1, to
	case said[len(said)-1] == '"' && (from > 0 && p.text[from-1] == '"' || !unicode.IsDigit(rune(said[len(said)-2]))):
		return from, to - 1
	}
	return from, to
}

// timeRanges returns the ranges of times that a sentence names: "19 May to 23 May".
func (p passage) timeRanges(begin, end int) (all []textRange) {
	if outdated.MatchString(p.text[begin:end]) { // "moved from 3 May to 10 May"
		return nil
	}
	for _, m := range timeRange.FindAllStringIndex(p.text[begin:end], -1) {
		all = append(all, textRange{begin + m[0], begin + m[1]})
	}
	return all
}

// widenToTimeRanges widens spans to the ranges of times that they begin or end.
func (p passage) widenToTimeRanges(spans []span.Span) {
	known := map[textRange][]textRange{} // by the offsets of sentences
	for i, s := range spans {
		begin, end := p.sentence(s.Begin, s.End)
		at := textRange{begin, end}
		if _, ok := known[at]; !ok {
			known[at] = p.timeRanges(begin, end)
		}
		for _, m := range known[at] {
			if m.from <= s.Begin && s.End <= m.to {
				spans[i].Begin, spans[i].End = p.widen(m.from, m.to)
				break
			}
		}
	}
}

// timePoint is a day or a time.
const timePoint = `(?:(?:` + aWeekdayName + `,? )?\d{1,2}(?:st|nd|rd|th)?(?:[:.]\d\d)?(?: ?[ap]\.?m\b\.?| o'clock| Uhr| h\b)?\.?(?: (?:` + monthNames + `)\b)?(?:,? (?:19|20)\d\d)?)`

// timeRange matches two times with what makes them the ends of a range: "3–5 May", "9:00 to 10:30".
var timeRange = lazyregexp.New(`(?i)\b` + timePoint + ` ?(?:to|until|till|–|—|-|bis|à|au) ?` + timePoint)

// includeEvery returns where a value begins with the "every" before it: "every 12 hours" is no span of 12 hours.
func (p passage) includeEvery(from int) int {
	const longest = 16 // bytes that may matter
	if m := everyBefore.FindString(p.text[max(p.lineStart(from), from-longest):from]); m != "" {
		return from - len(m)
	}
	return from
}

// everyBefore matches what stands before a value that comes again, in four languages: "every ".
var everyBefore = lazyregexp.New(`(?i)\b(?:every|alle|toutes les|tous les|cada) $`)

// closeBracket returns where a range ends that has an opening bracket without its partner: after the partner or, if that is
// far, before the brackets.
func (p passage) closeBracket(from, to int) int {
	open := strings.LastIndexByte(p.text[from:to], '(')
	if open < 0 || strings.Contains(p.text[from+open:to], ")") || strings.Contains(p.text[from:to], "\n") {
		return to
	}
	if n := strings.IndexByte(p.text[to:p.lineEnd(to)], ')'); n >= 0 && n <= maxBracketed {
		return to + n + 1
	}
	if before := strings.TrimRight(p.text[from:from+open], " "); before != "" {
		return from + len(before)
	}
	return to
}

// maxBracketed is how many bytes a value grows by to end with a bracket.
const maxBracketed = 40

// firstRow returns the row of a table in which a range begins if the range has several.
func (p passage) firstRow(from, to int) (int, int) {
	begin, end := p.lineStart(from), p.lineEnd(from)
	if to > end && strings.Contains(p.text[begin:end], "|") {
		return p.widen(begin, end)
	}
	return from, to
}

// answerBelow returns the answer to the question at an offset: the line below it, or the sentence after it in the same line.
// Who asks in a mail that is quoted goes on there; only a line that is not marked answers what is. The range is empty if what
// is below is a question or a heading, or if there is none.
func (p passage) answerBelow(at int) (from, to int) {
	_, end := p.sentence(at, at+1)
	switch {
	case p.isMarked(at):
		if end = p.lineEnd(at); end < len(p.text) && p.isMarked(end+1) {
			return end, end
		}
	case p.isQuoted(at):
		return end, end
	}
	rest := strings.TrimLeftFunc(p.text[end:], unicode.IsSpace)
	begin := len(p.text) - len(rest)
	if rest == "" {
		return begin, begin
	}
	if next := p.lineEnd(begin); begin < p.lineEnd(end) && next < len(p.text) && p.isSpeech(begin) && p.isSpeech(next+1) {
		begin = next + 1 // who asks goes on, and another answers
	}
	last := p.lineEnd(begin)
	if begin < p.lineEnd(end) || last-begin > decoder.MaxQuoteBytes {
		_, last = p.sentence(begin, begin+1)
	}
	if strings.HasSuffix(p.text[begin:last], ":") && !strings.Contains(p.text[end:begin], "\n\n") && last < len(p.text) && p.text[last] == '\n' {
		last = p.lineEnd(last + 1) // it introduces what is said
	} else if p.heading(begin, last) {
		return begin, begin
	}
	if p.isQuestion(begin) || p.isItem(at) && p.isItem(begin) { // one of a list's open questions
		return begin, begin
	}
	return p.widen(begin, last)
}

// lineOrSentence returns the line at an offset or, if it is long, its first sentence. The range is empty if it is a question.
func (p passage) lineOrSentence(at int) (from, to int) {
	from, to = at, p.lineEnd(at)
	if to-from > decoder.MaxQuoteBytes {
		_, to = p.sentence(from, from+1)
	}
	if from >= to || p.isQuestion(from) {
		return from, from
	}
	return p.widen(from, to)
}

// isOnlyMark reports whether a range is only the number of an item.
func (p passage) isOnlyMark(from, to int) bool {
	begin := p.lineStart(from)
	return to <= begin+len(itemMark.FindString(p.text[begin:]))
}

// includeAbbreviation returns where a value begins with the abbreviations and the ordinal before it that the reader took for the
// end of a sentence.
func (p passage) includeAbbreviation(from, to int) int {
	if begin, _ := p.read.Sentence(from, to); begin != from {
		return from
	}
	for {
		before := strings.TrimRight(p.text[p.lineStart(from):from], " \t")
		at := p.lineStart(from) + len(before)
		if !strings.HasSuffix(before, ".") || !sentences.BreaksOff(p.text, at) {
			return from
		}
		word := p.lineStart(from) + strings.LastIndexAny(before, " \t") + 1
		if from, _ = p.widen(word, at); from > word {
			return from
		}
	}
}

// widenQuantities widens spans that are a part of a quantity: "2,850" in "2,850–3,200" is not the salary, nor "60" in
// "under 60" the age. A question about a time asks for one end of a range more often than for both, so its spans are
// left alone.
func (p passage) widenQuantities(w wants, spans []span.Span) {
	for i, s := range spans {
		begin, end := p.lineStart(s.Begin), p.lineEnd(s.End)
		if strings.Contains(p.text[s.Begin:s.End], "\n") {
			continue
		}
		to := s.End + len(commandOptions.FindString(p.text[s.End:end]))
		if w.time || !hasDigit(p.text[s.Begin:to]) {
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
		if m := eachBehind.FindStringSubmatch(p.text[to:end]); m != nil && ofMoney.MatchString(p.text[from:to]) {
			to += len(m[1])
		}
		spans[i].Begin, spans[i].End = p.widen(from, to)
	}
}

// ascends reports whether the first number of a text is smaller than the first of another: 3306 – 3 is no range.
func ascends(a, b string) bool {
	x, y := firstNumber.FindString(a), firstNumber.FindString(b)
	left, err := strconv.ParseFloat(strings.ReplaceAll(x, ",", ""), 64)
	right, err2 := strconv.ParseFloat(strings.ReplaceAll(y, ",", ""), 64)
	return err == nil && err2 == nil && left < right
}

// firstNumber matches a number: "2,850".
var firstNumber = lazyregexp.New(`\d+(?:[.,]\d+)*`)

// commandOptions matches the options of a command after its name: " --to 4.6.3".
var commandOptions = lazyregexp.New(`^(?: --[a-z][\w-]*(?:[ =][\w./@:+-]*\w)?)+`)

// startsNumber matches what begins with a number: "€5 a day".
var startsNumber = lazyregexp.New(`^[€£$~]?\d`)

// endsNumber matches what ends with a number: "from 5".
var endsNumber = lazyregexp.New(`\d$`)

// rangeBehind matches the end of a range after its beginning: "–3,200". A date or a telephone number has more than two
// parts, and a time a colon.
var rangeBehind = lazyregexp.New(`^((?:-| ?[–—] ?)[€£$]?\d+(?:[.,]\d+)*)(?:[^\pL\d:.,–—/-]|[.,](?:[^\d]|$)|$)`)

// rangeBefore matches the beginning of a range before its end: "2,850–".
var rangeBefore = lazyregexp.New(`(?:^|[^\pL\pN:./–—-])(\d+(?:[.,]\d+)*(?:-| ?[–—] ?))$`)

// boundBefore matches what makes the number after it the bound of a range: "at least ", "under ".
var boundBefore = lazyregexp.New(`(?i)(?:\b|^)((?:below|above|at least|at most|(?:no |not )?(?:more|less|fewer) than|mindestens|höchstens|bis zu|au moins|au plus|al menos|como máximo) )$|` +
	`(?:^|[,;:(|]|\b(?:is|are|was|were|be|been|of|for|at|by|just|well|with|has|have|had|costs?|needs?|weighs?|holds?|if|aged|and|or)) ?((?:under|over|up to|unter|über) )$`)

// eachBehind matches the unit that an amount of money is due for: " per person".
var eachBehind = lazyregexp.New(`(?i)^( (?:per|pro|par|por) (?:an? )?\pL+| each| an? (?:hour|day|night|week|month|year|head|person|piece|metre|litre|kilo)|/(?:h|hour|day|night|week|month|year|person|pers|kg|m²|kWh|km|l))(?:[.,;:)!?\n]|$| (?:and|or|but|if|when|plus|with|for|in|on|at|to|until|from|und|oder|et|ou|y|o)\b)`)

// cutAtDay returns the end of a range, cut before a heading that is a day.
func (p passage) cutAtDay(from, to int) int {
	for at := from; at < to; {
		gap := strings.Index(p.text[at:to], "\n\n")
		if gap < 0 {
			return to
		}
		if at += gap; p.isDay(at+2, p.lineEnd(at+2)) {
			return at
		}
		at += 2
	}
	return to
}
