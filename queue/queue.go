// Package queue holds the drafts and targets that a side cannot use yet (DRAGON §3, §4.2): the Draft Queues with their
// versions and rollback, a queue that puts targets in order, and drafts that arrive before their epoch begins. Every queue is
// bounded, so that no peer can make one grow without limit.
//
// The queues decide nothing about tokens. They only recognise what is old, a copy, or too far ahead.
package queue

import "tandem"

// Verdict says what became of an item.
type Verdict uint8

const (
	Queued    Verdict = iota
	Stale             // of a past step or a rejected version
	Duplicate         // already here
	Far               // beyond the window: no honest peer can be there
	Full              // no room is left
)

func (v Verdict) String() string {
	return [...]string{"queued", "stale", "duplicate", "far", "full"}[v]
}

// ring keeps one item per step of the window [base, base+len(items)).
type ring[T any] struct {
	base  tandem.Step
	items []T
	full  []bool
	n     int // how many are full
}

func newRing[T any](window int) ring[T] {
	return ring[T]{items: make([]T, window), full: make([]bool, window)}
}

func (r *ring[T]) slot(s tandem.Step) int { return int(s % tandem.Step(len(r.items))) }

// place says whether s lies before, in or after the window.
func (r *ring[T]) place(s tandem.Step) Verdict {
	switch {
	case s < r.base:
		return Stale
	case uint64(s) >= uint64(r.base)+uint64(len(r.items)):
		return Far
	}
	return Queued
}

func (r *ring[T]) get(s tandem.Step) (T, bool) {
	if i := r.slot(s); r.place(s) == Queued && r.full[i] {
		return r.items[i], true
	}
	var zero T
	return zero, false
}

func (r *ring[T]) put(s tandem.Step, x T) {
	i := r.slot(s)
	if !r.full[i] {
		r.full[i] = true
		r.n++
	}
	r.items[i] = x
}

func (r *ring[T]) remove(s tandem.Step) {
	if i := r.slot(s); r.full[i] {
		var zero T
		r.items[i], r.full[i] = zero, false
		r.n--
	}
}

// advance drops the base step, if present, and moves on to the next.
func (r *ring[T]) advance() {
	r.remove(r.base)
	r.base++
}

func (r *ring[T]) reset(base tandem.Step) {
	clear(r.items)
	clear(r.full)
	r.base, r.n = base, 0
}

// Drafts is the Draft Queue of one side: its drafts for the steps from the front on. The front is the first step without
// a target. A draft's version is how many of its side's drafts had been rejected in the epoch when it was made. When a
// draft is rejected, all later ones of the same version are void.
type Drafts struct {
	ring[tandem.Draft]
	version uint32
}

// NewDrafts returns a queue for at most window steps.
func NewDrafts(window int) *Drafts { return &Drafts{ring: newRing[tandem.Draft](window)} }

// Push adds d, which may come out of order. Of two drafts for a step the one of the later version stays: an honest side
// drafts a step again only after a rejection.
func (q *Drafts) Push(d tandem.Draft) Verdict {
	if v := q.place(d.Step); v != Queued {
		return v
	}
	if d.Version < q.version {
		return Stale
	}
	// Each rejection that is not known here yet has used up a step of the window.
	if uint64(d.Version) > uint64(q.version)+uint64(len(q.items)) {
		return Far
	}
	if old, ok := q.get(d.Step); ok && d.Version <= old.Version {
		if d.Version < old.Version {
			return Stale
		}
		return Duplicate
	}
	q.put(d.Step, d)
	return Queued
}

// Front returns the draft for the front step. Its version is not below Version; above it, the side counts
// rejections that did not happen here.
func (q *Drafts) Front() (tandem.Draft, bool) { return q.get(q.base) }

// At returns the draft for the i-th step from the front.
func (q *Drafts) At(i int) (tandem.Draft, bool) { return q.get(q.base + tandem.Step(i)) }

