package pair

import (
	"math"
	"slices"

	"tandem"
	"tandem/aggregator"
	"tandem/profiler"
	"tandem/queue"
	"tandem/scheduler"
)

// state is how a side is working with the other.
type state uint8

const (
	idle     state = iota // before Start
	waiting               // drafting, before it is decided whether together or alone
	together              // in an epoch with the other side
	alone                 // the device without the cloud: its drafts are targets
	stopped               // the cloud without the device, or waiting for the sync that it asked for
	done
)

// maxStrikes is how often the pair may diverge at one step before the device continues without the cloud.
const maxStrikes = 3

// firstEpoch is an epoch that the cloud begins by itself, from the empty answer, so that its first drafts need not wait
// for the device's PeerSync. It is the device's first epoch too, unless the device has begun alone.
const firstEpoch = 1

// Machine is one side of a pair. It is not safe for concurrent use.
type Machine struct {
	cfg   Config
	rule  aggregator.Rule
	stats Stats
	state state
	ready bool // the device: PeerReady came before Start
	epoch uint32

	answer []tandem.Token // agreed so far
	prefix tandem.Prefix  // of answer

	own, peer *queue.Drafts  // both start at step len(answer)
	targets   *queue.Targets // from the side that aggregates
	early     *queue.Early   // drafts of an epoch that has not begun here: on the device, the cloud's of the first one

	kv      []tandem.Token // tokens that are certain to be in the decoder's KV cache
	running decode         // the Decode in progress, if its ID is not 0
	lastID  uint64

	estimates estimates
	greedy    greedy

	ahead  ahead
	hedges *queue.Hedges // of the other side

	strikes    int // divergences at strikeStep
	strikeStep tandem.Step

	revivable bool // done, but a PeerSync starts it again
	out       []Action
}

// decode is a Decode action in progress.
type decode struct {
	Decode
	step     tandem.Step
	prefix   tandem.Prefix
	branches []branch // of Pass.Branches
}

// New returns a machine that waits for Start (or, in the cloud, PeerSync).
func New(cfg Config) *Machine {
	if cfg.Lookahead <= 0 {
		cfg.Lookahead = DefaultLookahead
	}
	cfg.Lookahead = min(cfg.Lookahead, tandem.MaxLookahead)
	cfg.PassPlaces = min(cfg.PassPlaces, tandem.MaxPassPlaces)
	if cfg.PassRows = min(cfg.PassRows, tandem.MaxRows); cfg.PassPlaces < 2 {
		cfg.PassRows = 0
	}
	if cfg.Switch == nil {
		cfg.Switch = scheduler.Policy{}
	}
	if cfg.Vocab <= 0 {
		cfg.Vocab = math.MaxInt32
	}
	if placements[cfg.Placement].lockstep {
		cfg.Lookahead, cfg.PassPlaces, cfg.PassRows = 1, 1, 0
	}
	// The other side's targets reach at most as far as our drafts, and its drafts reach one lookahead further.
	window := 2 * cfg.Lookahead
	return &Machine{
		cfg:       cfg,
		rule:      cfg.Rule(),
		prefix:    tandem.NoPrefix,
		own:       queue.NewDrafts(window),
		peer:      queue.NewDrafts(window),
		targets:   queue.NewTargets(window),
		early:     queue.NewEarly(window),
		hedges:    queue.NewHedges(window * tandem.MaxPassPlaces),
		ahead:     ahead{PassPlanner: cfg.Past},
		estimates: estimates{accept: [2]profiler.Average{prior, prior}},
	}
}

// Stats returns the counts so far.
func (m *Machine) Stats() Stats {
	s := m.stats
	s.Steps, s.Epoch = len(m.answer), m.epoch
	return s
}

// Answer returns the tokens agreed so far.
func (m *Machine) Answer() []tandem.Token { return slices.Clone(m.answer) }

// Learned returns what a later answer may begin with (Config.Past).
func (m *Machine) Learned() profiler.PassPlanner { return m.ahead.PassPlanner }

