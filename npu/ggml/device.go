package ggml

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"tandem/npu"
)

// Device computes on one of ggml's devices, one run at a time.
type Device struct {
	api     *api
	name    string
	which   string // Info.Name
	dev     ptr
	cpu     bool // a processor: it reads this program's memory
	backend ptr
	threads *threads // of a processor, else nil
	extra   []ptr    // kinds of buffers with faster layouts of weights, best first
	noFlash bool     // compute attention by separate products, even if the device has fused attention

	mu      sync.Mutex // held by Compile and Run
	closed  bool
	weights map[weightKey]*weight
	extraOf map[shape]ptr                          // which of extra, or 0, takes weights of a shape
	factors map[weak.Pointer[npu.Rope]]*npu.Tensor // see factorsOf
	groups  map[*group]struct{}
	galloc  ptr // memory of all graphs' intermediate values: only one runs at a time
	epoch   int // counts events that make built graphs invalid
	graphs  map[*graph]struct{}
	cache   cache
	inputs  map[[4]int]*inputs // by rows, window of cells, layers of the cache and number of windows
	most    bounds
	held    bounds // bytes of graphs and inputs now
	windows []int  // of positions that layers attend to; 0 for all
	slots   [maxSlots]slot
	runs    int // with adapters
	last    *plan
	staging staging
	hosts   []hostBlock

	deadMu    sync.Mutex
	dead      []remains   // of programs that were collected as garbage
	deadHosts []hostBlock // that nobody uses any more
	swept     bool        // the device is closed: free them at once
}

// bounds are bytes of what a device keeps for each number of rows and each window that it has seen. When there would be more, it
// drops all of it and makes again what it needs: a server sees hundreds of combinations.
type bounds struct {
	graphs int // memory of descriptions
	inputs int // memory of the device, mostly masks
}

// owned is a context with the buffer that holds its tensors.
type owned struct{ ctx, buf ptr }

func (d *Device) drop(o owned) {
	if o.buf != 0 {
		d.api.BufFree(o.buf)
	}
	if o.ctx != 0 {
		d.api.Free(o.ctx)
	}
}

// weightKey identifies a tensor by its address, so that programs of several chunk sizes share it.
type weightKey struct {
	data *byte
	shape
}

type shape struct {
	typ        npu.DType
	cols, rows int
}

func keyOf(t *npu.Tensor) weightKey {
	return weightKey{unsafe.SliceData(t.Data), shape{t.Type, t.Cols, t.Rows}}
}

// weight is a tensor on the device, and how many programs use it.
type weight struct {
	at ptr
	*group
	refs int
}

// group is the memory of weights that were uploaded together.
type group struct {
	owned
	live int // weights in use
}

// remains is what must be freed after a program has been garbage collected.
type remains struct {
	graphs  map[drawing]*graph
	weights []weightKey
}

// sweep frees the remains of programs that were collected as garbage.
func (d *Device) sweep() {
	d.deadMu.Lock()
	dead := d.dead
	d.dead = nil
	d.deadMu.Unlock()
	for _, r := range dead {
		for _, g := range r.graphs {
			d.dropGraph(g)
		}
		d.release(r.weights)
	}
}

// release ends a program's use of weights.
func (d *Device) release(keys []weightKey) {
	for _, key := range keys {
		w := d.weights[key]
		if w.refs--; w.refs > 0 {
			continue
		}
		delete(d.weights, key)
		if w.live--; w.live == 0 {
			d.drop(w.owned)
			delete(d.groups, w.group)
		}
	}
}

// lastError is what the library last logged as an error.
var lastError atomic.Pointer[string]

// failed returns an error that includes what the library logged last, if anything.
func failed(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if said := lastError.Swap(nil); said != nil {
		err = fmt.Errorf("%w: %s", err, *said)
	}
	return err
}

func newDevice(a *api, dev ptr, info Info, version string, n int) (*Device, error) {
	if dev == 0 {
		return nil, fmt.Errorf("ggml cannot open its device %s", info.Name)
	}
	d := &Device{api: a, dev: dev, which: info.Name, cpu: info.Kind == kinds[0], weights: map[weightKey]*weight{}, groups: map[*group]struct{}{}, extraOf: map[shape]ptr{}, factors: map[weak.Pointer[npu.Rope]]*npu.Tensor{},
		graphs: map[*graph]struct{}{}, inputs: map[[4]int]*inputs{}, most: bounds{graphs: 512 << 20, inputs: 256 << 20}, staging: staging{api: a, buft: a.DevHost(dev)}}
	if d.backend = a.DevInit(dev, 0); d.backend == 0 {
		return nil, failed("ggml cannot use its device %s", info.Name)
	}
	d.name = fmt.Sprintf("ggml %s (%s, ggml %s)", info.Name, info.Description, version)
	if d.cpu {
		if n <= 0 {
			n = runtime.GOMAXPROCS(0)
		}
		var err error
		if d.threads, err = startThreads(a, a.DevReg(dev), d.backend, n); err != nil {
			a.End(d.backend)
			return nil, err
		}
		d.name = fmt.Sprintf("ggml %s (%s, ggml %s, 1 thread)", info.Name, info.Description, version)
		if n > 1 {
			d.name = fmt.Sprintf("ggml %s (%s, ggml %s, up to %d threads)", info.Name, info.Description, version, n)
		}
		d.extra = extraBuffers(a, dev)
	}
	if d.galloc = a.GallocNew(a.DevBuft(dev)); d.galloc == 0 {
		d.Close()
		return nil, failed("ggml device %s: no memory for graphs", info.Name)
	}
	return d, nil
}

