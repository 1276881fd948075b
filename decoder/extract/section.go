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
	for i, head := range c.heads {
		named := words.Content(c.slice(head))
		if len(named) < minNamed || !words.HasAll(w.words, named) {
			continue
		}
		own := c.sectionHead(c.begin)
		if words.HasAll(words.Content(own+"\n"+c.head+"\n"+c.said), named) {
			return false
		}
		to := len(c.text)
		if i+1 < len(c.heads) {
			to = c.heads[i+1].from
		}
		inside := head.from <= c.begin && c.begin < to
		if ofOneKind(own, c.slice(head)) || !inside && w.tellsTheRest(named, c.text[head.to:to]) {
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

// sectionHead returns the last line before an offset that may be a heading, or nothing.
func (p passage) sectionHead(at int) (head string) {
	for _, h := range p.heads {
		if h.from < at {
			head = p.slice(h)
		}
	}
	return head
}

// sectionHeads returns the lines that may be headings: a few words with a capital, without a mark but a colon at their end, and
// without a digit, which details have. A section that seems to go on too long does no harm.
func (p passage) sectionHeads() (all []textRange) {
	for begin, end := range p.lines() {
		if end-begin <= maxHeading && aHeading.MatchString(p.text[begin:end]) {
			all = append(all, textRange{begin, end})
		}
	}
	return all
}

// maxHeading is the most bytes of such a heading.
const maxHeading = 60

// aHeading matches such a heading: "Old mill:", "## The red barn".
var aHeading = lazyregexp.New(`^[ \t]*#*[ \t]*\p{Lu}[\pL'’&/-]*(?: [\pL'’&/-]+){0,5}:?[ \t]*$`)
