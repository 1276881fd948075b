package memory

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"
	"time"

	"tandem/npu"
)

// Options say how a Device manages memory.
type Options struct {
	Budget int64  // bytes that may be mapped for weights, the slots included
	Source Source // where weights are read from; nil for their files
	Paging bool   // plain paging (LRU) instead of placement and staging: the baseline
	// Piece bounds what is staged at once, in bytes; larger matrices go in pieces of whole rows. 0 for an
	// eighth of the budget.
	Piece int64
	Costs Costs // a profile of transfers for the placement; zero for one that is measured in the first steps

	// Map and Unmap make and free mappings; nil for anonymous memory. Tests let them fail.
	Map   func(bytes int) ([]byte, error)
	Unmap func([]byte) error
}

// Device runs another device's programs with their weights in an arena of bounded size. Programs compiled
// on it run one at a time, as on an NPU; their results are those of the other device, bit for bit.
//
// A run ends with an error when weights cannot be brought. When the inner device reports npu.ErrLost,
// everything is mapped and loaded again and the run repeated, once: keys and values are written again with
// the same bits.
type Device struct {
	inner  npu.Device
	packer npu.Packer // of inner; may be nil
	clock  npu.Clock  // of inner; may be nil
	made   time.Time
	opt    Options
	buffer []byte // the loader's: what it packs from

	run     sync.Mutex // held by the run that uses the device
	keepX   []float32
	objects []*object
	pieces  map[*npu.Tensor][]int
	groups  int // how many there are
	all     []*program
	laidOut bool // the arena fits the objects

	mu        sync.Mutex // guards what follows
	arrived   *sync.Cond
	pager     Pager
	placement Placement
	resident  [][]byte // mappings, and where in the placement each begins
	starts    []int64
	slots     []byte
	work      chan Action
	wanted    int                  // what the device waits for, −1 for nothing
	free      [Slots]time.Duration // since when each slot may be filled, on the inner device's clock
	idle      sync.WaitGroup       // transfers on their way
	granted   bool
	failed    error // why the wanted object cannot be had
	why       error // of the last failed transfer
	closed    bool
	actions   []Action
	sums      []uint32 // of objects' bytes, when checking
	counters  Counters
	profile   profile
	reading   time.Duration // all transfers
	adapted   bool          // the placement follows the profile
}

