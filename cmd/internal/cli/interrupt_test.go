package cli

import (
	"context"
	"testing"
)

// A caught interrupt does not end the command; the next one finds nobody who catches it, and so does one after release.
func TestCatch(t *testing.T) {
	a := &App{Context: context.Background()}
	caught := 0
	release := a.CatchInterrupt(func() { caught++ })
	if !a.interrupts.take() || caught != 1 {
		t.Fatalf("an interrupt was caught %d times, want 1", caught)
	}
	if a.interrupts.take() || caught != 1 {
		t.Errorf("the second interrupt was caught too")
	}
	release()
	a.CatchInterrupt(func() { caught++ })()
	if a.interrupts.take() {
		t.Error("an interrupt was caught after release")
	}
}

// What catches an interrupt may stop catching.
func TestReleaseWhileCaught(t *testing.T) {
	a := &App{Context: context.Background()}
	var release func()
	caught := false
	release = a.CatchInterrupt(func() {
		if !a.interrupts.mu.TryLock() {
			t.Error("release would wait for ever")
			return
		}
		a.interrupts.mu.Unlock()
		release()
		caught = true
	})
	if !a.interrupts.take() || !caught {
		t.Error("nobody has caught the interrupt")
	}
}
