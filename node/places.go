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

// places are the answers that a cloud drafts for at once. One device holds at most all but one of them, so that others
// get their turn however many questions it keeps open. While somebody waits, a place that is not used well is given away
// (lease.ends); while nobody does, a device may take its time.
//
// An answer also needs memory for keys and values. If there is not enough for the question that is next, all behind it wait with
// it, so that one that needs much waits no longer than others.
type places struct {
	number int
	share  int
	memory *budget

	mu      sync.Mutex
	free    int
	own     map[transport.ID]chan struct{} // taken by each device; at most as many as are paired
	leases  map[*lease]struct{}
	tickets map[uint64]*ticket // of those that wait
	last    uint64             // ticket
	held    time.Duration      // how long a place is held, a mean in which the latest count most; 0 if nobody has left yet
}

// A ticket is a question that waits for a place. Those of a higher priority go first, and of the same priority those that came
// first; but who has waited for patienceOf counts as one priority higher, so that nobody waits for ever.
type ticket struct {
	number   uint64
	device   transport.ID
	priority Priority
	bytes    int64 // of memory
	since    time.Time
	turn     chan struct{} // closed when it has one of all places; nil while it waits for one of its device's
}

// before reports whether t gets a place before u.
func (t *ticket) before(u *ticket, now time.Time) bool {
	a, b := t.rank(now), u.rank(now)
	return a > b || a == b && t.number < u.number
}

func (t *ticket) rank(now time.Time) int { return int(t.priority) + int(now.Sub(t.since)/patienceOf) }

// Priority says whose questions go first where a cloud has not enough places for all.
type Priority int8

// The priorities.
const (
	Low Priority = iota - 1
	Normal
	High
)

// share is a device's share of a batch: four times that of the next lower priority.
func (p Priority) share() int { return batch.EqualShare << (2 * (p + 1)) >> 2 }

// patienceOf is the waiting that makes up for a priority.
const patienceOf = 20 * time.Second

// Bounds on a place that another waits for.
const (
	noProgress = time.Minute      // without an agreed token
	longest    = 10 * time.Minute // in all
	lookEvery  = 250 * time.Millisecond
	// maxWaiting bounds the questions of one device that wait for a place.
	maxWaiting = 32
)

var (
	errGone    = later{errors.New("the device is gone, and another waits for its place")}
	errStuck   = later{fmt.Errorf("no token was agreed for %v, and another waits for the place", noProgress)}
	errTooLong = later{fmt.Errorf("the answer took more than %v, and another waits for the place", longest)}
)

// visitor is a device's connection: a *transport.Conn, or a toy in tests.
type visitor interface {
	Peer() transport.ID
	Silent(now time.Time) bool
}

// lease is a place in use.
type lease struct {
	device visitor
	ctx    context.Context // ends when the place is given away
	end    context.CancelCauseFunc
	since  time.Time
	moved  atomic.Int64 // when the last token was agreed, in nanoseconds after since; -1 if no tokens are expected
}

// progress notes that a token was agreed. It may be called on a nil lease.
func (l *lease) progress() {
	if l != nil {
		l.moved.Store(int64(time.Since(l.since)))
	}
}

// ends returns why the place may be given to another, or nil.
func (l *lease) ends(now time.Time) error {
	held, moved := now.Sub(l.since), time.Duration(l.moved.Load())
	switch {
	case l.device.Silent(now):
		return errGone
	case moved >= 0 && held-moved >= noProgress:
		return errStuck
	case held >= longest:
		return errTooLong
	}
	return nil
}

func newPlaces(n int, memory *budget) *places {
	return &places{
		memory: memory, number: n, free: n, share: max(1, n-1), own: map[transport.ID]chan struct{}{},
		leases: map[*lease]struct{}{}, tickets: map[uint64]*ticket{},
	}
}

// of returns the places of one device.
func (p *places) of(device transport.ID) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own[device] == nil {
		p.own[device] = make(chan struct{}, p.share)
	}
	return p.own[device]
}

