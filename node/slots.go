package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tandem/node/batch"
	"tandem/transport"
)

// slots are the answers that a cloud drafts for at once. Messages to people call a slot a place. One device holds at most all but
// one of them, so that others get their turn however many questions it keeps open. While somebody waits, a slot that is not used
// well is given away (lease.endReason); while nobody does, a device may take its time.
//
// An answer also needs memory for keys and values. If there is not enough for the question that is next, all behind it wait with
// it, so that one that needs much waits no longer than others.
type slots struct {
	total     int
	perDevice int
	memory    *budget

	mu       sync.Mutex
	free     int
	claims   map[transport.ID]int // tickets of a device that compete for a slot or hold one: at most perDevice
	waiting  map[*ticket]struct{}
	issued   uint64 // tickets
	leases   map[*lease]struct{}
	meanHold time.Duration // how long a slot is held, a mean in which the latest count most; 0 if nobody has left yet
}

func newSlots(n int, memory *budget) *slots {
	return &slots{
		memory: memory, total: n, free: n, perDevice: max(1, n-1),
		claims: map[transport.ID]int{}, waiting: map[*ticket]struct{}{}, leases: map[*lease]struct{}{},
	}
}

// A ticket is a question's right to a slot. Those of a higher priority go first, and of the same priority those that came
// first; but who has waited for waitPerPriority counts as one priority higher, so that nobody waits for ever.
type ticket struct {
	number   uint64
	device   transport.ID
	priority Priority
	bytes    int64 // of memory
	since    time.Time
	competes bool          // for a slot; before that, it waits until its device claims fewer
	turn     chan struct{} // closed when it has a slot
}

// before reports whether t gets a slot before u.
func (t *ticket) before(u *ticket, now time.Time) bool {
	a, b := t.rank(now), u.rank(now)
	return a > b || a == b && t.number < u.number
}

func (t *ticket) rank(now time.Time) int {
	return int(t.priority) + int(now.Sub(t.since)/waitPerPriority)
}

// called reports whether t has a slot.
func (t *ticket) called() bool {
	select {
	case <-t.turn:
		return true
	default:
		return false
	}
}

// Priority says whose questions go first where a cloud has not enough slots for all.
type Priority int8

// The priorities.
const (
	Low Priority = iota - 1
	Normal
	High
)

// share is a device's share of a batch: four times that of the next lower priority.
func (p Priority) share() int { return batch.EqualShare << (2 * (p + 1)) >> 2 }

const (
	waitPerPriority = 20 * time.Second       // the waiting that makes up for a priority
	watchEvery      = 250 * time.Millisecond // how often the slots that others wait for are looked at
	maxWaiting      = 32                     // questions of one device that wait for a slot
	refusedAtOnce   = 8                      // more questions that a device may ask at the same time and be told so
)

// Exchanges returns how many exchanges a device needs on its connection to a cloud that drafts for limit answers at
// once (0: the default of CloudConfig.Limit): for those of its questions that have a place, those that wait, and some
// that are being refused. With fewer, a question would wait where the cloud does not see it, and the device would take
// the cloud to be gone.
func Exchanges(limit int) int {
	if limit < 1 {
		limit = defaultLimit
	}
	return limit + maxWaiting + refusedAtOnce
}

// enter waits for a slot with some bytes of memory, which the caller must release. It fails if the device goes away or ends its
// answer, or if the context within ends first. The lease ends with ctx. Before the cloud is ready, a device sends nothing but a
// sign that it is still there, or the end of its answer.
func (s *slots) enter(ctx, within context.Context, device deviceConn, priority Priority, bytes int64, exchange exchange) (*lease, error) {
	t, err := s.queue(device.Peer(), priority, bytes)
	if err != nil {
		return nil, err
	}
	waiting, stop := context.WithCancel(within)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- awaitEnd(waiting, exchange)
	}()
	s.await(waiting, t, exchange)
	stop()
	err = <-ended // from here on, the exchange is the caller's
	switch {
	case device.Silent(time.Now()):
		err = errGone
	case err == nil:
		err = errors.New("the device ended its answer")
	case t.called() && errors.Is(err, context.Canceled):
		return s.lease(ctx, device, t), nil
	}
	s.leave(t)
	return nil, err
}

