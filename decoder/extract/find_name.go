package extract

import (
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

var (
	// asksBirth matches a question for a birth: "when was she born?".
	asksBirth = lazyregexp.New(`(?i)\b(?:born|birth(?:day|date)?)\b`)
	// asksDeath matches a question for a death: "when did she die?".
	asksDeath = lazyregexp.New(`(?i)\b(?:dies?|died|death|dead)\b`)
	// lifeDates matches a name and the two dates after it: "Ada Lovelace (10 December 1815 – 27 November 1852)".
	lifeDates = lazyregexp.New(`(\p{Lu}[^()\n.;:]*?) ?\([^()]*?((?:\d{1,2}\.? \pL+,? |\pL+ \d{1,2}, )?\d{3,4}) ?[–—-] ?((?:\d{1,2}\.? \pL+,? |\pL+ \d{1,2}, )?\d{3,4})\)`)
)

// nameAtEnd matches the name at the end of what stands before brackets: "Ada King, Countess of Lovelace".
var nameAtEnd = lazyregexp.New(`(?:\p{Lu}[\pL\pM'’-]*,? (?:(?:of|the|de|del|della|di|da|du|des|la|le|von|vom|van|zu|der|den) )*)*\p{Lu}[\pL\pM'’-]*$`)

// birthOrDeath returns the date of a person's birth or death from the brackets after the name, where a question asks
// for one: no sentence says there which date is which.
func (p passage) birthOrDeath(q query) (from, to int, ok bool) {
	birth, death := asksBirth.MatchString(q.question), asksDeath.MatchString(q.question)
	if !q.time || birth == death {
		return 0, 0, false
	}
	wanted := words.Content(strings.Join(nameWords(q.question), " "))
	if len(wanted) == 0 {
		return 0, 0, false
	}
	for _, m := range lifeDates.FindAllStringSubmatchIndex(p.text[p.body:], -1) {
		name := words.Content(nameAtEnd.FindString(p.text[p.body+m[2] : p.body+m[3]]))
		if !words.HasAll(name, wanted) || !words.Has(wanted, name[len(name)-1]) { // the dates of Ada Lovelace's museum are not hers
			continue
		}
		if birth {
			return p.body + m[4], p.body + m[5], true
		}
		return p.body + m[6], p.body + m[7], true
	}
	return 0, 0, false
}

// signature returns the name below a letter, if a question asks who wrote it.
func (p passage) signature(q query) (from, to int, ok bool) {
	if !asksSigner.MatchString(q.text) {
		return 0, 0, false
	}
	about := excluding(words.Content(q.text), signing)
	if !words.HasAll(words.Content(p.text[p.start:]), about) {
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
var asksSigner = lazyregexp.New(`(?i)^\W*(?:and )?who (?:has )?(?:signed|signs|wrote|writes|sent|sends)\b.*\b(?:letter|e-?mail|mail|message|note|notice)\b`)

// closing matches the line above the name of who wrote a letter: "Kind regards,".
var closing = lazyregexp.New(`(?mi)^` + closingWords + `\b[^\n]{0,40}\n+`)

// signsOff matches such a line alone, with nothing but a comma behind it.
var signsOff = lazyregexp.New(`(?i)^(?:` + closingWords + `|yours|love|cheers|thanks(?: again)?|many thanks|thank you|all the best|best|see you soon)[,.!]?$`)

const closingWords = `(?:with )?(?:(?:kind|best|warm|many)(?:est)? (?:regards|wishes|greetings)|regards|yours (?:sincerely|faithfully|truly)|sincerely(?: yours)?|mit freundlichen grüßen|(?:viele|beste|herzliche|liebe) grüße|cordialement|bien à vous|un (?:cordial )?saludo|atentamente)`

// signing has the words of a question about who wrote a letter that do not say which letter: "note".
var signing = words.Set("about signed signs wrote writes sent sends letter email mail e message note notice")

// maxSignerWords is how many words a name below a letter has at most, with titles.
const maxSignerWords = 8

// nameWords returns the words of a question with a capital, without its first. Unlike namesIn it keeps titles, days and
// months: a name with one is another name.
func nameWords(question string) (out []string) {
	for i, w := range strings.Fields(question) {
		if i > 0 && w != strings.ToLower(w) {
			out = append(out, strings.TrimSuffix(strings.Trim(w, "?.,!"), "'s"))
		}
	}
	return out
}
