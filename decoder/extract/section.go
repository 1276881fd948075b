package extract

import (
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// inOtherSection reports whether a sentence stands outside the section that the question names by all words of its heading, and
// that has the rest of the question's words, but for one: "Old mill" for "the bus of the old mill".
func (w wants) inOtherSection(c candidate) bool {
	for begin, end := range c.lines() {
		if !headsSection(c.text[begin:end]) {
			continue
		}
		named := words.Content(c.text[begin:end])
		if len(named) < minNamed || !words.HasAll(w.words, named) {
			continue
		}
		to := c.sectionEnd(end)
		rest := words.Without(w.words, named)
		around := words.Content(c.head + "\n" + c.said)
		if begin <= c.begin && c.begin < to || words.HasAll(around, named) || len(rest) == 0 {
			return false
		}
		if words.Shared(rest, words.Content(c.text[end:to])) >= max(1, len(rest)-1) {
			return true
		}
	}
	return false
}

// minNamed is how many words a heading has at least that a question names: one alone may be what it asks for.
const minNamed = 2

// sectionEnd returns where the section ends below a heading that ends at an offset: at the next heading, or with the text.
func (p passage) sectionEnd(at int) int {
	for begin, end := range p.lines() {
		if begin >= at && headsSection(p.text[begin:end]) {
			return begin
		}
	}
	return len(p.text)
}

// headsSection reports whether a line may be a heading: a few words without a mark at their end but a colon, and no item, label or
// row.
func headsSection(line string) bool {
	line = strings.TrimRight(strings.TrimLeft(line, "# "), ": ")
	return line != "" && len(strings.Fields(line)) <= maxHeading && !notHeading.MatchString(line)
}

// maxHeading is the most words of such a heading.
const maxHeading = 6

// notHeading matches what no such heading has.
var notHeading = lazyregexp.New(`^\W|[.!?;,]$|: | \| |\t`)
