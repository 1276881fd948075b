package sim

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"tandem/npu"
)

// Options of a simulated device.
type Options struct {
	// Paced makes every run take as long as the phone's would, if the device beneath is faster. Otherwise
	// time is only counted (see Stats).
	Paced bool
	// Sleep waits; time.Sleep if nil.
	Sleep func(time.Duration)
	// Sessions of the NPU to spread weights over, as many as the chip has if 0.
	Sessions int
}

// Stats is what the simulated NPU did.
type Stats struct {
	Runs     int
	Switches int           // loads of graphs
	Busy     time.Duration // NPU and CPU in turns, and what was waited for
	NPU, CPU time.Duration // computing
	Loading  time.Duration // of graphs, beside computations too
	Waiting  time.Duration // for graphs, while nothing computed
	Staging  time.Duration // waiting for weights that others map and move (see Move)
	Late     time.Duration // paced: how far behind the phone, because the device beneath is slower
	Mapped   int64         // bytes of weights in the address space
	Joules   float64       // estimated, above idle: power × time, copies of weights included
}

// Sub returns what was done since an earlier reading; Mapped and Late stay.
func (s Stats) Sub(d Stats) Stats {
	s.Runs -= d.Runs
	s.Switches -= d.Switches
	s.Busy -= d.Busy
	s.NPU -= d.NPU
	s.CPU -= d.CPU
	s.Loading -= d.Loading
	s.Waiting -= d.Waiting
	s.Staging -= d.Staging
	s.Joules -= d.Joules
	return s
}

// Device computes on another device under an NPU's rules and clock:
//
//   - a graph's chunk is computed whole, however few of its rows are in use;
//   - of each block (graphs of one name) Costs.Resident chunk sizes are loaded at a time; another one is
//     loaded when it runs, or before if Preload says so, and takes the place of the one not used for longest;
//   - loads go one after the other, beside computations; a run waits for its graph;
//   - graphs without products are the host's, and nothing is loaded for them;
//   - weights that do not fit into the sessions' address windows are refused, when they are compiled or, where
//     others bring them (package memory), when they are mapped;
//   - what others map and move takes its time on one core, beside the NPU, which waits for what it reads;
//   - one run goes on at a time.
//
// It is also its own npu.Clock.
type Device struct {
	inner npu.Device
	costs Costs
	opt   Options

	mu     sync.Mutex // held while the NPU is busy
	blocks map[string]*block
	behind time.Duration // how far paced time lags behind the phone's

	beside sync.Mutex    // guards what follows, while the NPU is busy too
	stats  Stats         // Busy is the device's clock
	free   time.Duration // when the last load of a graph ends
	copies time.Duration // when the core that maps and copies is free
}

// block is what the device knows of the graphs of one name.
type block struct {
	bytes  int64
	host   bool    // it has no products
	loaded []graph // used last first
}

// graph is a block's graph that is loaded.
type graph struct {
	chunk int
	ready time.Duration // when it is there
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
	d.beside.Lock()
	defer d.beside.Unlock()
	s := d.stats
	s.Late = max(0, d.behind)
	return s
}

// LoadGraphs implements npu.Clock. Loads take time while the NPU computes other graphs.
func (d *Device) LoadGraphs(graphs []*npu.Graph) {
	var bytes int64
	for _, g := range graphs {
		bytes += d.costs.Bytes(g)
	}
	took := d.costs.LoadTime(1, bytes)
	d.beside.Lock()
	d.stats.Switches++
	d.stats.Loading += took
	d.stats.Joules += took.Seconds() * d.costs.CPUWatts
	d.beside.Unlock()
	if d.opt.Paced {
		d.opt.Sleep(took)
	}
}

// Close closes the device beneath.
func (d *Device) Close() error { return d.inner.Close() }

// WindowError says that weights do not fit into the NPU's address space.
type WindowError struct {
	SoC         string
	Need, Limit int64
}

func (e *WindowError) Error() string {
	const mb = 1 << 20
	return fmt.Sprintf("%s (simulated) maps at most %d MiB of weights, and %d MiB are wanted: take a smaller model or quantisation, or stage weights with --npu-memory",
		e.SoC, e.Limit/mb, (e.Need+mb-1)/mb)
}

// Traits implements npu.Device. A simulated NPU loads each layer as a graph, and has no preference for rows.
func (d *Device) Traits() npu.Traits {
	t := d.inner.Traits()
	t.LayersAtOnce, t.RowsAtOnce, t.Clock = 1, 0, d
	return t
}

// Compile refuses what cannot be mapped, and compiles the rest on the device beneath. Graphs of one name
// share their weights: they are counted once.
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
		if err := d.hold(b.bytes); err != nil {
			return nil, err
		}
		d.blocks[g.Name] = b
	}
	return &program{Program: p, dev: d, block: b, heads: attends(g)}, nil
}

// weights returns the bytes of a graph's products that the device keeps. Staged ones are others' to map.
func (d *Device) weights(g *npu.Graph) (bytes int64) {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Weight == nil || !n.Weight.Staged {
			_, b := d.costs.matrix(n)
			bytes += b
		}
	}
	return bytes
}

