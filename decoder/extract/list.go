package extract

import (
	"slices"
	"strings"

	"tandem/decoder"
)

// listUnder returns the list below a heading that the question names: the ingredients, the members. Of what else the question speaks, the
// title speaks, too.
func (p passage) listUnder(question string) (from, to int, ok bool) {
	if formOf(question) != list {
		return 0, 0, false
	}
	wanted := decoder.ContentWords(question)
	rest := decoder.WithoutWords(wanted, decoder.ContentWords(p.text[p.start:p.body]))
	for begin := p.body; begin < len(p.text) && !ok; begin = p.lineEnd(begin) + 1 {
		head := decoder.ContentWords(p.text[begin:p.lineEnd(begin)])
		if len(head) == 0 || !p.heads(begin) || decoder.SharedWords(head, wanted) < len(head) {
			continue
		}
		if left := decoder.WithoutWords(rest, head); slices.ContainsFunc(left, func(w string) bool { return !needs[w] }) {
			continue
		}
		from, to, ok = p.itemsBelow(p.lineEnd(begin))
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
	for at := from; at < len(p.text) && item.MatchString(p.text[at:]); at = to + 1 {
		to = p.lineEnd(at)
		n++
	}
	return from, min(to, len(p.text)), n >= minItems
}

// minItems is how many items make a list.
const minItems = 2

// needs has the words of a question for a list that say what it is for.
var needs = set("need needs needed use uses used require requires required take takes go goes put add buy bring there recipe")
