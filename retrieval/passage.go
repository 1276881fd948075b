package retrieval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// DefaultWords is the length of passages unless Options say otherwise: so little that each sentence is one. A small
// reader is surest of a fact that stands alone, and passages that differ in little are told apart by the
// weights rather than by its attention. Large models do as well with longer ones; DRAGON §7.1 has 64 words.
const DefaultWords = 4

// mostWords bounds Options.Words.
const mostWords = 1000

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

// words counts the words of s. A run of characters without white space counts for one per started
// longWord, so that languages written without spaces, and junk, make passages of bounded size too.
func words(s string) (n int) {
	for field := range strings.FieldsSeq(s) {
		n += (utf8.RuneCountInString(field) + longWord - 1) / longWord
	}
	return n
}

const longWord = 24

// document is what a parser makes of a file: the common form of text, Markdown, HTML and PDF.
type document struct {
	title  string
	blocks []block
}

// block is a paragraph, a list line or a heading.
type block struct {
	kind blockKind
	text string // one line, white space collapsed, markup removed
}

type blockKind uint8

const (
	paragraph blockKind = iota
	listLine            // kept whole: a fact in a list must not lose its label
	heading             // starts a section
)

func (d *document) add(kind blockKind, text string) {
	if text = collapse(text); text != "" {
		d.blocks = append(d.blocks, block{kind, text})
	}
}

