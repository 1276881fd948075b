package specdec

import (
	"cmp"

	"tandem"
)

// An automaton is a suffix automaton that grows token by token (Blumer et al. 1985). Each state is a class of
// substrings that end at the same places. Adding a token takes amortised constant time.
type automaton struct {
	text      []tandem.Token
	states    []state
	edges     []edge
	edgeIndex table // by state and token, for states with many edges
	last      int32 // the state of the whole text

	// What takes back the tokens after the first fixedLen.
	undoable bool
	fixedLen int
	undo     []change
	marks    []mark // before each of these tokens
}

// change is an old value of a state or, where edge is set, of an edge.
type change struct {
	index int32
	edge  bool
	state state
	old   edge
}

// mark is what an automaton held before a token.
type mark struct{ states, edges, log, last int32 }

type state struct {
	length, link  int32
	first, latest int32 // where the substrings end in the text
	count         int32 // how often they occur with a continuation
	edges, degree int32 // edges is the index of the first edge plus one
}

type edge struct {
	token    tandem.Token
	to, next int32 // next is an index plus one
	from     int32 // the state that it leaves
}

const (
	manyEdges = 8
	// maxCountedSuffixes bounds how many suffixes of the text a new token counts for: the longest ones. Only very repetitive
	// texts have more, and the counts of their shorter suffixes are too low.
	maxCountedSuffixes = 16
)

// fix makes all tokens so far permanent. Later ones can be taken back.
func (a *automaton) fix() { a.undoable, a.fixedLen, a.undo, a.marks = true, len(a.text), nil, nil }

// rewind takes back all but the first n tokens, in time proportional to what they added. Those that fix made permanent stay.
func (a *automaton) rewind(n int) {
	if n = max(n, a.fixedLen); !a.undoable || n >= len(a.text) {
		return
	}
	m := a.marks[n-a.fixedLen]
	for i := len(a.undo) - 1; i >= int(m.log); i-- {
		if c := a.undo[i]; c.edge {
			a.edges[c.index] = c.old
		} else {
			a.states[c.index] = c.state
		}
	}
	for e := int(m.edges); e < len(a.edges) && a.edgeIndex.used > 0; e++ {
		if k := key(a.edges[e].from, a.edges[e].token); a.edgeIndex.get(k) >= 0 {
			a.edgeIndex.set(k, -1)
		}
	}
	a.text, a.states, a.edges = a.text[:n], a.states[:m.states], a.edges[:m.edges]
	a.undo, a.marks, a.last = a.undo[:m.log], a.marks[:n-a.fixedLen], m.last
}

// saveState keeps the value of a state that will change.
func (a *automaton) saveState(s int32) {
	if a.undoable {
		a.undo = append(a.undo, change{index: s, state: a.states[s]})
	}
}

// newAutomaton returns an empty automaton with room for a text of n tokens and an answer.
func newAutomaton(n int) *automaton {
	n += 256
	a := &automaton{text: make([]tandem.Token, 0, n), states: make([]state, 1, 1+3*n/2), edges: make([]edge, 0, 3*n)}
	a.edgeIndex.room(n)
	a.states[0] = state{link: -1, first: -1, latest: -1}
	return a
}

func key(s int32, t tandem.Token) uint64 { return uint64(s)<<32 | uint64(uint32(t)) }

// edge returns the index of a state's edge, or -1.
func (a *automaton) edge(s int32, t tandem.Token) int32 {
	if a.states[s].degree > manyEdges {
		return a.edgeIndex.get(key(s, t))
	}
	for e := a.states[s].edges; e > 0; e = a.edges[e-1].next {
		if a.edges[e-1].token == t {
			return e - 1
		}
	}
	return -1
}

func (a *automaton) connect(s int32, t tandem.Token, to int32) {
	a.saveState(s)
	a.edges = append(a.edges, edge{t, to, a.states[s].edges, s})
	a.states[s].edges = int32(len(a.edges))
	a.states[s].degree++
	switch d := a.states[s].degree; {
	case d == manyEdges+1:
		for e := a.states[s].edges; e > 0; e = a.edges[e-1].next {
			a.edgeIndex.set(key(s, a.edges[e-1].token), e-1)
		}
	case d > manyEdges:
		a.edgeIndex.set(key(s, t), int32(len(a.edges)-1))
	}
}

// extend appends a token.
func (a *automaton) extend(t tandem.Token) {
	at := int32(len(a.text))
	if a.undoable {
		a.marks = append(a.marks, mark{int32(len(a.states)), int32(len(a.edges)), int32(len(a.undo)), a.last})
	}
	a.text = append(a.text, t)
	cur := int32(len(a.states))
	a.states = append(a.states, state{length: at + 1, first: at, latest: at})
	p := a.last
	for p >= 0 && a.edge(p, t) < 0 {
		a.connect(p, t, cur)
		p = a.states[p].link
	}
	if p >= 0 {
		a.states[cur].link = a.longest(p, t)
	}
	// The text before this token is now an occurrence that has a continuation.
	for s, n := a.last, 0; s > 0 && n < maxCountedSuffixes; s, n = a.states[s].link, n+1 {
		a.saveState(s)
		a.states[s].count++
		a.states[s].latest = at - 1
	}
	a.last = cur
}