// enter waits for a place with some bytes of memory. It fails if the device goes away or the context within ends first. Once it
// has the place, its lease ends with ctx. Before the cloud is ready, a device sends nothing but a sign that it is still there, or
// the end of its answer. Meanwhile it is told how many wait before it.
func (p *places) enter(ctx, within context.Context, device visitor, priority Priority, bytes int64, link exchange) (l *lease, leave func(), err error) {
	ticket, err := p.queue(device.Peer(), priority, bytes)
	if err != nil {
		return nil, nil, err
	}
	waiting, stop := context.WithCancel(within)
	defer stop()
	left := make(chan error, 1)
	go func() {
		defer stop()
		left <- ended(waiting, link)
	}()
	own := p.of(device.Peer())
	var shared atomic.Bool // it waits for one of all places, no longer for one of its device's
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		p.look(waiting, device.Peer(), &shared, ticket, link)
	}()
	entered := acquire(waiting, own)
	shared.Store(true)
	if entered && !p.take(waiting, ticket) {
		<-own
		entered = false
	}
	stop()
	<-looked
	p.unqueue(ticket)
	err = <-left
	gone := device.Silent(time.Now())
	free := func() { p.giveBack(bytes); <-own }
	switch {
	case entered && !gone && errors.Is(err, context.Canceled):
		l = p.lease(ctx, device)
		return l, func() { p.release(l); free() }, nil
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
func (p *places) queue(device transport.ID, priority Priority, bytes int64) (*ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, other := range p.tickets {
		if other.device == device {
			n++
		}
	}
	if n >= maxWaiting {
		return nil, later{fmt.Errorf("%d questions of this device are already waiting, the maximum", n)}
	}
	p.last++
	t := &ticket{number: p.last, device: device, priority: priority, bytes: bytes, since: time.Now()}
	p.tickets[t.number] = t
	return t, nil
}

// unqueue takes a ticket back. Others may have waited only because it was before them.
func (p *places) unqueue(t *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tickets, t.number)
	p.call(time.Now())
}

// take takes one of all places when it is the ticket's turn. It reports whether that was before ctx ended.
func (p *places) take(ctx context.Context, t *ticket) bool {
	p.mu.Lock()
	t.turn = make(chan struct{})
	p.call(time.Now())
	p.mu.Unlock()
	select {
	case <-t.turn:
		return true
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-t.turn: // in the meantime
		return true
	default:
		t.turn = nil
		return false
	}
}

// giveBack frees a place and its memory.
func (p *places) giveBack(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	p.memory.taken.Add(-bytes)
	p.call(time.Now())
}

// call gives the free places and the free memory to those whose turn it is. The caller holds mu.
func (p *places) call(now time.Time) {
	for p.free > 0 {
		var next *ticket
		for _, t := range p.tickets {
			if t.turn != nil && (next == nil || t.before(next, now)) {
				next = t
			}
		}
		if next == nil || !p.memory.fits(next.bytes) {
			return
		}
		p.free--
		p.memory.taken.Add(next.bytes)
		delete(p.tickets, next.number)
		close(next.turn)
	}
}

// before counts the questions that get a place before t. Those of another device that wait for one of its own do not compete.
func (p *places) before(t *ticket) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, other := range p.tickets {
		if other != t && (other.turn != nil || other.device == t.device) && other.before(t, now) {
			n++
		}
	}
	return n
}

// expected estimates how long a question waits for a place, with that number of others before it: every place becomes free
// once in the time that it is usually held. Nobody knows before the first has left.
func (p *places) expected(before int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held * time.Duration(before+1) / time.Duration(p.number)
}

// look tells a device that waits how many wait before it, and gives away what holds it up: places of its own, then of all.
func (p *places) look(ctx context.Context, device transport.ID, shared *atomic.Bool, ticket *ticket, link exchange) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if q, ok := link.(interface {
				Waits(before int, about time.Duration)
			}); ok {
				before := p.before(ticket)
				q.Waits(before, p.expected(before))
			}
			p.giveAway(now, func(l *lease) bool { return shared.Load() || l.device.Peer() == device })
		}
	}
}

// giveAway ends the leases that are not used well, of those that may be.
func (p *places) giveAway(now time.Time, may func(*lease) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.leases {
		if why := l.ends(now); why != nil && may(l) {
			delete(p.leases, l)
			l.end(why)
		}
	}
}

func (p *places) lease(ctx context.Context, device visitor) *lease {
	l := &lease{device: device, since: time.Now()}
	l.ctx, l.end = context.WithCancelCause(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leases[l] = struct{}{}
	return l
}

func (p *places) release(l *lease) {
	l.end(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.leases, l)
	if held := time.Since(l.since); p.held == 0 {
		p.held = held
	} else {
		p.held += (held - p.held) / 4
	}
}

// acquire takes one of a device's places and reports whether it got one before ctx ended.
func acquire(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
