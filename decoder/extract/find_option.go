package extract

import (
	"slices"
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/retrieval/passages"
)

var (
	// asksDefault matches a question for a default: "default page_size".
	asksDefault = lazyregexp.New(`(?i)\bdefaults?\b`)
	// asksPurpose matches a question about what something does: "what does --all do?".
	asksPurpose = lazyregexp.New(`(?i)^\W*(?:and )?(?:what|which \pL+) (?:does|do|is|are|did)\b.*\b(?:do|mean|set|sets|control|configure|change|for|specify|stand for)\W*$`)

	// behindDefault matches a default value after its name, with what ends it: "(default 30)", "defaults to 8080",
	// "Default: 50M.".
	behindDefault = lazyregexp.New(`(?i)\bdefaults?(?: values?)?(?: ?[:=] ?| (?:is|are|to|of|being)\b:? ?| )([^\s,;()][^;()\n]*)`)
	// beforeDefault matches one before it: "Unlimited by default", "Number of pallets, 1 by default".
	beforeDefault = lazyregexp.New(`(?i)(?:^|[.,;:(|]) *([^.,;:(|\n]+?) by default\b`)
	// noDefault matches what says that there is none: "no default value".
	noDefault = lazyregexp.New(`(?i)\bno default(?: values?)?\b`)
)

// defaultWords say that a question is for a default, as "setting" does, and not of what.
var defaultWords = words.Set("default defaults value values option options setting settings parameter parameters flag flags key argument field property variable used set")

// defaultValue returns the default value that a question asks for, from the line or the sentence that is about just this
// option. found says that there is such a line; the range is empty if that line gives no default.
func (p passage) defaultValue(q query) (from, to int, found bool) {
	if !asksDefault.MatchString(q.text) || q.form != formValue || q.former {
		return 0, 0, false
	}
	wanted := excluding(excluding(words.Content(q.text), defaultWords), asksOnly)
	wanted = words.Without(wanted, words.Content(p.title()))
	if len(wanted) == 0 {
		return 0, 0, false
	}
	for begin, end := range p.lines() {
		for _, s := range p.entries(begin, end) {
			line := p.slice(s)
			if !words.HasAll(words.Content(line), wanted) {
				continue
			}
			a, b, ok := defaultIn(line, wanted, q.identifiers)
			if ok {
				return s.from + a, s.from + b, true
			}
			if label := labelOf(line); label != "" && words.HasAll(words.Content(label), wanted) {
				from, to, found = s.from, s.from, true
			}
		}
	}
	return from, to, found
}

// entries divides a line into what says one thing each: a line with a label and a row are one entry, other lines have
// one for each sentence.
func (p passage) entries(begin, end int) (out []textRange) {
	line := p.text[begin:end]
	if labelOf(line) != "" || strings.Contains(line, passages.CellMark) || p.isCode(begin) || namedItem.MatchString(line) {
		return []textRange{{begin, end}}
	}
	for begin < end {
		_, to := p.sentence(begin, begin+1)
		if to = min(to, end); to <= begin {
			break
		}
		out = append(out, textRange{begin, to})
		for begin = to; begin < end && p.text[begin] == ' '; begin++ {
		}
	}
	return out
}

// namedItem matches an item of a list that begins with the name of a setting: "- MAX_QUEUE - how many wait".
var namedItem = lazyregexp.New("^[ \t]*[-*•+] `?(?:-|[\\pL\\pN]+[_.=]|\\p{Ll}+\\p{Lu})[^ ]* ")

