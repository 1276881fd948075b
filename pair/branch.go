package pair

import (
	"slices"

	"tandem"
	"tandem/profiler"
)

// A branch is another way in which the answer may continue: a token instead of a draft of this side that has no target yet, or what
// this side would draft after such a token. A side that runs ahead learns of a rejection only a trip later. If the other side has
// this side's distributions on the branch by then, it goes on along it, and does not wait for the news and the next draft to cross.
type branch struct {
	tandem.Branch
	step   tandem.Step // whose distribution follows the branch
	prefix tandem.Prefix
	chance float64
	known  bool // its distribution is there already: it is only continued
}

// maxBack is how many of the answer's last tokens a pass computes again at most: decoders whose weights need their logits take few.
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

// farthest returns how many of the answer's last tokens a pass computes for branches to continue them: at least the last one.
func farthest(branches []branch) int {
	back := 1
	for _, b := range branches {
		back = max(back, b.Back)
	}
	return back
}

// branches returns the likeliest branches that fit a pass with this many rows, and what they offer to the profiler: those whose
// distribution is known count with the ones behind them. The tokens of the answer from the first branch on are rows too.
func (m *Machine) branches(rows int) (out branches, offers []profiler.Hedge) {
	least := m.ahead.MinChance(rows)
	if m.state != together || m.ahead.MaxRunnerUp() < least {
		return nil, nil
	}
	open, chance := []branch(nil), 1.0
	for i := range m.own.Len() {
		d, _ := m.own.At(i)
		if i == m.own.Len()-1 {
			chance = 1 // what its runners-up take now, a row, is never as little again
		}
		if chance < least || !m.within(d.Step+1) {
			continue
		}
		r := m.drawn(d.Step, d.Dist)
		open = m.fork(open, branch{Branch: tandem.Branch{Back: m.own.Len() - i}, step: d.Step, prefix: d.Prefix, chance: chance}, r, 1, least)
		chance *= m.ahead.RankChance(0, r.close)
	}
	back, waiting := 1, 0
	for len(open) > 0 {
		best := 0
		for i := range open {
			if open[i].chance > open[best].chance {
				best = i
			}
		}
		b := open[best]
		open = slices.Delete(open, best, best+1)
		more := 1 + max(0, b.Back-back)
		if b.Back > maxBack || back+len(out)+more > rows {
			continue // one that begins later may still fit
		}
		k, known := m.ahead.known[b.prefix]
		b.known = known && k.step == b.step
		back, waiting, out = max(back, b.Back), waiting+more, append(out, b)
		if b.known {
			if m.within(b.step + 1) {
				open = m.fork(open, branch{Branch: tandem.Branch{After: len(out)}, step: b.step, prefix: b.prefix, chance: b.chance}, m.drawn(b.step, k.dist), 0, least)
			}
			continue
		}
		offers, waiting = append(offers, profiler.Hedge{Chance: b.chance, Rows: waiting}), 0
	}
	return out, offers
}

// within reports whether a step may be decoded already.
func (m *Machine) within(step tandem.Step) bool {
	return (m.cfg.MaxTokens <= 0 || int(step) < m.cfg.MaxTokens) && step <= m.front()+tandem.Step(m.cfg.Lookahead)
}

// fork adds to open the branches that begin after those of from, with this side's draw at its step: from the given place in it on, as likely as
// least.
func (m *Machine) fork(open []branch, from branch, r draw, place int, least float64) []branch {
	for i, t := range r.tokens {
		b := from
		b.Token, b.step, b.prefix, b.chance = t, from.step+1, from.prefix.Then(t), from.chance*m.ahead.RankChance(i, r.close)
		if i >= place && b.chance >= least && !slices.Contains(m.cfg.Stop, t) {
			open = append(open, b)
		}
	}
	return open
}