// New wraps a device. Closing it closes the inner one.
func New(inner npu.Device, opt Options) (*Device, error) {
	if opt.Budget <= 0 {
		return nil, fmt.Errorf("a budget of %d bytes for weights: want more than 0", opt.Budget)
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
	d := &Device{inner: inner, opt: opt, made: time.Now(), pieces: map[*npu.Tensor][]int{}, work: make(chan Action, 1), wanted: -1}
	d.arrived = sync.NewCond(&d.mu)
	d.packer, d.clock = inner.Traits().Packer, inner.Traits().Clock
	go d.load()
	return d, nil
}

// now is the time on the inner device's clock.
func (d *Device) now() time.Duration {
	if d.clock != nil {
		return d.clock.Now()
	}
	return time.Since(d.made)
}

// Name says what is wrapped.
func (d *Device) Name() string {
	how := "weights staged"
	if d.opt.Paging {
		how = "weights paged"
	}
	return fmt.Sprintf("%s, %s within %d MB", d.inner.Name(), how, d.opt.Budget>>20)
}

// Traits implements npu.Device. Weights are packed here, each layer is a program, and the clock is not for others.
func (d *Device) Traits() npu.Traits {
	t := d.inner.Traits()
	t.LayersAtOnce, t.RowsAtOnce, t.Packer, t.Clock = 1, 0, nil, nil
	return t
}

// program is a staged copy of a graph on the inner device.
type program struct {
	dev    *Device
	graph  *npu.Graph // as it was given
	staged *npu.Graph // with places for weights
	inner  npu.Program
	object []int // that each node of the copy reads
}

// Compile stages the graph's matrices and compiles it on the inner device.
func (d *Device) Compile(g *npu.Graph) (npu.Program, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	d.run.Lock()
	defer d.run.Unlock()
	p := &program{dev: d, graph: g}
	p.staged, p.object = d.stage(g)
	if err := p.compile(p.staged, p.object); err != nil {
		return nil, err
	}
	d.all = append(d.all, p)
	return p, nil
}

// compile compiles a staged graph on the inner device. Places are empty between runs; a compiler wants to
// see their size.
func (p *program) compile(g *npu.Graph, objects []int) (err error) {
	for _, id := range objects {
		if id >= 0 {
			o := p.dev.objects[id]
			o.place.Data = o.source.Data[o.off:][:o.bytes()]
			defer func() { o.place.Data = nil }()
		}
	}
	if p.inner, err = p.dev.inner.Compile(g); err == nil {
		p.staged, p.object = g, objects
	}
	return err
}

// follow lets programs use objects in the placement's order.
func (d *Device) follow(uses []Use) error {
	rank := make([]int, len(d.objects))
	for i, u := range uses {
		rank[u.Object] = i
	}
	for _, p := range d.all {
		g, objects := reorder(p.staged, p.object, func(id int) int { return d.objects[id].group }, rank)
		if slices.Equal(objects, p.object) {
			continue
		}
		if err := p.compile(g, objects); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) Graph() *npu.Graph { return p.graph }

// Run waits for the device, brings the weights as the inner program comes to them, and computes.
func (p *program) Run(a npu.Args) error {
	d := p.dev
	d.run.Lock()
	defer d.run.Unlock()
	d.adapt()
	if err := d.layOut(); err != nil {
		return fmt.Errorf("program %s: %w", p.graph.Name, err)
	}
	d.profile.last = -1
	a.Stage = p
	if len(a.X) > 0 && len(a.Out) > 0 && &a.X[0] == &a.Out[0] {
		d.keepX = append(d.keepX[:0], a.X...) // the result may be written over it before the device is lost
	}
	err := p.inner.Run(a)
	if errors.Is(err, npu.ErrLost) {
		if e := d.restart(); e != nil {
			return fmt.Errorf("program %s: %w; then: %w", p.graph.Name, err, e)
		}
		if len(d.keepX) > 0 && len(a.X) > 0 {
			copy(a.X, d.keepX)
		}
		err = p.inner.Run(a)
	}
	d.keepX = d.keepX[:0]
	d.mu.Lock()
	d.profile.came(d.now())
	d.mu.Unlock()
	return err
}

// Enter implements npu.Stage.
func (p *program) Enter(node int) error {
	if node >= len(p.object) || p.object[node] < 0 {
		return nil
	}
	return p.dev.acquire(p.object[node])
}

// Leave implements npu.Stage.
func (p *program) Leave(node int) {
	if node < len(p.object) && p.object[node] >= 0 {
		p.dev.release(p.object[node])
	}
}

// layOut maps the arena when objects were added since the last time.
func (d *Device) layOut() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errors.New("the device is closed")
	}
	if d.laidOut {
		return nil
	}
	d.unmap()
	sizes := d.sizes()
	if d.opt.Paging {
		d.pager = NewLRU(func(o int) int64 { return sizes[o] }, d.opt.Budget)
	} else {
		uses, p, err := d.place(sizes)
		if err != nil {
			return err
		}
		if err := d.follow(uses); err != nil {
			return err
		}
		if err := d.mapPlacement(p, sizes); err != nil {
			d.unmap()
			return err
		}
		d.placement, d.pager = p, NewStaging(p)
	}
	d.sums = make([]uint32, len(sizes))
	d.laidOut = true
	return nil
}

// place places the weights by what is known of their use.
func (d *Device) place(sizes []int64) ([]Use, Placement, error) {
	uses := d.profile.uses(sizes)
	for i := range uses {
		uses[i].Group = d.objects[uses[i].Object].group
	}
	p, err := Place(sizes, uses, d.costs(), d.opt.Budget)
	if err == nil && len(p.Temporary) > 0 {
		uses, p = Reorder(sizes, uses, p, d.costs())
	}
	return uses, p, err
}

// costs are those of the options, or else as transfers went so far.
func (d *Device) costs() Costs {
	switch {
	case d.opt.Costs != (Costs{}):
		return d.opt.Costs
	case d.counters.TransferBytes > 0:
		return Costs{PerByte: float64(d.reading) / float64(d.counters.TransferBytes)}
	}
	return Costs{PerByte: 0.5} // 2 GB/s: flash of a phone
}

// watched is how many steps are measured before weights are placed by what they showed.
const watched = 8

// adapt gives the arena up, once, when placing by the profile promises a tenth less waiting than what a first
// placement by bytes alone does: layOut then places anew.
func (d *Device) adapt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opt.Paging || d.adapted || !d.laidOut || d.counters.Steps < watched || len(d.placement.Temporary) == 0 {
		return
	}
	d.adapted = true
	sizes := d.sizes()
	uses, p, err := d.place(sizes)
	if err != nil {
		return // what is there goes on
	}
	waits := func(p Placement) time.Duration { return stall(sizes, uses, p.temporary(sizes), d.costs()) }
	if 10*waits(p) < 9*waits(d.placement) {
		d.unmap()
	}
}

