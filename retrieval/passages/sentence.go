package passages

import (
	"slices"
	"strings"

	"tandem/retrieval/documents"
	"tandem/retrieval/internal/english"
)

// sizes are the limits of passages in words. All follow from the target.
type sizes struct {
	target int // length up to which a passage is filled
	whole  int // a document up to this length is one passage
	short  int // a last passage below this length joins the one before, if both fit in whole
	bound  int // length to which a passage may grow by a sentence that refers to one in it
	most   int // length to which it may grow if the sentence referred to is repeated
	unit   int // longer sentences are divided
}

// sizesOf returns the sizes for a target length.
func sizesOf(target int) sizes {
	return sizes{target: target, whole: target + target/4, short: target / 3, bound: target + min(target, 24), most: target + max(min(2*target, 36), 20), unit: max(target, 64)}
}

// cutSentences divides a document into passages of about the given number of words, in order, for readers that need each
// sentence alone. A sentence that says "it" or "the hall" stays with the one that names the hall, or the passage's title
// says what it is about.
func cutSentences(doc documents.Document, source string, words int) []Passage {
	limits := sizesOf(words)
	var out []Passage
	for _, group := range pack(units(doc, limits), limits) {
		if p := assemble(doc.Title, source, group); p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}

// unit is a sentence or a line. Packing does not divide it.
type unit struct {
	text       string
	gap        string // what stands before it in its block: a blank, or nothing
	words      int
	section    string // the heading above it
	kind       documents.Kind
	opens      bool    // it is the first of its block and begins a line
	antecedent mention // what it refers to; noMention if nothing
	about      string  // for the first unit of a passage: what the passage is about, for the title
	namesTopic bool    // it names what it is about
}

// units divides a document into sentences and lines, and notes what each refers to.
func units(d documents.Document, limits sizes) []unit {
	var out []unit
	section, named, speakers := "", newEntities(), speakersOf(d)
	add := func(kind documents.Kind, sentence string, opens bool, gap string) {
		rest := sentence
		on := named.resolve(spoken(sentence, speakers), d.Title+" "+section, len(out))
		for i, part := range english.SplitWords(sentence, limits.unit) {
			if i > 0 {
				on, gap = noMention, ""
			}
			var within string
			within, rest = english.Gap(rest, part)
			out = append(out, unit{text: part, gap: gap + within, words: english.CountWords(part), section: section, kind: kind,
				opens: opens && i == 0, antecedent: on, namesTopic: namesTopic(spoken(part, speakers))})
		}
	}
	for _, b := range d.Blocks {
		switch b.Kind {
		case documents.Heading:
			section, named = b.Text, newEntities()
			out = append(out, unit{text: b.Text, words: english.CountWords(b.Text), section: section, kind: b.Kind, opens: true, antecedent: noMention})
		case documents.Line, documents.Code:
			add(documents.Line, b.Text, true, "")
		case documents.TableHead, documents.TableRow:
			add(documents.Line, rowLine(b.Text), true, "")
		default:
			gap, rest := "", b.Text
			for i, s := range english.Sentences(b.Text) {
				gap, rest = english.Gap(rest, s)
				add(documents.Paragraph, s, i == 0, gap)
			}
		}
	}
	return out
}

// pack groups units into passages. It fills a passage up to the target. Once a passage is half full, pack ends it before
// a heading or before a unit with another topic. It leaves no heading at the end of a passage. A unit that refers to
// another one stays with it up to limits.bound; beyond that, the other one is repeated before it.
func pack(units []unit, limits sizes) [][]unit {
	if wordsOf(units) <= limits.whole {
		return [][]unit{units}
	}
	p := packer{units: units, limits: limits}
	for i, u := range units {
		p.place(i, u)
	}
	if len(p.group) > 0 {
		p.groups = append(p.groups, p.pick(p.group))
	}
	return joinShort(p.groups, limits)
}

// wordsOf returns the length of units in words.
func wordsOf(units []unit) (n int) {
	for _, u := range units {
		n += u.words
	}
	return n
}

// packer is the state of pack.
type packer struct {
	units  []unit
	limits sizes
	groups [][]unit

	group []int  // the units of the current passage
	size  int    // its length in words
	about string // what its first unit is about without naming it
}

// place puts unit i into the current passage, or into a new one.
func (p *packer) place(i int, u unit) {
	refers, resolved := u.antecedent.unit >= 0, p.resolves(u)
	switch {
	case p.size == 0:
	case u.kind == documents.Heading, !refers && u.namesTopic:
		if p.size >= p.limits.target/2 || p.size+u.words > p.limits.target {
			p.end()
		}
	case refers && !resolved:
		p.end()
	case p.size+u.words <= p.limits.target, refers && u.antecedent.name == "" && p.size+u.words <= p.limits.bound:
	default:
		p.end()
	}
	switch {
	case !refers || p.resolves(u):
	case u.antecedent.name != "" && p.about == "" && p.size == 0:
		p.about = u.antecedent.name
	case p.size+p.units[u.antecedent.unit].words+u.words <= p.limits.most:
		p.add(u.antecedent.unit)
	}
	p.add(i)
}

// resolves reports whether the current passage says what u refers to.
func (p *packer) resolves(u unit) bool {
	return slices.Contains(p.group, u.antecedent.unit) || u.antecedent.name != "" && u.antecedent.name == p.about
}

// add appends unit i to the current passage.
func (p *packer) add(i int) {
	p.group, p.size = append(p.group, i), p.size+p.units[i].words
}

// end ends the current passage. Headings at its end move to the next.
func (p *packer) end() {
	n := len(p.group)
	for n > 1 && p.units[p.group[n-1]].kind == documents.Heading {
		n--
	}
	if n > 0 {
		p.groups = append(p.groups, p.pick(p.group[:n]))
	}
	rest := slices.Clone(p.group[n:])
	p.group, p.size, p.about = nil, 0, ""
	for _, i := range rest {
		p.add(i)
	}
}

// pick returns the units with the given indices, the first one marked with what it is about.
func (p *packer) pick(at []int) []unit {
	var out []unit
	for _, i := range at {
		out = append(out, p.units[i])
	}
	out[0].about = p.about
	return out
}

// joinShort joins a short last passage to the one before if they are small enough together.
func joinShort(groups [][]unit, limits sizes) [][]unit {
	n := len(groups)
	if n < 2 {
		return groups
	}
	last, before := groups[n-1], groups[n-2]
	if wordsOf(last) >= limits.short || wordsOf(last)+wordsOf(before) > limits.whole || last[0].about != before[0].about {
		return groups
	}
	return append(groups[:n-2], slices.Concat(before, last))
}

// assemble makes a passage of units. If all are in one section, the section becomes part of the title. Otherwise headings
// stay in the text as lines, and a section that continues from the passage before is named again.
func assemble(title, source string, group []unit) Passage {
	one := !slices.ContainsFunc(group, func(u unit) bool { return u.section != group[0].section })
	lines := make([]string, 0, len(group))
	if len(group) > 0 && group[0].section != "" {
		switch {
		case one && group[0].section != title:
			title += ": " + group[0].section
		case !one && group[0].kind != documents.Heading:
			lines = append(lines, group[0].section)
		}
	}
	if len(group) > 0 && !strings.Contains(strings.ToLower(title), strings.ToLower(group[0].about)) {
		title += ": " + english.Capitalise(group[0].about)
	}
	for _, u := range group {
		switch {
		case u.kind == documents.Heading && one:
		case u.opens || len(lines) == 0:
			lines = append(lines, u.text)
		default:
			lines[len(lines)-1] += u.gap + u.text
		}
	}
	p := Passage{Source: source, Title: title, Text: strings.Join(lines, "\n")}
	p.ID = passageID(p)
	return p
}

// speakersOf returns the names of those who write messages in a document. They are names with a time. They are all names
// before a colon if half of the blocks begin like "Anna: The key is …", or if every block begins with a name and one
// returns.
func speakersOf(d documents.Document) map[string]bool {
	speakers, timed, sentences, blocks, again := map[string]bool{}, map[string]bool{}, 0, 0, false
	for _, b := range d.Blocks {
		m := english.Message.FindStringSubmatch(b.Text + " ")
		if m == nil {
			continue
		}
		blocks++
		again = again || speakers[m[2]] && !english.Remarks[strings.ToLower(m[2])+":"]
		speakers[m[2]] = true
		if m[1] != "" || m[3] != "" {
			timed[m[2]] = true
		}
		if b.Kind != documents.Heading && len(m[0]) < len(b.Text) && slices.ContainsFunc(strings.Fields(b.Text[len(m[0]):]), english.IsVerb) {
			sentences++
		}
	}
	if 2*sentences >= len(d.Blocks) && sentences > 1 || again && sentences > 0 && blocks == len(d.Blocks) {
		return speakers
	}
	return timed
}

// spoken returns a message without its speaker.
func spoken(sentence string, speakers map[string]bool) string {
	if len(speakers) > 0 {
		if m := english.Message.FindStringSubmatch(sentence); m != nil && speakers[m[2]] && len(m[0]) < len(sentence) {
			return sentence[len(m[0]):]
		}
	}
	return sentence
}

// rowLine writes a table's row as the decoder's training text does. Two cells are usually a name and its value.
func rowLine(row string) string {
	var cells []string
	for cell := range strings.SplitSeq(row, "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	if len(cells) == 2 {
		return strings.TrimSuffix(cells[0], ":") + ": " + cells[1]
	}
	return strings.Join(cells, ", ")
}
