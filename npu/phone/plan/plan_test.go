package plan

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func drawProblem(t *rapid.T, blocks, chunks int) Problem {
	n := rapid.IntRange(1, blocks).Draw(t, "blocks")
	c := rapid.IntRange(1, chunks).Draw(t, "chunks")
	ms := func(name string, hi int) time.Duration {
		return time.Duration(rapid.IntRange(0, hi).Draw(t, name)) * time.Millisecond
	}
	var p Problem
	for range n {
		p.Blocks = append(p.Blocks, Block{Load: ms("load", 60), Large: ms("large", 40), Small: ms("small", 20)})
	}
	for range c {
		p.Runs = append(p.Runs, rapid.IntRange(1, 4).Draw(t, "runs"))
	}
	return p
}

var everyStrategy = append(slices.Clone(Strategies), Optimal)

// Every block computes each chunk exactly once and in order, switches exactly once, and is never
// used while it loads. Computations do not overlap, nor do loads.
func TestTimelinesAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 6, 4)
		s := rapid.SampledFrom(everyStrategy).Draw(t, "strategy")
		pl := p.Plan(s)
		if err := pl.Check(p); err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		checkTimeline(t, p, pl, p.Simulate(pl))
	})
}

func checkTimeline(t *rapid.T, p Problem, pl Plan, line Timeline) {
	n := len(p.Blocks)
	var computed, loads int
	var computeEnd, loadEnd time.Duration
	loadOf := make([]*Span, n)
	for i := range line.Spans {
		if s := &line.Spans[i]; s.Load {
			if s.Start < loadEnd {
				t.Fatalf("two loads overlap at %v", s.Start)
			}
			if loadOf[s.Block] != nil {
				t.Fatalf("block %d is loaded twice", s.Block)
			}
			loadEnd, loadOf[s.Block] = s.End, s
			loads++
		}
	}
	for _, s := range line.Spans {
		if s.Load {
			continue
		}
		if s.Block != computed%n || s.Chunk != computed/n {
			t.Fatalf("computation %d is block %d of chunk %d", computed, s.Block, s.Chunk)
		}
		if s.Start < computeEnd || s.End-s.Start != p.Compute(s.Block, s.Chunk, s.Small) {
			t.Fatalf("block %d, chunk %d: %v to %v after %v", s.Block, s.Chunk, s.Start, s.End, computeEnd)
		}
		if l := loadOf[s.Block]; l != nil && (s.Small && s.Start < l.End || !s.Small && s.End > l.Start) {
			t.Fatalf("block %d computes %v to %v (small: %v) while it loads %v to %v", s.Block, s.Start, s.End, s.Small, l.Start, l.End)
		} else if l == nil && s.Small {
			t.Fatalf("block %d runs on G² before loading it", s.Block)
		}
		computed, computeEnd = computed+1, s.End
	}
	if computed != n*len(p.Runs) || loads != len(pl.Loads) {
		t.Fatalf("%d computations and %d loads", computed, loads)
	}
	if line.Prefill != computeEnd || line.Switched != loadEnd {
		t.Fatalf("ends %v and %v, reported %v and %v", computeEnd, loadEnd, line.Prefill, line.Switched)
	}
	if pl.Strategy != Resident && line.Total() < p.Bound() {
		t.Fatalf("total %v below the bound %v", line.Total(), p.Bound())
	}
	if h := line.Hidden(); h < 0 || h > 1 {
		t.Fatalf("hidden share of the loads is %v", h)
	}
}

// Progressive is at least as fast as the simple strategies.
func TestProgressiveIsNeverWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 12, 8)
		total := func(s Strategy) time.Duration { return p.Simulate(p.Plan(s)).Total() }
		best := total(Progressive)
		for _, s := range []Strategy{Synchronous, Asynchronous, Greedy} {
			if v := total(s); best > v {
				t.Fatalf("progressive %v, %v %v", best, s, v)
			}
		}
	})
}

// Exact agrees with a search over all assignments of switches and, on the smallest instances, over
// all orders of loading too. So loading in order of release is optimal.
func TestExactAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 4, 3)
		want := bruteForce(p)
		pl, ok := p.Exact(0)
		if got := p.Simulate(pl).Total(); !ok || got != want {
			t.Fatalf("exact %v, best of all plans %v", got, want)
		}
		if got := p.Simulate(p.Plan(Progressive)).Total(); got < want {
			t.Fatalf("progressive %v beats the optimum %v", got, want)
		}
	})
}

// bruteForce tries every switch of every block with every order of loads.
func bruteForce(p Problem) time.Duration {
	n, c := len(p.Blocks), len(p.Runs)
	best := time.Duration(1 << 62)
	at := make([]int, n)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var assign func(j int)
	var permute func(i int)
	permute = func(i int) {
		if i == n {
			pl := Plan{Switch: at}
			for _, j := range order {
				pl.Loads = append(pl.Loads, Load{j, max(0, (at[j]-1)*n+j+1)})
			}
			if pl.Check(p) == nil {
				best = min(best, p.Simulate(pl).Total())
			}
			return
		}
		for k := i; k < n; k++ {
			order[i], order[k] = order[k], order[i]
			permute(i + 1)
			order[i], order[k] = order[k], order[i]
		}
	}
	assign = func(j int) {
		if j == n {
			permute(0)
			return
		}
		for at[j] = 0; at[j] <= c; at[j]++ {
			assign(j + 1)
		}
		at[j] = 0
	}
	assign(0)
	return best
}

