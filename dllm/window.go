package dllm

import (
	"slices"
)

// denseRows returns the rows of the next dense pass and notes their tokens.
func (m *Machine) denseRows(rows []Row) []Row {
	from, end := m.window()
	m.drafted = false
	for p := from; p < end; p++ {
		rows = append(rows, Row{Position: p, Token: m.cells[p].Token, Sees: m.sees(p, end), Logits: m.needsGuess(p, end)})
		m.cells[p].input = m.cells[p].Token
		m.drafted = m.drafted || m.cells[p].Draft && p < m.blockEnd(m.block)
	}
	m.fresh = false
	return rows
}

// window returns the range of rows of the next pass.
func (m *Machine) window() (from, end int) {
	total := len(m.cells)
	switch m.cfg.Suffix {
	case WholeSequence:
		return 0, total
	case LiveSuffix, CachedSuffix:
		if m.fresh {
			return 0, total
		}
		if from = m.block - m.shift(); m.cfg.Suffix == LiveSuffix {
			return from, total
		}
		return from, m.blockEnd(m.block)
	}
	from, end = m.settled, m.blockEnd(m.block)
	if m.cfg.Sliding {
		end = m.slide(from)
	}
	if open := m.Remaining(); open <= m.cfg.Trigger {
		end = m.lookAhead(from, end)
	}
	return from, end
}

// slide returns the end of a window of constant size, a block's. It begins with rows that are decided but not settled,
// so at least half of it follows the first undecided position. With the prompt, all of it does.
func (m *Machine) slide(from int) int {
	size, open := m.cfg.Block, m.firstOpen()
	end := max(from+size, open+(size+1)/2)
	if from < m.start-m.shift() {
		end = open + size
	}
	return min(end, len(m.cells))
}

// lookAhead returns the end of a window that grows into future positions while a pass takes hardly longer and its time is
// known. Measure gives the times of all passes that fit in the device's memory.
func (m *Machine) lookAhead(from, end int) int {
	return max(end, from+grow(m.cfg.Costs, end-from, len(m.cells)-from, m.cfg.Slack))
}

// sees returns the end of what the row of a position attends to, in a pass whose rows end at end: its block. In a
// shifted model the row before a block guesses the block's first token from the prefix alone. If it saw the block, so
// would those that see the row, and the prefix would depend on undecided tokens.
func (m *Machine) sees(p, end int) int {
	if m.cfg.CausalPrompt && p < m.start {
		return p + 1
	}
	if m.cfg.Suffix != NoSuffix {
		return len(m.cells)
	}
	return min(m.blockEnd(p), end)
}

// needsGuess reports whether a guess is needed from the row of a position, in a pass whose rows end at end. Tokens of decided
// blocks are guessed again only by the second path.
func (m *Machine) needsGuess(p, end int) bool {
	if p += m.shift(); p < m.block || p >= len(m.cells) || m.cfg.Shifted && p >= end {
		return false
	}
	if m.cfg.Suffix != NoSuffix && p >= m.blockEnd(m.block) {
		return false
	}
	return !m.cfg.SkipLogits || m.cells[p].Status != Stable
}

// sparseRows returns the rows that the second path computes during the next pass: visible tokens of the prefix whose
// context has changed, the longest untouched first (llada.cpp §3.3). They see the whole prefix, both ways.
func (m *Machine) sparseRows(rows []Row) []Row {
	if m.cfg.Refresh == 0 {
		return rows
	}
	var due []int
	for p := m.start; p < m.settled; p++ {
		if c := &m.cells[p]; m.stale(p) || c.Status == Visible && c.refreshed != m.version {
			due = append(due, p)
		}
	}
	slices.SortStableFunc(due, func(a, b int) int { return m.cells[a].refreshStep - m.cells[b].refreshStep })
	due = due[:min(len(due), m.cfg.Refresh)]
	slices.Sort(due)
	for _, p := range due {
		c := &m.cells[p]
		c.refreshed, c.refreshStep, c.input = m.version, m.step, c.Token
		if m.cfg.Shifted && c.Status == Visible {
			rows = m.sparseRow(rows, p-1, true)
		}
		rows = m.sparseRow(rows, p, !m.cfg.Shifted && (c.Status == Visible || !m.cfg.SkipLogits))
	}
	return rows
}

// stale reports whether a row of the prefix was computed with another token.
func (m *Machine) stale(p int) bool { return m.cells[p].input != m.cells[p].Token }

// sparseRow appends a row, or requests logits of it if it is the last already.
func (m *Machine) sparseRow(rows []Row, p int, logits bool) []Row {
	if n := len(rows); n > 0 && rows[n-1].Position == p {
		rows[n-1].Logits = rows[n-1].Logits || logits
		return rows
	}
	sees := m.settled
	if m.cfg.CausalPrompt && p < m.start {
		sees = p + 1
	}
	return append(rows, Row{Position: p, Token: m.cells[p].Token, Sees: sees, Logits: logits})
}