// Step tells the machine what happened, several events if they happened together, and returns what to do about it, in order. A
// Decode comes after the last event, so that its pass has all that is known.
func (m *Machine) Step(events ...Event) []Action {
	m.out = nil
	for _, e := range events {
		if m.state != done || m.revives(e) {
			m.handle(e)
			for m.advance(); m.draftKnown(); m.advance() { // a draft may bring a target, and a target room for a draft
			}
		}
	}
	m.plan()
	return m.out
}

// handle handles an event.
func (m *Machine) handle(e Event) {
	switch e := e.(type) {
	case Start:
		m.start(e)
	case Decoded:
		m.decoded(e)
	case PeerDraft:
		m.peerDraft(e.Draft)
	case PeerTarget:
		m.peerTarget(e.Target)
	case PeerSync:
		m.peerSync(e)
	case PeerNeedSync:
		if m.device() && m.state == together {
			m.diverged()
		}
	case PeerHandover:
		m.peerHandover(e.Handover)
	case Measured:
		m.estimates.rtt = max(e.RTT, 0)
	case PeerReady:
		m.peerReady(e)
	case PeerLost:
		m.peerLost()
	case Cancel:
		m.finish(ReasonCancelled)
	}
}

// revives reports whether a finished machine still handles e. The device may have missed what ended the answer in the
// cloud, and then continues from where it is.
func (m *Machine) revives(e Event) bool {
	switch e.(type) {
	case PeerSync, PeerDraft:
		return m.revivable
	}
	return false
}

func (m *Machine) device() bool { return m.cfg.Self == tandem.Device }

func (m *Machine) do(a Action) { m.out = append(m.out, a) }

func (m *Machine) note(k NoteKind, side tandem.Side, step tandem.Step) {
	m.do(Note{Kind: k, Side: side, Step: step})
}

// front is the first step without a target.
func (m *Machine) front() tandem.Step { return tandem.Step(len(m.answer)) }

func (m *Machine) start(e Start) {
	if m.state != idle {
		return
	}
	m.state = waiting
	switch {
	case !m.device():
		m.epoch = firstEpoch
		m.begin()
	case m.ready:
		m.join()
	case e.Alone:
		m.goAlone(NoteAlone)
	}
}

func (m *Machine) peerReady(e PeerReady) {
	if e.MaxTokens > 0 && (m.cfg.MaxTokens <= 0 || e.MaxTokens < m.cfg.MaxTokens) {
		m.cfg.MaxTokens = max(e.MaxTokens, len(m.answer)+1)
	}
	switch {
	case !m.device():
	case m.state == idle:
		m.ready = true
	default:
		m.join()
	}
}

func (m *Machine) peerLost() {
	m.ready = false
	switch {
	case m.state == idle || m.state == alone || m.state == stopped:
	case m.device():
		m.goAlone(NoteAlone)
	default:
		m.state = stopped
		m.note(NoteStopped, tandem.Cloud, m.front())
	}
}

func (m *Machine) goAlone(why NoteKind) {
	m.state = alone
	m.note(why, tandem.Device, m.front())
}

// join begins an epoch on the device and tells the cloud the answer so far.
func (m *Machine) join() {
	if m.epoch == 0 && len(m.answer) > 0 {
		m.epoch = firstEpoch // the cloud has begun it from the empty answer
	}
	m.epoch++
	m.do(SendSync{Epoch: m.epoch, Tokens: slices.Clone(m.answer), Lead: m.rule.Lead})
	m.begin()
}

// peerSync begins an epoch in the cloud.
func (m *Machine) peerSync(e PeerSync) {
	if m.device() || !m.fits(e) {
		m.drop(tandem.Step(len(e.Tokens)))
		return
	}
	if e.Epoch <= m.epoch {
		return // a duplicate
	}
	m.epoch = e.Epoch
	m.answer, m.rule.Lead = slices.Clone(e.Tokens), e.Lead
	m.prefix = tandem.PrefixOf(m.answer)
	m.begin()
}

// fits reports whether an unfinished answer can begin with the tokens of e.
func (m *Machine) fits(e PeerSync) bool {
	if m.cfg.MaxTokens > 0 && len(e.Tokens) >= m.cfg.MaxTokens {
		return false
	}
	for _, t := range e.Tokens {
		if !m.inVocab(t) || slices.Contains(m.cfg.Stop, t) {
			return false
		}
	}
	return true
}

