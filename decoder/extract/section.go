package extract

import (
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// inOtherSection reports whether a sentence stands outside the section that the question names by all words of its heading. It
// stands below the heading of another thing of the kind, "Stone hut" for "Larch hut", or that section has the rest of the
// question's words, but for one.
func (w wants) inOtherSection(c candidate) bool {
	for begin, end := range c.lines() {
		if !headsSection(c.text[begin:end]) {
			continue
		}
		named := words.Content(c.text[begin:end])
		if len(named) < minNamed || !words.HasAll(w.words, named) {
			continue
		}
		own := c.sectionHeading(c.begin)
		if words.HasAll(words.Content(own+"\n"+c.head+"\n"+c.said), named) {
			return false
		}
		if to := c.sectionEnd(end); ofOneKind(own, c.text[begin:end]) || !(begin <= c.begin && c.begin < to) && w.tellsTheRest(named, c.text[end:to]) {
			return true
		}
	}
	return false
}

// minNamed is how many words a heading has at least that a question names: one alone may be what it asks for.
const minNamed = 2

// tellsTheRest reports whether a section has the question's words that its heading does not have, but for one.
func (w wants) tellsTheRest(heading []string, section string) bool {
	rest := words.Without(w.words, heading)
	return len(rest) > 0 && words.Shared(rest, words.Content(section)) >= max(1, len(rest)-1)
}

// ofOneKind reports whether two headings name two things of one kind: they end with the same word.
func ofOneKind(a, b string) bool {
	x, y := strings.Fields(strings.Trim(a, " \t#:")), strings.Fields(strings.Trim(b, " \t#:"))
	return len(x) >= minNamed && len(y) >= minNamed && strings.EqualFold(x[len(x)-1], y[len(y)-1]) && !strings.EqualFold(strings.Join(x, " "), strings.Join(y, " "))
}

// sectionHeading returns the line above an offset that may be a heading, or nothing.
func (p passage) sectionHeading(at int) (heading string) {
	for begin, end := range p.lines() {
		if begin >= at {
			break
		}
		if headsSection(p.text[begin:end]) {
			heading = p.text[begin:end]
		}
	}
	return heading
}

// sectionEnd returns where the section ends below a heading that ends at an offset: at the next heading, or with the text.
func (p passage) sectionEnd(at int) int {
	for begin, end := range p.lines() {
		if begin >= at && headsSection(p.text[begin:end]) {
			return begin
		}
	}
	return len(p.text)
}

// headsSection reports whether a line may be a heading: a few words with a capital, without a mark but a colon at their end, and
// without a digit, which details have. A section that seems to go on too long does no harm.
func headsSection(line string) bool {
	return len(line) <= maxHeading && aHeading.MatchString(line)
}

// maxHeading is the most bytes of such a heading.
const maxHeading = 60

// aHeading matches such a heading: "Old mill:", "## The red barn".
var aHeading = lazyregexp.New(`^[ \t]*#*[ \t]*\p{Lu}[\pL'’&/-]*(?: [\pL'’&/-]+){0,5}:?[ \t]*$`)
