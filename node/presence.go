package node

import "time"

// presence decides, for the device, whether the cloud takes part: when to dial, when to wait, when to go
// on alone and when to take the cloud back. It is pure: time is an argument, and what to do is returned.
//
// The life of the cloud in one answer:
//
//	away ──dial──▶ dialing ──connected──▶ opening ──ready──▶ present
//	 ▲                │failed                │broken           │ silent or slow
//	 └────────────────┴──────────────────────┴──◀──broken──  lost ──heard──▶ present
type presence struct {
	patience Patience

	state   presenceState
	alone   bool          // the device was told to go on alone
	waiting time.Duration // since when the device has been waiting for the cloud to join
	retry   time.Duration // when to dial, or to trust a slow cloud, again
	backoff time.Duration
	heard   time.Duration // when anything last came from the cloud
	advance time.Duration // when the pair last agreed on a token
	move    time.Duration // when to try another path, if it stays silent
	again   bool          // a dead connection was replaced before the cloud had joined
}

// Patience says how long the device waits for the cloud.
type Patience struct {
	Join   time.Duration // for the cloud to take the question, once the device has read its own documents
	Silent time.Duration // without any sign of life, before going on alone
	Slow   time.Duration // for a cloud that lives: to be ready, or to give the next token
}

// DefaultPatience suits a phone in a moving train: short against a reader's patience, long against jitter.
var DefaultPatience = Patience{Join: 5 * time.Second, Silent: 3 * time.Second, Slow: 15 * time.Second}

const (
	firstBackoff = 250 * time.Millisecond
	lastBackoff  = 5 * time.Second
)

type presenceState uint8

const (
	away presenceState = iota
	dialing
	opening
	present
	lost
	refused // for good: the two sides do not fit
)

type presenceEvent uint8

const (
	tick      presenceEvent = iota // time passed
	listening                      // the device has read its own documents
	connected                      // the question was sent
	failed                         // a dial failed
	ready                          // the cloud holds its documents
	heard                          // something came from the cloud
	moved                          // the pair agreed on a token
	broken                         // the exchange ended
	mismatch                       // the cloud refused, or cannot be paired with
)

type presenceAction uint8

const (
	doDial presenceAction = iota // connect to the cloud and send it the question
	doJoin                       // agree with it from here on
	doPart                       // go on alone
	doMove                       // try to reach the cloud from another local address
)

func newPresence(p Patience, now time.Duration) *presence {
	return &presence{patience: p, waiting: now, retry: now, backoff: firstBackoff}
}

// Step takes an event that happened at now and returns what to do about it, in order.
func (p *presence) Step(now time.Duration, e presenceEvent) []presenceAction {
	switch e {
	case listening:
		p.waiting = now
	case connected:
		p.state, p.heard, p.move = opening, now, now
	case failed:
		p.away(now)
		return p.part()
	case mismatch:
		p.state = refused
		return p.part()
	case broken:
		stale := p.state == opening && !p.again
		p.away(now)
		if !stale {
			return p.part()
		}
		p.again, p.retry = true, now // the connection was kept from an earlier answer, and is dead
	case ready:
		if p.state == opening {
			return p.join(now)
		}
	case heard:
		p.heard = max(p.heard, now)
		if p.state == lost && now >= p.retry {
			return p.join(now)
		}
	case moved:
		p.advance = now
		if !p.alone {
			p.backoff = firstBackoff
		}
	}
	return p.wait(now)
}

// wait does what is due at now.
func (p *presence) wait(now time.Duration) []presenceAction {
	switch p.state {
	case away:
		if now >= p.retry {
			p.state = dialing
			return append(p.overdue(now), doDial)
		}
		return p.overdue(now)
	case dialing:
		return p.overdue(now)
	case opening:
		return append(p.escape(now), p.overdue(now)...)
	case lost:
		return p.escape(now)
	case present:
		silent := now-p.heard >= p.patience.Silent && now-p.advance >= p.patience.Silent
		if silent || now-p.advance >= p.patience.Slow {
			p.state, p.retry = lost, now
			if !silent { // it lives but does not keep up: leave it out for a while
				p.retry += p.patience.Slow
			}
			return append(p.escape(now), p.part()...)
		}
		return p.escape(now)
	}
	return nil
}

// escape tries another path once the cloud has been silent for half of what is borne, and from time to time
// while that lasts: the network may have changed, or a router on the way may have forgotten the device.
func (p *presence) escape(now time.Duration) []presenceAction {
	if now-p.heard < p.patience.Silent/2 || now < p.move {
		return nil
	}
	p.move = now + p.patience.Silent
	return []presenceAction{doMove}
}

// overdue parts from a cloud that did not join in time. One that has the question and lives is given
// longer: it may have more to read than the device.
func (p *presence) overdue(now time.Duration) []presenceAction {
	patience := p.patience.Join
	if p.state == opening && now-p.heard < p.patience.Silent {
		patience = max(patience, p.patience.Slow)
	}
	if now-p.waiting >= patience {
		return p.part()
	}
	return nil
}

func (p *presence) join(now time.Duration) []presenceAction {
	p.state, p.alone, p.heard, p.advance = present, false, now, now
	return []presenceAction{doJoin}
}

func (p *presence) part() []presenceAction {
	if p.alone {
		return nil
	}
	p.alone = true
	return []presenceAction{doPart}
}

func (p *presence) away(now time.Duration) {
	p.state = away
	p.delay(now)
}

func (p *presence) delay(now time.Duration) {
	p.retry = now + p.backoff
	p.backoff = min(2*p.backoff, lastBackoff)
}