// CoordGen, Figure 8: six blocks, two chunks, and loads that take as long as computing two blocks.
// Half of the blocks have switched by the end of the first chunk, and all by the end of the second.
func TestCoordGen_Figure8(t *testing.T) {
	const ms = time.Millisecond
	p := Uniform(6, 2, 2, Block{Load: 20 * ms, Large: 10 * ms, Small: 5 * ms})
	pl := p.Plan(Greedy)
	want := []Load{{5, 0}, {4, 2}, {3, 4}, {2, 6}, {1, 8}, {0, 10}}
	if !slices.Equal(pl.Loads, want) {
		t.Errorf("loads %v, want %v", pl.Loads, want)
	}
	if want := []int{2, 2, 1, 1, 0, 0}; !slices.Equal(pl.Switch, want) {
		t.Errorf("switches at chunks %v, want %v", pl.Switch, want)
	}
	line := p.Simulate(pl)
	if line.Total() != 120*ms || line.Hidden() != 1 {
		t.Errorf("total %v with %v hidden, want 120 ms with all", line.Total(), line.Hidden())
	}
	for s, want := range map[Strategy]time.Duration{Synchronous: 240 * ms, Asynchronous: 190 * ms, Resident: 120 * ms, Progressive: 120 * ms, Optimal: 120 * ms} {
		if got := p.Simulate(p.Plan(s)).Total(); got != want {
			t.Errorf("%v: %v, want %v", s, got, want)
		}
	}
}

// On the largest instances that Exact is meant for, with durations like those of real blocks,
// Progressive is at most 5 % slower than the optimum.
func TestProgressiveNearTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "blocks")
		c := rapid.IntRange(1, 4).Draw(t, "chunks")
		us := func(name string, lo, hi int) time.Duration {
			return time.Duration(rapid.IntRange(lo, hi).Draw(t, name)) * time.Microsecond
		}
		large := us("large", 1000, 50000)
		load := us("load", 100, 200000)
		p := Problem{Runs: slices.Repeat([]int{rapid.SampledFrom([]int{2, 4, 8}).Draw(t, "runs")}, c)}
		slow := rapid.IntRange(100, 200).Draw(t, "slower") // percent of the time of G¹
		for range n {
			l := large * time.Duration(rapid.IntRange(80, 120).Draw(t, "spread")) / 100
			p.Blocks = append(p.Blocks, Block{
				Load: load * time.Duration(rapid.IntRange(80, 120).Draw(t, "spread")) / 100, Large: l,
				Small: l * time.Duration(slow) / 100 / time.Duration(p.Runs[0]),
			})
		}
		pl, ok := p.Exact(2_000_000)
		if !ok {
			t.Fatalf("the search for %d blocks and %d chunks did not finish: %v", n, c, p)
		}
		got, want := p.Simulate(p.Plan(Progressive)).Total(), p.Simulate(pl).Total()
		if float64(got) > 1.05*float64(want) {
			t.Fatalf("progressive %v, optimum %v: %v", got, want, p)
		}
	})
}

func TestPlanCheckRefuses(t *testing.T) {
	p := Uniform(2, 2, 1, Block{Load: 1, Large: 1, Small: 1})
	for name, pl := range map[string]Plan{
		"no loads":         {Switch: []int{2, 2}},
		"one block":        {Switch: []int{2}},
		"twice":            {Switch: []int{2, 2}, Loads: []Load{{0, 4}, {0, 4}}},
		"before its chunk": {Switch: []int{2, 2}, Loads: []Load{{0, 2}, {1, 4}}},
		"too late":         {Switch: []int{1, 2}, Loads: []Load{{0, 3}, {1, 4}}},
		"behind a wait":    {Switch: []int{1, 2}, Loads: []Load{{1, 4}, {0, 1}}},
		"unknown":          {Switch: []int{2, 2}, Loads: []Load{{0, 4}, {2, 4}}},
		"resident":         {Strategy: Resident, Switch: []int{2, 1}},
	} {
		if pl.Check(p) == nil {
			t.Errorf("%s: %v is accepted", name, pl)
		}
	}
	for _, bad := range []Problem{{}, {Blocks: p.Blocks, Runs: []int{0}}, {Blocks: []Block{{Load: -1}}, Runs: []int{1}},
		{Blocks: []Block{{Load: 2 * time.Hour}}, Runs: []int{1}}} {
		if bad.Check() == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	if p.Check() != nil || p.Plan(Progressive).Check(p) != nil {
		t.Error("a valid plan is rejected")
	}
}

func TestParseStrategy(t *testing.T) {
	for _, s := range everyStrategy {
		if got, err := ParseStrategy(s.String()); err != nil || got != s {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if _, err := ParseStrategy("fast"); err == nil {
		t.Error("no error")
	}
}

// BenchmarkExact measures the search on an instance that is too large for it: it must end even without finding an optimum.
func BenchmarkExact(b *testing.B) {
	const ms = time.Millisecond
	for range b.N {
		_, ok := Uniform(12, 8, 8, Block{Load: 130 * ms, Large: 25 * ms, Small: 4 * ms}).Exact(1_000_000)
		if !ok {
			b.Log("not finished")
		}
	}
}
