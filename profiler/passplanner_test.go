package profiler

import (
	"slices"
	"testing"
	"time"

	"tandem"
)

const ms = time.Millisecond

// near and far are draws whose runners-up came close to being the draft, and far from it.
var near, far = Closeness{1, .9, .8}, Closeness{1, .05, .01}

// Further places are decoded where they cost less than they save: all of them where they cost nothing, none where each
// costs a pass. Checks come before guesses.
func TestPassPlannerPays(t *testing.T) {
	var free, dear PassPlanner
	for n := 1; n <= tandem.MaxRows; n++ {
		free.ObservePass(n, 30*ms)
		dear.ObservePass(n, time.Duration(n)*30*ms)
	}
	choose := func(a *PassPlanner, places int, hedge bool, drafts, room int) [3]int {
		o := Offer{Places: places, Drafts: drafts, Room: room}
		if hedge {
			o.Hedges = []Hedge{{a.RankChance(1, near), 1}, {a.RankChance(2, near), 1}}
		}
		h, c, g := a.Choose(o)
		return [3]int{h, c, g}
	}
	for _, c := range []struct {
		what string
		got  [3]int
		want [3]int // hedges, checks, guesses
	}{
		{"hedges, and guesses while they are as likely", choose(&free, 8, true, 0, 9), [3]int{2, 0, 5}},
		{"each costs a pass", choose(&dear, 4, true, 2, 9), [3]int{}},
		{"no hedges allowed", choose(&free, 8, false, 0, 9), [3]int{0, 0, 7}},
		{"no guesses allowed", choose(&free, 8, true, 0, 0), [3]int{2, 0, 0}},
		{"drafts first, then guesses", choose(&free, 6, false, 3, 9), [3]int{0, 3, 2}},
		{"more drafts than places", choose(&free, 4, false, 9, 9), [3]int{0, 3, 0}},
		{"drafts beyond what may be decoded", choose(&free, 8, false, 9, 2), [3]int{0, 2, 0}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v hedges, checks and guesses, want %v", c.what, c.got, c.want)
		}
	}
	for places := -1; places <= tandem.MaxRows+4; places++ {
		if got := choose(&free, places, true, 2, 9); got[0]+got[1]+got[2] > max(0, min(places, tandem.MaxRows)-1) {
			t.Errorf("%v in %d places", got, places)
		}
	}
}

// A pass has no more rows than there are costs.
func TestPassPlannerWithFewCosts(t *testing.T) {
	offer := Offer{Places: tandem.MaxRows, Hedges: []Hedge{{.9, 1}, {.9, 2}}, Drafts: 3, Room: 99}
	for n := range tandem.MaxRows + 2 {
		var a PassPlanner
		a.ObservePass(1, 30*ms)
		a.SetCosts(slices.Repeat([]float64{.03}, n))
		hedges, checks, guesses := a.Choose(offer)
		if rows := 1 + hedges + checks + guesses; n > 0 && rows > n {
			t.Errorf("%d places in a pass with costs of up to %d rows", rows, n)
		}
	}
}

// Targets that are never the runner-up end hedging, and wrong guesses end guessing.
func TestPassPlannerLearns(t *testing.T) {
	var a PassPlanner
	a.ObservePass(1, 30*ms)
	a.ObservePass(2, 32*ms)
	a.ObservePass(3, 34*ms)
	hedge := func(places int) Offer {
		return Offer{Places: places, Hedges: []Hedge{{a.RankChance(1, near), 1}}}
	}
	before, _, _ := a.Choose(hedge(2))
	for range 200 {
		a.ObserveTarget(0, near)
		a.ObserveCheck(false)
		a.ObserveGuess(false)
	}
	all := func() Offer {
		o := hedge(4)
		o.Drafts, o.Room = 1, 9
		return o
	}
	hedges, checks, guesses := a.Choose(all())
	if before != 1 || hedges+checks+guesses != 0 {
		t.Errorf("%d hedges at first; %d, %d checks and %d guesses when none was ever wanted", before, hedges, checks, guesses)
	}
	for range 200 {
		a.ObserveTarget(1, near)
		a.ObserveCheck(true)
		a.ObserveGuess(true)
	}
	if hedges, checks, guesses = a.Choose(all()); hedges != 1 || checks != 1 || guesses != 1 {
		t.Errorf("%d hedges, %d checks and %d guesses when all are wanted", hedges, checks, guesses)
	}
	a.ObservePass(0, ms)
	a.ObservePass(tandem.MaxRows+1, ms)
	a.ObservePass(1, -ms)
	if h, _, _ := a.Choose(hedge(2)); h != 1 {
		t.Error("passes that cannot be are counted")
	}
}

