package pair

import (
	"slices"

	"tandem"
	"tandem/profiler"
)

// A branch is another way in which the answer may continue: with another token in place of one of this side's drafts that has
// no target yet, or with what this side would draft after such a token. A side that drafts ahead learns of a rejection only
// half a round trip later. If the other side already has this side's distributions on the branch by then, it continues along
// the branch. It need not wait until the rejection has travelled to this side and the next draft has travelled back.
type branch struct {
	tandem.Branch
	step   tandem.Step // whose distribution follows the branch
	prefix tandem.Prefix
	chance float64
	known  bool // its distribution is already known: only what continues it is of use
}

// maxBack is the most of the answer's last tokens that a pass recomputes. A decoder whose weights need the logits of
// these tokens accepts only a few.
const maxBack = 12

// branches are candidates for the hedges of a pass, each after the one that it continues.
type branches []branch

// first returns the candidates up to the n-th whose distribution is not known.
func (b branches) first(n int) []branch {
	end := 0
	for i := 0; n > 0; i++ {
		if !b[i].known {
			n, end = n-1, i+1
		}
	}
	return b[:end]
}

// furthestBack returns how many of the answer's last tokens a pass must compute so that branches can continue from them: at
// least the last one.
func furthestBack(branches []branch) int {
	back := 1
	for _, b := range branches {
		back = max(back, b.Back)
	}
	return back
}

// branches returns the likeliest branches that fit a pass with this many rows, and the hedges to offer to the profiler. A
// branch whose distribution is known is no hedge of its own; its rows count for the hedge after it. The tokens of the answer
// from the first branch on take rows too.
func (m *Machine) branches(rows int) (out branches, offers []profiler.Hedge) {
	least := m.ahead.MinChance(rows)
	if m.state != together || m.ahead.MaxRunnerUp() < least {
		return nil, nil
	}
	open := m.forks(least)
	back, waiting := 1, 0
	for len(open) > 0 {
		var b branch
		b, open = takeLikeliest(open)
		more := 1 + max(0, b.Back-back)
		if b.Back > maxBack || back+len(out)+more > rows {
			continue // one that begins later may still fit
		}
		k, known := m.ahead.dists[b.prefix]
		b.known = known && k.step == b.step
		back, waiting, out = max(back, b.Back), waiting+more, append(out, b)
		if !b.known {
			offers, waiting = append(offers, profiler.Hedge{Chance: b.chance, Rows: waiting}), 0
			continue
		}
		if m.inReach(b.step + 1) {
			from := branch{Branch: tandem.Branch{After: len(out)}, step: b.step, prefix: b.prefix, chance: b.chance}
			open = m.appendForks(open, from, m.drawOf(b.step, k.dist), 0, least)
		}
	}
	return out, offers
}

// forks returns the branches that begin at the runners-up of this side's drafts and whose probability is at least minChance.
func (m *Machine) forks(minChance float64) (open []branch) {
	chance := 1.0
	for i := range m.own.Len() {
		d, _ := m.own.At(i)
		if i == m.own.Len()-1 {
			chance = 1 // its runners-up take one row each now; later they take more
		}
		if chance < minChance || !m.inReach(d.Step+1) {
			continue
		}
		r := m.drawOf(d.Step, d.Dist)
		from := branch{Branch: tandem.Branch{Back: m.own.Len() - i}, step: d.Step, prefix: d.Prefix, chance: chance}
		open = m.appendForks(open, from, r, 1, minChance)
		chance *= m.ahead.RankChance(0, r.closeness)
	}
	return open
}

// takeLikeliest returns the likeliest branch, the first of several, and the others.
func takeLikeliest(open []branch) (best branch, others []branch) {
	at := 0
	for i := range open {
		if open[i].chance > open[at].chance {
			at = i
		}
	}
	best = open[at]
	return best, slices.Delete(open, at, at+1)
}

// inReach reports whether a step is within the lookahead and the answer's length.
func (m *Machine) inReach(step tandem.Step) bool {
	return (m.cfg.MaxTokens <= 0 || int(step) < m.cfg.MaxTokens) && step <= m.front()+tandem.Step(m.cfg.Lookahead)
}

// appendForks adds to open the branches that continue from with the tokens of r, this side's draw at its step. It takes the tokens
// from the given rank in the draw on, and only branches whose probability is at least minChance.
func (m *Machine) appendForks(open []branch, from branch, r draw, rank int, minChance float64) []branch {
	for i, t := range r.tokens {
		b := from
		b.Token, b.step, b.prefix, b.chance = t, from.step+1, from.prefix.Then(t), from.chance*m.ahead.RankChance(i, r.closeness)
		if i >= rank && b.chance >= minChance && !slices.Contains(m.cfg.Stop, t) {
			open = append(open, b)
		}
	}
	return open
}
