package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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
	byDevice map[transport.ID]chan struct{} // taken by each device; at most as many as are paired
	leases   map[*lease]struct{}
	tickets  map[uint64]*ticket // of those that wait
	last     uint64             // ticket
	meanHold time.Duration      // how long a slot is held, a mean in which the latest count most; 0 if nobody has left yet
}

// A ticket is a question that waits for a slot. Those of a higher priority go first, and of the same priority those that came
// first; but who has waited for waitPerPriority counts as one priority higher, so that nobody waits for ever.
type ticket struct {
	number   uint64
	device   transport.ID
	priority Priority
	bytes    int64 // of memory
	since    time.Time
	turn     chan struct{} // closed when it has one of all slots; nil while it waits for one of its device's
}

// before reports whether t gets a slot before u.
func (t *ticket) before(u *ticket, now time.Time) bool {
	a, b := t.rank(now), u.rank(now)
	return a > b || a == b && t.number < u.number
}

func (t *ticket) rank(now time.Time) int {
	return int(t.priority) + int(now.Sub(t.since)/waitPerPriority)
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

// waitPerPriority is the waiting that makes up for a priority.
const waitPerPriority = 20 * time.Second

// Bounds on a slot that another waits for.
const (
	maxStall   = time.Minute      // without an agreed token
	maxHold    = 10 * time.Minute // in all
	watchEvery = 250 * time.Millisecond
	// maxWaiting bounds the questions of one device that wait for a slot.
	maxWaiting = 32
	// refusedAtOnce is how many more a device may ask at the same time and be told so.
	refusedAtOnce = 8
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

var (
	errGone    = retryError{errors.New("the device is gone, and another waits for its place")}
	errStuck   = retryError{fmt.Errorf("no token was agreed for %v, and another waits for the place", maxStall)}
	errTooLong = retryError{fmt.Errorf("the answer took more than %v, and another waits for the place", maxHold)}
)

// connection is what slots need of a device's connection: a *transport.Conn, or a toy in tests.
type connection interface {
	Peer() transport.ID
	Silent(now time.Time) bool
}

// lease is a slot in use.
type lease struct {
	device     connection
	ctx        context.Context // ends when the slot is given away
	end        context.CancelCauseFunc
	since      time.Time
	progressed atomic.Int64 // when the last token was agreed, in nanoseconds after since; -1 if no tokens are expected
}

// progress notes that a token was agreed. It may be called on a nil lease.
func (l *lease) progress() {
	if l != nil {
		l.progressed.Store(int64(time.Since(l.since)))
	}
}

// endReason returns why the slot may be given to another, or nil.
func (l *lease) endReason(now time.Time) error {
	held, moved := now.Sub(l.since), time.Duration(l.progressed.Load())
	switch {
	case l.device.Silent(now):
		return errGone
	case moved >= 0 && held-moved >= maxStall:
		return errStuck
	case held >= maxHold:
		return errTooLong
	}
	return nil
}

func newSlots(n int, memory *budget) *slots {
	return &slots{
		memory: memory, total: n, free: n, perDevice: max(1, n-1), byDevice: map[transport.ID]chan struct{}{},
		leases: map[*lease]struct{}{}, tickets: map[uint64]*ticket{},
	}
}

// forDevice returns the slots of one device.
func (s *slots) forDevice(device transport.ID) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byDevice[device] == nil {
		s.byDevice[device] = make(chan struct{}, s.perDevice)
	}
	return s.byDevice[device]
}

// enter waits for a slot with some bytes of memory. It fails if the device goes away or the context within ends first. Once it
// has the slot, its lease ends with ctx. Before the cloud is ready, a device sends nothing but a sign that it is still there, or
// the end of its answer. Meanwhile it is told how many wait before it.
func (s *slots) enter(ctx, within context.Context, device connection, priority Priority, bytes int64, link exchange) (l *lease, leave func(), err error) {
	ticket, err := s.queue(device.Peer(), priority, bytes)
	if err != nil {
		return nil, nil, err
	}
	waiting, stop := context.WithCancel(within)
	defer stop()
	left := make(chan error, 1)
	go func() {
		defer stop()
		left <- awaitEnd(waiting, link)
	}()
	own := s.forDevice(device.Peer())
	var shared atomic.Bool // it waits for one of all slots, no longer for one of its device's
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		s.watch(waiting, device.Peer(), &shared, ticket, link)
	}()
	entered := acquire(waiting, own)
	shared.Store(true)
	if entered && !s.take(waiting, ticket) {
		<-own
		entered = false
	}
	stop()
	<-looked
	s.unqueue(ticket)
	err = <-left
	gone := device.Silent(time.Now())
	free := func() { s.giveBack(bytes); <-own }
	switch {
	case entered && !gone && errors.Is(err, context.Canceled):
		l = s.lease(ctx, device)
		return l, func() { s.release(l); free() }, nil
	case entered:
		free()
	}
	switch {
	case gone:
		err = errGone
	case err == nil:
		err = errors.New("the device ended its answer")
	}
	return nil, nil, err
}

