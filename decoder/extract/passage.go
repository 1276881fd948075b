package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/decoder"
	"tandem/decoder/ground"
	"tandem/internal/sentences"
	"tandem/model/span"
	"tandem/retrieval/passages"
)

// passage is a passage as the reader sees it.
type passage struct {
	source string   // the document
	text   string   // the title as a heading, then the text
	start  int      // where the document's own bytes begin
	body   int      // where the text begins
	inside []bool   // where text must not be cut
	ends   []int    // of the text's sentences, as package sentences finds them
	names  []string // words of the title and of the file's path
	rows   []tableRow
	read   *span.Passage
}

// heading makes a title a heading for the reader, even one with a colon. It is no part of the document.
const heading = "# "

// passage reads what of a passage does not depend on a question.
func (c Config) passage(p passages.Passage) (out passage) {
	out.source, out.text = p.Source, p.Text
	if p.Title != "" {
		out.text, out.start = heading+p.Title+"\n"+p.Text, len(heading)
		out.body = len(out.text) - len(p.Text)
	}
	out.names = decoder.ContentWords(p.Title + " " + strings.Map(parting, p.Source))
	out.inside = ground.Inside(out.text)
	if out.ends = sentences.Ends(out.text); len(out.ends) == 0 || out.ends[len(out.ends)-1] < len(out.text) {
		out.ends = append(out.ends, len(out.text)) // a sentence without a mark
	}
	out.rows = out.tableRows()
	out.read = c.Reader.Passage(out.text)
	return out
}

// besidesNames returns words without those of the title and of the file's path, just as they are spelt.
func (p passage) besidesNames(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(p.names, w) })
}

// parting returns a rune of a file's name, and a blank for one that parts words there.
func parting(r rune) rune {
	if strings.ContainsRune("-_.+", r) {
		return ' '
	}
	return r
}

// widen moves the ends of a range outwards until it cuts no word and no amount: "20" in "D20" becomes "D20", "9" in "9:40"
// becomes "9:40". What is not the document's own is left out.
func (p passage) widen(from, to int) (int, int) {
	from, to = max(from, p.start), max(to, p.start)
	if from == to {
		return from, to
	}
	for from > p.start && p.inside[from] {
		from--
	}
	for p.inside[to] {
		to++
	}
	return from, p.secret(from, to)
}

// secret returns where a value ends with the marks that belong to it in a line about a password or a code: "Sommer$2026!".
func (p passage) secret(from, to int) int {
	end := to
	for end < len(p.text) && strings.IndexByte("!#$%&*+=@^~?", p.text[end]) >= 0 {
		end++
	}
	if end == to || end < len(p.text) && !unicode.IsSpace(rune(p.text[end])) && strings.IndexByte(".,;)\"'", p.text[end]) < 0 {
		return to
	}
	word := p.text[from+strings.LastIndexAny(p.text[from:to], " \n\t")+1 : to]
	line := p.text[p.lineStart(from):from]
	if !strings.ContainsAny(word, "0123456789") || !strings.ContainsFunc(word, unicode.IsLetter) || !secrets.MatchString(line) {
		return to
	}
	return end
}

var secrets = regexp.MustCompile(`(?i)passw|passphrase|passcode|\b(?:pin|code|key|kennwort|schlüssel|mot de passe|contraseña|clave)\b`)