// inVocab reports whether t is in the vocabulary.
func (m *Machine) inVocab(t tandem.Token) bool { return t >= 0 && int(t) < m.cfg.Vocab }

// begin starts the epoch m.epoch after m.answer. This side's drafts that still fit are sent again.
func (m *Machine) begin() {
	m.state = together
	m.peer.Reset(m.front())
	m.targets.Reset(m.front())
	m.hedges.Advance(math.MaxUint32)
	m.greedy.begin()
	m.stats.Wasted += m.own.Resume(m.epoch, m.front(), m.prefix)
	m.note(NoteJoined, m.cfg.Self, m.front())
	for i := range m.own.Len() {
		d, _ := m.own.At(i)
		m.send(d)
	}
	for _, d := range m.early.Take(m.epoch) {
		m.peerDraft(d)
	}
}

// send sends a draft of this side to the other side, if that side needs it.
func (m *Machine) send(d tandem.Draft) {
	if m.state == together && m.hears(m.cfg.Self.Other()) {
		m.do(SendDraft{d})
	}
}

// diverged handles a contradiction with the other side: the pair begins a new epoch from the last agreed step. If that
// does not help, the device continues without the cloud.
func (m *Machine) diverged() {
	m.stats.Divergences++
	m.note(NoteDiverged, m.cfg.Self.Other(), m.front())
	if !m.device() {
		m.state = stopped
		m.do(SendNeedSync{})
		return
	}
	if m.strikeStep != m.front() {
		m.strikes, m.strikeStep = 0, m.front()
	}
	if m.strikes++; m.strikes > maxStrikes {
		m.goAlone(NoteDistrust)
		return
	}
	m.join()
}

// drop reports a message that no honest peer would send.
func (m *Machine) drop(step tandem.Step) {
	m.stats.Dropped++
	m.note(NoteDropped, m.cfg.Self.Other(), step)
}

func (m *Machine) peerDraft(d tandem.Draft) {
	early := d.Epoch > m.epoch
	switch {
	case d.Epoch < m.epoch:
	case !m.hears(m.cfg.Self), early && m.device() && d.Epoch != firstEpoch, d.Dist.Check(m.cfg.Vocab) != nil:
		m.drop(d.Step)
	case d.Version == tandem.AnyVersion && m.cfg.PassPlaces > 1:
		m.peerHedge(d)
	case early:
		if m.early.Put(d) == queue.Full {
			m.drop(d.Step)
		}
	case m.state == together:
		switch m.peer.Push(d) {
		case queue.Queued:
			m.estimates.decoded(d, m.cfg.Self.Other())
		case queue.Far:
			m.drop(d.Step)
		}
	}
}

func (m *Machine) peerTarget(t tandem.Target) {
	switch {
	case t.Epoch < m.epoch:
	case t.Epoch > m.epoch, !m.inVocab(t.Token), m.aggregates(m.cfg.Self) && t.Step >= m.front():
		m.drop(t.Step) // a target needs drafts of both sides in its epoch, so no honest one comes early
	case m.state == together:
		if m.targets.Push(t) == queue.Far {
			m.drop(t.Step)
		}
	}
}

// advance settles every step that can be settled (DRAGON §4.2, steps 1 to 5).
func (m *Machine) advance() {
	for {
		ok := false
		m.takeOver()
		switch {
		case m.state == alone:
			ok = m.decideAlone()
		case m.state == together && m.aggregates(m.cfg.Self):
			ok = m.aggregate()
		case m.state == together:
			ok = m.follow()
		}
		if !ok {
			return
		}
	}
}

// decideAlone makes the device's own draft the target.
func (m *Machine) decideAlone() bool {
	d, ok := m.own.Front()
	if ok {
		m.stats.Alone++
		m.settle(m.target(d.Token, tandem.ByNeither.With(m.cfg.Self)))
	}
	return ok
}

func (m *Machine) target(t tandem.Token, by tandem.By) tandem.Target {
	return tandem.Target{Epoch: m.epoch, Step: m.front(), Prefix: m.prefix, Token: t, By: by}
}

