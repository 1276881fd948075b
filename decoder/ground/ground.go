package ground

import (
	"cmp"
	"slices"
	"strings"

	"tandem/model/vocabulary"
)

// A Question holds what all contexts of a question may write. It is immutable.
type Question struct {
	vocabulary *vocabulary.Vocabulary
	words      *vocabulary.Trie
	marks      *vocabulary.Trie
	closes     []bool // by key of marks: may follow a unit
	opens      []bool // by key of marks: may precede a unit
	possessive *vocabulary.Trie
}

// NewQuestion returns what may be written to answer texts: the question, and the conversation before it.
func NewQuestion(v *vocabulary.Vocabulary, texts ...string) *Question {
	q := &Question{vocabulary: v}
	words := listed()
	for _, t := range texts {
		for _, w := range wordsOf(t) {
			words = append(words, bothCases(w)...)
		}
	}
	slices.Sort(words)
	q.words = vocabulary.NewTrie(v.Spellable(slices.Compact(words)))
	marks := v.Spellable(slices.Compact(slices.Sorted(slices.Values(slices.Concat(closing, opening)))))
	q.marks = vocabulary.NewTrie(marks)
	for _, m := range marks {
		q.closes, q.opens = append(q.closes, slices.Contains(closing, m)), append(q.opens, slices.Contains(opening, m))
	}
	q.possessive = vocabulary.NewTrie(v.Spellable(possessives))
	return q
}

// A Context is what one context may write. It is not safe for concurrent use: it keeps what it has worked out.
type Context struct {
	*Question
	text   string // of all passages, each followed by a NUL
	places []place
	starts [256][]int32 // where spans may begin, by their first byte

	longest int                // largest result of rest
	between [4]vocabulary.Mask // what is allowed between units, by gap; nil if not yet known
}

// place says what a span may do at an offset of the text.
type place uint8

const (
	endsSpan place = 1 << iota // it may end before this byte
	goesOn                     // from here it can reach a place where it may end
)

// Context returns what a context may write that reads texts: passages, and their titles.
func (q *Question) Context(texts ...string) *Context {
	c := &Context{Question: q}
	var all strings.Builder
	for _, t := range texts {
		for _, v := range variants(strings.TrimSpace(t)) {
			c.add(v, all.Len())
			all.WriteString(v)
			all.WriteByte(0)
		}
	}
	c.text = all.String()
	c.longest = max(c.longest, q.words.Height(0), q.marks.Height(0), q.possessive.Height(0))
	return c
}

// variants returns a text as it is, with a blank for each run of ASCII white space, and with a blank for all white space
// but that within numbers.
func variants(text string) []string {
	ascii := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' && classOf(r, 1) == space }), " ")
	var all strings.Builder
	chars := charsOf(text)
	joined := within(chars, len(text), false)
	for i, c := range chars {
		switch {
		case c.class != space || joined[c.at]:
			all.WriteString(text[c.at:endOf(chars, i, len(text))])
		case i == 0 || chars[i-1].class != space:
			all.WriteByte(' ')
		}
	}
	return slices.Compact([]string{text, ascii, all.String()})
}

// add adds a text at an offset.
func (c *Context) add(text string, offset int) {
	chars := charsOf(text)
	joined := within(chars, len(text), true)
	places := make([]place, len(text)+1)
	for i, ch := range chars {
		if ch.class != space && !joined[ch.at] {
			c.starts[text[ch.at]] = append(c.starts[text[ch.at]], int32(offset+ch.at))
		}
		if end := endOf(chars, i, len(text)); ch.class != space && !joined[end] {
			places[end] |= endsSpan
		}
		if possessive(chars, i, joined) {
			places[ch.at] |= endsSpan
		}
	}
	spelled := make([]bool, len(text))
	for i, ch := range chars {
		_, ok := c.vocabulary.Spells(text[ch.at:])
		for at := ch.at; at < endOf(chars, i, len(text)); at++ {
			spelled[at] = ok && ch.r != 0
		}
	}
	for at := len(text); at >= 0; at-- {
		if places[at]&endsSpan != 0 || at < len(text) && spelled[at] && places[at+1]&goesOn != 0 {
			places[at] |= goesOn
		}
	}
	c.places = append(c.places, places...)
	for at, n := len(text), 0; at >= 0; at-- {
		if n++; places[at]&endsSpan != 0 {
			n = 0
		}
		c.longest = max(c.longest, n)
	}
}

// A parse is a way to read an answer up to its end.
type parse struct {
	kind kind
	gap  gap   // of inGap, and of inMark: before the mark
	at   int32 // a node of a trie, or an offset in the text
}

// kind says where the end of an answer is.
type kind uint8

const (
	inGap kind = iota
	inMark
	inWord
	inPossessive
	inSpan
)

