package memory

import "fmt"

// Event is an input of a Pager.
type Event struct {
	Kind   EventKind
	Object int
}

// EventKind says what happened to the object.
type EventKind uint8

// The events.
const (
	Want   EventKind = iota // the device is at an operator that reads the object
	Done                    // the operator is over
	Loaded                  // a Load of the object has ended
	Failed                  // a Load of the object has failed for good
)

var eventNames = [...]string{"want", "done", "loaded", "failed"}

func (k EventKind) String() string { return eventNames[min(int(k), len(eventNames)-1)] }

// Action is an output of a Pager.
type Action struct {
	Kind   ActionKind
	Object int
	Slot   int // of Load: a staging slot, InPlace or OwnMapping
}

// Where a Load goes if not to a slot.
const (
	InPlace    = -1 // the resident object's place
	OwnMapping = -2 // a mapping to be made for it
)

// ActionKind says what to do with the object.
type ActionKind uint8

// The actions.
const (
	Load  ActionKind = iota // load its bytes; Loaded or Failed follows
	Unmap                   // give its own mapping back
	Go                      // the device may read it, until Done
	Fail                    // it cannot be loaded; the run that needs it ends
)

var actionNames = [...]string{"load", "unmap", "go", "fail"}

func (k ActionKind) String() string { return actionNames[min(int(k), len(actionNames)-1)] }

func (a Action) String() string {
	switch {
	case a.Kind == Load && a.Slot >= 0:
		return fmt.Sprintf("load %d into slot %d", a.Object, a.Slot)
	case a.Kind == Load && a.Slot == OwnMapping:
		return fmt.Sprintf("map and load %d", a.Object)
	}
	return fmt.Sprintf("%v %d", a.Kind, a.Object)
}

// Pager decides when the bytes of objects move. At most one object is requested at a time, and at most one is being loaded.
// A Pager has no clock and does no I/O.
type Pager interface {
	// Step takes an event and appends what to do to actions.
	Step(e Event, actions []Action) []Action
	// Slot returns the slot that holds the object or will receive it, −1 for none.
	Slot(object int) int
}

// stagingSlots is the number of staging slots: while the device reads one, the other is filled.
const stagingSlots = 2

// Staging is the Pager of a Placement. Resident objects are loaded once and stay. Temporary ones are fetched ahead into the
// slots, in their order of use.
type Staging struct {
	ring      []int // temporary objects in the order of use, which repeats
	ringIndex map[int]int
	next      int // index in ring of the object to fetch next
	slots     [stagingSlots]slot
	loading   int // the object that is being loaded, −1 for none
	want      int // the object that the device waits for or reads, −1 for none
	granted   bool

	resident map[int]bool // whether each resident object is loaded
}

type slot struct {
	object int // −1 for none
	ready  bool
	used   bool // read since it was loaded: it may make room
}

// NewStaging returns the Pager of a placement.
func NewStaging(p Placement) *Staging {
	s := &Staging{ring: p.Temporary, ringIndex: map[int]int{}, loading: -1, want: -1, resident: map[int]bool{}}
	for i, o := range s.ring {
		s.ringIndex[o] = i
	}
	for _, o := range p.Resident {
		s.resident[o] = false
	}
	s.clear()
	return s
}

func (s *Staging) clear() {
	for i := range s.slots {
		s.slots[i] = slot{object: -1}
	}
}

// Step implements Pager.
func (s *Staging) Step(e Event, actions []Action) []Action {
	switch e.Kind {
	case Want:
		s.want, s.granted = e.Object, false
	case Done:
		if i := s.Slot(e.Object); i >= 0 {
			s.slots[i].used = true
		}
		s.want, s.granted = -1, false
	case Loaded:
		s.loading = -1
		if i := s.Slot(e.Object); i >= 0 {
			s.slots[i].ready = true
		} else {
			s.resident[e.Object] = true
		}
	case Failed:
		s.loading = -1
		if i := s.Slot(e.Object); i >= 0 {
			s.slots[i] = slot{object: -1}
		}
		if s.want == e.Object && !s.granted {
			s.want = -1
			return append(actions, Action{Fail, e.Object, 0})
		}
		if s.want < 0 || s.granted {
			return actions // it was fetched ahead: it is loaded again when it is requested
		}
	}
	if s.want >= 0 && !s.granted && s.has(s.want) {
		s.granted = true
		actions = append(actions, Action{Go, s.want, 0})
	}
	return s.fetch(actions)
}

