package memory

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"tandem/npu"
)

// Options say how a Device manages memory.
type Options struct {
	Budget int64  // bytes that may be mapped for weights, including the slots
	Source Source // where to read weights from; nil for their files
	Caches bool   // the budget holds the KV caches of the sequences and the activations, too; weights have the rest
	Paging bool   // plain paging (LRU) instead of placement and staging: the baseline
	// Piece bounds what is staged at once, in bytes; larger matrices go in pieces of whole rows. 0 for an eighth of
	// the budget.
	Piece int64
	Costs Costs // of transfers, for the placement; zero to measure them in the first steps

	// Map and Unmap make and free mappings; nil for anonymous memory. Tests let them fail.
	Map   func(bytes int) ([]byte, error)
	Unmap func([]byte) error
}

// Device runs another device's programs with their weights in an arena of bounded size. Programs compiled on it run
// one at a time, as on an NPU. Their results are those of the other device, bit for bit.
//
// A run fails if weights cannot be brought. If the inner device reports npu.ErrLost, Device maps and loads everything
// again and repeats the run once, which writes the same keys and values again.
//
// It is made of three parts: weights cuts matrices into objects, arena holds the mappings, and stager moves objects
// into the arena. Device places the objects and runs the programs.
type Device struct {
	inner npu.Device
	opt   Options

	run             sync.Mutex // held by the run that uses the device; guards what follows
	weights         weights
	programs        []weak.Pointer[program] // in the order of compilation; weak, because the programs of an adapter may go
	programsFreed   *atomic.Bool            // some have been freed since the last run
	stager          *stager
	caches          caches
	savedInput      []float32 // input of a run whose result goes to the same place
	laidOut         bool      // the arena fits the objects
	placedByProfile bool      // the placement follows the profile
	closed          bool
}

// New wraps a device. Closing it closes the inner device.
func New(inner npu.Device, opt Options) (*Device, error) {
	if opt.Budget <= 0 {
		return nil, fmt.Errorf("a budget of %d bytes for weights: use more than 0", opt.Budget)
	}
	if opt.Source == nil {
		opt.Source = files{}
	}
	if opt.Piece <= 0 {
		opt.Piece = opt.Budget / 8
	}
	if opt.Map == nil {
		opt.Map, opt.Unmap = mapMemory, unmapMemory
	}
	traits := inner.Traits()
	d := &Device{inner: inner, opt: opt, weights: weights{piece: opt.Piece, packer: traits.Packer, objectsByTensor: map[*npu.Tensor][]int{}},
		programsFreed: new(atomic.Bool), caches: caches{spansByCache: map[weak.Pointer[npu.KV]][]spanBytes{}}}
	d.stager = newStager(&d.weights, clock{traits.Clock, time.Now()}, opt)
	return d, nil
}

// Name implements npu.Device.
func (d *Device) Name() string {
	how := "weights staged"
	if d.opt.Paging {
		how = "weights paged"
	}
	return fmt.Sprintf("%s, %s within %d MB", d.inner.Name(), how, d.opt.Budget>>20)
}

// Traits implements npu.Device. Each layer is a program. Device packs weights and tells the clock itself.
func (d *Device) Traits() npu.Traits {
	t := d.inner.Traits()
	t.LayersAtOnce, t.RowsAtOnce, t.Packer, t.Clock, t.Second = 1, 0, nil, nil, nil // staged weights are in place for one run
	return t
}

// program is a staged copy of a graph on the inner device.
type program struct {
	dev     *Device
	graph   *npu.Graph // as it was given
	staged  *npu.Graph // with places for weights
	inner   npu.Program
	objects []int // that each node of the copy reads, −1 for none
}