// gap describes the place between two units.
type gap uint8

const (
	open  gap = 1 << iota // a unit may begin
	apart                 // the unit before is no span, or a mark stands in between
)

// A State is all parses of an answer. It is immutable.
type State struct {
	parses []parse // sorted
}

// Start returns the state of the empty answer.
func (c *Context) Start() State { return State{[]parse{{kind: inGap, gap: open | apart}}} }

// Lost reports whether the context could not have written the end of the answer.
func (s State) Lost() bool { return len(s.parses) == 0 }

// mayEnd reports whether the answer may end.
func (s State) mayEnd() bool {
	return slices.ContainsFunc(s.parses, func(p parse) bool { return p.kind == inGap })
}

// Next returns the state after text.
func (c *Context) Next(s State, text []byte) State {
	for _, b := range text {
		s = c.step(s, b)
		if s.Lost() && strings.IndexByte(blanks, b) >= 0 {
			s = State{[]parse{{kind: inGap, gap: open}}} // what another context wrote has ended
		}
	}
	return s
}

// step returns the state after one more byte. It is lost if no text begins like this.
func (c *Context) step(s State, b byte) State {
	var out []parse
	emit := func(p parse) { out = append(out, p) }
	for _, p := range s.parses {
		c.follow(p, b, emit)
	}
	slices.SortFunc(out, func(x, y parse) int {
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.gap, y.gap), cmp.Compare(x.at, y.at))
	})
	return State{slices.Compact(out)}
}

// follow emits the parses that go on from p with a byte.
func (c *Context) follow(p parse, b byte, emit func(parse)) {
	switch p.kind {
	case inSpan:
		if c.reads(p.at, b) {
			c.inSpan(p.at+1, emit)
		}
	case inWord:
		if n := c.words.Child(p.at, b); n >= 0 {
			c.inWord(n, emit)
		}
	case inPossessive:
		if n := c.possessive.Child(p.at, b); n >= 0 {
			c.inPossessive(n, emit)
		}
	case inMark:
		if n := c.marks.Child(p.at, b); n >= 0 {
			c.inMark(n, p.gap, emit)
		}
	case inGap:
		if strings.IndexByte(blanks, b) >= 0 {
			emit(parse{kind: inGap, gap: p.gap | open})
		}
		c.follow(parse{kind: inMark, gap: p.gap}, b, emit)
		if p.gap&open != 0 {
			c.follow(parse{kind: inWord}, b, emit)
		}
		if p.gap == open|apart {
			for _, at := range c.starts[b] {
				c.follow(parse{kind: inSpan, at: at}, b, emit)
			}
		}
	}
}

// reads reports whether a span goes on at an offset with a byte, and can end.
func (c *Context) reads(at int32, b byte) bool {
	return c.text[at] == b && b != 0 && c.places[at+1]&goesOn != 0
}

// inSpan emits the parses of an answer that ends in a span, before the offset at.
func (c *Context) inSpan(at int32, emit func(parse)) {
	emit(parse{kind: inSpan, at: at})
	if c.places[at]&endsSpan != 0 {
		emit(parse{kind: inGap})
		emit(parse{kind: inPossessive})
	}
}

// inWord emits the parses of an answer that ends at a node of the words.
func (c *Context) inWord(node int32, emit func(parse)) {
	emit(parse{kind: inWord, at: node})
	if len(c.words.At(node)) > 0 {
		emit(parse{kind: inGap, gap: apart})
		emit(parse{kind: inPossessive})
	}
}

// inPossessive emits the parses of an answer that ends at a node of the possessives.
func (c *Context) inPossessive(node int32, emit func(parse)) {
	emit(parse{kind: inPossessive, at: node})
	if len(c.possessive.At(node)) > 0 {
		emit(parse{kind: inGap, gap: apart})
	}
}

// inMark emits the parses of an answer that ends at a node of the marks.
func (c *Context) inMark(node int32, before gap, emit func(parse)) {
	from, to := c.marks.Children(node)
	if from < to {
		emit(parse{kind: inMark, gap: before, at: node})
	}
	for _, key := range c.marks.At(node) {
		switch {
		case before&open != 0 && c.opens[key]:
			emit(parse{kind: inGap, gap: open | apart})
		case c.closes[key]:
			emit(parse{kind: inGap, gap: apart})
		}
	}
}

// rest returns the smallest number of bytes after which the answer may end.
func (c *Context) rest(p parse) (n int) {
	switch p.kind {
	case inWord:
		return c.words.Depth(p.at)
	case inMark:
		return c.marks.Depth(p.at)
	case inPossessive:
		return c.possessive.Depth(p.at)
	case inSpan:
		for at := p.at; c.places[at]&endsSpan == 0; at++ {
			n++
		}
	}
	return n
}