func (d *Device) sizes() []int64 {
	sizes := make([]int64, len(d.objects))
	for i, o := range d.objects {
		sizes[i] = o.size
	}
	return sizes
}

func (d *Device) mapPlacement(p Placement, sizes []int64) (err error) {
	var largest int64
	if d.clock != nil {
		largest = d.clock.Largest()
	}
	d.starts = p.Mappings(sizes, largest)
	for i, at := range d.starts {
		end := p.ResidentBytes(sizes)
		if i+1 < len(d.starts) {
			end = d.starts[i+1]
		}
		b, err := d.mapping(end - at)
		if err != nil {
			return err
		}
		d.resident = append(d.resident, b)
	}
	if len(p.Temporary) > 0 {
		d.slots, err = d.mapping(Slots * p.Slot)
	}
	return err
}

func (d *Device) mapping(bytes int64) ([]byte, error) {
	var err error
	if d.clock != nil {
		err = d.clock.Map(bytes)
	}
	var b []byte
	if err == nil {
		if b, err = d.opt.Map(int(bytes)); err != nil && d.clock != nil {
			d.clock.Unmap(bytes)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("map %d bytes for weights: %w: a smaller memory budget may do", bytes, err)
	}
	d.counters.Mappings++
	d.counters.Mapped += bytes
	d.counters.Peak = max(d.counters.Peak, d.counters.Mapped)
	return b, nil
}

// unmap waits for the transfers on their way and gives all mappings back.
func (d *Device) unmap() {
	d.mu.Unlock()
	d.idle.Wait()
	d.mu.Lock()
	for i := range d.resident {
		d.drop(&d.resident[i])
	}
	d.resident = nil
	d.drop(&d.slots)
	for _, o := range d.objects {
		d.drop(&o.own)
		o.place.Data = nil
	}
	d.laidOut, d.granted = false, false
}

func (d *Device) drop(b *[]byte) {
	if *b == nil {
		return
	}
	d.counters.Mapped -= int64(len(*b))
	if d.clock != nil {
		d.clock.Unmap(int64(len(*b)))
	}
	if d.opt.Unmap != nil {
		d.opt.Unmap(*b)
	}
	*b = nil
}

// restart maps everything anew, as after the loss of the device.
func (d *Device) restart() error {
	d.mu.Lock()
	d.unmap()
	d.counters.Retries++
	d.mu.Unlock()
	return d.layOut()
}

// Adapt places the weights anew, by the computation times that were measured since the start, and reports
// whether anything was measured. What is resident is loaded again when it is next used.
func (d *Device) Adapt() bool {
	d.run.Lock()
	defer d.run.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.profile.measured() || d.closed {
		return false
	}
	d.unmap()
	return true
}

// Counters returns what was done so far.
func (d *Device) Counters() Counters {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counters
}

// Layout returns the placement, and the sizes of its objects; the zero one before the first run and under
// paging.
func (d *Device) Layout() (Placement, []int64) {
	d.run.Lock()
	defer d.run.Unlock()
	return d.placement, d.sizes()
}

// Close ends the loader, frees the arena and closes the inner device.
func (d *Device) Close() error {
	d.run.Lock()
	defer d.run.Unlock()
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.unmap()
	d.closed = true
	close(d.work)
	d.mu.Unlock()
	err := d.inner.Close()
	if c, ok := d.opt.Source.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

// step tells the pager and does what it says. d.mu is held.
func (d *Device) step(e Event) {
	d.actions = d.pager.Step(e, d.actions[:0])
	for _, a := range d.actions {
		switch a.Kind {
		case Go:
			d.granted = true
		case Fail:
			d.failed = d.why
		case Unmap:
			d.drop(&d.objects[a.Object].own)
		case Load:
			d.idle.Add(1)
			d.objects[a.Object].begins = d.begins(a)
			d.work <- a // never blocks: one transfer goes on at a time
		}
	}
}

// begins is when a transfer may begin, on the inner device's clock: what is fetched ahead, when its slot was
// last read, whatever the loader has come to by then. So the time that is made up does not depend on real time.
func (d *Device) begins(a Action) time.Duration {
	if a.Slot >= 0 && a.Object != d.wanted {
		return d.free[a.Slot]
	}
	return d.now()
}

// acquire waits until the object's bytes are there and lets its place show them.
func (d *Device) acquire(id int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id == 0 {
		d.counters.Steps++
	}
	o := d.objects[id]
	d.granted, d.failed, d.wanted = false, nil, id
	came := d.now()
	d.profile.came(came)
	d.step(Event{Want, id})
	waits := !d.granted
	for !d.granted && d.failed == nil {
		d.arrived.Wait()
	}
	d.wanted = -1
	if d.clock != nil && d.failed == nil {
		d.clock.Await(o.arrives)
		waits = true
	}
	if waits {
		d.counters.Stall += d.now() - came
	}
	if d.failed != nil {
		return d.failed
	}
	o.place.Data = d.target(id)
	d.profile.began(id, d.now())
	if checking {
		d.verify(id, "before")
	}
	return nil
}

func (d *Device) release(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.objects[id]
	if checking {
		d.verify(id, "after")
	}
	o.place.Data = nil // whoever reads it now fails at once
	d.granted = false
	if staging, ok := d.pager.(*Staging); ok {
		if slot := staging.slot(id); slot >= 0 {
			d.free[slot] = d.now()
		}
	}
	d.step(Event{Done, id})
}

// target is where the object's bytes are, or will be.
func (d *Device) target(id int) []byte {
	o := d.objects[id]
	n := o.size
	switch {
	case o.own != nil:
		return o.own[:n:n]
	case d.placement.Offset[id] >= 0:
		at := d.placement.Offset[id]
		i, begins := slices.BinarySearch(d.starts, at)
		if !begins {
			i--
		}
		return d.resident[i][at-d.starts[i]:][:n:n]
	}
	slot := int64(d.pager.(*Staging).slot(id))
	return d.slots[slot*d.placement.Slot:][:n:n]
}

// load is the loader goroutine.
func (d *Device) load() {
	for a := range d.work {
		d.mu.Lock()
		o := d.objects[a.Object]
		var err error
		if a.Slot == OwnMapping {
			o.own, err = d.mapping(aligned(o.size))
		}
		var dst []byte
		from := d.now()
		if err == nil {
			dst = d.target(a.Object)
			if d.clock != nil {
				from, o.arrives = d.clock.Move(o.bytes(), o.begins)
			}
		}
		d.mu.Unlock()
		retries := 0
		if err == nil {
			if checking {
				poison(dst)
			}
			retries, err = d.bring(o, dst)
		}
		d.mu.Lock()
		if d.clock == nil {
			o.arrives = d.now()
		}
		d.counters.Retries += retries
		if err != nil {
			d.why = err
			d.step(Event{Failed, a.Object})
		} else {
			d.counters.Transfers++
			d.counters.TransferBytes += o.bytes()
			d.reading += o.arrives - from
			if checking {
				d.sums[a.Object] = crc32.ChecksumIEEE(dst)
			}
			d.step(Event{Loaded, a.Object})
		}
		d.arrived.Broadcast()
		d.mu.Unlock()
		d.idle.Done()
	}
}

func poison(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}

// verify compares an object's bytes with those that were loaded, and with the source.
func (d *Device) verify(id int, when string) {
	o := d.objects[id]
	got := crc32.ChecksumIEEE(o.place.Data)
	if want := d.sum(o); got != d.sums[id] || got != want {
		panic(fmt.Sprintf("memory: %s, rows from %d: its bytes changed %s the product: %08x, loaded as %08x, %08x in the file", o.source.Name, o.from, when, got, d.sums[id], want))
	}
}

// profile measures how long the device computes from one use to the next.
type profile struct {
	last    int // the object that this run read last, −1 for none
	since   time.Duration
	compute []time.Duration // moving averages, by object
}

// came is called when the device comes to a use, or to the end: the computation after the last one is over.
func (p *profile) came(now time.Duration) {
	if p.last < 0 {
		return
	}
	took := now - p.since
	if c := &p.compute[p.last]; *c == 0 {
		*c = took
	} else {
		*c += (took - *c) / 8
	}
}

func (p *profile) began(id int, now time.Duration) {
	for len(p.compute) <= id {
		p.compute = append(p.compute, 0)
	}
	p.last, p.since = id, now
}

func (p *profile) measured() bool { return len(p.compute) > 0 }

// uses are all objects in the order in which programs were compiled, which is that of use, with what was
// measured, or else with a time in proportion to their bytes.
func (p *profile) uses(sizes []int64) []Use {
	var bytes int64
	var total time.Duration
	for id, c := range p.compute {
		if c > 0 && id < len(sizes) {
			bytes, total = bytes+sizes[id], total+c
		}
	}
	perByte := 0.1 // nanoseconds
	if bytes > 0 {
		perByte = float64(total) / float64(bytes)
	}
	uses := make([]Use, len(sizes))
	for id, size := range sizes {
		uses[id] = Use{Object: id, Compute: time.Duration(perByte * float64(size))}
		if id < len(p.compute) && p.compute[id] > 0 {
			uses[id].Compute = p.compute[id]
		}
	}
	return uses
}
