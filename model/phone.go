package model

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem/npu"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

// simulated lets the device behave like the chip's NPU and take its time. It closes the device on failure.
func simulated(d npu.Device, chip string, s plan.Strategy) (npu.Device, *sim.Device, error) {
	costs, err := sim.Find(chip)
	if err != nil {
		d.Close()
		return nil, nil, err
	}
	if s == plan.Resident {
		costs.Resident = len(chunkSizes)
	}
	phone := sim.Wrap(d, costs, sim.Options{Paced: true})
	return phone, phone, nil
}

// switching says how a phone with this memory changes its graphs. Staged weights are no part of a graph, so there
// is next to nothing to load, and no plan for it.
func (o Options) switching() (plan.Strategy, error) {
	if o.Switching == "" {
		return plan.Progressive, nil
	}
	s, err := plan.ParseStrategy(o.Switching)
	switch {
	case err != nil:
		return s, err
	case s == plan.Optimal:
		return s, fmt.Errorf("strategy %v: it may search for hours: want one of %v", s, plan.Strategies)
	case o.Phone == "" || o.Memory > 0:
		return s, fmt.Errorf("graphs switched by the strategy %v: want a simulated phone, and no bound of the memory for weights", s)
	}
	return s, nil
}

// Phone returns what the simulated NPU did since the model was opened; ok is false where none is simulated.
func (m *Model) Phone() (s sim.Stats, ok bool) {
	if m.phone == nil {
		return s, false
	}
	return m.phone.Stats(), true
}

// Switching names the strategy by which a simulated phone changes its graphs; it is empty where nothing is planned.
func (m *Model) Switching() string {
	if m.phone == nil || m.staged() {
		return ""
	}
	return m.strategy.String()
}

// worthwhile leaves out programs that cost about as much as those for more rows: an NPU computes whole tiles, and
// every size that is used is one more graph to load.
func worthwhile(programs []chunkPrograms, c sim.Costs) []chunkPrograms {
	const context = 128 // positions, of short prompts
	cost := func(p chunkPrograms) (sum time.Duration) {
		for _, l := range p.layers {
			sum += c.Graph(l.Graph(), context).Time()
		}
		return sum
	}
	out := programs[len(programs)-1:]
	for _, p := range slices.Backward(programs[:len(programs)-1]) {
		if 11*cost(p) < 10*cost(out[0]) {
			out = append([]chunkPrograms{p}, out...)
		}
	}
	return out
}

// Prefill is ForwardInto for prompts behind which the rows are decoded, a token of each at a time. A simulated phone
// changes from the graphs for prompts to those for decoding on the way, as planned (CoordGen §3.2): each is loaded
// while other blocks compute. What is computed is the same to the bit.
func (m *Model) Prefill(ctx context.Context, rows []Input, into *Logits) ([][]float32, error) {
	return m.forward(ctx, rows, into, true)
}

// change is one prefill's change of graphs.
type change struct {
	m            *Model
	large, small *chunkPrograms
	plan         plan.Plan
	loads        []plan.Load // that are still to begin
	steps        int         // that are over: one for each layer and chunk
}

// change plans the change for a prefill; nil where there is none to plan.
func (m *Model) change(rows []Input, tokens int) *change {
	if m.phone == nil || m.staged() || slices.ContainsFunc(rows, func(r Input) bool { return r.Parents != nil }) {
		return nil
	}
	c := &change{m: m, large: m.program(tokens), small: m.program(len(rows))}
	if c.large == c.small {
		return nil
	}
	longest := slices.MaxFunc(rows, func(a, b Input) int { return a.Seq.n + len(a.Tokens) - b.Seq.n - len(b.Tokens) })
	p := c.problem(tokens, longest.Seq.n+len(longest.Tokens))
	c.plan = p.Plan(m.strategy)
	if c.stays(p) {
		c.plan = plan.Plan{Switch: make([]int, len(p.Blocks))}
	}
	c.loads = c.plan.Loads
	return c
}