// Name implements npu.Device. It names the device and the library's version.
func (d *Device) Name() string { return d.name }

// Traits implements npu.Device. A processor takes 4 layers at once: its threads synchronize at the end of each graph, and a
// run can be canceled between graphs. A GPU takes all layers, because it waits for this program after each graph. Like
// libllama it takes 512 rows, because fewer leave much of it idle.
func (d *Device) Traits() npu.Traits {
	t := npu.Traits{Rounding: "ggml " + d.which, Processor: d.cpu, LayersAtOnce: 4}
	if !d.cpu {
		t.LayersAtOnce, t.RowsAtOnce = math.MaxInt, 512
	}
	if d.staging.pinned() {
		t.Host = d.host
	}
	return t
}

// Close implements npu.Device. It frees everything on the device and stops its threads. It may be called more than once.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for g := range d.graphs {
		d.api.Free(g.ctx)
	}
	for _, in := range d.inputs {
		d.drop(in.owned)
	}
	for _, s := range d.slots {
		for _, o := range s.owned {
			d.drop(o)
		}
	}
	d.dropCache()
	d.staging.free()
	d.deadMu.Lock()
	d.swept = true
	d.deadMu.Unlock()
	d.sweepHost()
	for g := range d.groups {
		d.drop(g.owned)
	}
	if d.galloc != 0 {
		d.api.GallocFree(d.galloc)
	}
	d.api.End(d.backend)
	d.threads.stop()
	return nil
}

// threads are the threads of a processor: a pool for each number of threads that pace may choose. Without a pool the library
// starts new threads for every graph. Pools that are not attached sleep.
type threads struct {
	*pace
	backend ptr
	pools   []ptr // by level, 0 if not needed yet
	now     int   // the level that is attached, -1 before the first
	setN    func(backend ptr, n int32)
	create  func(p unsafe.Pointer) ptr
	free    func(ptr)
	attach  func(backend, pool ptr)
	params  func(p unsafe.Pointer, n int32)
}

const maxThreads = 512 // the library's limit

// startThreads gives the backend up to n threads.
func startThreads(a *api, reg, backend ptr, n int) (*threads, error) {
	t := &threads{pace: newPace(min(max(n, 1), maxThreads)), backend: backend, now: -1, params: a.PoolInit}
	t.pools = make([]ptr, len(t.levels))
	for _, f := range []struct {
		name string
		f    any
	}{{"ggml_backend_set_n_threads", &t.setN}, {"ggml_threadpool_new", &t.create}, {"ggml_threadpool_free", &t.free},
		{"ggml_backend_cpu_set_threadpool", &t.attach}} {
		p := a.Proc(reg, f.name)
		if p == 0 {
			return nil, fmt.Errorf("ggml's processor backend has no %s", f.name)
		}
		a.bind(f.f, p)
	}
	return t, t.use(0)
}

// use switches to the thread pool of a level.
func (t *threads) use(level int) error {
	if t.now == level {
		return nil
	}
	n := int32(t.levels[level])
	if t.pools[level] == 0 {
		params := make([]byte, 4096) // the struct is some 530 bytes
		t.params(unsafe.Pointer(&params[0]), n)
		if t.pools[level] = t.create(unsafe.Pointer(&params[0])); t.pools[level] == 0 {
			return failed("ggml cannot start %d threads", n)
		}
	}
	t.attach(t.backend, t.pools[level]) // the pool that was attached goes to sleep
	t.setN(t.backend, n)
	t.now = level
	return nil
}

func (t *threads) stop() {
	if t == nil {
		return
	}
	for _, pool := range t.pools {
		if pool != 0 {
			t.free(pool)
		}
	}
}