// await waits until t has a slot or ctx ends. Meanwhile it tells the device how many wait before it, and gives away what holds it
// up.
func (s *slots) await(ctx context.Context, t *ticket, exchange exchange) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.turn:
			return
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if n, ok := exchange.(notifier); ok {
				before := s.before(t)
				n.SendBusy(before, s.expected(before))
			}
			s.giveAway(t, now)
		}
	}
}

// queue returns a new ticket, which may have a slot already.
func (s *slots) queue(device transport.ID, priority Priority, bytes int64) (*ticket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for other := range s.waiting {
		if other.device == device {
			n++
		}
	}
	if n >= maxWaiting && device != (ownQuestion{}).Peer() { // who asks the cloud alone has bounds of its own
		return nil, retryError{fmt.Errorf("%d questions of this device are already waiting, the maximum", n)}
	}
	s.issued++
	t := &ticket{number: s.issued, device: device, priority: priority, bytes: bytes, since: time.Now(), turn: make(chan struct{})}
	s.waiting[t] = struct{}{}
	s.compete(device)
	s.callNext(t.since)
	return t, nil
}

// leave takes a ticket back, with its slot if it has one.
func (s *slots) leave(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if t.called() {
		s.free++
		s.memory.taken.Add(-t.bytes)
	}
	delete(s.waiting, t)
	s.callNext(now) // the others first: the device's next question does not compete yet
	if t.competes {
		s.claims[t.device]--
		s.compete(t.device)
		s.callNext(now)
	}
}

// compete lets as many of a device's tickets compete as it may claim, the first ones first. The caller holds mu.
func (s *slots) compete(device transport.ID) {
	for s.claims[device] < s.perDevice {
		var next *ticket
		for t := range s.waiting {
			if t.device == device && !t.competes && (next == nil || t.number < next.number) {
				next = t
			}
		}
		if next == nil {
			break
		}
		next.competes = true
		s.claims[device]++
	}
	if s.claims[device] == 0 {
		delete(s.claims, device)
	}
}

// callNext gives the free slots and the free memory to those whose turn it is. The caller holds mu.
func (s *slots) callNext(now time.Time) {
	for s.free > 0 {
		var next *ticket
		for t := range s.waiting {
			if t.competes && (next == nil || t.before(next, now)) {
				next = t
			}
		}
		if next == nil || !s.memory.fits(next.bytes) {
			return
		}
		s.free--
		s.memory.taken.Add(next.bytes)
		delete(s.waiting, next)
		close(next.turn)
	}
}

// before counts the questions that get a slot before t. Those of another device that do not compete yet do not count.
func (s *slots) before(t *ticket) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for other := range s.waiting {
		if other != t && (other.competes || other.device == t.device) && other.before(t, now) {
			n++
		}
	}
	return n
}

// expected estimates how long a question waits for a slot, with that number of others before it: every slot becomes free
// once in the time that it is usually held. Nobody knows before the first has left.
func (s *slots) expected(before int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meanHold * time.Duration(before+1) / time.Duration(s.total)
}

// giveAway ends the leases that are not used well and that hold t up: those of its device, and of all once it competes.
func (s *slots) giveAway(t *ticket, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.leases {
		if !t.competes && l.device.Peer() != t.device {
			continue
		}
		if why := l.endReason(now); why != nil {
			delete(s.leases, l)
			l.end(why)
		}
	}
}

// lease returns the slot of a ticket that has one.
func (s *slots) lease(ctx context.Context, device deviceConn, t *ticket) *lease {
	l := newLease(ctx, device, t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases[l] = struct{}{}
	return l
}

// release gives back the slot of a lease.
func (s *slots) release(l *lease) {
	l.end(nil)
	held := time.Since(l.since)
	s.mu.Lock()
	delete(s.leases, l)
	if s.meanHold == 0 {
		s.meanHold = held
	} else {
		s.meanHold += (held - s.meanHold) / 4
	}
	s.mu.Unlock()
	s.leave(l.ticket)
}
