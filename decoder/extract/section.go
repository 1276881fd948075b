package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// inOtherSection reports whether a sentence stands outside the section that the question names by all words of its heading. It
// stands below the heading of another thing of the kind, "Stone hut" for "Larch hut", or the section in the same passage has
// the rest of the question's words, but for one.
func (w wants) inOtherSection(c candidate) bool {
	if len(w.sections) == 0 {
		return false
	}
	own := c.sectionHead(c.begin)
	here := words.Content(own)
	around := slices.Concat(here, words.Content(c.title()+"\n"+c.head+"\n"+c.said))
	isNamed := func(head string) bool { return words.HasAll(around, words.Content(head)) }
	if len(here) > 0 && words.HasAll(w.words, here) || slices.ContainsFunc(w.sections, isNamed) {
		return false
	}
	return slices.ContainsFunc(w.sections, func(head string) bool { return ofOneKind(own, head) || w.sectionTells(c, head) })
}

// sectionTells reports whether a passage has a section that the sentence is not in, and that has the question's words that its
// heading does not have, but for one.
func (w wants) sectionTells(c candidate, named string) bool {
	at := slices.IndexFunc(c.heads, func(h textRange) bool { return c.slice(h) == named })
	if at < 0 {
		return false
	}
	from, to := c.heads[at].to, len(c.text)
	if at+1 < len(c.heads) {
		to = c.heads[at+1].from
	}
	rest := words.Without(w.words, words.Content(named))
	return !(from <= c.begin && c.begin < to) && len(rest) > 0 && words.Shared(rest, words.Content(c.text[from:to])) >= max(1, len(rest)-1)
}

// sectionsNamed returns the headings in passages of which a question has all words, and the ends of their titles.
func sectionsNamed(question []string, known []passage) (all []string) {
	for _, p := range known {
		heads := []string{p.section()}
		for _, h := range p.heads {
			heads = append(heads, p.slice(h))
		}
		for _, h := range heads {
			if named := words.Content(h); len(named) >= minNamed && words.HasAll(question, named) {
				all = append(all, h)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// minNamed is how many words a heading has at least that a question names: one alone may be what it asks for.
const minNamed = 2

// section returns the end of a passage's title, the heading nearest to it: "Larch hut" of "Huts: Larch hut".
func (p passage) section() string {
	title := p.title()
	return strings.TrimSpace(title[strings.LastIndex(title, ": ")+1:])
}

// ofOneKind reports whether two headings name two things of one kind: they end with the same word.
func ofOneKind(a, b string) bool {
	x, y := strings.Fields(strings.Trim(a, " \t#:")), strings.Fields(strings.Trim(b, " \t#:"))
	return len(x) >= minNamed && len(y) >= minNamed && strings.EqualFold(x[len(x)-1], y[len(y)-1]) && !strings.EqualFold(strings.Join(x, " "), strings.Join(y, " "))
}

// sectionHead returns the last line before an offset that may be a heading, or the end of the title.
func (p passage) sectionHead(at int) (head string) {
	head = p.section()
	for _, h := range p.heads {
		if h.from < at {
			head = p.slice(h)
		}
	}
	return head
}

// sectionHeads returns the lines that may be headings, also without the empty line above that headingAbove wants: a few words
// with a capital, without a mark but a colon at their end, and without a digit, which details have. A section that seems to go
// on too long does no harm.
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
