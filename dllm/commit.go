package dllm

import (
	"slices"

	"tandem"
)

// commit takes the guesses of the dense pass. Those of the current block decide; those of later blocks are drafts, which
// decide nothing until their block is current and are guessed again then (llada.cpp §3.2).
func (m *Machine) commit() {
	end := m.blockEnd(m.block)
	var open []int // undecided positions of the block
	guess := make(map[int]Guess, len(m.denseGuesses))
	next := 0
	for _, r := range m.dense {
		if !r.Logits || next == len(m.denseGuesses) {
			continue
		}
		g, p := withoutNaN(m.denseGuesses[next]), r.Position+m.shift()
		next++
		switch {
		case p >= end:
			m.draft(p, g)
		case m.cells[p].Status == Invisible:
			open = append(open, p)
			guess[p] = g
		default:
			m.reconsider(p, g)
		}
	}
	if m.cfg.Ordered {
		m.decideInOrder(open, guess)
	} else {
		m.decideBest(open, guess)
	}
	if len(open) == 0 { // the owner lost guesses: continue anyway
		m.decide(m.firstOpen(), Guess{Token: m.cells[m.firstOpen()].Token}, true)
	}
}

// decideBest decides the most confident positions first; of equals, the first in the text.
func (m *Machine) decideBest(open []int, guess map[int]Guess) {
	slices.SortStableFunc(open, func(a, b int) int {
		switch x, y := guess[a].Confidence, guess[b].Confidence; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for i, p := range open {
		m.decide(p, guess[p], i < m.cfg.AtLeast)
	}
}

// decideInOrder decides positions in the text's order, up to and without the first that is not confident enough.
func (m *Machine) decideInOrder(open []int, guess map[int]Guess) {
	going := true
	for i, p := range open {
		g, must := guess[p], i < m.cfg.AtLeast
		if !going || p != m.firstOpen() {
			g.Confidence, must = -1, false
		}
		m.decide(p, g, must)
		going = going && (g.Confidence >= m.cfg.Stable || i+1 < m.cfg.AtLeast)
	}
}

// decide promotes an undecided position of the current block if its guess is confident enough, or must count.
func (m *Machine) decide(p int, g Guess, must bool) {
	c := &m.cells[p]
	c.Draft = false
	switch {
	case g.Confidence >= m.cfg.Stable || must && !m.hasVisible():
		c.Cell = Cell{Token: g.Token, Status: Stable, Confidence: g.Confidence}
	case g.Confidence >= m.cfg.Visible || must:
		c.Cell = Cell{Token: g.Token, Status: Visible, Confidence: g.Confidence}
	default:
		c.Cell = Cell{Token: m.cfg.Mask}
	}
}

// draft notes a guess of a block to come.
func (m *Machine) draft(p int, g Guess) {
	m.cells[p].Cell = Cell{Token: m.cfg.Mask}
	if g.Confidence >= m.cfg.Visible {
		m.cells[p].Cell = Cell{Token: g.Token, Draft: true, Confidence: g.Confidence}
	}
}

// reconsider takes a new guess of a visible token. It stays visible whatever the guess is.
func (m *Machine) reconsider(p int, g Guess) {
	c := &m.cells[p]
	if c.Status != Visible || !(g.Confidence >= m.cfg.Visible) {
		return
	}
	if c.Token != g.Token && p < m.settled {
		m.version++
	}
	c.Token, c.Confidence = g.Token, g.Confidence
	if g.Confidence >= m.cfg.Stable {
		c.Status = Stable
	}
}

// revise takes the guesses of the second path.
func (m *Machine) revise() {
	next := 0
	for _, r := range m.sparse {
		if r.Logits && next < len(m.sparseGuesses) {
			m.reconsider(r.Position+m.shift(), withoutNaN(m.sparseGuesses[next]))
			next++
		}
	}
}

// settle moves the end of the prefix over rows that the pass computed from decided tokens: one by one if the window
// slides, else by whole blocks.
func (m *Machine) settle() {
	if m.cfg.Suffix != NoSuffix || len(m.dense) == 0 {
		return
	}
	limit := m.firstOpen() - m.shift()
	if m.Remaining() == 0 {
		limit = m.blockEnd(m.block) - m.shift()
	}
	if limit = min(limit, m.dense[len(m.dense)-1].Position+1); m.drafted {
		limit = min(limit, m.block-m.shift()) // the block's rows have seen drafts
	}
	to := m.settled
	for to < limit && m.cells[to].Status != Invisible && !m.stale(to) {
		to++
	}
	if !m.cfg.Sliding {
		to = m.wholeBlocks(to)
	}
	if to > m.settled {
		m.settled = to
		m.version++
	}
}

// wholeBlocks returns the end of the last block whose rows all come before to, or settled.
func (m *Machine) wholeBlocks(to int) int {
	end := m.settled
	for next := m.blockEnd(end + m.shift()); next-m.shift() <= to; next = m.blockEnd(next) {
		if end = next - m.shift(); next == len(m.cells) {
			break
		}
	}
	return end
}

// advance makes the next block current when this one is decided. It reports whether the generation is over, and why.
func (m *Machine) advance() (ended EndReason, over bool) {
	if i := m.stopPosition(); i >= 0 {
		return StopToken, true
	}
	if m.Remaining() > 0 {
		return 0, false
	}
	if m.blockEnd(m.block) == len(m.cells) {
		return Complete, true
	}
	m.block, m.fresh = m.blockEnd(m.block), true
	return 0, false
}

// stopPosition returns the position of the first stop token if it ends the text: everything before it is decided, and it is stable
// or in a decided block. Otherwise it returns -1.
func (m *Machine) stopPosition() int {
	complete := m.Remaining() == 0
	for p := m.start; p < m.blockEnd(m.block); p++ {
		c := &m.cells[p]
		if c.Status == Invisible {
			return -1
		}
		if slices.Contains(m.cfg.Stop, c.Token) {
			if c.Status == Stable || complete || p < m.block {
				return p
			}
			return -1 // it may still change
		}
	}
	return -1
}

// takeFinal returns the tokens that have become final since the last call; if the generation is over, all that are decided.
func (m *Machine) takeFinal(over bool) (text []tandem.Token) {
	limit := m.blockEnd(m.block)
	if p := m.stopPosition(); p >= 0 {
		limit = p
	}
	for m.textEnd < limit && (m.fixed(m.textEnd) || over && m.cells[m.textEnd].Status != Invisible) {
		t := m.cells[m.textEnd].Token
		if slices.Contains(m.cfg.Stop, t) {
			break
		}
		text = append(text, t)
		m.textEnd++
	}
	return text
}

// fixed reports whether no later guess can change a token.
func (m *Machine) fixed(p int) bool {
	switch m.cells[p].Status {
	case Stable:
		return true
	case Visible: // the dense path guesses the current block, and the second path the prefix
		return p < m.block && m.cfg.Refresh == 0
	}
	return false
}
