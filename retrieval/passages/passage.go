package passages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tandem/retrieval/documents"
	"tandem/retrieval/internal/english"
)

// DefaultWords is the length of passages unless Options say otherwise: so little that each sentence is one. A small
// reader is surest of a fact that stands alone, and passages that differ in little are told apart by the
// weights rather than by its attention. Large models do as well with longer ones; DRAGON §7.1 has 64 words.
const DefaultWords = 4

// mostWords bounds Options.Words.
const MaxWords = 1000

// sizes are the limits of passages in words, all following from the length that is aimed at.
type sizes struct {
	target int // a passage is filled up to this
	whole  int // a document of at most this is one passage
	short  int // a passage shorter than this at the end joins the one before when both fit in whole
	bound  int // with a sentence that leans on the one before a passage may grow to this
	most   int // and to this where the one before cannot be told in a word or two
	unit   int // longer sentences are divided
}

func sizesOf(target int) sizes {
	return sizes{target: target, whole: target + target/4, short: target / 3, bound: target + min(target, 24), most: target + max(min(2*target, 36), 20), unit: max(target, 64)}
}

// Passage is a piece of a document, small enough to be read as one context beside others.
type Passage struct {
	ID     string // hash of source, title and text: the same piece keeps its ID when the index is built again
	Source string // path of the file it was read from
	Title  string // the document's title; "title: section" when all of the text is in one section
	Text   string // about Options.Words words in whole sentences; list lines and headings on lines of their own
}

// FromFile parses the contents of a file and cuts the document into passages of about the given number of words. Its
// errors are those of documents.Parse.
func FromFile(ctx context.Context, name string, data []byte, words int) (title string, ps []Passage, err error) {
	if words < 1 || words > MaxWords {
		return "", nil, fmt.Errorf("passages of %d words: want 1 to %d", words, MaxWords)
	}
	doc, err := documents.Parse(ctx, name, data)
	if err != nil {
		return "", nil, err
	}
	return doc.Title, Cut(doc, name, words), nil
}

// Cut divides a document into passages of about the given number of words, in order.
func Cut(doc documents.Document, source string, words int) []Passage {
	limits := sizesOf(words)
	us := units(doc, limits)
	total := 0
	for _, u := range us {
		total += u.words
	}
	var out []Passage
	seen := make(map[string]bool)
	for _, group := range pack(us, total, limits) {
		p := assemble(doc.Title, source, group)
		if p.Text != "" && !seen[p.ID] {
			seen[p.ID] = true
			out = append(out, p)
		}
	}
	return out
}

// unit is what packing never divides.
type unit struct {
	text    string
	words   int
	section string // the heading it stands under
	kind    documents.Kind
	opens   bool    // first of its block: goes on a new line
	on      mention // where what it speaks of was named, before it; nowhere if need not
	about   string  // of the first of a passage: what the passage speaks of, for its title
	names   bool    // it says itself what it speaks of
}

// units divides a document into sentences and lines, and notes what each refers to.
func units(d documents.Document, limits sizes) []unit {
	var out []unit
	section, named, speakers := "", newNames(), speakersOf(d)
	add := func(kind documents.Kind, sentence string, opens bool) {
		on := named.place(spoken(sentence, speakers), d.Title+" "+section, len(out))
		for i, part := range english.SplitWords(sentence, limits.unit) {
			if i > 0 {
				on = nowhere
			}
			out = append(out, unit{part, english.CountWords(part), section, kind, opens && i == 0, on, "", namesSomething(spoken(part, speakers))})
		}
	}
	for _, b := range d.Blocks {
		switch b.Kind {
		case documents.Heading:
			section, named = b.Text, newNames()
			out = append(out, unit{b.Text, english.CountWords(b.Text), section, documents.Heading, true, nowhere, "", false})
		case documents.Line:
			add(documents.Line, b.Text, true)
		default:
			for i, s := range english.Sentences(b.Text) {
				add(documents.Paragraph, s, i == 0)
			}
		}
	}
	return out
}

