package pair

import (
	"math"

	"tandem"
	"tandem/profiler"
	"tandem/scheduler"
)

// greedy is what only the placement greedy needs to know.
type greedy struct {
	aggregator tandem.Side      // who aggregates
	pending    *tandem.Handover // to this side, while targets before its step are still on their way
}

// begin starts an epoch: the device aggregates first.
func (g *greedy) begin() { *g = greedy{aggregator: tandem.Device} }

// gamma is the γ with which side aggregates.
func (m *Machine) gamma(side tandem.Side) uint32 {
	if m.cfg.Gamma != tandem.AutoGamma {
		return m.cfg.Gamma
	}
	best := scheduler.Gamma(side, m.estimates.now())
	return m.rule.ChooseGamma(best, m.aggregates(tandem.Device) && m.aggregates(tandem.Cloud))
}

// schedule decides after a target which side aggregates next (DRAGON §5.1), and hands over if it is the other side.
// drafts are those of the step, by says whose the target was.
func (m *Machine) schedule(drafts [2]tandem.Draft, by tandem.By) {
	if !m.placement().moves || m.state != together {
		return
	}
	for s := tandem.Device; s <= tandem.Cloud; s++ {
		// The acceptance of s matters while the other side aggregates, with the γ that it takes then.
		rule := m.rule
		rule.Gamma = m.gamma(s.Other())
		a := rule.Acceptance(localOf(drafts[tandem.Device]), localOf(drafts[tandem.Cloud]))
		m.estimates.accept[s].Observe(a[s], averageWindow)
	}
	moment := scheduler.Moment{Step: m.front(), By: by}
	_, moment.Ready[m.cfg.Self] = m.own.Front()
	_, moment.Ready[m.cfg.Self.Other()] = m.peer.Front()
	to := m.cfg.Switch.Aggregator(m.cfg.Self, m.estimates.now(), moment)
	if to == m.cfg.Self {
		return
	}
	m.greedy.aggregator = to
	m.stats.Handovers++
	m.do(SendHandover{tandem.Handover{
		Epoch: m.epoch, Step: m.front(), Prefix: m.prefix, Versions: m.versions(),
		Accept: [2]float64{m.estimates.accept[0].Value, m.estimates.accept[1].Value},
	}})
	m.note(NoteHandover, to, m.front())
}

// versions returns the versions of both sides' drafts.
func (m *Machine) versions() (v [2]uint32) {
	v[m.cfg.Self], v[m.cfg.Self.Other()] = m.own.Version(), m.peer.Version()
	return v
}

// peerHandover keeps h until the targets before its step are here.
func (m *Machine) peerHandover(h tandem.Handover) {
	switch {
	case h.Epoch < m.epoch:
	case !m.placement().moves, h.Epoch > m.epoch, !probable(h.Accept):
		m.drop(h.Step) // an honest side hands over only after a draft of this side in the epoch
	case m.state != together, h.Step < m.front(), m.greedy.aggregator == m.cfg.Self && h.Step == m.front():
		// a copy
	case m.greedy.aggregator == m.cfg.Self, uint64(h.Step) > uint64(m.front())+uint64(m.own.Len()):
		m.drop(h.Step)
	case m.greedy.pending == nil:
		m.greedy.pending = &h
	}
}

func probable(p [2]float64) bool {
	return p[0] >= 0 && p[0] <= 1 && p[1] >= 0 && p[1] <= 1 && !math.IsNaN(p[0]+p[1])
}

// takeOver begins to aggregate once every target before the hand-over is here.
func (m *Machine) takeOver() {
	h := m.greedy.pending
	if h == nil || m.state != together || h.Step != m.front() {
		return
	}
	m.greedy.pending = nil
	if h.Prefix != m.prefix || h.Versions != m.versions() {
		m.diverged()
		return
	}
	m.greedy.aggregator = m.cfg.Self
	m.stats.Takeovers++
	for s := range h.Accept {
		m.estimates.accept[s] = profiler.Average{Value: h.Accept[s], Count: averageWindow}
	}
	m.note(NoteHandover, m.cfg.Self, m.front())
}