// aggregate turns the two drafts of the front step into its target, once it has both.
func (m *Machine) aggregate() bool {
	own, ok := m.own.Front()
	if !ok {
		return false
	}
	peer, ok := m.peer.Front()
	if !ok && m.useHedge() {
		peer, ok = m.peer.Front()
	}
	if !ok {
		return false
	}
	// The other side runs the same code, so its token must be the one that its distribution determines.
	if peer.Version != m.peer.Version() || peer.Prefix != m.prefix ||
		peer.Token != m.rule.Draft(m.cfg.Self.Other(), peer.Step, peer.Dist) {
		m.diverged()
		return true
	}
	drafts := [2]tandem.Draft{own, peer}
	if !m.device() {
		drafts = [2]tandem.Draft{peer, own}
	}
	m.rule.Gamma = m.gamma(m.cfg.Self)
	token := m.rule.Target(own.Step, localOf(drafts[tandem.Device]), localOf(drafts[tandem.Cloud]))
	by := tandem.ByNeither
	for s, d := range drafts {
		if d.Token == token {
			by = by.With(tandem.Side(s))
		}
	}
	t := m.target(token, by)
	if !m.aggregates(m.cfg.Self.Other()) {
		m.do(SendTarget{t})
	}
	m.countTarget(by)
	m.observeTarget(own, t)
	m.settle(t)
	m.schedule(drafts, by)
	return true
}

func localOf(d tandem.Draft) aggregator.Local { return aggregator.Local{Dist: d.Dist, H: d.H} }

// follow takes the next target of the side that aggregates.
func (m *Machine) follow() bool {
	t, ok := m.targets.Front()
	if !ok {
		return false
	}
	own, ok := m.own.Front()
	if !ok && m.cfg.PassPlaces > 1 {
		// It used a hedge of ours as our draft. The hedge's distribution is known here or being decoded.
		m.draftKnown()
		if own, ok = m.own.Front(); !ok {
			return false
		}
	}
	if !ok || t.Prefix != m.prefix || t.By > tandem.ByBoth || t.By.Has(m.cfg.Self) != (own.Token == t.Token) {
		m.diverged()
		return true
	}
	m.countTarget(t.By)
	m.observeTarget(own, t)
	m.settle(t)
	return true
}

// countTarget counts the target of the front step by whose draft it is.
func (m *Machine) countTarget(by tandem.By) {
	m.stats.Together++
	for s := tandem.Device; s <= tandem.Cloud; s++ {
		if by.Has(s) {
			m.stats.Accepted[s]++
		} else {
			m.stats.Rejected[s]++
			m.note(NoteRejected, s, m.front())
		}
	}
}

// settle ends the front step with target t: an accepted draft leaves its queue, a rejected one clears it, and the answer
// grows.
func (m *Machine) settle(t tandem.Target) {
	m.countPurpose()
	own, _ := m.own.Front()
	m.rule.Lead = m.rule.LeadAfter(t.By) // alone, the device
	if t.By.Has(m.cfg.Self) {
		m.own.Accept()
	} else {
		m.stats.Wasted += m.own.Reject() - 1
	}
	if t.By.Has(m.cfg.Self.Other()) {
		m.peer.Accept()
	} else {
		m.peer.Reject()
	}
	m.targets.Pop()
	if slices.Contains(m.cfg.Stop, t.Token) {
		m.finish(ReasonStop)
		return
	}
	m.do(Emit{Target: t, Alone: m.state == alone, Own: own.Dist.Weight(t.Token)})
	m.answer = append(m.answer, t.Token)
	m.prefix = m.prefix.Then(t.Token)
	m.ahead.forget(m.front())
	m.hedges.Advance(m.front())
	if m.cfg.MaxTokens > 0 && len(m.answer) >= m.cfg.MaxTokens {
		m.finish(ReasonLength)
	}
}

func (m *Machine) finish(r Reason) {
	m.state = done
	m.revivable = !m.device() && (r == ReasonStop || r == ReasonLength)
	m.do(Finish{Reason: r})
}
