package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/internal/words"
)

var (
	// asksBirth matches a question for a birth: "when was she born?".
	asksBirth = regexp.MustCompile(`(?i)\b(?:born|birth(?:day|date)?)\b`)
	// asksDeath matches a question for a death: "when did she die?".
	asksDeath = regexp.MustCompile(`(?i)\b(?:dies?|died|death|dead)\b`)
	// lifeDates matches a name and the two dates after it: "Ada Lovelace (10 December 1815 – 27 November 1852)".
	lifeDates = regexp.MustCompile(`(\p{Lu}[^()\n.;:]*?) ?\([^()]*?((?:\d{1,2}\.? \pL+,? |\pL+ \d{1,2}, )?\d{3,4}) ?[–—-] ?((?:\d{1,2}\.? \pL+,? |\pL+ \d{1,2}, )?\d{3,4})\)`)
)

// birthOrDeath returns the date of a person's birth or death from the brackets after the name, where a question asks
// for one: no sentence says there which date is which.
func (p passage) birthOrDeath(q query) (from, to int, ok bool) {
	birth, death := asksBirth.MatchString(q.question), asksDeath.MatchString(q.question)
	if !q.time || birth == death {
		return 0, 0, false
	}
	who := strings.ToLower(strings.Join(nameWords(q.question), " "))
	for _, m := range lifeDates.FindAllStringSubmatchIndex(p.text[p.body:], -1) {
		name := words.Content(p.text[p.body+m[2] : p.body+m[3]])
		wanted := words.Content(who)
		if len(wanted) == 0 || words.Shared(wanted, name) < len(wanted) {
			continue
		}
		if birth {
			return p.body + m[4], p.body + m[5], true
		}
		return p.body + m[6], p.body + m[7], true
	}
	return 0, 0, false
}

// codeThatOpens returns the code in a note that only names what the code opens, if a question asks for it: "shed
// padlock 7731".
func (p passage) codeThatOpens(q query) (from, to int, ok bool) {
	if !q.code {
		return 0, 0, false
	}
	wanted := besides(q.words, namesCode)
	title := words.Content(p.title())
	for begin := p.body; begin < len(p.text); {
		end := len(p.text)
		next := end
		if cut := apartFrom.FindStringIndex(p.text[begin:]); cut != nil {
			end, next = begin+cut[0], begin+cut[1]
		}
		piece := p.text[begin:end]
		if m := endsInCode.FindStringSubmatchIndex(piece); m != nil && !ofOtherNumber.MatchString(piece) {
			name := words.Content(piece[m[2]:m[3]])
			if slices.ContainsFunc(name, func(w string) bool { return locked[w] }) && !aYear.MatchString(piece[m[4]:m[5]]) &&
				len(words.Without(name, wanted)) == 0 && len(words.Without(words.Without(wanted, name), title)) == 0 {
				if ok {
					return 0, 0, false // two of them
				}
				from, to, ok = begin+m[4], begin+m[5], true
			}
		}
		begin = next
	}
	return from, to, ok
}

// namesCode has the words for a code.
var namesCode = words.Set("code pin combination number")

// endsInCode matches a note that ends with a code of digits: "shed padlock 7731".
var endsInCode = regexp.MustCompile(`^(.*\pL)[ :=]+(\d{3,8})\W*$`)

// ofOtherNumber matches a note whose number is no code: "locker no. 7731".
var ofOtherNumber = regexp.MustCompile(`(?i)\b(?:no|nr|number|tel|phone|mobile|reading|model|serial|room|year|since|from|until)\b`)

// aYear matches a year: "1984".
var aYear = regexp.MustCompile(`^(?:19|20)\d\d$`)

// locked has what a code opens, such as a safe.
var locked = words.Set("lock padlock door gate box safe alarm locker keypad entrance garage barrier cabinet cupboard lockbox keybox bike bicycle suitcase shed")

// apartFrom matches what stands between two notes: "; ".
var apartFrom = regexp.MustCompile(`[;|,\n]|\. `)

// signature returns the name below a letter, if a question asks who wrote it.
func (p passage) signature(q query) (from, to int, ok bool) {
	if !asksSigner.MatchString(q.text) {
		return 0, 0, false
	}
	about := besides(words.Content(q.text), signing)
	if len(words.Without(about, words.Content(p.text[p.start:]))) > 0 {
		return 0, 0, false
	}
	at := closing.FindAllStringIndex(p.text[p.body:], -1)
	if len(at) != 1 {
		return 0, 0, false
	}
	from = p.body + at[0][1]
	to = p.lineEnd(from)
	name := p.text[from:to]
	if len(strings.Fields(name)) > maxSignerWords || !strings.ContainsFunc(name, unicode.IsUpper) {
		return 0, 0, false
	}
	return from, to, true
}

// asksSigner matches a question about who wrote a letter: "who signed the letter about the roof?".
var asksSigner = regexp.MustCompile(`(?i)^\W*(?:and )?who (?:has )?(?:signed|signs|wrote|writes|sent|sends)\b.*\b(?:letter|e-?mail|mail|message|note|notice)\b`)

// closing matches the line above the name of who wrote a letter: "Kind regards,".
var closing = regexp.MustCompile(`(?mi)^(?:with )?(?:(?:kind|best|warm|many)(?:est)? (?:regards|wishes|greetings)|regards|yours (?:sincerely|faithfully|truly)|sincerely(?: yours)?|mit freundlichen grüßen|(?:viele|beste|herzliche|liebe) grüße|cordialement|bien à vous|un (?:cordial )?saludo|atentamente)\b[^\n]{0,40}\n+`)

// signing has the words of a question about who wrote a letter that do not say which letter: "note".
var signing = words.Set("about signed signs wrote writes sent sends letter email mail e message note notice")

// maxSignerWords is how many words a name below a letter has at most, with titles.
const maxSignerWords = 8

// listBelowHeading returns the list below a heading that the question names, such as the ingredients or the members.
// The title must have the other words of the question.
func (p passage) listBelowHeading(q query) (from, to int, ok bool) {
	if q.form != list {
		return 0, 0, false
	}
	wanted := words.Content(q.text)
	rest := words.Without(wanted, words.Content(p.title()))
	for begin, end := range p.lines() {
		head := words.Content(p.text[begin:end])
		if len(head) == 0 || !p.heads(begin) || words.Shared(head, wanted) < len(head) {
			continue
		}
		if left := words.Without(rest, head); slices.ContainsFunc(left, func(w string) bool { return !listNeeds[w] }) {
			continue
		}
		if from, to, ok = p.itemsBelow(end); ok {
			break
		}
	}
	return from, to, ok
}

// heads reports whether the line at an offset stands above what it is about.
func (p passage) heads(at int) bool {
	end := p.lineEnd(at)
	return strings.HasSuffix(p.text[at:end], ":") || p.heading(at, end)
}

// itemsBelow returns the items below the end of a line, without a gap between them.
func (p passage) itemsBelow(end int) (from, to int, ok bool) {
	for end < len(p.text) && p.text[end] == '\n' {
		end++
	}
	from, to = end, end
	n := 0
	for at := from; at < len(p.text) && listItem.MatchString(p.text[at:]); at = to + 1 {
		to = p.lineEnd(at)
		n++
	}
	return from, min(to, len(p.text)), n >= minItems
}

// minItems is how many items make a list.
const minItems = 2

// listNeeds has the words of a question for a list that say what it is for: "what do I need".
var listNeeds = words.Set("need needs needed use uses used require requires required take takes go goes put add buy bring there recipe")
