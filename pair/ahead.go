package pair

import (
	"cmp"
	"slices"
	"time"

	"tandem"
	"tandem/profiler"
	"tandem/queue"
)

// ahead holds what a machine knows beyond the next draft. It affects when a draft is ready, never which token it holds,
// because a distribution depends only on the tokens before it.
type ahead struct {
	profiler.PassPlanner
	dists    map[tandem.Prefix]distribution // this side's distributions
	purposes [tandem.MaxLookahead]purpose   // of this side's drafts from the front on, by step
}

// distribution is a distribution of this side that no draft has used yet.
type distribution struct {
	step    tandem.Step
	dist    tandem.Dist
	h       tandem.Fixed
	took    time.Duration // of a pass for it
	purpose purpose
}

// purpose says why a pass decoded a place: for the next draft or for one of package profiler's three kinds of additional places.
type purpose uint8

const (
	forNext  purpose = iota // for the next draft
	forHedge                // on a branch behind a runner-up of this side's races
	forCheck                // after drafts of the other side
	forGuess                // after tokens that the decoder guessed
)

// maxKnown is the largest number of distributions kept.
const maxKnown = 1024

func (a *ahead) learn(p tandem.Prefix, k distribution) {
	if a.dists == nil || len(a.dists) >= maxKnown {
		a.dists = map[tandem.Prefix]distribution{}
	}
	a.dists[p] = k
}

// forget drops the distributions for steps before the front.
func (a *ahead) forget(front tandem.Step) {
	for p, k := range a.dists {
		if k.step < front {
			delete(a.dists, p)
		}
	}
}

// covers reports whether a decode under way will yield the distribution for a step after prefix.
func (d *decode) covers(step tandem.Step, prefix tandem.Prefix) bool {
	return d.ID != 0 && (d.step == step && d.prefix == prefix ||
		slices.ContainsFunc(d.branches, func(b branch) bool { return b.step == step && b.prefix == prefix }))
}

// draw is how a draft was drawn: the first tokens, the draft first, and how close they came to being it.
type draw struct {
	tokens    []tandem.Token
	closeness profiler.Closeness
}

// drawOf returns this side's draw for a step from d.
func (m *Machine) drawOf(step tandem.Step, d tandem.Dist) (r draw) {
	for i, x := range m.rule.Runners(m.cfg.Self, step, d, profiler.Ranks) {
		r.tokens, r.closeness[i] = append(r.tokens, x.Token), x.Close
	}
	return r
}

// chooseExtra chooses the additional places of a Decode for a step after prefix: hedges, on the branches that it returns;
// checks, after the other side's drafts for this step and the following ones; and guesses after those.
func (m *Machine) chooseExtra(d *Decode, step tandem.Step, prefix tandem.Prefix) (hedged []branch) {
	if m.cfg.PassPlaces < 2 {
		return nil
	}
	room := m.cfg.Lookahead - m.own.Len() - 1
	if m.cfg.MaxTokens > 0 {
		room = min(room, m.cfg.MaxTokens-int(step)-1)
	}
	drafts := m.peerDrafts(step, prefix)
	most := max(m.cfg.PassPlaces, m.cfg.PassRows)
	left := most
	if m.cfg.PassRows > m.cfg.PassPlaces { // guesses may need up to half of the rows, the more the more often they are right
		left -= int(float64(most) * m.ahead.GuessRate() / 2)
	}
	branches, offers := m.branches(left)
	hedges, checks, guesses := m.ahead.Choose(profiler.Offer{Places: most, Hedges: offers, Drafts: len(drafts), Room: room})
	hedged = branches.first(hedges)
	for _, b := range hedged {
		d.Branches = append(d.Branches, b.Branch)
	}
	d.Drafts = drafts[:checks]
	if m.cfg.PassRows > m.cfg.PassPlaces { // the decoder chooses, by what each guess is worth
		guesses = m.cfg.PassRows - furthestBack(hedged) - len(d.Branches) - checks
		if m.cfg.MaxTokens > 0 {
			guesses = min(guesses, m.cfg.MaxTokens-int(step)-1-checks)
		}
		d.Costs, d.Chance = m.ahead.Costs(m.cfg.PassRows), m.ahead.DraftsRight(checks)
		if d.Costs == nil {
			guesses = 0
		}
	}
	d.Guess = max(0, guesses)
	return hedged
}