// collapse joins the words of s by single spaces and drops what cannot be read: control characters and
// invalid UTF-8.
func collapse(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
		case r == utf8.RuneError, r == '\u00ad', r == '\u200b', r == '\ufeff', unicode.IsControl(r):
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Cut returns the passages of about the given number of words that a document of that name is cut into: what
// Add would index.
func Cut(ctx context.Context, name string, data []byte, words int) ([]Passage, error) {
	if words < 1 || words > mostWords {
		return nil, fmt.Errorf("retrieval: passages of %d words; between 1 and %d are possible", words, mostWords)
	}
	_, passages, reason, err := passagesOf(ctx, name, data, words)
	switch {
	case err != nil:
		return nil, fmt.Errorf("retrieval: %s: %w", name, err)
	case reason != "":
		return nil, fmt.Errorf("retrieval: %s: %s", name, reason)
	}
	return passages, nil
}

// passagesOf parses a file and cuts it into passages, or says why it cannot. When ctx ends it returns that error at once and
// leaves a parser in the middle of a file to itself: files are bounded.
func passagesOf(ctx context.Context, name string, data []byte, words int) (title string, passages []Passage, reason string, err error) {
	done := make(chan struct{})
	var doc document
	var found []Passage
	var why string
	go func() {
		defer close(done)
		if doc, why = parse(ctx, name, data); ctx.Err() == nil {
			found = doc.passages(name, sizesOf(words))
		}
	}()
	select {
	case <-done:
		return doc.title, found, why, ctx.Err()
	case <-ctx.Done():
		return "", nil, "", ctx.Err()
	}
}

// unit is what packing never divides.
type unit struct {
	text    string
	words   int
	section string // the heading it stands under
	kind    blockKind
	opens   bool    // first of its block: goes on a new line
	on      mention // where what it speaks of was named, before it; nowhere if need not
	about   string  // of the first of a passage: what the passage speaks of, for its title
	names   bool    // it says itself what it speaks of
}

// passages cuts the document into passages of the given source.
func (d document) passages(source string, limits sizes) []Passage {
	units := d.units(limits)
	total := 0
	for _, u := range units {
		total += u.words
	}
	var out []Passage
	seen := make(map[string]bool)
	for _, group := range pack(units, total, limits) {
		p := d.passage(source, group)
		if p.Text != "" && !seen[p.ID] {
			seen[p.ID] = true
			out = append(out, p)
		}
	}
	return out
}

func (d document) units(limits sizes) []unit {
	var units []unit
	section, named, speakers := "", newNames(), d.speakers()
	add := func(kind blockKind, sentence string, opens bool) {
		on := named.place(spoken(sentence, speakers), d.title+" "+section, len(units))
		for i, part := range splitWords(sentence, limits.unit) {
			if i > 0 {
				on = nowhere
			}
			units = append(units, unit{part, words(part), section, kind, opens && i == 0, on, "", namesSomething(spoken(part, speakers))})
		}
	}
	for _, b := range d.blocks {
		switch b.kind {
		case heading:
			section, named = b.text, newNames()
			units = append(units, unit{b.text, words(b.text), section, heading, true, nowhere, "", false})
		case listLine:
			add(listLine, b.text, true)
		default:
			for i, s := range splitSentences(b.text) {
				add(paragraph, s, i == 0)
			}
		}
	}
	return units
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
		for n > 1 && units[group[n-1]].kind == heading {
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
		case u.kind == heading, !leans && u.names:
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

// passage writes a group of units as text. Where all stand in one section the section moves into the
// title; otherwise headings stay as lines, and a section that began in an earlier passage is named again.
func (d document) passage(source string, group []unit) Passage {
	title, one := d.title, true
	for _, u := range group {
		one = one && u.section == group[0].section
	}
	lines := make([]string, 0, len(group))
	if len(group) > 0 && group[0].section != "" {
		switch {
		case one && group[0].section != title:
			title += ": " + group[0].section
		case !one && group[0].kind != heading:
			lines = append(lines, group[0].section)
		}
	}
	if len(group) > 0 && !strings.Contains(strings.ToLower(title), strings.ToLower(group[0].about)) {
		title += ": " + capitalise(group[0].about)
	}
	for _, u := range group {
		switch {
		case u.kind == heading && one:
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

// splitSentences divides a paragraph at UAX #29 sentence bounds, except after abbreviations and initials,
// where that standard's default rules end a sentence ("Mr. Oduya", "J. Smith"), and before figures and addresses,
// where they do not ("… 14 euros. 806 pounds is …").
func splitSentences(s string) []string {
	var out []string
	from, to := 0, 0 // the parts that may go on lie side by side in s
	for tokens := sentences.FromString(s); tokens.Next(); {
		for part := range beforeFigures(tokens.Value()) {
			to += len(part)
			if trimmed := strings.TrimSpace(s[from:to]); trimmed != "" && !abbreviated(trimmed) {
				out = append(out, trimmed)
				from = to
			}
		}
	}
	if trimmed := strings.TrimSpace(s[from:to]); trimmed != "" {
		out = append(out, trimmed)
	}
	return out
}

// beforeFigures divides s where a full stop after a word is followed by a word with a digit, a currency sign or an
// address in it. What abbreviates before a number ("p. 12", "at 6 p.m. 30 people") stays.
func beforeFigures(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i := 1; i+2 < len(s); i++ {
			if s[i] != '.' || s[i+1] != ' ' {
				continue
			}
			last, _ := utf8.DecodeLastRuneInString(s[:i])
			next, _, _ := strings.Cut(s[i+2:], " ")
			word := s[strings.LastIndexByte(s[:i], ' ')+1 : i]
			figure := strings.ContainsFunc(next, func(r rune) bool { return unicode.IsDigit(r) || unicode.Is(unicode.Sc, r) || r == '@' })
			if figure && len(word) > 3 && unicode.In(last, unicode.Letter, unicode.Digit) && !counted[strings.ToLower(word)] {
				if !yield(s[from : i+2]) {
					return
				}
				from = i + 2
			}
		}
		yield(s[from:])
	}
}

// counted are abbreviations of four letters and more that stand before a number.
var counted = map[string]bool{"approx": true, "sept": true, "chap": true, "figs": true}

// said matches a message of a chat: "Anna: …", "[10:32] Ben: …", "Ben (10:32): …".
var said = regexp.MustCompile(`^(\[[\d:., ]+\] )?([\p{Lu}][\p{L}\p{N}._-]*(?: [\p{Lu}][\p{L}.]*)?)( \([\d:., ]+\))?: `)

// speakers returns who says something in the document: a time stands beside their names, half of its blocks begin like
// "Anna: The key is …", or all begin with a name that comes again.
func (d document) speakers() map[string]bool {
	speakers, timed, sentences, blocks, again := map[string]bool{}, map[string]bool{}, 0, 0, false
	for _, b := range d.blocks {
		m := said.FindStringSubmatch(b.text + " ")
		if m == nil {
			continue
		}
		blocks++
		again = again || speakers[m[2]] && !remarks[strings.ToLower(m[2])+":"]
		speakers[m[2]] = true
		if m[1] != "" || m[3] != "" {
			timed[m[2]] = true
		}
		if b.kind != heading && len(m[0]) < len(b.text) && slices.ContainsFunc(strings.Fields(b.text[len(m[0]):]), isVerb) {
			sentences++
		}
	}
	if 2*sentences >= len(d.blocks) && sentences > 1 || again && sentences > 0 && blocks == len(d.blocks) {
		return speakers
	}
	return timed
}

// spoken returns what a message says: without its speaker.
func spoken(sentence string, speakers map[string]bool) string {
	if len(speakers) > 0 {
		if m := said.FindStringSubmatch(sentence); m != nil && speakers[m[2]] && len(m[0]) < len(sentence) {
			return sentence[len(m[0]):]
		}
	}
	return sentence
}

var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "no": true, "nr": true,
	"vs": true, "e.g": true, "i.e": true, "approx": true, "ca": true, "jr": true, "sr": true, "rev": true,
	"gen": true, "col": true, "capt": true, "lt": true, "sgt": true, "fig": true, "vol": true, "pp": true,
}

// abbreviated reports whether s ends in a full stop that more likely abbreviates than ends a sentence.
func abbreviated(s string) bool {
	if !strings.HasSuffix(s, ".") {
		return false
	}
	word := s[strings.LastIndexAny(s, " (\u00a0")+1 : len(s)-1]
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && unicode.IsUpper(r) && r != 'I' {
		return true
	}
	return abbreviations[strings.ToLower(word)]
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for at := range s {
		if n--; n < 0 {
			return s[:at]
		}
	}
	return s
}

// splitWords cuts s into pieces of at most limit words, of about even length.
func splitWords(s string, limit int) []string {
	total := words(s)
	if total <= limit {
		return []string{s}
	}
	pieces := (total + limit - 1) / limit
	even := (total + pieces - 1) / pieces
	var out []string
	var piece []string
	size := 0
	for field := range strings.FieldsSeq(s) {
		for field != "" {
			part := firstRunes(field, even*longWord)
			field = field[len(part):]
			if n := words(part); size+n > even && size > 0 {
				out, piece, size = append(out, strings.Join(piece, " ")), nil, 0
			}
			piece, size = append(piece, part), size+words(part)
		}
	}
	return append(out, strings.Join(piece, " "))
}