// defaultIn returns the default value in a line: the first after one of the names or, where the line has none, after
// the last of the wanted words; or the only one.
func defaultIn(line string, wanted, names []string) (from, to int, ok bool) {
	last, after := -1, 0
	for _, n := range names {
		last = max(last, strings.LastIndex(line, n))
	}
	for _, at := range wordAt.FindAllStringIndex(line, -1) {
		if words.Shared(words.Content(line[at[0]:at[1]]), wanted) > 0 {
			after = at[0]
		}
	}
	if last < 0 {
		last = after
	}
	var all []textRange
	for _, m := range noDefault.FindAllStringIndex(line, -1) {
		all = append(all, textRange{m[0], m[1]})
	}
	if len(all) == 0 {
		for _, m := range behindDefault.FindAllStringSubmatchIndex(line, -1) {
			if n := valueLength(line[m[2]:m[3]]); n > 0 {
				all = append(all, textRange{m[2], m[2] + n})
			}
		}
		for _, m := range beforeDefault.FindAllStringSubmatchIndex(line, -1) {
			all = append(all, textRange{m[2], m[3]})
		}
	}
	if len(all) == 0 {
		return 0, 0, false
	}
	slices.SortFunc(all, func(a, b textRange) int { return a.from - b.from })
	if i := slices.IndexFunc(all, func(r textRange) bool { return r.from > last }); len(all) > 1 && i >= 0 {
		return all[i].from, all[i].to, true
	}
	return all[0].from, all[0].to, len(all) == 1
}

// valueLength returns how long the value is that a text begins with: up to the end of its sentence or of its clause.
func valueLength(text string) int {
	n := len(text)
	for i, r := range text {
		ends := strings.ContainsRune(".,:!?", r)
		if ends && (i+1 == len(text) || text[i+1] == ' ') {
			n = i
			break
		}
	}
	return len(strings.TrimRightFunc(text[:n], unicode.IsSpace))
}

// whatItDoes returns what stands after the name of an option, a setting or a state, if a question asks what that does.
func (p passage) whatItDoes(q query) (from, to int, ok bool) {
	if !asksPurpose.MatchString(q.text) {
		return 0, 0, false
	}
	if from, to, ok = p.described(q.identifiers); ok {
		return from, to, true
	}
	if from, to, ok = p.explained(q.identifiers); ok {
		return from, to, true
	}
	return p.headedBy(q.text)
}

// explained returns what stands after the only label that has one of some names.
func (p passage) explained(names []string) (from, to int, ok bool) {
	for begin, end := range p.lines() {
		line := p.text[begin:end]
		if label := labelOf(line); label != "" && explains(label, names) {
			if ok {
				return 0, 0, false
			}
			from, to, ok = begin+behindLabel(line, label), end, true
		}
	}
	return from, to, ok
}

// headedBy returns what comes first below the heading that has all words of a question about the purpose of something.
func (p passage) headedBy(question string) (from, to int, ok bool) {
	wanted := p.withoutNames(words.Content(question))
	titled := words.Content(p.text[p.start+max(0, strings.LastIndex(p.title(), ": ")) : p.body])
	if asked := words.Content(question); len(titled) > 0 && len(wanted) == 0 && words.Shared(titled, asked) > 1 {
		from, to = p.lineOrSentence(p.body)
		return from, to, from < to && !p.heading(from, to)
	}
	if len(wanted) < 2 {
		return 0, 0, false
	}
	for begin, end := range p.lines() {
		if !p.heading(begin, end) || end+1 >= len(p.text) || !words.HasAll(words.Content(p.text[begin:end]), wanted) {
			continue
		}
		if from, to = p.lineOrSentence(end + 1); from < to && !p.heading(from, to) {
			return from, to, true
		}
	}
	return 0, 0, false
}

// described returns the cell that says what something does, in the row that begins with its name.
func (p passage) described(names []string) (from, to int, ok bool) {
	for _, r := range p.rows {
		column := slices.IndexFunc(r.names, func(n string) bool { return describes.MatchString(n) })
		if column < 1 || column >= len(r.cells) || !explains(p.slice(r.cells[0]), names) {
			continue
		}
		if ok {
			return 0, 0, false
		}
		from, to, ok = r.cells[column].from, r.cells[column].to, true
	}
	return from, to, ok && from < to
}

// describes matches the name of the column that says what something does: "Description".
var describes = lazyregexp.New(`(?i)^(?:description|meaning|purpose|effect|explanation|what it does|function)s?$`)

// explains reports whether a label has one of some names.
func explains(label string, names []string) bool {
	if i := strings.IndexByte(label, '('); i > 0 {
		label = label[:i]
	}
	return slices.ContainsFunc(strings.FieldsFunc(label, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",|=\"'`", r) }), func(s string) bool {
		return slices.Contains(names, s)
	})
}
