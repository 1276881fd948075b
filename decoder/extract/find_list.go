package extract

import (
	"slices"
	"strings"

	"tandem/internal/words"
)

// listBelowHeading returns the list below a heading that the question names, such as the ingredients or the members.
// The title must have the other words of the question.
func (p passage) listBelowHeading(q query) (from, to int, ok bool) {
	if q.form != formList {
		return 0, 0, false
	}
	wanted := words.Content(q.text)
	rest := words.Without(wanted, words.Content(p.title()))
	for begin, end := range p.lines() {
		head := words.Content(p.text[begin:end])
		if len(head) == 0 || !p.isLeadIn(begin) || !words.HasAll(wanted, head) {
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

// isLeadIn reports whether the line at an offset stands above what it is about.
func (p passage) isLeadIn(at int) bool {
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