// pack groups units into passages. It fills up to the target, but rather ends a passage where a section ends
// or something else is named once it is half full, and never leaves a heading at the end. A unit that leans on
// another stays with it up to the bound; where it cannot, the one that it leans on is repeated before it.
func pack(units []unit, total int, limits sizes) [][]unit {
	if total <= limits.whole {
		return [][]unit{units}
	}
	var groups [][]unit
	var group []int
	size, about := 0, ""
	add := func(i int) { group, size = append(group, i), size+units[i].words }
	end := func() { // of a passage; headings at its end go on into the next
		n := len(group)
		for n > 1 && units[group[n-1]].kind == documents.Heading {
			n--
		}
		if n > 0 {
			groups = append(groups, pick(units, group[:n], about))
		}
		rest := slices.Clone(group[n:])
		group, size, about = nil, 0, ""
		for _, i := range rest {
			add(i)
		}
	}
	for i, u := range units {
		leans, whole := u.on.unit >= 0, slices.Contains(group, u.on.unit) || u.on.name != "" && u.on.name == about
		switch {
		case size == 0:
		case u.kind == documents.Heading, !leans && u.names:
			if size >= limits.target/2 || size+u.words > limits.target {
				end()
			}
		case leans && !whole:
			end()
		case size+u.words <= limits.target, leans && u.on.name == "" && size+u.words <= limits.bound:
		default:
			end()
		}
		switch {
		case !leans || slices.Contains(group, u.on.unit) || u.on.name != "" && u.on.name == about:
		case u.on.name != "" && about == "" && size == 0:
			about = u.on.name
		case size+units[u.on.unit].words+u.words <= limits.most:
			add(u.on.unit)
		}
		add(i)
	}
	if len(group) > 0 {
		groups = append(groups, pick(units, group, about))
	}
	return joinShort(groups, limits)
}

// pick returns the units at some places; about is what the first of them speaks of without naming it.
func pick(units []unit, at []int, about string) []unit {
	var out []unit
	for _, i := range at {
		out = append(out, units[i])
	}
	out[0].about = about
	return out
}

// joinShort joins a short last passage to the one before when the two are small enough together.
func joinShort(groups [][]unit, limits sizes) [][]unit {
	n := len(groups)
	if n < 2 {
		return groups
	}
	last, before := groups[n-1], groups[n-2]
	size := func(g []unit) (w int) {
		for _, u := range g {
			w += u.words
		}
		return w
	}
	if size(last) >= limits.short || size(last)+size(before) > limits.whole || last[0].about != before[0].about {
		return groups
	}
	joined := append(append([]unit(nil), before...), last...)
	return append(groups[:n-2], joined)
}

// assemble writes a group of units as text. Where all stand in one section the section moves into the
// title; otherwise headings stay as lines, and a section that began in an earlier passage is named again.
func assemble(title, source string, group []unit) Passage {
	one := true
	for _, u := range group {
		one = one && u.section == group[0].section
	}
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
			lines[len(lines)-1] += " " + u.text
		}
	}
	p := Passage{Source: source, Title: title, Text: strings.Join(lines, "\n")}
	p.ID = passageID(p)
	return p
}

// passageID is stable across runs and machines. Lengths go in so that no two splits look alike.
func passageID(p Passage) string {
	h := sha256.New()
	for _, s := range []string{p.Source, p.Title, p.Text} {
		var n [8]byte
		for i := range n {
			n[i] = byte(len(s) >> (8 * i))
		}
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// speakersOf returns who says something in the document: a time stands beside their names, half of its blocks begin like
// "Anna: The key is …", or all begin with a name that comes again.
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

// spoken returns what a message says: without its speaker.
func spoken(sentence string, speakers map[string]bool) string {
	if len(speakers) > 0 {
		if m := english.Message.FindStringSubmatch(sentence); m != nil && speakers[m[2]] && len(m[0]) < len(sentence) {
			return sentence[len(m[0]):]
		}
	}
	return sentence
}
