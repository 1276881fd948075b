package memory

import (
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"tandem/npu"
)

// stager moves objects into the arena while the device computes. A Pager decides what moves; a goroutine moves it.
type stager struct {
	weights      *weights // changed only while mu is held: the goroutine reads the objects
	clock        clock
	fetch        fetcher        // used by the goroutine
	work         chan Action    // loads for the goroutine, one at a time
	pendingLoads sync.WaitGroup // loads on their way

	mu        sync.Mutex // guards what follows
	loadEnded *sync.Cond // a load has ended
	arena     arena
	pager     Pager
	wanted    int // the object that the device waits for, −1 for none
	granted   bool
	wantedErr error                       // why the object that the device waits for cannot be loaded
	loadErr   error                       // of the last failed load
	slotFree  [stagingSlots]time.Duration // since when each slot may be filled, on the clock
	actions   []Action                    // memory for Pager.Step
	counters  Counters
	readTime  time.Duration // of all loads
	profile   profile
	sums      []uint32 // of objects' bytes, when checking
}

func newStager(w *weights, c clock, opt Options) *stager {
	s := &stager{weights: w, clock: c, fetch: fetcher{source: opt.Source, packer: w.packer}, work: make(chan Action, 1), wanted: -1}
	s.loadEnded = sync.NewCond(&s.mu)
	s.arena = arena{clock: c, mapMemory: opt.Map, unmapMemory: opt.Unmap, counters: &s.counters}
	go s.runLoads()
	return s
}

// stage stages a graph, as weights does. A load may be on its way.
func (s *stager) stage(g *npu.Graph) (staged *npu.Graph, objects []int, added bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.weights.stage(g)
}

// keep drops all objects but those that are read, and returns the new number of each, −1 for none. The arena must be
// clear.
func (s *stager) keep(read []bool) (renumbered []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	renumbered = s.weights.keep(read)
	s.profile.keep(renumbered)
	return renumbered
}

// use moves objects as the pager says.
func (s *stager) use(p Pager) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pager, s.sums = p, make([]uint32, len(s.weights.objects))
}

// usePlacement maps a placement, and moves objects into it.
func (s *stager) usePlacement(p Placement, sizes []int64) error {
	s.use(NewStaging(p))
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arena.mapPlacement(p, sizes)
}

// clear waits for the loads on their way and frees the arena.
func (s *stager) clear() {
	s.pendingLoads.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arena.clear()
	for _, o := range s.weights.objects {
		s.arena.freeMapping(&o.ownMapping)
		o.place.Data = nil
	}
	s.granted = false
}

// close ends the goroutine. The arena must be clear.
func (s *stager) close() error {
	close(s.work)
	return s.fetch.close()
}

// placement returns the arena's placement.
func (s *stager) placement() Placement {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arena.placement
}

// readCounters returns what was done so far.
func (s *stager) readCounters() Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counters
}

// countRetry counts a run that is tried again.
func (s *stager) countRetry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters.Retries++
}

// costs returns the costs of the transfers so far.
func (s *stager) costs() Costs {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counters.TransferBytes > 0 {
		return Costs{PerByte: float64(s.readTime) / float64(s.counters.TransferBytes)}
	}
	return Costs{PerByte: 0.5} // 2 GB/s: flash of a phone
}

// uses returns the objects in the order of use, with the computation times measured so far.
func (s *stager) uses(sizes []int64) []Use {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profile.uses(sizes)
}

// begin is called before a run.
func (s *stager) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profile.last = -1
}

// end is called after a run.
func (s *stager) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profile.endUse(s.clock.now())
}

// step gives the pager an event and does what it says. s.mu is held.
func (s *stager) step(e Event) {
	s.actions = s.pager.Step(e, s.actions[:0])
	for _, a := range s.actions {
		switch a.Kind {
		case Go:
			s.granted = true
		case Fail:
			s.wantedErr = s.loadErr
		case Unmap:
			s.arena.freeMapping(&s.weights.objects[a.Object].ownMapping)
		case Load:
			s.pendingLoads.Add(1)
			s.weights.objects[a.Object].loadBegins = s.earliestBegin(a)
			s.work <- a // never blocks: one load is active at a time
		}
	}
}

