// Package presence decides, for a device, whether the cloud takes part in an answer: when to dial, wait, continue alone and
// take the cloud back. It is pure, so that the live node and the simulator share it: time is an argument, and it returns
// actions. It knows nothing of tokens.
package presence

import (
	"cmp"
	"time"
)

// Machine follows the cloud through one answer:
//
//	away ──dial──▶ dialing ──connected──▶ opening ──ready──▶ present
//	 ▲                │failed                │broken           │ silent, slow or distrusted
//	 └────────────────┴──────────────────────┴──◀──broken──  lost ──heard──▶ present
//
// A mismatch leads to refused from any state, and nothing leads out of refused.
//
// Where the cloud has several replicas, the machine seeks another one while it keeps the one in use, when that has no
// place, is about to end, is silent or does not keep up. It switches to whichever is ready first, and the device
// continues alone only if that takes too long. So a replica that ends, or dies, costs a pause and no token.
type Machine struct {
	patience Patience

	state         state
	alone         bool          // the device continues alone
	waitingSince  time.Duration // since when the device has been waiting for the cloud to join
	retryAt       time.Duration // when to dial, or to trust a slow cloud, again
	backoff       time.Duration
	lastHeard     time.Duration // when anything last came from the cloud
	lastToken     time.Duration // when the pair last agreed on a token
	nextMigration time.Duration // when to try another path if it stays silent
	redialled     bool          // a dead connection was replaced before the cloud had joined
	queued        bool          // the cloud has no place yet
	lastComputed  time.Duration // when the device last computed something itself
	timesSlow     int           // how often the cloud did not keep up

	othersExist      bool          // another replica may have a place
	leaving          bool          // the one in use is about to end
	seeking          bool          // another one is being asked
	otherHasQuestion bool          // it has the question
	seekTime         time.Duration // when that began, or the earliest time to do it again
}

// Patience says how long the device waits for the cloud.
type Patience struct {
	Join   time.Duration // for the cloud to take the question, once the device has read its own documents
	Silent time.Duration // silence after which the device continues alone
	Slow   time.Duration // for a cloud that is alive: to be ready, or for the next token
	Busy   time.Duration // for a cloud that has no place yet; it may join later. 0 for Join
	Pace   time.Duration // for the next token, while the device itself waits; 0 for Slow
}

// busy returns how long the device waits for a cloud that has no place yet.
func (p Patience) busy() time.Duration { return cmp.Or(p.Busy, p.Join) }

// NoPlace returns the event for a cloud that has no place yet and expects to have one after about that time; 0 if it cannot tell.
func (p Patience) NoPlace(about time.Duration) Event {
	if about > p.busy() {
		return Full
	}
	return Busy
}

// DefaultPatience suits a phone in a moving train: short for a person, long for jitter.
var DefaultPatience = Patience{Join: 2 * time.Second, Silent: 3 * time.Second, Slow: 15 * time.Second, Busy: 2 * time.Second, Pace: 5 * time.Second}

// Every is how often a Tick is due.
const Every = 50 * time.Millisecond

const (
	firstBackoff = 250 * time.Millisecond
	lastBackoff  = 5 * time.Second
)

type state uint8

const (
	away state = iota
	dialing
	opening
	present
	lost
	refused // for good: the two sides do not fit
)

// Event is something that happened to the cloud's presence.
type Event uint8

// The events.
const (
	Tick       Event = iota // time passed
	Listening               // the device has read its own documents
	Connected               // the question was sent
	Failed                  // a dial failed
	Ready                   // the cloud holds its documents
	Heard                   // something came from the cloud
	Agreed                  // the pair agreed on a token
	Broken                  // the exchange ended
	Mismatch                // the cloud refused, or cannot be paired with
	Busy                    // the cloud has no place for the question yet
	Full                    // the same, and none that is worth waiting for
	Computing               // the device computes its own part
	Distrusted              // the cloud contradicted itself too often: the pair has gone alone already

	Others      // there are other replicas that may have a place
	NoOthers    // there are none
	Leaving     // the replica in use is about to end
	TurnedAway  // it does not take the question, but another or its successor may
	OtherAsked  // the question was sent to another replica, too
	OtherReady  // the other replica holds its documents
	OtherFailed // it could not be reached, broke off, or has no place either
)

// Action is something to do.
type Action uint8

