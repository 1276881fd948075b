package sim

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"tandem/npu"
)

// Options say how a simulated device behaves.
type Options struct {
	// Paced makes every run take as long as on the phone, if the inner device is faster. Otherwise time is only
	// counted (see Stats).
	Paced bool
	// Sleep waits; time.Sleep if nil.
	Sleep func(time.Duration)
	// Sessions is the number of the NPU's sessions to spread weights over; 0 for all that the chip has.
	Sessions int
	// StandIn is the model whose costs are charged instead of those of the model that runs; nil for its own. Its weights cannot
	// be staged.
	StandIn *StandIn
}

// Stats is what the simulated NPU did.
type Stats struct {
	Runs      int
	Switches  int           // loads of graphs
	Busy      time.Duration // computing, NPU and CPU in turns, and waiting
	NPU, CPU  time.Duration // computing; CPU holds what the second path takes, at the same time as the NPU (see npu.Traits)
	Transient time.Duration // of CPU: graphs that are made for one text
	Loading   time.Duration // of graphs, also while something computes
	Waiting   time.Duration // for graphs, while nothing computed
	Opening   time.Duration // of Waiting: for the graphs that a prompt begins with, which decoding before it had replaced
	Staging   time.Duration // waiting for weights that are mapped and moved (see npu.Clock)
	Late      time.Duration // if paced: how far behind the phone, because the inner device is slower
	Mapped    int64         // bytes of weights in the address space
	Joules    float64       // estimated, above idle: power × time, including copies of weights
	Graphs    []GraphRows   // of the layers, by rows; not to be changed
}

// GraphRows says how full the graphs of one size were (sd.npu §3.2).
type GraphRows struct {
	Size   int // rows of the graph
	Runs   int // of layers
	Rows   int // that held a token, of Runs × Size
	Prompt int // of Rows, those of prompts
}

// fill counts a run of a layer's graph.
func (s *Stats) fill(size, rows int, prompt bool) {
	i, ok := slices.BinarySearchFunc(s.Graphs, size, func(g GraphRows, size int) int { return g.Size - size })
	if !ok {
		s.Graphs = slices.Insert(s.Graphs, i, GraphRows{Size: size})
	}
	g := &s.Graphs[i]
	if g.Runs, g.Rows = g.Runs+1, g.Rows+rows; prompt {
		g.Prompt += rows
	}
}

// Sub returns what was done since an earlier reading. Mapped and Late stay as they are.
func (s Stats) Sub(d Stats) Stats {
	s.Runs -= d.Runs
	s.Switches -= d.Switches
	s.Busy -= d.Busy
	s.NPU -= d.NPU
	s.CPU -= d.CPU
	s.Transient -= d.Transient
	s.Loading -= d.Loading
	s.Waiting -= d.Waiting
	s.Opening -= d.Opening
	s.Staging -= d.Staging
	s.Joules -= d.Joules
	s.Graphs = slices.Clone(s.Graphs)
	for _, g := range d.Graphs {
		if i := slices.IndexFunc(s.Graphs, func(x GraphRows) bool { return x.Size == g.Size }); i >= 0 {
			x := &s.Graphs[i]
			x.Runs, x.Rows, x.Prompt = x.Runs-g.Runs, x.Rows-g.Rows, x.Prompt-g.Prompt
		}
	}
	s.Graphs = slices.DeleteFunc(s.Graphs, func(g GraphRows) bool { return g.Runs == 0 })
	return s
}

