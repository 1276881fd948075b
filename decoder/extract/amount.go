package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
)

// amount returns how much or how many of something a list of amounts has, such as a recipe's: "40 g butter". The question may say of
// what else only what the title says, too.
func (p passage) amount(question string) (from, to int, ok bool) {
	m := asksAmount.FindStringSubmatch(question)
	if m == nil {
		return 0, 0, false
	}
	thing := decoder.ContentWords(verb.ReplaceAllString(m[1], ""))
	wanted := decoder.ContentWords(question)
	rest := decoder.WithoutWords(decoder.WithoutWords(wanted, thing), decoder.ContentWords(p.text[p.start:p.body]))
	if len(thing) == 0 || slices.ContainsFunc(rest, func(w string) bool { return !asksOnly[w] && !needs[w] }) {
		return 0, 0, false
	}
	amounts, found := 0, 0
	for begin := p.body; begin < len(p.text); begin = p.lineEnd(begin) + 1 {
		line := p.text[begin:p.lineEnd(begin)]
		a := startsWithAmount.FindStringSubmatchIndex(line)
		if a == nil {
			continue
		}
		amounts++
		what, _, _ := strings.Cut(line[a[3]:], ",")
		what, _, _ = strings.Cut(what, "(")
		if decoder.SharedWords(thing, decoder.ContentWords(what)) == len(thing) {
			from, to = begin+a[2], begin+a[3]+len(strings.TrimRight(what, " .;"))
			found++
		}
	}
	if found != 1 || amounts < fewestAmounts {
		return 0, 0, false
	}
	from, to = p.widen(from, to)
	return from, to, true
}

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
	return from, min(to, len(p.text)), n >= fewestItems
}

// fewestItems is how many items make a list.
const fewestItems = 2

// fewestAmounts is how many lines begin with an amount in a list of them.
const fewestAmounts = 2

var (
	asksAmount = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*how (?:much|many) ((?:[\pL'’-]+ ?){1,5})`)
	verb       = regexp.MustCompile(`(?i)\b(?:is|are|was|were|do|does|did|should|must|can|have|has|goes|go|in|for|per)\b.*$`)

	// startsWithAmount matches an item that begins with a number, and its unit if it has one.
	startsWithAmount = regexp.MustCompile(`^[ \t]*(?:[-*•‣–+] +|\[[ xX]\] +)*((?:ca\. |about )?(?:\d[\d.,/–-]*(?: ?[½¼¾⅓⅔])?|[½¼¾⅓⅔])(?: ?(?:x|×|g|kg|mg|ml|cl|dl|l|oz|lb|lbs|tsp|tbsp|tablespoons?|teaspoons?|cups?|EL|TL|cloves?|pinch(?:es)?|pcs\.?|bunch(?:es)?|tins?|cans?|packs?|packets?|slices?|sticks?|m|cm|sheets?|bags?|bottles?|jars?|boxes))?)(?: of)? +\pL`)
)

// needs has the words of a question for an amount that say what it is for.
var needs = set("need needs needed use uses used require requires required take takes go goes put add buy bring there recipe")