// The actions.
const (
	Dial    Action = iota // connect to the cloud and send it the question
	Join                  // agree with it from here on
	GoAlone               // continue alone
	Migrate               // try to reach the cloud from another local address
	Seek                  // send the question to another replica, too
	Switch                // use that one instead of the one in use
	Drop                  // give that one up
)

// New returns a machine that has not dialled yet.
func New(p Patience, now time.Duration) *Machine {
	return &Machine{patience: p, waitingSince: now, retryAt: now, backoff: firstBackoff}
}

// Step takes an event that happened at now and returns the actions to carry out, in order.
func (p *Machine) Step(now time.Duration, e Event) []Action {
	if p.state == refused {
		return nil // even if the exchange breaks: a cloud that refuses hangs up
	}
	p.learn(now, e)
	switch e {
	case Failed:
		p.away(now)
		return p.goAlone()
	case Mismatch:
		p.state = refused
		return append(p.drop(now), p.goAlone()...)
	case Broken:
		return p.broken(now)
	case TurnedAway:
		return p.turnedAway(now)
	case OtherReady:
		return p.otherReady(now)
	case Full:
		if p.state == opening && !p.othersExist && !p.seeking {
			return append(p.migrate(now), p.goAlone()...) // it may join later
		}
	case Distrusted:
		if p.state == present { // it is alive but does not answer: leave it out for a while
			p.state, p.retryAt = lost, now+p.patience.Slow
			return p.goAlone()
		}
	case Ready:
		if p.state == opening {
			return append(p.drop(now), p.join(now)...)
		}
	case Heard:
		if p.state == lost && now >= p.retryAt {
			return p.join(now)
		}
	}
	return p.wait(now)
}

// learn takes in what an event says, before Step decides what follows from it.
func (p *Machine) learn(now time.Duration, e Event) {
	switch e {
	case Listening:
		p.waitingSince = now
	case Connected:
		p.state, p.lastHeard, p.nextMigration, p.queued, p.leaving = opening, now, now, false, false
	case Heard:
		p.lastHeard = max(p.lastHeard, now)
	case Busy, Full:
		p.queued, p.lastHeard = true, max(p.lastHeard, now)
	case Leaving:
		p.leaving, p.lastHeard = true, max(p.lastHeard, now)
	case Others, NoOthers:
		p.othersExist = e == Others
	case OtherAsked:
		p.otherHasQuestion = p.seeking
	case OtherFailed:
		p.seeking, p.seekTime = false, now // if there is a third, it has not failed yet
	case Computing:
		p.lastComputed = now
	case Agreed:
		p.lastToken = now
		if !p.alone {
			p.backoff = firstBackoff
		}
	}
}

// turnedAway handles a replica that does not take the question.
func (p *Machine) turnedAway(now time.Duration) []Action {
	before := p.state
	p.away(now)
	if !p.othersExist && !p.seeking {
		return p.goAlone()
	}
	p.redial(now, before)
	return p.wait(now)
}

// broken handles the end of the exchange.
func (p *Machine) broken(now time.Duration) []Action {
	before := p.state
	p.away(now)
	switch {
	case p.othersExist || p.seeking: // one of them may be ready before anybody waits for it
		p.redial(now, before)
	case before != opening || p.redialled:
		return p.goAlone()
	default:
		p.redialled, p.retryAt = true, now // the connection was kept from an earlier answer and is dead
	}
	return p.wait(now)
}

// redial dials another replica at once. The device has not waited for that while the one before it took part.
func (p *Machine) redial(now time.Duration, before state) {
	if p.retryAt = now; before == present {
		p.waitingSince = now
	}
}

// Seeking reports whether another replica is being asked.
func (p *Machine) Seeking() bool { return p.seeking }

// otherReady takes in the replica that was sought and is ready, if it is still wanted.
func (p *Machine) otherReady(now time.Duration) []Action {
	if !p.seeking {
		return nil
	}
	if !p.wantsOther(now) {
		return p.drop(now)
	}
	p.seeking, p.leaving, p.queued = false, false, false
	return append([]Action{Switch}, p.join(now)...)
}

// drop gives the other replica up, if one is being asked.
func (p *Machine) drop(now time.Duration) []Action {
	if !p.seeking {
		return nil
	}
	p.seeking, p.seekTime = false, now+firstBackoff
	return []Action{Drop}
}