// queue returns a ticket, which says who waits before whom.
func (s *slots) queue(device transport.ID, priority Priority, bytes int64) (*ticket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, other := range s.tickets {
		if other.device == device {
			n++
		}
	}
	if n >= maxWaiting && device != (ownQuestion{}).Peer() { // who asks the cloud alone has bounds of its own
		return nil, retryError{fmt.Errorf("%d questions of this device are already waiting, the maximum", n)}
	}
	s.last++
	t := &ticket{number: s.last, device: device, priority: priority, bytes: bytes, since: time.Now()}
	s.tickets[t.number] = t
	return t, nil
}

// unqueue takes a ticket back. Others may have waited only because it was before them.
func (s *slots) unqueue(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tickets, t.number)
	s.callNext(time.Now())
}

// take takes one of all slots when it is the ticket's turn. It reports whether that was before ctx ended.
func (s *slots) take(ctx context.Context, t *ticket) bool {
	s.mu.Lock()
	t.turn = make(chan struct{})
	s.callNext(time.Now())
	s.mu.Unlock()
	select {
	case <-t.turn:
		return true
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-t.turn: // in the meantime
		return true
	default:
		t.turn = nil
		return false
	}
}

// giveBack frees a slot and its memory.
func (s *slots) giveBack(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.memory.taken.Add(-bytes)
	s.callNext(time.Now())
}

// callNext gives the free slots and the free memory to those whose turn it is. The caller holds mu.
func (s *slots) callNext(now time.Time) {
	for s.free > 0 {
		var next *ticket
		for _, t := range s.tickets {
			if t.turn != nil && (next == nil || t.before(next, now)) {
				next = t
			}
		}
		if next == nil || !s.memory.fits(next.bytes) {
			return
		}
		s.free--
		s.memory.taken.Add(next.bytes)
		delete(s.tickets, next.number)
		close(next.turn)
	}
}

// before counts the questions that get a slot before t. Those of another device that wait for one of its own do not compete.
func (s *slots) before(t *ticket) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, other := range s.tickets {
		if other != t && (other.turn != nil || other.device == t.device) && other.before(t, now) {
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

// watch tells a device that waits how many wait before it, and gives away what holds it up: slots of its own, then of all.
func (s *slots) watch(ctx context.Context, device transport.ID, shared *atomic.Bool, ticket *ticket, link exchange) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if link, ok := link.(notifier); ok {
				before := s.before(ticket)
				link.SendBusy(before, s.expected(before))
			}
			s.giveAway(now, func(l *lease) bool { return shared.Load() || l.device.Peer() == device })
		}
	}
}

// giveAway ends the leases that are not used well, of those that may be.
func (s *slots) giveAway(now time.Time, may func(*lease) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.leases {
		if why := l.endReason(now); why != nil && may(l) {
			delete(s.leases, l)
			l.end(why)
		}
	}
}

func (s *slots) lease(ctx context.Context, device connection) *lease {
	l := &lease{device: device, since: time.Now()}
	l.ctx, l.end = context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases[l] = struct{}{}
	return l
}

func (s *slots) release(l *lease) {
	l.end(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leases, l)
	if held := time.Since(l.since); s.meanHold == 0 {
		s.meanHold = held
	} else {
		s.meanHold += (held - s.meanHold) / 4
	}
}

// acquire takes one of a device's slots and reports whether it got one before ctx ended.
func acquire(ctx context.Context, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
