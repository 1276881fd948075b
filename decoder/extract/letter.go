package extract

import (
	"regexp"
	"strings"
	"unicode"

	"tandem/decoder"
)

var (
	asksSigner = regexp.MustCompile(`(?i)^\W*(?:and )?who (?:has )?(?:signed|signs|wrote|writes|sent|sends)\b.*\b(?:letter|e-?mail|mail|message|note|notice)\b`)
	// closing matches the line above the name of who wrote a letter.
	closing = regexp.MustCompile(`(?mi)^(?:with )?(?:(?:kind|best|warm|many)(?:est)? (?:regards|wishes|greetings)|regards|yours (?:sincerely|faithfully|truly)|sincerely(?: yours)?|mit freundlichen grüßen|(?:viele|beste|herzliche|liebe) grüße|cordialement|bien à vous|un (?:cordial )?saludo|atentamente)\b[^\n]{0,40}\n+`)
	signing = set("about signed signs wrote writes sent sends letter email mail e message note notice")
)

// signed returns the name below a letter, if a question asks who wrote it.
func (p passage) signed(question string) (from, to int, ok bool) {
	if !asksSigner.MatchString(question) {
		return 0, 0, false
	}
	about := besides(decoder.ContentWords(question), signing)
	if len(decoder.WithoutWords(about, decoder.ContentWords(p.text[p.start:]))) > 0 {
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

// maxSignerWords is how many words a name below a letter has at most, with titles.
const maxSignerWords = 8
