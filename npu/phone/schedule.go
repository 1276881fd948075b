package phone

import (
	"context"
	"slices"
	"time"

	"tandem/npu"
	"tandem/npu/phone/plan"
)

// Keep implements npu.Scheduler. It leaves out programs that cost about as much as those for more rows: an NPU
// computes whole tiles, and every chunk size in use is one more graph to load.
func (d *Device) Keep(all []*npu.Programs) []*npu.Programs {
	const context = 128 // positions, of short prompts
	cost := func(p *npu.Programs) (sum time.Duration) {
		for _, l := range p.Layers {
			sum += d.sim.Cost(l.Graph(), context).Time()
		}
		return sum
	}
	keep := []*npu.Programs{all[len(all)-1]} // from large chunks to small ones
	for _, p := range slices.Backward(all[:len(all)-1]) {
		if 11*cost(p) < 10*cost(keep[len(keep)-1]) {
			keep = append(keep, p)
		}
	}
	slices.Reverse(keep)
	return keep
}

// Schedule implements npu.Scheduler. For a prompt it plans the change from the graphs for prompts to those for
// decoding (CoordGen §3.2): each graph is loaded while other blocks compute. Other passes run on the graphs that are
// loaded, where that saves time.
func (d *Device) Schedule(ctx context.Context, programs []*npu.Programs, p npu.Pass) (npu.Schedule, error) {
	if d.sim != nil {
		d.sim.SetPrompt(p.Decodes > 0)
	}
	if d.plansSwitching() && p.Bidirectional {
		return &bidirectionalSchedule{d, programs, d.layerChoice.choose(d, programs, p.Tokens, max(p.Longest, p.Tokens))}, nil
	}
	if !d.plansSwitching() {
		return &loadedSchedule{d: d, programs: programs}, nil
	}
	var drafts *npu.Programs
	if p.Decodes > 0 {
		c := &switchSchedule{d: d, all: programs, large: npu.Fitting(programs, p.Tokens), small: npu.Fitting(programs, p.Decodes)}
		if p.PerPass != nil {
			c.small = d.verifyPrograms(programs, p)
			drafts = c.small
		}
		d.setDraftPrograms(drafts)
		if c.large.Chunk > c.small.Chunk {
			return c, c.begin(ctx, p)
		}
	} else if p.PerPass != nil {
		drafts = d.currentDraftPrograms()
	}
	return &loadedSchedule{d, programs, drafts}, nil
}

// maxVerifyRows is the largest number of rows of a graph that verifies drafts: as many as fill the matrix unit (sd.npu
// §5.1).
const maxVerifyRows = 32

// verifyPrograms returns the programs for decoding with drafts: those with the least time per expected token. All passes of the
// answer use them, whether with few rows or many, because loading others takes as long as many passes (sd.npu §3.1).
func (d *Device) verifyPrograms(programs []*npu.Programs, p npu.Pass) (best *npu.Programs) {
	var least float64
	for _, q := range programs {
		if q.Chunk < p.Decodes && q != programs[len(programs)-1] || q.Chunk > maxVerifyRows && best != nil {
			continue
		}
		took := 0.0
		for _, l := range append(slices.Clone(q.Layers), q.Head) {
			took += d.sim.Cost(l.Graph(), p.Longest).Time().Seconds()
		}
		if took /= max(1, p.PerPass(q.Chunk)); best == nil || took < least {
			best, least = q, took
		}
	}
	return best
}

// setDraftPrograms remembers the programs that passes with drafts use.
func (d *Device) setDraftPrograms(p *npu.Programs) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.draftPrograms = p
}

// currentDraftPrograms returns the programs that passes with drafts use; nil if a prompt without drafts came last.
func (d *Device) currentDraftPrograms() *npu.Programs {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.draftPrograms
}

// VerifyRows returns the number of rows of the graph that passes with drafts have used since the last prompt, 1 without
// drafts.
func (d *Device) VerifyRows() int {
	if p := d.currentDraftPrograms(); p != nil {
		return p.Chunk
	}
	return 1
}

// loadedSchedule is the schedule of a pass without a change of graphs.
type loadedSchedule struct {
	d        *Device
	programs []*npu.Programs
	drafts   *npu.Programs // those that decode with drafts; nil for a pass without
}

// Next implements npu.Schedule. It returns the programs that fit, or else programs for fewer rows that are loaded, if
// running those several times takes less time than loading the ones that fit. With drafts on it stays with one graph for all
// passes that this holds.
func (s *loadedSchedule) Next(tokens int) *npu.Programs {
	p := npu.Fitting(s.programs, tokens)
	switch {
	case !s.d.plansSwitching():
		return p
	case s.drafts != nil && tokens <= s.drafts.Chunk:
		return s.drafts
	}
	for _, small := range s.programs {
		if small.Chunk >= p.Chunk {
			break
		}
		c := &switchSchedule{d: s.d, large: p, small: small}
		problem := c.problem(tokens, tokens)
		c.plan = problem.Plan(plan.Resident)
		if c.keepsSmall(problem) {
			return small
		}
	}
	return p
}

// Head implements npu.Schedule.
func (s *loadedSchedule) Head(rows int) npu.Program {
	if s.drafts != nil && rows <= s.drafts.Chunk {
		return s.drafts.Head
	}
	return npu.Fitting(s.programs, rows).Head
}

// End implements npu.Schedule.
func (s *loadedSchedule) End(context.Context) error { return nil }