// Device computes on another device under an NPU's rules and clock:
//
//   - It computes all rows of a graph's chunk, in use or not.
//   - Of each block (graphs of one name) Costs.Resident chunk sizes are loaded at a time. Another one is loaded when it
//     runs, or earlier by Preload, replacing the least recently used one.
//   - Loads go one after the other, while something else computes. A run waits for its graph.
//   - Graphs without products, and those that are made for one text, run on the host. Nothing is loaded for them.
//   - Weights that do not fit into the sessions' address windows are refused: when they are compiled, or when they are
//     mapped if they are staged (package memory).
//   - One core maps and moves staged weights while the NPU computes. The NPU waits for what it reads.
//   - All experts of a mixture are mapped. A run computes and reads those that its rows can use, spread evenly over them.
//   - Factors of adapters take a product for each adapter among a run's rows.
//   - One run is active at a time, and one of the second path on the phone's processor.
//
// Device is its own npu.Clock.
type Device struct {
	inner npu.Device
	costs Costs
	opt   Options

	mu     sync.Mutex // held while the NPU is busy
	blocks map[string]*block
	pace   pace

	statsMu   sync.Mutex    // guards what follows, which others change while the NPU is busy
	stats     Stats         // Busy is the device's clock
	prompt    bool          // what runs is a prompt's
	loadsEnd  time.Duration // when the last load of a graph ends
	copiesEnd time.Duration // when the core that maps and copies is free
}

// block is the graphs of one name.
type block struct {
	bytes  int64
	host   bool    // it has no products
	loaded []graph // most recently used first
}

// graph is a loaded graph of a block.
type graph struct {
	chunk int
	ready time.Duration // when the load ends
}

// Wrap returns a device that computes on inner and behaves like the chip. Closing it closes inner.
func Wrap(inner npu.Device, c Costs, opt Options) *Device {
	if opt.Sleep == nil {
		opt.Sleep = time.Sleep
	}
	if opt.Sessions <= 0 || opt.Sessions > c.Sessions {
		opt.Sessions = c.Sessions
	}
	return &Device{inner: inner, costs: c, opt: opt, blocks: map[string]*block{}}
}

// Name says that the device is simulated.
func (d *Device) Name() string {
	return fmt.Sprintf("simulated %s/%s on %s", d.costs.SoC, d.costs.Stack, d.inner.Name())
}

// Costs returns the chip's costs.
func (d *Device) Costs() Costs { return d.costs }

// Stats returns what was done so far.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	s := d.stats
	s.Late = max(0, d.pace.behind)
	s.Graphs = slices.Clone(d.stats.Graphs)
	return s
}

// SetPrompt says whether the rows from now on are a prompt's (GraphRows.Prompt).
func (d *Device) SetPrompt(on bool) {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	d.prompt = on
}

// LoadGraphs implements npu.Clock. Loads take time while the NPU computes other graphs.
func (d *Device) LoadGraphs(graphs []*npu.Graph) {
	var bytes int64
	for _, g := range graphs {
		bytes += d.costs.Bytes(g)
	}
	took := d.costs.LoadTime(1, bytes)
	d.statsMu.Lock()
	d.stats.Switches++
	d.stats.Loading += took
	d.stats.Joules += took.Seconds() * d.costs.CPUWatts
	d.statsMu.Unlock()
	if d.opt.Paced {
		d.opt.Sleep(took)
	}
}

// Close closes the inner device.
func (d *Device) Close() error { return d.inner.Close() }

// WindowError says that weights do not fit into the NPU's address space.
type WindowError struct {
	SoC         string
	Need, Limit int64
}

func (e *WindowError) Error() string {
	const mb = 1 << 20
	return fmt.Sprintf("%s (simulated) maps at most %d MiB of weights, but %d MiB are needed: use a smaller model or quantisation, or stage weights with --npu-memory",
		e.SoC, e.Limit/mb, (e.Need+mb-1)/mb)
}

// Traits implements npu.Device. A simulated NPU loads each layer as a graph, and has no preference for rows. The second device is
// the phone's processor.
func (d *Device) Traits() npu.Traits {
	t := d.inner.Traits()
	t.LayersAtOnce, t.RowsAtOnce, t.Clock = 1, 0, d
	if second := t.Second; second != nil {
		t.Second = func() npu.Device { return &processor{Device: second(), phone: d} }
	}
	return t
}

// Compile implements npu.Device. It refuses weights that cannot be mapped. Graphs of one name share their weights, which
// are counted once.
func (d *Device) Compile(g *npu.Graph) (npu.Program, error) {
	p, err := d.inner.Compile(g)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.blocks[g.Name]
	if b == nil {
		b = &block{bytes: d.weights(g), host: d.onHost(g)}
		if err := d.takeAddresses(b.bytes); err != nil {
			return nil, err
		}
		d.blocks[g.Name] = b
	}
	return &program{Program: p, dev: d, block: b, heads: attends(g)}, nil
}

