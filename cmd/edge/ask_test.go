package main

import (
	"math"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
)

// The speed of an answer that arrives at once includes the time before the first token.
func TestSpeed(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		n           int
		first, last time.Duration
		atOnce      bool
		want        float64
	}{
		{11, 20 * ms, 120 * ms, false, 100},
		{11, 20 * ms, 110 * ms, true, 100},
		{2, 20 * ms, 20*ms + time.Microsecond, false, 2 / 0.020001},
		{1, 20 * ms, 20 * ms, false, 50},
	} {
		if got := speed(c.n, c.first, c.last, c.atOnce); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%d tokens from %v to %v: %v a second, want %v", c.n, c.first, c.last, got, c.want)
		}
	}
	if got := speed(1, 0, 0, false); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("at once: %v", got)
	}
}

// A flag means the same kind of value in every command.
func TestFlagsOfOneNameAreOfOneKind(t *testing.T) {
	if n := clitest.FlagKinds(t, &grammar{}); n < 40 {
		t.Errorf("only %d flags", n)
	}
}
