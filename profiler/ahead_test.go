package profiler

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// Contexts are decoded ahead where they cost less than they save: all of them where they ride along for
// nothing, none where each costs a pass, and hedges before guesses the longer the round trip is.
func TestAheadPays(t *testing.T) {
	var free, dear Ahead
	for n := 1; n <= MaxContexts; n++ {
		free.Passed(n, 30*ms)
		dear.Passed(n, time.Duration(n)*30*ms)
	}
	if h, g := free.Choose(4, 100*ms, true, true); h+g != 3 || h == 0 || g == 0 {
		t.Errorf("contexts for nothing: %d hedges and %d guesses of 3", h, g)
	}
	if h, g := dear.Choose(4, 0, true, true); h+g != 0 {
		t.Errorf("contexts at a pass each, no round trip: %d hedges and %d guesses", h, g)
	}
	if h, _ := dear.Choose(4, 2*time.Second, true, true); h == 0 {
		t.Error("a round trip of 2 s is not worth a hedge")
	}
	if h, g := free.Choose(8, 100*ms, false, true); h != 0 || g == 0 {
		t.Errorf("no hedges allowed: %d, and %d guesses", h, g)
	}
	if h, g := free.Choose(8, 100*ms, true, false); h != Ranks-1 || g != 0 {
		t.Errorf("no guesses allowed: %d hedges, %d guesses", h, g)
	}
	for contexts := -1; contexts <= MaxContexts+4; contexts++ {
		if h, g := free.Choose(contexts, time.Second, true, true); h+g > max(0, min(contexts, MaxContexts)-1) {
			t.Errorf("%d hedges and %d guesses in %d contexts", h, g, contexts)
		}
	}
}

// What was seen counts: targets that are never the runner-up end hedging, guesses that are wrong end guessing.
func TestAheadLearns(t *testing.T) {
	var a Ahead
	a.Passed(1, 30*ms)
	a.Passed(2, 33*ms)
	a.Passed(3, 36*ms)
	before, _ := a.Choose(2, 50*ms, true, false)
	for range 200 {
		a.Target(0)
		a.Guessed(false)
	}
	hedges, guesses := a.Choose(3, 50*ms, true, true)
	if before != 1 || hedges != 0 || guesses != 0 {
		t.Errorf("%d hedges at first; %d and %d guesses when none was ever wanted", before, hedges, guesses)
	}
	for range 200 {
		a.Target(1)
		a.Guessed(true)
	}
	if hedges, guesses = a.Choose(3, 50*ms, true, true); hedges != 1 || guesses != 1 {
		t.Errorf("%d hedges and %d guesses when both are wanted", hedges, guesses)
	}
	a.Passed(0, ms)
	a.Passed(MaxContexts+1, ms)
	a.Passed(1, -ms)
	if h, _ := a.Choose(2, 50*ms, true, false); h != 1 {
		t.Error("passes that cannot be are counted")
	}
}
