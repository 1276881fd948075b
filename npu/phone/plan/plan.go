// Package plan decides when a model's blocks change from the graph for prefill to the graph for decoding (CoordGen §3.2,
// sd.npu §4.2).
//
// A mobile NPU takes graphs of fixed shapes and has room for one graph of each block. Prefill is fast on graph G¹, which
// takes a whole chunk at once. Decoding is fast on G², which takes a few tokens. Loading a block's G² while other blocks
// compute hides the loading time. The block then computes its share of the remaining chunks with several runs of G²,
// which gives the same numbers more slowly.
//
// The package computes with durations alone, without a clock or a device. Package executor carries plans out.
package plan

import (
	"fmt"
	"time"
)

// Block holds the durations of one block of layers.
type Block struct {
	Load  time.Duration // loading its G², which replaces its G¹
	Large time.Duration // one chunk on G¹
	Small time.Duration // one run of G²
}

// Problem is a prefill and the change of graphs that it should hide. Chunk c passes through all blocks in turn, then
// chunk c+1. Computations do not overlap each other, nor do loads. A computation and the load of another block may
// overlap.
type Problem struct {
	Blocks []Block
	// Runs says, for each chunk, how many runs of G² compute the chunk's tokens.
	Runs []int
}

// Uniform returns a problem of equal blocks and equal chunks.
func Uniform(blocks, chunks, runs int, b Block) Problem {
	p := Problem{Blocks: make([]Block, blocks), Runs: make([]int, chunks)}
	for i := range p.Blocks {
		p.Blocks[i] = b
	}
	for i := range p.Runs {
		p.Runs[i] = runs
	}
	return p
}

// Bounds of a problem, far above any model and far below what overflows.
const (
	maxBlocks   = 1 << 10
	maxChunks   = 1 << 14
	maxRuns     = 1 << 14
	maxDuration = time.Hour
)

// Check returns an error if the problem is out of bounds.
func (p Problem) Check() error {
	if n, c := len(p.Blocks), len(p.Runs); n == 0 || c == 0 || n > maxBlocks || c > maxChunks {
		return fmt.Errorf("%d blocks and %d chunks: want 1 to %d and 1 to %d", n, c, maxBlocks, maxChunks)
	}
	for i, b := range p.Blocks {
		for _, d := range []time.Duration{b.Load, b.Large, b.Small} {
			if d < 0 || d > maxDuration {
				return fmt.Errorf("block %d: durations %v, %v, %v: want 0 to %v", i, b.Load, b.Large, b.Small, maxDuration)
			}
		}
	}
	for c, r := range p.Runs {
		if r < 1 || r > maxRuns {
			return fmt.Errorf("chunk %d: %d runs of G²: want 1 to %d", c, r, maxRuns)
		}
	}
	return nil
}

// steps returns the number of computations, one for each chunk and block. Step s is block s mod N of chunk s / N, where N
// is the number of blocks.
func (p Problem) steps() int { return len(p.Blocks) * len(p.Runs) }

// Compute returns how long the block takes for the chunk on G¹, or on G² if small.
func (p Problem) Compute(block, chunk int, small bool) time.Duration {
	if small {
		return p.Small(block, chunk)
	}
	return p.Blocks[block].Large
}

// Small returns how long the block takes for the chunk on G².
func (p Problem) Small(block, chunk int) time.Duration {
	return p.Blocks[block].Small * time.Duration(p.Runs[chunk])
}

// Loads returns the time of all loads.
func (p Problem) Loads() (sum time.Duration) {
	for _, b := range p.Blocks {
		sum += b.Load
	}
	return sum
}

// Prefill returns the time of a prefill on G¹ alone.
func (p Problem) Prefill() (sum time.Duration) {
	for _, b := range p.Blocks {
		sum += b.Large
	}
	return sum * time.Duration(len(p.Runs))
}

// Bound returns a time that no schedule which switches can beat: that of all computations on the faster graph, or that
// of all loads. Resident loads nothing and may be faster.
func (p Problem) Bound() time.Duration {
	var compute time.Duration
	for j := range p.Blocks {
		for c := range p.Runs {
			compute += p.least(j, c)
		}
	}
	return max(compute, p.Loads())
}

// Strategy is a way to plan.
type Strategy uint8

// The strategies.
const (
	Synchronous  Strategy = iota // load after prefill
	Asynchronous                 // load a block after it has computed the last chunk
	Resident                     // both graphs stay loaded: no switch, twice the memory
	Greedy                       // CoordGen's rule (Eq. 2), from the first chunk on
	Progressive                  // the same rule from the best step on, then improved: see Problem.Plan
	Optimal                      // by branch and bound
)

// Strategies lists the strategies that are fast for problems of any size. Optimal is for small ones.
var Strategies = []Strategy{Synchronous, Asynchronous, Resident, Greedy, Progressive}

var strategyNames = [...]string{"synchronous", "asynchronous", "resident", "greedy", "progressive", "optimal"}

func (s Strategy) String() string {
	if int(s) < len(strategyNames) {
		return strategyNames[s]
	}
	return fmt.Sprintf("strategy(%d)", uint8(s))
}

// ParseStrategy reads a strategy's name.
func ParseStrategy(name string) (Strategy, error) {
	for s, n := range strategyNames {
		if n == name {
			return Strategy(s), nil
		}
	}
	return 0, fmt.Errorf("unknown strategy %q: use one of %v", name, strategyNames)
}

