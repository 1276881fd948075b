package ggml

import (
	"testing"
	"time"
)

// play lets pace choose n times on a machine where work takes cost(threads). It returns the time that this took, and the time
// that the best levels would have taken.
func play(p *pace, n int, work float64, cost func(threads int) time.Duration) (took, best time.Duration) {
	for range n {
		l := p.choose(work)
		t := cost(p.levels[l])
		p.done(work, l, t)
		took += t
		least := t
		for _, k := range p.levels {
			least = min(least, cost(k))
		}
		best += least
	}
	return took, best
}

func TestPaceFindsTheFastest(t *testing.T) {
	ideal := func(threads int) time.Duration { return 8 * time.Millisecond / time.Duration(threads) }
	for name, cost := range map[string]func(int) time.Duration{
		"all are best": ideal,
		"one is best, more collapse": func(n int) time.Duration {
			if n > 1 {
				return 800 * time.Millisecond
			}
			return ideal(n)
		},
		"memory is the limit": func(n int) time.Duration {
			return max(ideal(n), 3*time.Millisecond) + time.Duration(n)*time.Microsecond
		},
		"half are best": func(n int) time.Duration {
			if n > 4 {
				return 100 * time.Millisecond
			}
			return ideal(n)
		},
	} {
		for _, threads := range []int{1, 2, 3, 8, 16} {
			p := newPace(threads)
			if top := p.levels[len(p.levels)-1]; top != threads || p.levels[0] != 1 {
				t.Fatalf("levels %v of %d threads", p.levels, threads)
			}
			play(p, 3000, 1e6, cost) // pace may need a few tries
			if took, best := play(p, 3000, 1e6, cost); float64(took) > 1.1*float64(best) {
				t.Errorf("%s, %d threads: took %v, the best is %v", name, threads, took, best)
			}
		}
	}
}

// The pace adapts when another program takes a core and when it ends.
func TestPaceAdapts(t *testing.T) {
	busy := false
	cost := func(n int) time.Duration {
		if n > 1 && busy {
			return 200 * time.Millisecond
		}
		return 4 * time.Millisecond / time.Duration(n)
	}
	p := newPace(2)
	play(p, 1000, 5e6, cost)
	busy = true
	if took, best := play(p, 500, 5e6, cost); took > best+time.Second {
		t.Errorf("with another program: took %v, the best is %v", took, best)
	}
	busy = false
	play(p, 30_000, 5e6, cost)
	if took, best := play(p, 500, 5e6, cost); float64(took) > 1.1*float64(best) {
		t.Errorf("after the other program: took %v, the best is %v", took, best)
	}
}