// Compile implements npu.Device. It stages the graph's matrices, unless it is made for one text, and compiles the graph on the
// inner device.
func (d *Device) Compile(g *npu.Graph) (npu.Program, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if g.HasExperts() {
		return nil, fmt.Errorf("graph %s: the weights of a mixture of experts cannot be staged: leave out --npu-memory, or use a dense model", g.Name)
	}
	d.run.Lock()
	defer d.run.Unlock()
	p := &program{dev: d, graph: g}
	if g.Transient { // the host computes it, with weights that are gone when it is
		if err := p.compile(g, nil); err != nil {
			return nil, err
		}
		return p, nil
	}
	staged, objects, added := d.stager.stage(g)
	if added {
		d.laidOut = false
	}
	if err := p.compile(staged, objects); err != nil {
		return nil, err
	}
	d.programs = append(d.programs, weak.Make(p))
	runtime.AddCleanup(p, func(gone *atomic.Bool) { gone.Store(true) }, d.programsFreed)
	d.caches.addGraph(g)
	return p, nil
}

// compile compiles a staged graph on the inner device. Places are empty between runs, but compilers check sizes.
func (p *program) compile(g *npu.Graph, objects []int) (err error) {
	for _, id := range objects {
		if id >= 0 {
			o := p.dev.weights.objects[id]
			o.place.Data = o.source.Data[o.off:][:o.bytes()]
			defer func() { o.place.Data = nil }()
		}
	}
	if p.inner, err = p.dev.inner.Compile(g); err == nil {
		p.staged, p.objects = g, objects
	}
	return err
}

// Graph implements npu.Program.
func (p *program) Graph() *npu.Graph { return p.graph }

// Run implements npu.Program. It waits for the device, and brings weights when the inner program comes to them.
func (p *program) Run(a npu.Args) error {
	d := p.dev
	d.run.Lock()
	defer d.run.Unlock()
	if err := d.reserve(&a); err != nil {
		return fmt.Errorf("program %s: %w", p.graph.Name, err)
	}
	if d.programsFreed.Swap(false) && slices.Contains(d.objectsRead(d.livePrograms()), false) {
		d.freeArena() // weights that nobody reads any more take part of the budget
	}
	d.placeByProfile()
	err := d.layOut()
	if err != nil && d.shrinkReserve() {
		err = d.layOut()
	}
	if err != nil {
		return fmt.Errorf("program %s: %w", p.graph.Name, d.caches.explain(err))
	}
	d.stager.begin()
	a.Stage = p
	if len(a.X) > 0 && len(a.Out) > 0 && &a.X[0] == &a.Out[0] {
		d.savedInput = append(d.savedInput[:0], a.X...) // the result may overwrite it before the device is lost
	}
	err = p.inner.Run(a)
	if errors.Is(err, npu.ErrLost) {
		if e := d.restart(); e != nil {
			return fmt.Errorf("program %s: %w; then: %w", p.graph.Name, err, e)
		}
		if len(d.savedInput) > 0 && len(a.X) > 0 {
			copy(a.X, d.savedInput)
		}
		err = p.inner.Run(a)
	}
	d.savedInput = d.savedInput[:0]
	d.stager.end()
	return err
}

// Enter implements npu.Stage.
func (p *program) Enter(node int) error {
	if node >= len(p.objects) || p.objects[node] < 0 {
		return nil
	}
	return p.dev.stager.acquire(p.objects[node])
}

// Leave implements npu.Stage.
func (p *program) Leave(node int) {
	if node < len(p.objects) && p.objects[node] >= 0 {
		p.dev.stager.release(p.objects[node])
	}
}

// layOut maps the arena if objects were added since the last time.
func (d *Device) layOut() error {
	if d.closed {
		return errors.New("the device is closed")
	}
	if d.laidOut {
		return nil
	}
	d.freeArena()
	d.dropUnread()
	sizes := d.weights.sizes()
	if d.opt.Paging {
		d.stager.use(NewLRU(func(o int) int64 { return sizes[o] }, d.opt.Budget-d.caches.reserved))
		d.laidOut = true
		return nil
	}
	uses, p, err := d.place(sizes)
	if err != nil {
		return err
	}
	if err := d.useOrder(uses); err != nil {
		return err
	}
	if err := d.stager.usePlacement(p, sizes); err != nil {
		d.freeArena()
		return err
	}
	d.laidOut = true
	return nil
}