// How often a target is a runner-up is learnt by how close it came.
func TestRankByCloseness(t *testing.T) {
	var a PassPlanner
	if a.RankChance(1, near) < 4*a.RankChance(1, far) || a.RankChance(0, near) > a.RankChance(0, far) || a.MaxRunnerUp() != a.RankChance(1, near) {
		t.Errorf("at first: runner-up %.2f and %.2f, draft %.2f and %.2f", a.RankChance(1, near), a.RankChance(1, far), a.RankChance(0, near), a.RankChance(0, far))
	}
	for i := range 100 {
		a.ObserveTarget(i%2, near)
		a.ObserveTarget(0, far)
		a.ObserveTarget(-1, Closeness{1}) // no token but the draft, and not that one
	}
	for _, c := range []struct {
		rank      int
		closeness Closeness
		low, high float64
	}{{0, near, .4, .6}, {1, near, .4, .6}, {2, near, 0, .05}, {0, far, .3, .7}, {1, far, 0, .01}} {
		if got := a.RankChance(c.rank, c.closeness); got < c.low || got > c.high {
			t.Errorf("rank %d of %v: %.2f, want %.2f to %.2f", c.rank, c.closeness[:2], got, c.low, c.high)
		}
	}
}

// Costs are the times that were seen, with lines between them. They never fall, and rows beyond those seen cost something.
func TestCosts(t *testing.T) {
	var a PassPlanner
	if a.Costs(8) != nil {
		t.Error("costs before any pass")
	}
	a.ObservePass(2, 20*ms)
	a.ObservePass(4, 40*ms)
	a.ObservePass(6, 30*ms)
	want := []float64{.02, .02, .03, .04, .04, .04, .044, .048}
	got := a.Costs(8)
	for i := range want {
		if d := got[i] - want[i]; d < -1e-9 || d > 1e-9 {
			t.Fatalf("costs %v, want %v", got, want)
		}
	}
	if n := len(a.Costs(3)); n != 3 {
		t.Errorf("%d costs, want 3", n)
	}
	var flat PassPlanner // up to twice the rows seen, more of them are hoped to cost as little
	flat.ObservePass(1, 10*ms)
	flat.ObservePass(4, 10*ms)
	if got = flat.Costs(16); got[7] > 1.1*got[3] || got[15] < 2*got[7] {
		t.Errorf("costs %v: want hardly more for 8 rows than for 4, and much more for 16", got)
	}
}

// What is told counts instead of what was seen, and the latest counts. So checks and guesses that pay where rows are free do not
// pay where each costs most of a pass.
func TestPassPlannerIsTold(t *testing.T) {
	var a PassPlanner
	for rows := 1; rows <= 8; rows++ {
		a.ObservePass(rows, 100*ms)
	}
	offer := Offer{Places: 8, Drafts: 3, Room: 7}
	_, checks, guesses := a.Choose(offer)
	if checks != 3 || guesses == 0 {
		t.Errorf("%d checks and %d guesses where rows cost nothing", checks, guesses)
	}
	dear := []float64{1, 1.9, 2.8, 3.7, 4.6, 5.5, 6.4, 7.3}
	a.SetCosts(dear)
	if _, checks, guesses = a.Choose(offer); checks+guesses > 0 || !slices.Equal(a.Costs(4), dear[:4]) || a.MinChance(8) < .89 {
		t.Errorf("%d checks and %d guesses where a row costs .9 of a pass; costs %v, least %.2f", checks, guesses, a.Costs(4), a.MinChance(8))
	}
	a.SetCosts([]float64{1, 1, 1, 1, 1, 1, 1, 1})
	if _, checks, _ = a.Choose(offer); checks != 3 {
		t.Errorf("%d checks when rows are told to cost nothing again", checks)
	}
}

// A pause of the process during one pass, or a first pass that is slow because the device was not ready, decides for long
// neither against passes of as many rows nor for larger ones.
func TestPassPlannerForgetsPauses(t *testing.T) {
	const pause = 5000 * ms
	free := func(int) time.Duration { return 10 * ms }
	dear := func(rows int) time.Duration { return time.Duration(rows) * 10 * ms }
	for _, c := range []struct {
		what   string
		known  []int // rows of the passes before
		paused int   // rows of the pass with the pause
		cost   func(rows int) time.Duration
		within int // passes
		want   int // rows
	}{
		{"known rows, free", []int{1, 2, 4, 6, 8}, 4, free, 1, 8},
		{"most rows, free", []int{1, 2, 4, 6, 8}, 8, free, 1, 8},
		{"one row, known, dear", []int{1, 2, 4, 8}, 1, dear, 4, 1},
		{"first of two rows, free", []int{1}, 2, free, forgetAfter + 8, 8},
		{"very first, dear", nil, 1, dear, 16, 1},
		{"very first, free", nil, 1, free, 16, 8},
	} {
		var a PassPlanner
		for i := range 100 {
			a.ObserveGuess(c.want > 1 || i%5 > 1)
		}
		for range 20 {
			for _, rows := range c.known {
				a.ObservePass(rows, c.cost(rows))
			}
		}
		a.ObservePass(c.paused, pause)
		rows := func() int {
			hedges, checks, guesses := a.Choose(Offer{Places: 8, Room: 9})
			return 1 + hedges + checks + guesses
		}
		for range c.within {
			n := rows()
			a.ObservePass(n, c.cost(n))
		}
		if got := rows(); got != c.want {
			t.Errorf("%s: %d rows after %d passes, want %d; costs %.3f", c.what, got, c.within, c.want, a.Costs(8))
		}
	}
}