// wantsOther reports whether another replica would be better than the one in use.
func (p *Machine) wantsOther(now time.Duration) bool {
	silent := now-p.lastHeard >= p.patience.Silent/2
	switch p.state {
	case away:
		return p.seeking // otherwise the next dial goes to the best that there is
	case lost:
		return true
	case opening:
		return p.queued || p.leaving || silent
	case present:
		return p.leaving || silent && now-p.lastToken >= p.patience.Silent/2
	}
	return false
}

// seek asks another replica where that helps, and gives it up where it takes too long or helps no longer.
func (p *Machine) seek(now time.Duration) []Action {
	wanting := p.wantsOther(now)
	switch {
	case p.seeking && (!wanting || now-p.seekTime >= p.patience.Slow):
		return p.drop(now)
	case !p.seeking && wanting && p.othersExist && now >= p.seekTime:
		p.seeking, p.otherHasQuestion, p.seekTime = true, false, now
		return []Action{Seek}
	}
	return nil
}

// otherMayComeSoon reports whether another replica is being asked that may well be ready soon, so that it is too early to
// continue alone.
func (p *Machine) otherMayComeSoon(now time.Duration) bool {
	patience := p.patience.Join
	if p.otherHasQuestion {
		patience = max(patience, p.patience.Slow)
	}
	return p.seeking && now-p.seekTime < patience
}

// wait does what is due at now.
func (p *Machine) wait(now time.Duration) []Action {
	sought := p.seek(now)
	return append(sought, p.due(now)...)
}

// due is wait for the replica in use.
func (p *Machine) due(now time.Duration) []Action {
	switch p.state {
	case away:
		if now >= p.retryAt && !p.seeking {
			p.state = dialing
			return append(p.overdue(now), Dial)
		}
		return p.overdue(now)
	case dialing:
		return p.overdue(now)
	case opening:
		return append(p.migrate(now), p.overdue(now)...)
	case lost:
		return p.migrate(now)
	case present:
		silent := now-p.lastHeard >= p.patience.Silent && now-p.lastToken >= p.patience.Silent
		if (silent || now-p.lastToken >= p.patience.Slow || p.lags(now)) && !p.otherMayComeSoon(now) {
			p.state, p.retryAt = lost, now
			if !silent { // it is alive but does not keep up: leave it out for a while, and longer each time
				p.retryAt += p.patience.Slow << min(p.timesSlow, 4)
				p.timesSlow++
			}
			return append(p.migrate(now), p.goAlone()...)
		}
		return p.migrate(now)
	}
	return nil
}

// lags reports whether the device has waited too long for the next token, with nothing to compute itself.
func (p *Machine) lags(now time.Duration) bool {
	return p.patience.Pace > 0 && now-max(p.lastToken, p.lastComputed) >= p.patience.Pace
}

// migrate tries another path once the cloud has been silent for half of the time allowed, and again from time to time: the
// network may have changed, or a router may have forgotten the device.
func (p *Machine) migrate(now time.Duration) []Action {
	if now-p.lastHeard < p.patience.Silent/2 || now < p.nextMigration {
		return nil
	}
	p.nextMigration = now + p.patience.Silent
	return []Action{Migrate}
}

// overdue parts from a cloud that did not join in time. A cloud that has the question and is alive gets longer: it may
// have more to read than the device. Before it has joined, half of the silence allowed later will do: beginning alone costs
// nothing that joining late does not make good.
func (p *Machine) overdue(now time.Duration) []Action {
	patience := p.patience.Join
	switch {
	case p.otherMayComeSoon(now):
		return nil
	case p.state != opening || now-p.lastHeard >= p.patience.Silent/2:
	case !p.queued:
		patience = max(patience, p.patience.Slow)
	default:
		patience = p.patience.busy()
	}
	if now-p.waitingSince >= patience {
		return p.goAlone()
	}
	return nil
}

func (p *Machine) join(now time.Duration) []Action {
	p.state, p.alone, p.lastHeard, p.lastToken = present, false, now, now
	return []Action{Join}
}

func (p *Machine) goAlone() []Action {
	if p.alone {
		return nil
	}
	p.alone = true
	return []Action{GoAlone}
}

func (p *Machine) away(now time.Duration) {
	p.state = away
	p.delay(now)
}

func (p *Machine) delay(now time.Duration) {
	p.retryAt = now + p.backoff
	p.backoff = min(2*p.backoff, lastBackoff)
}