// loaded returns the programs to take so many tokens through: those of p, or for fewer rows those that are loaded,
// several times, if that takes less than loading p's.
func (m *Model) loaded(p *chunkPrograms, tokens int) *chunkPrograms {
	if m.staged() {
		return p
	}
	for i := range m.programs {
		if c := (&change{m: m, large: p, small: &m.programs[i]}); c.small.chunk < p.chunk {
			problem := c.problem(tokens, tokens)
			c.plan = problem.Plan(plan.Resident)
			if c.stays(problem) {
				return c.small
			}
		}
	}
	return p
}

// problem is what planning knows: each layer is a block, and costs what the chip's costs say for half the context.
func (c *change) problem(tokens, context int) (p plan.Problem) {
	costs := c.m.phone.Costs()
	for j, l := range c.small.layers {
		g := l.Graph()
		p.Blocks = append(p.Blocks, plan.Block{Load: costs.LoadTime(1, costs.Bytes(g)),
			Large: costs.Graph(c.large.layers[j].Graph(), context/2).Time(), Small: costs.Graph(g, context/2).Time()})
	}
	for ; tokens > 0; tokens -= c.large.chunk {
		p.Runs = append(p.Runs, (min(tokens, c.large.chunk)+c.small.chunk-1)/c.small.chunk)
	}
	return p
}

// stays reports whether the graphs for decoding, which are all loaded, had better compute the prompt too: it is so
// short that loading the others takes longer.
func (c *change) stays(p plan.Problem) bool {
	var stay, load time.Duration
	for j, b := range p.Blocks {
		if !c.m.phone.Loaded(c.name(j), c.small.chunk) {
			return false
		}
		if !c.m.phone.Loaded(c.name(j), c.large.chunk) {
			load += b.Load
		}
		for chunk := range p.Runs {
			stay += p.Compute(j, chunk, true)
		}
	}
	return stay <= load+p.Simulate(c.plan).Total()
}

func (c *change) name(layer int) string { return c.small.layers[layer].Graph().Name }

// begin loads what the plan begins with, and the head. Without a change it does nothing.
func (c *change) begin(ctx context.Context) error {
	if c == nil {
		return nil
	}
	head := c.small.head.Graph().Name
	c.m.phone.Preload(head, c.small.chunk)
	c.m.phone.AwaitGraph(head)
	for j, first := range c.plan.Switch {
		if first > 0 {
			c.m.phone.Preload(c.name(j), c.large.chunk)
			c.m.phone.AwaitGraph(c.name(j))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// run takes a chunk's rows through a layer, on the graph that the plan says. Without a change that is l.
func (c *change) run(l npu.Program, layer int, a npu.Args) error {
	if c == nil {
		return l.Run(a)
	}
	c.load()
	chunk := c.steps / len(c.plan.Switch)
	c.steps++
	if chunk < c.plan.Switch[layer] {
		return l.Run(a)
	}
	width := len(a.X) / a.Rows
	for at := 0; at < a.Rows; at += c.small.chunk {
		n := min(c.small.chunk, a.Rows-at)
		x := a.X[at*width:][:n*width]
		if err := c.small.layers[layer].Run(npu.Args{Rows: n, X: x, Out: x, Positions: a.Positions[at:], KV: a.KV[at:]}); err != nil {
			return err
		}
	}
	return nil
}

// load begins the loads that wait for no step more.
func (c *change) load() {
	for ; len(c.loads) > 0 && c.loads[0].After <= c.steps; c.loads = c.loads[1:] {
		c.m.phone.Preload(c.name(c.loads[0].Block), c.small.chunk)
	}
}

// head is the head for k rows: the one that is loaded for decoding, if it holds them.
func (c *change) head(p *chunkPrograms, k int) npu.Program {
	if c != nil && k <= c.small.chunk {
		return c.small.head
	}
	return p.head
}

// end waits for the last loads: decoding may begin. Without a change it does nothing.
func (c *change) end(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.load()
	for j := range c.plan.Switch {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.m.phone.AwaitGraph(c.name(j))
	}
	return nil
}