// peerDrafts returns the tokens that the other side has drafted from a step on, after prefix, up to the end of the answer.
func (m *Machine) peerDrafts(step tandem.Step, prefix tandem.Prefix) (tokens []tandem.Token) {
	for i := int(step - m.front()); ; i++ {
		d, ok := m.peer.At(i)
		if !ok || d.Prefix != prefix || !m.inVocab(d.Token) || slices.Contains(m.cfg.Stop, d.Token) {
			return tokens
		}
		tokens, prefix = append(tokens, d.Token), prefix.Then(d.Token)
	}
}

// storeExtra stores the additional distributions of a pass. Hedges are sent at once, so that the other side has them when it
// needs them.
func (m *Machine) storeExtra(run decode, e Decoded) {
	store := func(step tandem.Step, p tandem.Prefix, f tandem.Continuation, k purpose) bool {
		if f.Dist.Check(m.cfg.Vocab) != nil {
			return false
		}
		m.ahead.learn(p, distribution{step: step, dist: f.Dist, h: f.H, purpose: k})
		return true
	}
	for i, f := range e.Branches[:min(len(e.Branches), len(run.branches))] {
		b := run.branches[i]
		if f.Token != b.Token || f.After != b.After {
			break
		}
		if b.known || b.step < m.front() || !store(b.step, b.prefix, f, forHedge) {
			continue
		}
		if m.state == together && m.hears(m.cfg.Self.Other()) {
			m.do(SendDraft{tandem.Draft{Epoch: m.epoch, Step: b.step, Version: tandem.AnyVersion, Prefix: b.prefix,
				Token: m.rule.Draft(m.cfg.Self, b.step, f.Dist), Dist: f.Dist, H: f.H}})
		}
	}
	guessed, right := m.storeTree(run, e, store)
	if run.Guess > 0 && (guessed || len(run.Append) == 1) {
		m.ahead.ObserveGuess(right) // a guess that was asked for but not made counts as wrong
	}
	if len(e.Costs) > 0 {
		m.ahead.SetCosts(e.Costs)
	} else if fed := cmp.Or(e.Fed, len(run.Append)); e.Fed > 0 || fed == 1 {
		m.ahead.ObservePass(fed+len(e.Branches)+len(e.Guessed)+e.Forecasts, e.Took)
	}
}

// storeTree stores what a pass decoded after drafts and guesses, each after the one that it continues. It reports whether
// the decoder guessed, and whether a first guess was this side's draft.
func (m *Machine) storeTree(run decode, e Decoded, store func(tandem.Step, tandem.Prefix, tandem.Continuation, purpose) bool) (guessed, right bool) {
	type place struct {
		step   tandem.Step
		prefix tandem.Prefix
		dist   tandem.Dist
		good   bool
	}
	at := []place{{run.step, run.prefix, e.Dist, true}}
	for i, f := range e.Guessed[:min(len(e.Guessed), len(run.Drafts)+run.Guess)] {
		if f.After < 0 || f.After > i {
			break
		}
		k, before := forCheck, at[f.After]
		if i >= len(run.Drafts) {
			k = forGuess
		}
		if k == forGuess && f.After == len(run.Drafts) && before.good {
			guessed = true
			right = right || f.Token == m.rule.Draft(m.cfg.Self, before.step, before.dist)
		}
		here := place{before.step + 1, before.prefix.Then(f.Token), f.Dist, false}
		here.good = before.good && store(here.step, here.prefix, f, k)
		at = append(at, here)
	}
	return guessed, right
}

// peerHedge keeps a hedge of the other side.
func (m *Machine) peerHedge(d tandem.Draft) {
	switch {
	case m.state != together || d.Epoch != m.epoch || d.Step < m.front():
	case uint64(d.Step) > uint64(m.front())+uint64(2*m.cfg.Lookahead):
		m.drop(d.Step)
	default:
		m.hedges.Put(d)
	}
}

// useHedge makes a hedge of the other side its draft for the front step, if it sent one after the agreed tokens. It reports
// whether there was one.
func (m *Machine) useHedge() bool {
	d, ok := m.hedges.Get(m.front(), m.prefix)
	if !ok {
		return false
	}
	d.Version = m.peer.Version()
	if m.peer.Push(d) != queue.Queued {
		return false
	}
	m.stats.Hedges++
	return true
}

// observeTarget reports to the profiler a target's rank in this side's draw, and whether it was the other side's draft.
func (m *Machine) observeTarget(own tandem.Draft, t tandem.Target) {
	if m.cfg.PassPlaces < 2 {
		return
	}
	m.ahead.ObserveCheck(t.By.Has(m.cfg.Self.Other()))
	r := m.drawOf(own.Step, own.Dist)
	m.ahead.ObserveTarget(slices.Index(r.tokens, t.Token), r.closeness)
}