// extraBuffers lists a processor's other kinds of buffers.
func extraBuffers(a *api, dev ptr) []ptr {
	p := a.Proc(a.DevReg(dev), "ggml_backend_dev_get_extra_bufts")
	if p == 0 {
		return nil
	}
	var get func(dev ptr) unsafe.Pointer
	a.bind(&get, p)
	list := get(dev)
	if list == nil {
		return nil
	}
	var kinds []ptr
	for i := 0; i < 16; i++ {
		k := *(*ptr)(unsafe.Add(list, i*int(unsafe.Sizeof(ptr(0)))))
		if k == 0 {
			break
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// load copies the tensors to the device, unless they are already there, and holds them for one program.
func (d *Device) load(list []*npu.Tensor, products map[*npu.Tensor]bool) (held []weightKey, err error) {
	in := map[ptr][]*npu.Tensor{} // by kind of buffer
	seen := map[weightKey]bool{}
	for _, t := range list {
		key := keyOf(t)
		if seen[key] {
			continue
		}
		seen[key] = true
		held = append(held, key)
		if d.weights[key] != nil {
			continue
		}
		buft := ptr(0)
		if products[t] {
			buft = d.extraFor(key.shape)
		}
		if buft == 0 && d.mapped(t) {
			continue
		}
		if buft == 0 {
			buft = d.api.DevBuft(d.dev)
		}
		in[buft] = append(in[buft], t)
	}
	for buft, tensors := range in {
		if err = d.upload(buft, tensors); err != nil {
			break
		}
	}
	held = slices.DeleteFunc(held, func(key weightKey) bool { return d.weights[key] == nil }) // after an error
	for _, key := range held {
		d.weights[key].refs++
	}
	if err != nil {
		d.release(held)
	}
	return held, err
}

const weightsUsage = 1 // GGML_BACKEND_BUFFER_USAGE_WEIGHTS

// upload copies tensors into one new buffer.
func (d *Device) upload(buft ptr, tensors []*npu.Tensor) error {
	a, size := d.api, 0
	ctx := a.Init(a.Overhead() * uintptr(len(tensors)+1))
	if ctx == 0 {
		return errors.New("ggml: out of memory for the descriptions of weights")
	}
	at := make([]ptr, len(tensors))
	for i, t := range tensors {
		at[i] = a.New2D(ctx, int32(t.Type), int64(t.Cols), int64(t.Rows))
		if n := a.Bytes(at[i]); n != uintptr(len(t.Data)) {
			a.Free(ctx)
			return fmt.Errorf("ggml expects %v to have %d bytes, but it has %d", t, n, len(t.Data))
		}
		size += len(t.Data)
	}
	buf := a.AllocCtx(ctx, buft)
	if buf == 0 {
		a.Free(ctx)
		return failed("%s has no room for %.1f MB of weights", d.name, float64(size)/1e6)
	}
	a.BufUsage(buf, weightsUsage)
	g := &group{owned{ctx, buf}, len(tensors)}
	d.groups[g] = struct{}{}
	for i, t := range tensors {
		a.Set(d.backend, at[i], unsafe.Pointer(&t.Data[0]), 0, uintptr(len(t.Data)))
		d.weights[keyOf(t)] = &weight{at: at[i], group: g}
	}
	a.Sync(d.backend)
	return nil
}

const alignment = 32 // that ggml needs for a processor's tensors

// mapped lets a processor read the tensor in place, if it can.
func (d *Device) mapped(t *npu.Tensor) bool {
	p := unsafe.Pointer(unsafe.SliceData(t.Data))
	if !d.cpu || uintptr(p)%alignment != 0 {
		return false
	}
	a := d.api
	ctx := a.Init(a.Overhead() * 2)
	if ctx == 0 {
		return false
	}
	o := owned{ctx: ctx}
	x := a.New2D(ctx, int32(t.Type), int64(t.Cols), int64(t.Rows))
	if a.Bytes(x) == uintptr(len(t.Data)) {
		o.buf = a.FromPtr(p, uintptr(len(t.Data)))
	}
	if o.buf == 0 || a.TensorAlloc(o.buf, x, ptr(p)) != 0 {
		d.drop(o)
		return false
	}
	a.BufUsage(o.buf, weightsUsage)
	g := &group{o, 1}
	d.groups[g], d.weights[keyOf(t)] = struct{}{}, &weight{at: x, group: g}
	return true
}

// extraFor returns the kind of buffer with a faster layout for products with weights of that shape, or 0. The library
// decides by the operands of a product, so extraFor asks it with one of that shape.
func (d *Device) extraFor(s shape) ptr {
	if k, ok := d.extraOf[s]; ok {
		return k
	}
	a, found := d.api, ptr(0)
	for _, buft := range d.extra {
		ctx := a.Init(a.Overhead() * 4)
		if ctx == 0 {
			break
		}
		o := owned{ctx: ctx}
		w := a.New2D(ctx, int32(s.typ), int64(s.cols), int64(s.rows))
		if o.buf = a.AllocCtx(ctx, buft); o.buf != 0 {
			x := a.New2D(ctx, int32(npu.F32), int64(s.cols), 1)
			if a.DevCan(d.dev, a.MulMat(ctx, w, x)) {
				found = buft
			}
		}
		d.drop(o)
		if found != 0 {
			break
		}
	}
	d.extraOf[s] = found
	return found
}