// Slot implements Pager.
func (s *Staging) Slot(object int) int {
	for i := range s.slots {
		if s.slots[i].object == object {
			return i
		}
	}
	return -1
}

func (s *Staging) has(object int) bool {
	if there, ok := s.resident[object]; ok {
		return there
	}
	i := s.Slot(object)
	return i >= 0 && s.slots[i].ready
}

// fetch begins the next load if none is going on: of the object that the device waits for, or else of the next one that
// is not there.
func (s *Staging) fetch(actions []Action) []Action {
	if s.loading >= 0 {
		return actions
	}
	object := s.missing()
	if object < 0 {
		return actions
	}
	if _, ok := s.resident[object]; ok {
		s.loading = object
		return append(actions, Action{Load, object, InPlace})
	}
	i := s.room()
	if i < 0 {
		return actions
	}
	s.slots[i] = slot{object: object}
	s.loading, s.next = object, (s.next+1)%len(s.ring)
	return append(actions, Action{Load, object, i})
}

// missing returns the object to fetch, −1 for none, and moves next to it.
func (s *Staging) missing() int {
	if s.want >= 0 && !s.granted && !s.has(s.want) {
		if i, ok := s.ringIndex[s.want]; ok {
			// The device left the order: drop what was fetched ahead, and go on from here.
			s.next = i
			for j := range s.slots {
				s.slots[j].used = s.slots[j].ready
			}
		}
		return s.want
	}
	for range s.ring {
		i := s.Slot(s.ring[s.next])
		if i < 0 {
			return s.ring[s.next]
		}
		if !s.slots[i].used {
			return -1 // it has not been read yet: later ones can wait
		}
		s.slots[i].used = false // it is still there from the last step: keep it
		s.next = (s.next + 1) % len(s.ring)
	}
	return -1
}

// room returns a slot that is empty or has been read, −1 if there is none.
func (s *Staging) room() int {
	for i, sl := range s.slots {
		if sl.object < 0 || sl.used && sl.object != s.want {
			return i
		}
	}
	return -1
}

// LRU is the Pager of plain paging. Every object has its own mapping, which is made when the object is requested, and the
// least recently used ones make room. It is the baseline of llada.cpp's Table 7.
type LRU struct {
	bytes  func(object int) int64
	budget int64
	used   int64
	mapped []int // least recently used first
	want   int
}

// NewLRU returns a Pager for objects of the given sizes.
func NewLRU(bytes func(object int) int64, budget int64) *LRU {
	return &LRU{bytes: bytes, budget: budget, want: -1}
}

// Slot implements Pager.
func (l *LRU) Slot(int) int { return -1 }

// Step implements Pager.
func (l *LRU) Step(e Event, actions []Action) []Action {
	switch e.Kind {
	case Want:
		for i, o := range l.mapped {
			if o == e.Object {
				l.mapped = append(append(l.mapped[:i:i], l.mapped[i+1:]...), o)
				return append(actions, Action{Go, o, 0})
			}
		}
		for need := aligned(l.bytes(e.Object)); len(l.mapped) > 0 && l.used+need > l.budget; {
			o := l.mapped[0]
			l.mapped, l.used = l.mapped[1:], l.used-aligned(l.bytes(o))
			actions = append(actions, Action{Unmap, o, 0})
		}
		l.want = e.Object
		return append(actions, Action{Load, e.Object, OwnMapping})
	case Loaded:
		l.mapped, l.used = append(l.mapped, e.Object), l.used+aligned(l.bytes(e.Object))
		if l.want == e.Object {
			l.want = -1
			actions = append(actions, Action{Go, e.Object, 0})
		}
	case Failed:
		l.want = -1
		return append(actions, Action{Unmap, e.Object, 0}, Action{Fail, e.Object, 0})
	}
	return actions
}
