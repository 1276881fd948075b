package pair

import (
	"slices"
	"time"

	"tandem"
)

// next returns the step that this side should draft now and the prefix before it. It reports false while the side may not
// draft, is far enough ahead, or has drafted the end of the answer.
func (m *Machine) next() (step tandem.Step, prefix tandem.Prefix, ok bool) {
	if m.state != waiting && m.state != together && m.state != alone || m.own.Len() >= m.cfg.Lookahead {
		return 0, 0, false
	}
	step, prefix = m.front(), m.prefix
	if last, ok := m.own.Last(); ok {
		if slices.Contains(m.cfg.Stop, last.Token) {
			return 0, 0, false
		}
		step, prefix = last.Step+1, last.Prefix.Then(last.Token)
	}
	if m.cfg.MaxTokens > 0 && uint64(step) >= uint64(m.cfg.MaxTokens) {
		return 0, 0, false
	}
	return step, prefix, true
}

// plan keeps the decoder working on the next draft. A Decode in progress for the same tokens continues; one for other
// tokens is superseded (preemption, DRAGON §7.1).
func (m *Machine) plan() {
	step, prefix, ok := m.next()
	if !ok || m.running.covers(step, prefix) {
		return
	}
	if m.running.ID != 0 {
		m.stats.Preempted++
	}
	want := slices.Grow(slices.Clone(m.answer), m.own.Len())
	for i := range m.own.Len() {
		d, _ := m.own.At(i)
		want = append(want, d.Token)
	}
	keep := tandem.CommonPrefix(m.kv, want)
	if keep == len(want) && keep > 0 {
		keep-- // a pass must feed at least one token
	}
	m.lastID++
	d, branches := Decode{ID: m.lastID}, []branch(nil)
	if len(want) > 0 {
		branches = m.chooseExtra(&d, step, prefix)
	}
	if len(branches) > 0 {
		keep = min(keep, len(want)-furthestBack(branches)) // what a branch continues is in the same pass
	}
	d.Keep, d.Append = keep, want[keep:]
	m.kv = m.kv[:keep] // the rest is uncertain until the result comes
	m.running = decode{d, step, prefix, branches}
	m.do(d)
}

// Slack estimates the time until the other side needs the draft of the Decode in progress, which is when its own drafts reach
// that step. The estimate subtracts a round trip: this side hears of those drafts half a round trip late, and its own draft
// takes as long to arrive. It is 0 if nothing is known.
func (m *Machine) Slack() time.Duration {
	lead := m.own.Len() - m.peer.Len()
	if m.state != together || lead <= 0 {
		return 0
	}
	each := m.estimates.decode[m.cfg.Self.Other()].Value * float64(time.Second)
	return max(0, time.Duration(float64(lead)*each)-m.estimates.rtt)
}

// decoded takes the decoder's distributions.
func (m *Machine) decoded(e Decoded) {
	if e.ID == 0 || e.ID != m.running.ID {
		return
	}
	run := m.running
	m.running = decode{}
	m.kv = append(m.kv[:run.Keep], run.Append...)
	m.countPass(run, e)
	// If next returns a step, plan has made sure that this Decode was for it.
	if _, _, ok := m.next(); !ok && m.cfg.PassPlaces < 2 {
		return
	}
	if e.Dist.Check(m.cfg.Vocab) != nil {
		m.finish(ReasonDecoder)
		return
	}
	m.ahead.learn(run.prefix, distribution{step: run.step, dist: e.Dist, h: e.H, took: e.Took})
	m.storeExtra(run, e)
}

// draftKnown makes drafts from the distributions that are already known, and reports whether it made any.
func (m *Machine) draftKnown() (made bool) {
	for {
		step, prefix, ok := m.next()
		if !ok {
			return made
		}
		k, ok := m.ahead.dists[prefix]
		if !ok || k.step != step {
			return made
		}
		made = true
		delete(m.ahead.dists, prefix)
		d := tandem.Draft{
			Epoch:   m.epoch,
			Step:    step,
			Version: m.own.Version(),
			Prefix:  prefix,
			Token:   m.rule.Draft(m.cfg.Self, step, k.dist),
			Dist:    k.dist,
			H:       k.h,
			Decode:  k.took,
		}
		m.own.Push(d)
		m.stats.Drafted++
		m.ahead.purposes[step%tandem.MaxLookahead] = k.purpose
		if k.purpose != forNext {
			m.stats.Ahead++
		}
		m.estimates.decoded(d, m.cfg.Self)
		m.send(d)
	}
}

// countPass counts what a pass decoded.
func (m *Machine) countPass(run decode, e Decoded) {
	hedged, checked := len(e.Branches), min(len(run.Drafts), len(e.Guessed))
	if hedged > 0 {
		hedged += furthestBack(run.branches) - 1
	}
	s, all := &m.stats, 1+hedged+len(e.Guessed)+e.Forecasts
	s.Passes, s.Places, s.Room = s.Passes+1, s.Places+all, s.Room+max(all, m.cfg.PassPlaces, m.cfg.PassRows)
	s.Hedged, s.Checked, s.Guessed = s.Hedged+hedged, s.Checked+checked, s.Guessed+len(e.Guessed)-checked
	s.Forecasts += e.Forecasts
}

// countPurpose counts the front step by why the distribution of its own draft was decoded.
func (m *Machine) countPurpose() {
	switch m.ahead.purposes[m.front()%tandem.MaxLookahead] {
	case forHedge:
		m.stats.OfHedges++
	case forCheck:
		m.stats.OfChecks++
	case forGuess:
		m.stats.OfGuesses++
	}
}