// Load loads one block's G². It begins when the load before it and the first After steps of computation are over.
type Load struct{ Block, After int }

// Plan says what to load when, and which graph each step of computation runs on. The order holds whatever the durations
// turn out to be.
type Plan struct {
	Strategy Strategy
	Loads    []Load // in the order of loading
	// Switch says, for each block, which chunk it computes first on G². For a block that switches after the last chunk
	// it is the number of chunks.
	Switch []int
}

// Check returns an error unless the plan is one for p: every block switches exactly once, after its last chunk on G¹ and
// in time for its first on G². With Resident no block switches.
func (pl Plan) Check(p Problem) error {
	n, c := len(p.Blocks), len(p.Runs)
	if len(pl.Switch) != n {
		return fmt.Errorf("a plan for %d blocks, not %d", len(pl.Switch), n)
	}
	if pl.Strategy == Resident && len(pl.Loads) == 0 {
		for j, at := range pl.Switch {
			if at != c {
				return fmt.Errorf("block %d changes at chunk %d without a load", j, at)
			}
		}
		return nil
	}
	seen := make([]bool, n)
	after := 0
	for i, l := range pl.Loads {
		if l.Block < 0 || l.Block >= n || seen[l.Block] {
			return fmt.Errorf("load %d: there is no block %d, or it was loaded before", i, l.Block)
		}
		seen[l.Block] = true
		// A load waits for those before it, and for what they wait for.
		after = max(after, l.After)
		at := pl.Switch[l.Block]
		first := 0
		if at > 0 {
			first = (at-1)*n + l.Block + 1
		}
		if at < 0 || at > c || l.After < first || after > min(at*n+l.Block, n*c) {
			return fmt.Errorf("load %d: block %d after %d steps does not fit its change at chunk %d", i, l.Block, l.After, at)
		}
	}
	if len(pl.Loads) != n {
		return fmt.Errorf("%d loads for %d blocks", len(pl.Loads), n)
	}
	return nil
}

// Span is one computation or load.
type Span struct {
	Start, End time.Duration
	Load       bool // a load of G², otherwise a computation
	Block      int
	Chunk      int  // of a computation
	Small      bool // a computation on G²
}

// Timeline says what happens when a plan is carried out.
type Timeline struct {
	Spans    []Span        // by start; computations do not overlap each other, nor do loads
	Prefill  time.Duration // when the last computation ends
	Switched time.Duration // when the last load ends
	Stall    time.Duration // how long nothing computed because a load was awaited, also at the end
}

// Total returns when decoding can begin, the latency that CoordGen minimises.
func (t Timeline) Total() time.Duration { return max(t.Prefill, t.Switched) }

// Hidden returns the share of the loading time during which something computed; 1 if nothing is loaded.
func (t Timeline) Hidden() float64 {
	var loads time.Duration
	for _, s := range t.Spans {
		if s.Load {
			loads += s.End - s.Start
		}
	}
	if loads == 0 {
		return 1
	}
	return 1 - float64(t.Stall)/float64(loads)
}

// NewTimeline makes a timeline of measured spans. Computations must be in order, and so must loads.
func NewTimeline(spans []Span) Timeline {
	t := Timeline{Spans: spans}
	sortSpans(t.Spans)
	var loads []Span
	for _, s := range t.Spans {
		if s.Load {
			loads = append(loads, s)
			t.Switched = max(t.Switched, s.End)
		}
	}
	idle := func(from, to time.Duration) { // loading while nothing computes
		for _, l := range loads {
			t.Stall += max(0, min(to, l.End)-max(from, l.Start))
		}
	}
	for _, s := range t.Spans {
		if !s.Load {
			idle(t.Prefill, s.Start)
			t.Prefill = max(t.Prefill, s.End)
		}
	}
	idle(t.Prefill, t.Switched)
	return t
}

// Simulate returns the timeline of the plan by the problem's durations. The plan must pass Check.
func (p Problem) Simulate(pl Plan) Timeline {
	n, steps := len(p.Blocks), p.steps()
	t := Timeline{Spans: make([]Span, 0, steps+n)}
	ends := make([]time.Duration, steps+1) // ends[s] is when s steps are over
	loaded := make([]time.Duration, n)
	loads := pl.Loads
	load := func(done int) {
		for len(loads) > 0 && loads[0].After <= done {
			l := loads[0]
			loads = loads[1:]
			start := max(t.Switched, ends[l.After])
			t.Switched = start + p.Blocks[l.Block].Load
			loaded[l.Block] = t.Switched
			t.Spans = append(t.Spans, Span{Start: start, End: t.Switched, Load: true, Block: l.Block})
		}
	}
	for s := range steps {
		load(s)
		j, c := s%n, s/n
		small := c >= pl.Switch[j]
		start := t.Prefill
		if small && loaded[j] > start {
			t.Stall += loaded[j] - start
			start = loaded[j]
		}
		t.Prefill = start + p.Compute(j, c, small)
		ends[s+1] = t.Prefill
		t.Spans = append(t.Spans, Span{Start: start, End: t.Prefill, Block: j, Chunk: c, Small: small})
	}
	load(steps)
	t.Stall += max(0, t.Switched-t.Prefill)
	sortSpans(t.Spans)
	return t
}