// weights returns the bytes of a graph's products that the device keeps. Code that stages the others maps them.
func (d *Device) weights(g *npu.Graph) (bytes int64) {
	switch {
	case g.Transient:
		return 0
	case d.opt.StandIn != nil:
		return d.Bytes(g)
	}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Weight == nil || !n.Weight.Staged {
			bytes += d.costs.bytes(n)
		}
	}
	return bytes
}

// onHost reports whether a graph has no products, staged or not, or is made for one text.
func (d *Device) onHost(g *npu.Graph) bool {
	return g.Transient || !slices.ContainsFunc(g.Nodes, func(n npu.Node) bool { return d.costs.bytes(&n) > 0 })
}

// takeAddresses takes bytes out of the address windows.
func (d *Device) takeAddresses(bytes int64) error {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	if limit := d.costs.Window * int64(d.opt.Sessions); d.stats.Mapped+bytes > limit {
		return &WindowError{d.costs.SoC, d.stats.Mapped + bytes, limit}
	}
	d.stats.Mapped += bytes
	return nil
}

func attends(g *npu.Graph) bool {
	for i := range g.Nodes {
		if g.Nodes[i].Op == npu.OpAttention {
			return true
		}
	}
	return false
}

type program struct {
	npu.Program
	dev   *Device
	block *block
	heads bool
}

// Run computes on the inner device and charges the phone's time, or takes it if paced. A run that fails is charged
// until it fails.
func (p *program) Run(a npu.Args) error {
	d := p.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	start, before := time.Now(), d.Now()
	r := d.begin(p, &a)
	if err := p.Program.Run(a); err != nil {
		return err
	}
	r.chargeUpTo(len(r.graph.Nodes))
	d.statsMu.Lock()
	d.stats.Runs++
	if p.heads {
		d.stats.fill(r.graph.Chunk, a.Rows, d.prompt)
	}
	d.statsMu.Unlock()
	if d.opt.Paced {
		d.pace.wait(d.opt.Sleep, d.Now()-before, time.Since(start))
	}
	return nil
}

// begin charges what a run takes before its first node. If the run has a Stage, its calls tell how far the run is.
func (d *Device) begin(p *program, a *npu.Args) *runCharger {
	r := &runCharger{Stage: a.Stage, dev: d, graph: p.Graph(), adapters: countAdapters(a)}
	if p.heads {
		for _, at := range a.Positions[:a.Rows] {
			r.context = max(r.context, int(at)+1)
		}
	}
	if !a.Loaded { // else LoadGraphs has charged it
		if d.load(p.block, r.graph.Chunk); !p.block.host {
			d.await(p.block.loaded[0].ready)
		}
	}
	if d.opt.StandIn == nil && !r.graph.Transient {
		d.charge(Cost{NPU: d.costs.calls(r.graph)})
	}
	if a.Stage != nil {
		a.Stage = r
	}
	return r
}

// load begins to load the block's graph for the chunk size after the loads that go on, unless it is loaded.
func (d *Device) load(b *block, chunk int) {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	if b.host || !b.use(chunk, d.costs.Resident) {
		return
	}
	took := d.costs.LoadTime(1, b.bytes)
	d.loadsEnd = max(d.loadsEnd, d.stats.Busy) + took
	b.loaded[0].ready = d.loadsEnd
	d.stats.Switches++
	d.stats.Loading += took
	d.stats.Joules += took.Seconds() * d.costs.CPUWatts
}

// await lets time pass until then, and returns how much.
func (d *Device) await(then time.Duration) time.Duration {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	wait := max(0, then-d.stats.Busy)
	d.stats.Busy += wait
	d.stats.Waiting += wait
	return wait
}

// Preload begins to load the graph of that name for a chunk size while the NPU computes. The block's other graphs make
// room for it at once. Runs on it wait until it is loaded.
func (d *Device) Preload(name string, chunk int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b := d.blocks[name]; b != nil {
		d.load(b, chunk)
	}
}

