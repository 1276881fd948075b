package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/decoder"
	"tandem/internal/sentences"
	"tandem/model/span"
)

var itemMark = regexp.MustCompile(`^[ \t]*\d{1,3}[.)][ \t]`)

const (
	longestHeading = 10   // in words, of one that is not marked
	maxTried       = 1024 // spans of a passage
)

// answers returns the n likeliest spans that may answer a question of some form, the likeliest first. An item's number is no
// answer, nor is a heading to "how" and "why". A question is none either: the text below it is.
func (p passage) answers(f *span.Posterior, form form, n int) []span.Span {
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

// place returns the range that answers where the reader points at another one. It is empty if nothing there does.
func (p passage) place(from, to int, form form) (int, int) {
	from, to = p.widen(from, to)
	to = p.beforeDay(from, to)
	if form != list {
		from, to = p.row(from, to)
	}
	if p.asks(from) {
		if form == value || form == list {
			return from, from
		}
		from, to = p.below(from)
	}
	switch {
	case from >= to, form != steps && p.onlyMark(from, to):
		return from, from
	case form == reason && p.isCode(from): // code gives no reason
		return from, from
	case (form == reason || form == steps) && p.heading(from, to), from < p.body: // a title finds passages and says nothing
		return from, from
	}
	return p.unquoted(p.every(p.completed(from, to)), p.closed(from, to))
}

// unquoted returns a range without a quotation mark at its end whose partner is outside of it. That of 19" has none.
func (p passage) unquoted(from, to int) (int, int) {
	switch said := p.text[from:to]; {
	case strings.Count(said, `"`) != 1 || len(said) < 3:
	case said[0] == '"':
		return from + 1, to
	case said[len(said)-1] == '"' && (from > 0 && p.text[from-1] == '"' || !unicode.IsDigit(rune(said[len(said)-2]))):
		return from, to - 1
	}
	return from, to
}

// stretches returns the stretches of time that a sentence names: "19 May to 23 May".
func (p passage) stretches(begin, end int) (all [][2]int) {
	if outdated.MatchString(p.text[begin:end]) { // "moved from 3 May to 10 May"
		return nil
	}
	for _, m := range stretch.FindAllStringIndex(p.text[begin:end], -1) {
		all = append(all, [2]int{begin + m[0], begin + m[1]})
	}
	return all
}

// stretched widens spans to the stretches of time that they begin or end.
func (p passage) stretched(spans []span.Span) {
	known := map[[2]int][][2]int{} // by the offsets of sentences
	for i, s := range spans {
		begin, end := p.sentence(s.Begin, s.End)
		at := [2]int{begin, end}
		if _, ok := known[at]; !ok {
			known[at] = p.stretches(begin, end)
		}
		for _, m := range known[at] {
			if m[0] <= s.Begin && s.End <= m[1] {
				spans[i].Begin, spans[i].End = p.widen(m[0], m[1])
				break
			}
		}
	}
}

// point is a day or a time, and stretch all from one to another.
const point = `(?:(?:(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?,? )?\d{1,2}(?:st|nd|rd|th)?(?:[:.]\d\d)?(?: ?[ap]\.?m\b\.?| o'clock| Uhr| h\b)?\.?(?: (?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b)?(?:,? (?:19|20)\d\d)?)`

var stretch = regexp.MustCompile(`(?i)\b` + point + ` ?(?:to|until|till|–|—|-|bis|à|au) ?` + point)

// every returns where a value begins with the "every" in front of it: "every 12 hours" is no span of 12 hours.
func (p passage) every(from int) int {
	const longest = 16 // bytes that may matter
	if m := every.FindString(p.text[max(p.lineStart(from), from-longest):from]); m != "" {
		return from - len(m)
	}
	return from
}

var every = regexp.MustCompile(`(?i)\b(?:every|alle|toutes les|tous les|cada) $`)

// closed returns where a range ends that does not end within brackets: after them or, if they are long, before them.
func (p passage) closed(from, to int) int {
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

// row returns the row of a table in which a range begins if the range has several.
func (p passage) row(from, to int) (int, int) {
	begin, end := p.lineStart(from), p.lineEnd(from)
	if to > end && strings.Contains(p.text[begin:end], "|") {
		return p.widen(begin, end)
	}
	return from, to
}

// asks reports whether the sentence at an offset is a question: it begins as one, or is marked as one ("Q:"). "Locker: 17-04?"
// tells what somebody is not sure of.
func (p passage) asks(at int) bool {
	begin, end := p.sentence(at, at+1)
	said := strings.TrimRightFunc(p.text[begin:end], func(r rune) bool { return strings.ContainsRune("\"'”’»)]*_ ", r) })
	switch {
	case strings.HasSuffix(said, "？"):
		return true
	case !strings.HasSuffix(said, "?"):
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(said), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' })
	if line := p.text[p.lineStart(begin):begin]; questionMark.MatchString(line+said) || strings.HasPrefix(said, "¿") {
		return true
	}
	for _, w := range words[:min(maxBefore, len(words))] {
		if asking[strings.TrimSuffix(w, "'s")] {
			return true
		}
	}
	return false
}

// maxBefore is how many words a question may have before the one that asks: "And on Sundays, when does it open?"
const maxBefore = 5

var (
	questionMark = regexp.MustCompile(`^[ \t#*_-]*(?:Q|F|Frage|Question|P)[ \t]?\d{0,3}[.:)]`)
	asking       = set(`who whom whose what when where why how which is isn't are aren't was were do does don't doesn't did didn't can can't could couldn't
 may might must shall should shouldn't will won't would wouldn't has hasn't have haven't had
 wer wen wem was wann wo woher wohin wie warum wieso weshalb welche welcher welches welchen ist sind kann können darf dürfen muss müssen soll gibt hat haben wird werden
 qui que quoi quand où comment pourquoi quel quelle quels quelles combien est-ce y-a-t-il peut-on faut-il
 quién quiénes qué cuándo dónde cómo cuál cuáles cuánto cuánta cuántos`)
)

// below returns the answer to the question at an offset: the line below, or in the question's line the sentence after it.
// The range is empty if that is a question or a heading, or if there is none.
func (p passage) below(at int) (from, to int) {
	_, end := p.sentence(at, at+1)
	rest := strings.TrimLeftFunc(p.text[end:], unicode.IsSpace)
	begin := len(p.text) - len(rest)
	if rest == "" {
		return begin, begin
	}
	if next := p.lineEnd(begin); begin < p.lineEnd(end) && next < len(p.text) && p.speaks(begin) && p.speaks(next+1) {
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
	if p.asks(begin) || p.isItem(at) && p.isItem(begin) { // one of a list's open questions
		return begin, begin
	}
	return p.widen(begin, last)
}

// firstSaid returns the line at an offset or, if it is long, its first sentence. The range is empty if it is a question.
func (p passage) firstSaid(at int) (from, to int) {
	from, to = at, p.lineEnd(at)
	if to-from > decoder.MaxQuoteBytes {
		_, to = p.sentence(from, from+1)
	}
	if from >= to || p.asks(from) {
		return from, from
	}
	return p.widen(from, to)
}

// speaks reports whether the line around an offset is what somebody says in a chat or a transcript: "Ann: …", "[9:02] Ann: …".
func (p passage) speaks(at int) bool { return speaker.MatchString(p.text[p.lineStart(at):]) }

var speaker = regexp.MustCompile(`^(?:\[[^\]\n]{4,25}\] ?|\(?\d{1,2}[:.]\d{2}\)? )?(\p{Lu}[\pL'’.-]{0,20}(?: \p{Lu}[\pL'’.-]{0,20})?|@[\pL\d_.-]{2,30})(?: \(\d{1,2}[:.]\d{2}\))?: `)

// ownQuestion returns where a passage answers a question that it asks itself, in the same words but for those of its title: below that
// question. The range is empty if the passage leaves it open, and asks is false if it does not ask it.
func (p passage) ownQuestion(question string) (from, to int, asks bool) {
	wanted := decoder.ContentWords(question)
	titled := decoder.ContentWords(p.text[p.start:p.body])
	if last := p.text[p.start:p.body]; strings.HasSuffix(strings.TrimSpace(last), "?") { // the heading asks
		words := decoder.ContentWords(last[strings.LastIndex(last, ": ")+1:])
		if len(words) >= fewestAsked && decoder.SharedWords(words, wanted) == len(words) && decoder.SharedWords(wanted, titled) == len(wanted) {
			from, to = p.firstSaid(p.body)
			return from, to, true
		}
	}
	for _, end := range p.ends {
		begin := p.begun(end - 1)
		if begin < p.body || !p.asks(begin) {
			continue
		}
		words := decoder.ContentWords(lastSaid(p.text[begin+len(speaker.FindString(p.text[begin:end])) : end]))
		owner := decoder.ContentWords(speaker.FindString(p.text[p.lineStart(begin):])) // "who has my towel?" is about the speaker's
		if len(words) < fewestAsked || decoder.SharedWords(words, wanted) < len(words) || decoder.SharedWords(wanted, slices.Concat(words, titled, owner)) < len(wanted) {
			continue
		}
		from, to = p.below(begin)
		return from, to, true
	}
	return 0, 0, false
}

// lastSaid returns what stands behind the last mark within a text: in chats sentences begin with small letters.
func lastSaid(text string) string {
	inner := strings.TrimRight(text, ".!? \n")
	return text[strings.LastIndexAny(inner, ".!?")+1:]
}

// fewestAsked is the number of words that a question in a passage needs to be the one that was asked.
const fewestAsked = 2

// heading reports whether a range begins in the title or in a heading. The reader sees headings below an empty line; where a
// passage has any, its first line is one, too, if it ends as one does.
func (p passage) heading(from, to int) bool {
	if from < p.body || p.read.Heading(from, to) {
		return true
	}
	if begin := p.lineStart(from); numberedHeading.MatchString(p.text[begin:p.lineEnd(begin)]) {
		return true
	}
	line := p.text[p.body:p.lineEnd(p.body)]
	return from < p.body+len(line) && strings.Contains(p.text[p.body:], "\n\n") &&
		len(strings.Fields(line)) <= longestHeading && !strings.ContainsAny(line[len(line)-1:], ".!?;,") && !itemMark.MatchString(line)
}

// numberedHeading is a line that says what a numbered part is about: "5. How to store the tablets". A step of a list does not begin so.
var numberedHeading = regexp.MustCompile(`^[ \t]*\d{1,2}[.)][ \t]+(?i:how|what|when|where|why|who|which)\b.*[^.!?;,]$`)

// isItem reports whether the line around an offset is the item of a list.
func (p passage) isItem(at int) bool { return item.MatchString(p.text[p.lineStart(at):]) }

var item = regexp.MustCompile(`^[ \t]*(?:[-*•‣–+]|\[[ xX]\]|\d{1,3}[.)])[ \t]`)

// onlyMark reports whether a range is the number of an item and no more.
func (p passage) onlyMark(from, to int) bool {
	begin := p.lineStart(from)
	return to <= begin+len(itemMark.FindString(p.text[begin:]))
}

// completed returns where a value begins with the abbreviations and the ordinal in front of it that the reader took for the
// end of a sentence.
func (p passage) completed(from, to int) int {
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

// sentence returns the range of the sentences around a range, as package sentences finds them: it knows more abbreviations,
// ordinals and units than the reader.
func (p passage) sentence(from, to int) (int, int) { return p.widen(p.begun(from), p.ended(to)) }

// begun returns where the sentence begins that holds offset at.
func (p passage) begun(at int) int {
	begin := 0
	for _, end := range p.ends {
		if end > at {
			break
		}
		begin = end
	}
	for begin < at && unicode.IsSpace(rune(p.text[begin])) {
		begin++
	}
	return min(begin, at)
}

// ended returns where the sentence ends that ends at offset at or after it.
func (p passage) ended(at int) int {
	end := len(p.text)
	for _, e := range p.ends {
		if e >= at {
			end = e
			break
		}
	}
	return max(at, len(strings.TrimRightFunc(p.text[:end], unicode.IsSpace)))
}

// lineStart returns where the line begins that holds offset at.
func (p passage) lineStart(at int) int { return strings.LastIndexByte(p.text[:at], '\n') + 1 }

// lineEnd returns where the line ends that holds offset at.
func (p passage) lineEnd(at int) int {
	if n := strings.IndexByte(p.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(p.text)
}