// Last returns the draft of the latest step when the queue has no gaps.
func (q *Drafts) Last() (tandem.Draft, bool) {
	if q.n == 0 {
		return tandem.Draft{}, false
	}
	return q.At(q.n - 1)
}

// Len returns the number of drafts.
func (q *Drafts) Len() int { return q.n }

// Version returns how many of the side's drafts were rejected in this epoch.
func (q *Drafts) Version() uint32 { return q.version }

// Accept takes the front draft as the target and moves on to the next step.
func (q *Drafts) Accept() { q.advance() }

// Reject moves on to the next step and drops every draft made before the rejection. It returns how many
// were dropped, the rejected one included.
func (q *Drafts) Reject() int {
	before := q.n
	q.advance()
	q.version++
	for i := range len(q.items) {
		s := q.base + tandem.Step(i)
		if d, ok := q.get(s); ok && d.Version < q.version {
			q.remove(s)
		}
	}
	return before - q.n
}

// Reset empties the queue for a new epoch, whose first step is base.
func (q *Drafts) Reset(base tandem.Step) {
	q.reset(base)
	q.version = 0
}

// Resume begins a new epoch at base, like Reset, but keeps the drafts that continue the answer with prefix
// p: a distribution depends on nothing but the tokens before it. It returns how many were dropped.
func (q *Drafts) Resume(epoch uint32, base tandem.Step, p tandem.Prefix) int {
	before := q.n
	var kept []tandem.Draft
	for s := base; ; s++ {
		d, ok := q.get(s)
		if !ok || d.Prefix != p {
			break
		}
		d.Epoch, d.Version = epoch, 0
		kept = append(kept, d)
		p = p.Then(d.Token)
	}
	q.Reset(base)
	for _, d := range kept {
		q.put(d.Step, d)
	}
	return before - q.n
}

// Targets puts targets in order of their steps.
type Targets struct{ ring[tandem.Target] }

// NewTargets returns a queue for at most window steps.
func NewTargets(window int) *Targets { return &Targets{newRing[tandem.Target](window)} }

// Push adds t, which may come out of order. The first of two targets for a step stays.
func (q *Targets) Push(t tandem.Target) Verdict {
	if v := q.place(t.Step); v != Queued {
		return v
	}
	if _, ok := q.get(t.Step); ok {
		return Duplicate
	}
	q.put(t.Step, t)
	return Queued
}

// Front returns the target for the front step.
func (q *Targets) Front() (tandem.Target, bool) { return q.get(q.base) }

// Pop moves on to the next step.
func (q *Targets) Pop() { q.advance() }

// Len returns the number of targets.
func (q *Targets) Len() int { return q.n }

// Reset empties the queue; the next target is for base.
func (q *Targets) Reset(base tandem.Step) { q.reset(base) }

// Early holds drafts of an epoch that has not begun on this side: those that the cloud sends before the device has joined,
// and those that overtake the message that begins the epoch, where the order is not kept. Only the latest epoch seen is kept.
type Early struct {
	limit int
	epoch uint32
	items []tandem.Draft
}

// NewEarly returns a holder of at most limit drafts.
func NewEarly(limit int) *Early { return &Early{limit: limit} }

// Put keeps d for its epoch. It is Stale if a later epoch has been seen and Full if there is no room.
func (e *Early) Put(d tandem.Draft) Verdict {
	epoch := d.Epoch
	if epoch < e.epoch {
		return Stale
	}
	if epoch > e.epoch {
		e.epoch, e.items = epoch, nil
	}
	if len(e.items) >= e.limit {
		return Full
	}
	e.items = append(e.items, d)
	return Queued
}

// Take returns and forgets what was kept for an epoch that begins now, in order of arrival. What was kept
// for an earlier one is forgotten too.
func (e *Early) Take(epoch uint32) []tandem.Draft {
	if epoch < e.epoch {
		return nil
	}
	var items []tandem.Draft
	if epoch == e.epoch {
		items = e.items
	}
	e.epoch, e.items = epoch, nil
	return items
}