// longest returns the state whose longest substring is that of p and the token, which p has an edge for. It makes the state if
// that substring shares one with longer ones, whose ends are no longer the same.
func (a *automaton) longest(p int32, t tandem.Token) int32 {
	q := a.edges[a.edge(p, t)].to
	if a.states[p].length+1 == a.states[q].length {
		return q
	}
	clone := int32(len(a.states))
	c := a.states[q]
	c.length, c.edges, c.degree = a.states[p].length+1, 0, 0
	a.states = append(a.states, c)
	for e := a.states[q].edges; e > 0; e = a.edges[e-1].next {
		a.connect(clone, a.edges[e-1].token, a.edges[e-1].to)
	}
	for ; p >= 0; p = a.states[p].link {
		e := a.edge(p, t)
		if e < 0 || a.edges[e].to != q {
			break
		}
		if a.undoable {
			a.undo = append(a.undo, change{index: e, edge: true, old: a.edges[e]})
		}
		a.edges[e].to = clone
	}
	a.saveState(q)
	a.states[q].link = clone
	return clone
}

// suffix returns the state of the longest suffix of the text that occurred before, and its length.
func (a *automaton) suffix() (s int32, length int) {
	if a.last == 0 {
		return 0, 0
	}
	s = a.states[a.last].link
	return s, int(a.states[s].length)
}

// A match is the longest suffix of another text that occurs in an automaton.
type match struct {
	state  int32
	length int32
}

// advance extends the other text by one token, in amortised constant time.
func (a *automaton) advance(m *match, t tandem.Token) {
	for {
		if e := a.edge(m.state, t); e >= 0 {
			m.state = a.edges[e].to
			m.length++
			return
		}
		if m.state == 0 {
			m.length = 0
			return
		}
		m.state = a.states[m.state].link
		m.length = a.states[m.state].length
	}
}

// chain returns the latest continuation of a state, of at most n tokens.
func (a *automaton) chain(s int32, n int) []tandem.Token {
	from := int(a.states[s].latest) + 1
	to := min(from+n, len(a.text))
	for i := from; i < to; i++ {
		if a.text[i] == Separator {
			to = i
		}
	}
	return a.text[from:max(from, to)]
}

// tree adds the likeliest continuations of a match to a draft. A token's share is how often it followed.
func (a *automaton) tree(t *Tree, budget int, m match, source Source) {
	grow(t, budget, -1, m, func(m match, emit func(tandem.Token, float64, Class, match)) {
		var top [3]int32 // edges plus one, the most frequent first
		sum := int32(0)
		for e := a.states[m.state].edges; e > 0; e = a.edges[e-1].next {
			if a.edges[e-1].token == Separator {
				continue
			}
			n := a.weight(e)
			sum += n
			for i := range top {
				if top[i] == 0 || n > a.weight(top[i]) {
					copy(top[i+1:], top[i:])
					top[i] = e
					break
				}
			}
		}
		for _, e := range top {
			if e > 0 {
				to := a.edges[e-1].to
				emit(a.edges[e-1].token, float64(a.weight(e))/float64(sum), ClassOf(source, int(m.length)), match{to, m.length + 1})
			}
		}
	})
}

// weight returns how often an edge, given as its index plus one, was followed: at least once.
func (a *automaton) weight(e int32) int32 { return max(1, a.states[a.edges[e-1].to].count) }

// SAM finds the longest suffix of the text that occurred before, in the text itself and in a history, and drafts what
// followed it (Hu et al. 2024, SAM-Decoding). With Tree, several continuations become branches. Otherwise the draft is the
// latest continuation of the longer match.
type SAM struct {
	Tree           bool
	Length         int      // tokens of a draft without Tree; 0 means 31
	History        *History // may be nil
	ofText         *automaton
	ofHistory      *index  // the history's when the text began; it may grow meanwhile, or be replaced by another
	historyMatches []match // the match in ofHistory, after each token
}

// Committed implements Drafter.
func (s *SAM) Committed(tokens []tandem.Token) {
	if s.ofText == nil {
		s.ofText = newAutomaton(len(tokens))
		if s.History != nil {
			s.ofHistory = s.History.current()
		}
	}
	if s.ofHistory != nil {
		s.ofHistory.mu.RLock()
		defer s.ofHistory.mu.RUnlock()
	}
	for _, t := range tokens {
		s.ofText.extend(t)
		if s.ofHistory != nil {
			m := s.historyMatch()
			s.ofHistory.advance(&m, t)
			s.historyMatches = append(s.historyMatches, m)
		}
	}
	if !s.ofText.undoable {
		s.ofText.fix() // the prompt stays
	}
}

// historyMatch returns the longest suffix of the text that occurs in ofHistory.
func (s *SAM) historyMatch() match {
	if len(s.historyMatches) == 0 {
		return match{}
	}
	return s.historyMatches[len(s.historyMatches)-1]
}

// Rewind implements Drafter.
func (s *SAM) Rewind(n int) {
	if s.ofText != nil {
		s.ofText.rewind(n)
		s.historyMatches = s.historyMatches[:min(n, len(s.historyMatches))]
	}
}

// Settle implements Drafter.
func (s *SAM) Settle(*Verdict) {}

// Propose implements Drafter.
func (s *SAM) Propose(t *Tree) {
	if s.ofText == nil {
		return
	}
	if s.ofHistory != nil {
		s.ofHistory.mu.RLock()
		defer s.ofHistory.mu.RUnlock()
	}
	state, length := s.ofText.suffix()
	old := s.historyMatch()
	if s.Tree {
		if length > 0 {
			s.ofText.tree(t, 64, match{state, int32(length)}, FromAutomaton)
		}
		if old.length > 1 {
			s.ofHistory.tree(t, 64, old, FromHistory)
		}
		return
	}
	switch {
	case int(old.length) > length && old.length > 1:
		t.Chain(-1, s.ofHistory.chain(old.state, cmp.Or(s.Length, 31)), FromHistory, int(old.length))
	case length > 0:
		t.Chain(-1, s.ofText.chain(state, cmp.Or(s.Length, 31)), FromAutomaton, length)
	}
}