// earliestBegin returns when a load may begin, on the clock. What is fetched ahead begins when its slot was last read, however
// far the goroutine has come by then, so that virtual time does not depend on real time.
func (s *stager) earliestBegin(a Action) time.Duration {
	if a.Slot >= 0 && a.Object != s.wanted {
		return s.slotFree[a.Slot]
	}
	return s.clock.now()
}

// acquire waits until the object's bytes are there and lets its place show them.
func (s *stager) acquire(id int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == 0 {
		s.counters.Steps++
	}
	o := s.weights.objects[id]
	s.granted, s.wantedErr, s.wanted = false, nil, id
	requested := s.clock.now()
	s.profile.endUse(requested)
	s.step(Event{Want, id})
	waits := !s.granted
	for !s.granted && s.wantedErr == nil {
		s.loadEnded.Wait()
	}
	s.wanted = -1
	if s.clock.simulated() && s.wantedErr == nil {
		s.clock.Await(o.loadEnds)
		waits = true
	}
	if waits {
		s.counters.Stall += s.clock.now() - requested
	}
	if s.wantedErr != nil {
		return s.wantedErr
	}
	o.place.Data = s.target(id)
	s.profile.beginUse(id, s.clock.now())
	if checking {
		s.verify(id, "before")
	}
	return nil
}

// release says that the object has been read.
func (s *stager) release(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if checking {
		s.verify(id, "after")
	}
	s.weights.objects[id].place.Data = nil // reading it now fails at once
	s.granted = false
	if slot := s.pager.Slot(id); slot >= 0 {
		s.slotFree[slot] = s.clock.now()
	}
	s.step(Event{Done, id})
}

// target returns where the object's bytes are, or will be.
func (s *stager) target(id int) []byte {
	return s.arena.bytes(id, s.weights.objects[id], s.pager.Slot(id))
}

// runLoads carries out the loads, on a goroutine of its own.
func (s *stager) runLoads() {
	for a := range s.work {
		s.mu.Lock()
		o := s.weights.objects[a.Object]
		var err error
		if a.Slot == OwnMapping {
			o.ownMapping, err = s.arena.addMapping(aligned(o.size))
		}
		var dst []byte
		from := s.clock.now()
		if err == nil {
			dst = s.target(a.Object)
			if s.clock.simulated() {
				from, o.loadEnds = s.clock.Move(o.bytes(), o.loadBegins)
			}
		}
		s.mu.Unlock()
		retries := 0
		if err == nil {
			if checking {
				poison(dst)
			}
			retries, err = s.fetch.bring(o, dst)
		}
		s.mu.Lock()
		if !s.clock.simulated() {
			o.loadEnds = s.clock.now()
		}
		s.counters.Retries += retries
		if err != nil {
			s.loadErr = err
			s.step(Event{Failed, a.Object})
		} else {
			s.counters.Transfers++
			s.counters.TransferBytes += o.bytes()
			s.readTime += o.loadEnds - from
			if checking {
				s.sums[a.Object] = crc32.ChecksumIEEE(dst)
			}
			s.step(Event{Loaded, a.Object})
		}
		s.loadEnded.Broadcast()
		s.mu.Unlock()
		s.pendingLoads.Done()
	}
}

func poison(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}

// verify compares an object's bytes with those that were loaded, and with the source.
func (s *stager) verify(id int, when string) {
	o := s.weights.objects[id]
	got := crc32.ChecksumIEEE(o.place.Data)
	if want := s.fetch.sum(o); got != s.sums[id] || got != want {
		panic(fmt.Sprintf("memory: %s, rows from %d: its bytes changed %s the product: %08x, loaded as %08x, %08x in the file", o.source.Name, o.from, when, got, s.sums[id], want))
	}
}