// Loaded reports whether the graph is loaded or being loaded.
func (d *Device) Loaded(name string, chunk int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.blocks[name]
	return b != nil && (b.host || slices.ContainsFunc(b.loaded, func(g graph) bool { return g.chunk == chunk }))
}

// Opened counts waiting as that for the graphs that a prompt begins with.
func (d *Device) Opened(waited time.Duration) {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	d.stats.Opening += waited
}

// AwaitGraph waits until the graph of that name that was used or preloaded last is loaded.
func (d *Device) AwaitGraph(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.blocks[name]
	if b == nil || len(b.loaded) == 0 {
		return
	}
	if took := d.await(b.loaded[0].ready); took > 0 && d.opt.Paced {
		d.pace.wait(d.opt.Sleep, took, 0)
	}
}

// charge adds what the NPU and the CPU take to the clock.
func (d *Device) charge(c Cost) {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	d.stats.NPU += c.NPU
	d.stats.CPU += c.CPU
	d.stats.Busy += c.Time()
	d.stats.Joules += c.Joules(d.costs)
}

// A runCharger charges the costs of a run in progress. Its Stage methods charge the nodes so far before they call the caller's Stage, so that
// the clock shows when a node needs its weights.
type runCharger struct {
	npu.Stage
	dev      *Device
	graph    *npu.Graph
	context  int
	adapters int // adapters among the rows, at least 1
	next     int // the node to be charged next
}

// Enter implements npu.Stage.
func (r *runCharger) Enter(node int) error {
	r.chargeUpTo(node)
	return r.Stage.Enter(node)
}

// Leave implements npu.Stage.
func (r *runCharger) Leave(node int) {
	r.chargeUpTo(node + 1)
	r.Stage.Leave(node)
}

// chargeUpTo charges the nodes before the given one.
func (r *runCharger) chargeUpTo(node int) {
	if r.dev.opt.StandIn != nil || r.graph.Transient {
		if r.next < len(r.graph.Nodes) && node > 0 {
			r.next = len(r.graph.Nodes)
			c := r.dev.Cost(r.graph, r.context)
			if r.dev.charge(c); r.graph.Transient {
				r.dev.statsMu.Lock()
				r.dev.stats.Transient += c.CPU
				r.dev.statsMu.Unlock()
			}
		}
		return
	}
	for ; r.next < node; r.next++ {
		n := &r.graph.Nodes[r.next]
		c := r.dev.costs.node(r.graph, n, r.context)
		if n.Op == npu.OpFactor { // a product for each adapter, of all rows
			c.NPU, c.Weights = c.NPU*time.Duration(r.adapters), c.Weights*int64(r.adapters)
		}
		r.dev.charge(c)
	}
}

// countAdapters counts the adapters among the rows of a run. A graph computes its factors even if there are none.
func countAdapters(a *npu.Args) int {
	seen := map[*npu.Adapter]bool{}
	for row := range a.Rows {
		if adapter := a.Adapter(row); adapter != nil {
			seen[adapter] = true
		}
	}
	return max(1, len(seen))
}

// use marks the chunk size as used last, and reports whether it must be loaded.
func (b *block) use(chunk, resident int) (loads bool) {
	for i, g := range b.loaded {
		if g.chunk == chunk {
			copy(b.loaded[1:i+1], b.loaded[:i])
			b.loaded[0] = g
			return false
		}
	}
	b.loaded = append([]graph{{chunk: chunk}}, b.loaded[:min(len(b.loaded), resident-1)]...)
	return true
}

// pace makes runs take as long as on the phone.
type pace struct {
	behind time.Duration // how far this machine lags behind the phone
}

// wait sleeps for the rest of took, of which spent has passed. If a run takes too long, because sleeps are inexact or
// the inner device is slow, the next runs take less.
func (p *pace) wait(sleep func(time.Duration), took, spent time.Duration) {
	if p.behind += spent - took; p.behind < 0 {
		before := time.Now()
		sleep(-p.behind)
		p.behind += time.Since(before)
	}
}
