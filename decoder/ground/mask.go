package ground

import (
	"tandem"
	"tandem/model/vocabulary"
)

// Allowed returns the tokens that may follow an answer: those with which the answer is still the beginning of a text and,
// where the answer may end, those that end it. If there are none although the context is not lost, because the vocabulary
// cannot spell any continuation, Allowed returns the tokens that end the answer. For a lost context the set is empty.
//
// At most left tokens may follow. A token is not allowed if the word after it could then not be finished with one token for
// each byte. With left 0, only tokens that end the answer are allowed where it may end; elsewhere the answer continues to the
// next place where it may. It also continues there if left does not suffice for a word that another context has begun.
func (c *Context) Allowed(s State, left int) vocabulary.Mask {
	out := c.fitting(s, left)
	if left > 0 && !s.mayEnd() && out.Size() == 0 {
		out = c.fitting(s, 0)
	}
	if s.mayEnd() || !s.Lost() && out.Size() == 0 {
		for _, t := range c.vocabulary.Ends {
			out.Add(t)
		}
	}
	return out
}

// fitting returns the tokens of Allowed that continue an answer.
func (c *Context) fitting(s State, left int) vocabulary.Mask {
	out := vocabulary.NewMask(c.vocabulary.Size)
	w := walk{c, c.vocabulary.Tokens, out, map[gapAt]bool{}, left - 1}
	if left <= 0 {
		w.left = c.longest
	}
	for _, p := range s.parses {
		switch {
		case left <= 0 && s.mayEnd():
		case p.kind != inGap || 0 < left && left <= c.longest:
			w.follow(0, p)
		default:
			for i, m := range c.afterGap(p.gap) {
				out[i] |= m
			}
		}
	}
	return out
}

// afterGap returns the tokens that may follow between units.
func (c *Context) afterGap(g gap) vocabulary.Mask {
	if c.between[g] == nil {
		m := vocabulary.NewMask(c.vocabulary.Size)
		w := walk{c, c.vocabulary.Tokens, m, map[gapAt]bool{}, c.longest}
		w.gap(0, g)
		c.between[g] = m
	}
	return c.between[g]
}

// A walk goes through the tokens and the texts at once, and collects the tokens that begin texts.
type walk struct {
	c      *Context
	tokens *vocabulary.Trie
	found  vocabulary.Mask
	seen   map[gapAt]bool // gaps that were followed
	left   int            // most bytes to the end of a word after a token
}

// gapAt is a gap at a node of the tokens.
type gapAt struct {
	node int32
	gap  gap
}

// arrive collects the tokens that end at a node, where p is a parse, and follows p.
func (w *walk) arrive(node int32, p parse) {
	w.collect(node, p)
	w.follow(node, p)
}

func (w *walk) collect(node int32, p parse) {
	if w.left < w.c.longest && w.c.rest(p) > w.left {
		return
	}
	for _, t := range w.tokens.At(node) {
		w.found.Add(tandem.Token(t))
	}
}

// follow follows p from a node of the tokens.
func (w *walk) follow(node int32, p parse) {
	c := w.c
	switch p.kind {
	case inGap:
		w.gap(node, p.gap)
	case inSpan:
		w.span(node, p.at)
	case inWord:
		w.both(node, c.words, p.at, func(n int32, emit func(parse)) { c.inWord(n, emit) })
	case inPossessive:
		w.both(node, c.possessive, p.at, func(n int32, emit func(parse)) { c.inPossessive(n, emit) })
	case inMark:
		w.both(node, c.marks, p.at, func(n int32, emit func(parse)) { c.inMark(n, p.gap, emit) })
	}
}

// both follows a node of a trie of texts from a node of the tokens. parses emits those at a node of the texts.
func (w *walk) both(node int32, texts *vocabulary.Trie, at int32, parses func(int32, func(parse))) {
	from, to := texts.Children(at)
	for n := from; n < to; n++ {
		if next := w.tokens.Child(node, texts.Label(n)); next >= 0 {
			parses(n, func(p parse) { w.arrive(next, p) })
		}
	}
}

// span follows a span from a node of the tokens.
func (w *walk) span(node, at int32) {
	c := w.c
	for {
		b := c.text[at]
		if node = w.tokens.Child(node, b); node < 0 || !c.reads(at, b) {
			return
		}
		at++
		w.collect(node, parse{kind: inSpan, at: at})
		if c.places[at]&endsSpan != 0 {
			w.gap(node, 0)
			w.follow(node, parse{kind: inPossessive})
		}
	}
}

// gap follows what may stand between units from a node of the tokens.
func (w *walk) gap(node int32, g gap) {
	from, to := w.tokens.Children(node)
	if from == to || w.seen[gapAt{node, g}] {
		return
	}
	w.seen[gapAt{node, g}] = true
	for i := range len(blanks) {
		if next := w.tokens.Child(node, blanks[i]); next >= 0 {
			w.arrive(next, parse{kind: inGap, gap: g | open})
		}
	}
	w.follow(node, parse{kind: inMark, gap: g})
	if g&open != 0 {
		w.follow(node, parse{kind: inWord})
	}
	if g == open|apart {
		for n := from; n < to; n++ {
			for _, at := range w.c.starts[w.tokens.Label(n)] {
				w.span(node, at)
			}
		}
	}
}