// onHost reports whether a graph has no products, staged or not.
func (d *Device) onHost(g *npu.Graph) bool {
	return !slices.ContainsFunc(g.Nodes, func(n npu.Node) bool { _, bytes := d.costs.matrix(&n); return bytes > 0 })
}

// hold takes bytes of the address windows.
func (d *Device) hold(bytes int64) error {
	d.beside.Lock()
	defer d.beside.Unlock()
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

// Run computes on the device beneath and charges, or takes, the phone's time. A run that fails has taken the
// time until then.
func (p *program) Run(a npu.Args) error {
	d := p.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	start, before := time.Now(), d.Now()
	r := d.begin(p, &a)
	if err := p.Program.Run(a); err != nil {
		return err
	}
	r.upTo(len(r.graph.Nodes))
	d.beside.Lock()
	d.stats.Runs++
	d.beside.Unlock()
	if d.opt.Paced {
		d.wait(d.Now()-before, time.Since(start))
	}
	return nil
}

// begin charges what a run takes before its first node, and lets its Stage, if it has one, tell how far it is.
func (d *Device) begin(p *program, a *npu.Args) *running {
	r := &running{Stage: a.Stage, dev: d, graph: p.Graph()}
	if p.heads {
		for _, at := range a.Positions[:a.Rows] {
			r.context = max(r.context, int(at)+1)
		}
	}
	if !a.Loaded { // else LoadGraphs has counted it
		if d.load(p.block, r.graph.Chunk); !p.block.host {
			d.await(p.block.loaded[0].ready)
		}
	}
	d.pass(Cost{NPU: d.costs.calls(r.graph)})
	if a.Stage != nil {
		a.Stage = r
	}
	return r
}

// load begins to load the block's graph for chunks of so many rows, behind the loads that go on, unless it is there.
func (d *Device) load(b *block, chunk int) {
	d.beside.Lock()
	defer d.beside.Unlock()
	if b.host || !b.use(chunk, d.costs.Resident) {
		return
	}
	took := d.costs.LoadTime(1, b.bytes)
	d.free = max(d.free, d.stats.Busy) + took
	b.loaded[0].ready = d.free
	d.stats.Switches++
	d.stats.Loading += took
	d.stats.Joules += took.Seconds() * d.costs.CPUWatts
}

// await lets the time pass until then, and returns how much that is.
func (d *Device) await(then time.Duration) time.Duration {
	d.beside.Lock()
	defer d.beside.Unlock()
	wait := max(0, then-d.stats.Busy)
	d.stats.Busy += wait
	d.stats.Waiting += wait
	return wait
}

// Preload begins to load the graph of that name for chunks of so many rows, beside what the NPU computes: from
// now on the block's other graphs have to make room for it. Runs on it wait until it is there.
func (d *Device) Preload(name string, chunk int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b := d.blocks[name]; b != nil {
		d.load(b, chunk)
	}
}

// Loaded reports whether the graph is loaded, or on its way.
func (d *Device) Loaded(name string, chunk int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.blocks[name]
	return b != nil && (b.host || slices.ContainsFunc(b.loaded, func(g graph) bool { return g.chunk == chunk }))
}

// AwaitGraph waits until the graph of that name which was asked for last is there.
func (d *Device) AwaitGraph(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.blocks[name]
	if b == nil || len(b.loaded) == 0 {
		return
	}
	if took := d.await(b.loaded[0].ready); took > 0 && d.opt.Paced {
		d.wait(took, 0)
	}
}

// pass lets the NPU and the CPU work.
func (d *Device) pass(c Cost) {
	d.beside.Lock()
	defer d.beside.Unlock()
	d.stats.NPU += c.NPU
	d.stats.CPU += c.CPU
	d.stats.Busy += c.Time()
	d.stats.Joules += c.Joules(d.costs)
}

// running is a run as far as it has come. As its Stage it stands before the caller's, so that weights which
// are brought meanwhile find the clock where the node is.
type running struct {
	npu.Stage
	dev     *Device
	graph   *npu.Graph
	context int
	next    int // the node to be charged next
}

// Enter implements npu.Stage.
func (r *running) Enter(node int) error {
	r.upTo(node)
	return r.Stage.Enter(node)
}

// Leave implements npu.Stage.
func (r *running) Leave(node int) {
	r.upTo(node + 1)
	r.Stage.Leave(node)
}

// upTo charges the nodes before the given one.
func (r *running) upTo(node int) {
	for ; r.next < node; r.next++ {
		r.dev.pass(r.dev.costs.node(r.graph, &r.graph.Nodes[r.next], r.context))
	}
}

// use makes the chunk size the one used last, and reports whether it had to be loaded.
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

// wait lets the rest of took pass, of which spent has. What one run takes too long, because sleeps are
// inexact or the device beneath is slow, the next ones take less.
func (d *Device) wait(took, spent time.Duration) {
	if d.behind += spent - took; d.behind < 0 {
		before := time.Now()
		d.opt.Sleep(-d.behind)
		d.behind += time.Since(before)
	}
}