// switchSchedule is the schedule of a prefill that changes from the graphs for prompts, large, to those for decoding, small.
type switchSchedule struct {
	d            *Device
	large, small *npu.Programs
	programs     *npu.Programs // large, with layers that follow the plan
	all          []*npu.Programs
	plan         plan.Plan
	pendingLoads []plan.Load // in the order of the plan, that have not begun
	stepsDone    int         // one for each layer and chunk
}

// begin plans the change and loads what the plan begins with, and the head.
func (c *switchSchedule) begin(ctx context.Context, p npu.Pass) error {
	problem := c.problem(p.Tokens, p.Longest)
	c.plan = problem.Plan(c.d.strategy)
	if c.keepsSmall(problem) {
		c.plan = plan.Plan{Switch: make([]int, len(problem.Blocks))}
	}
	c.pendingLoads = c.plan.Loads
	planned := *c.large
	planned.Layers = make([]npu.Program, len(c.large.Layers))
	for j, l := range c.large.Layers {
		planned.Layers[j] = &switchingLayer{l, c, j}
	}
	c.programs = &planned

	began := c.d.sim.Now()
	head := c.small.Head.Graph().Name
	c.d.sim.Preload(head, c.small.Chunk)
	c.d.sim.AwaitGraph(head)
	for j, first := range c.plan.Switch {
		if first > 0 {
			c.d.sim.Preload(c.graphName(j), c.large.Chunk)
			c.d.sim.AwaitGraph(c.graphName(j))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	c.d.sim.Opened(c.d.sim.Now() - began)
	return nil
}

// problem states what planning knows: each layer is a block, and takes as long as the chip's costs say for half the
// context.
func (c *switchSchedule) problem(tokens, context int) (p plan.Problem) {
	costs := c.d.sim.Costs()
	for j, l := range c.small.Layers {
		g := l.Graph()
		p.Blocks = append(p.Blocks, plan.Block{Load: costs.LoadTime(1, c.d.sim.Bytes(g)),
			Large: c.d.sim.Cost(c.large.Layers[j].Graph(), context/2).Time(), Small: c.d.sim.Cost(g, context/2).Time()})
	}
	p.Runs = runsPerChunk(tokens, c.large.Chunk, c.small.Chunk)
	return p
}

// runsPerChunk returns, for each large chunk of the tokens, how many runs on small chunks compute the same.
func runsPerChunk(tokens, large, small int) (runs []int) {
	for ; tokens > 0; tokens -= large {
		runs = append(runs, (min(tokens, large)+small-1)/small)
	}
	return runs
}

// keepsSmall reports whether the graphs for decoding, all of which are loaded, should compute the prompt too, because it
// is so short that loading the others takes longer.
func (c *switchSchedule) keepsSmall(p plan.Problem) bool {
	var stay, load time.Duration
	for j, b := range p.Blocks {
		if !c.d.sim.Loaded(c.graphName(j), c.small.Chunk) {
			return false
		}
		if !c.d.sim.Loaded(c.graphName(j), c.large.Chunk) {
			load += b.Load
		}
		for chunk := range p.Runs {
			stay += p.Small(j, chunk)
		}
	}
	return stay <= load+p.Simulate(c.plan).Total()
}

func (c *switchSchedule) graphName(layer int) string { return c.small.Layers[layer].Graph().Name }

// Next implements npu.Schedule.
func (c *switchSchedule) Next(int) *npu.Programs { return c.programs }

// Head implements npu.Schedule. It returns the head that is loaded for decoding, if that holds the rows.
func (c *switchSchedule) Head(rows int) npu.Program {
	if rows <= c.small.Chunk {
		return c.small.Head
	}
	return npu.Fitting(c.all, rows).Head
}

// switchingLayer is a layer of the pass: it runs on the graph that the plan says.
type switchingLayer struct {
	npu.Program // for prompts
	schedule    *switchSchedule
	layer       int
}

// Run implements npu.Program.
func (s *switchingLayer) Run(a npu.Args) error {
	c := s.schedule
	c.beginLoads()
	chunk := c.stepsDone / len(c.plan.Switch)
	c.stepsDone++
	if chunk < c.plan.Switch[s.layer] {
		return s.Program.Run(a)
	}
	width := len(a.X) / a.Rows
	for at := 0; at < a.Rows; at += c.small.Chunk {
		n := min(c.small.Chunk, a.Rows-at)
		x := a.X[at*width:][:n*width]
		part := npu.Args{Rows: n, X: x, Out: x, Positions: a.Positions[at:], KV: a.KV[at:]}
		if a.Adapters != nil {
			part.Adapters = a.Adapters[at:]
		}
		if err := c.small.Layers[s.layer].Run(part); err != nil {
			return err
		}
	}
	return nil
}

// beginLoads begins the loads whose steps are over.
func (c *switchSchedule) beginLoads() {
	for ; len(c.pendingLoads) > 0 && c.pendingLoads[0].After <= c.stepsDone; c.pendingLoads = c.pendingLoads[1:] {
		c.d.sim.Preload(c.graphName(c.pendingLoads[0].Block), c.small.Chunk)
	}
}

// End implements npu.Schedule. It waits for the last loads, so that decoding can begin.
func (c *switchSchedule) End(ctx context.Context) error {
	c.beginLoads()
	for j := range c.plan.Switch {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.d.sim.AwaitGraph(c.graphName(j))
	}
	return nil
}