// livePrograms returns the programs that somebody refers to.
func (d *Device) livePrograms() (programs []*program) {
	d.programs = slices.DeleteFunc(d.programs, func(w weak.Pointer[program]) bool {
		p := w.Value()
		if p != nil {
			programs = append(programs, p)
		}
		return p == nil
	})
	return programs
}

// objectsRead returns for each object whether one of the programs reads it.
func (d *Device) objectsRead(programs []*program) []bool {
	read := make([]bool, len(d.weights.objects))
	for _, p := range programs {
		for _, id := range p.objects {
			if id >= 0 {
				read[id] = true
			}
		}
	}
	return read
}

// dropUnread drops programs that nothing refers to any more, and the objects that they alone read. The arena must be clear.
func (d *Device) dropUnread() {
	programs := d.livePrograms() // which stay until their objects are renumbered
	read := d.objectsRead(programs)
	if !slices.Contains(read, false) {
		return
	}
	renumbered := d.stager.keep(read)
	for _, p := range programs {
		for node, id := range p.objects {
			if id >= 0 {
				p.objects[node] = renumbered[id]
			}
		}
	}
}

// freeArena frees the arena. The next run lays it out again.
func (d *Device) freeArena() {
	d.stager.clear()
	d.laidOut = false
}

// place places the weights by what is known of their use.
func (d *Device) place(sizes []int64) ([]Use, Placement, error) {
	uses, costs := d.stager.uses(sizes), d.costs()
	for i := range uses {
		uses[i].Group = d.weights.objects[uses[i].Object].group
	}
	p, err := Place(sizes, uses, costs, d.opt.Budget-d.caches.reserved)
	if err == nil && len(p.Temporary) > 0 {
		uses, p = Reorder(sizes, uses, p, costs)
	}
	return uses, p, err
}

// costs returns the costs of the options, or else those of the transfers so far.
func (d *Device) costs() Costs {
	if d.opt.Costs != (Costs{}) {
		return d.opt.Costs
	}
	return d.stager.costs()
}

// useOrder lets programs use objects in the placement's order.
func (d *Device) useOrder(uses []Use) error {
	rank := make([]int, len(d.weights.objects))
	for i, u := range uses {
		rank[u.Object] = i
	}
	for _, p := range d.livePrograms() {
		g, objects := reorder(p.staged, p.objects, func(id int) int { return d.weights.objects[id].group }, rank)
		if slices.Equal(objects, p.objects) {
			continue
		}
		if err := p.compile(g, objects); err != nil {
			return err
		}
	}
	return nil
}

// profiledSteps is how many steps are measured before weights are placed by what they showed.
const profiledSteps = 8

// placeByProfile frees the arena, once, if a placement by the profile promises a tenth less waiting than the first
// placement, which knows bytes alone. layOut then places the weights again.
func (d *Device) placeByProfile() {
	if d.opt.Paging || d.placedByProfile || !d.laidOut {
		return
	}
	current := d.stager.placement()
	if d.stager.readCounters().Steps < profiledSteps || len(current.Temporary) == 0 {
		return
	}
	d.placedByProfile = true
	sizes := d.weights.sizes()
	uses, p, err := d.place(sizes)
	if err != nil {
		return // keep what is there
	}
	waits := func(p Placement) time.Duration { return stall(sizes, uses, p.temporary(sizes), d.costs()) }
	if 10*waits(p) < 9*waits(current) {
		d.freeArena()
	}
}

// restart maps everything again after the device was lost.
func (d *Device) restart() error {
	d.freeArena()
	d.stager.countRetry()
	return d.layOut()
}

// Counters returns what was done so far.
func (d *Device) Counters() Counters { return d.stager.readCounters() }

// Close ends the stager, frees the arena and closes the inner device.
func (d *Device) Close() error {
	d.run.Lock()
	defer d.run.Unlock()
	if d.closed {
		return nil
	}
	d.freeArena()
	d.stager.countReserve(-d.caches.reserved)
	d.caches.reserved, d.closed = 0, true
	return errors.Join(d.stager.close(), d.inner.Close())
}
