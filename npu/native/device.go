// Package native implements the device that is always available. It is written in Go, with assembly kernels for AVX2,
// AVX-VNNI, AVX-512 with VNNI, AMX, and the arm64 dot product and i8mm instructions. It does not use cgo.
//
// Results are bit-identical for any batch, chunk size, number of threads and processor. Every output element is summed in
// one fixed order, which the plain Go kernels in dot.go define. Products and sums are rounded separately, without fused
// multiply-add, and the package has its own exp, sine and cosine. So a draft that is decoded again after a rollback has the
// same distribution in any batch, and a device on arm64 agrees with a cloud on amd64.
package native

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"weak"

	"tandem/npu"
	"tandem/npu/phone/memory"
)

// Device runs programs on this machine's processor.
type Device struct {
	k      *kernels
	pool   *pool
	runs   sync.Pool // of *run
	rows   sync.Pool // of *[]float32, per-thread scratch memory
	panels sync.Pool // of *kScratch, likewise
	near   sync.Pool // of *scratch, likewise
	wide   sync.Pool // of *panel, likewise

	attends sync.Pool // of *attendance, likewise

	*kept
}

// kept is what devices of one process share.
type kept struct {
	mu      sync.Mutex
	ropes   map[weak.Pointer[npu.Rope]]*ropeTable // shared between layers
	packed  map[tensorKey]weak.Pointer[packed]
	filling weak.Pointer[slab]     // the last slab, which may have memory left
	room    func(bytes int64) bool // see roomFor
}

// New returns a device that uses the given number of threads, including the caller's. If threads is 0 or less, it uses
// one thread per core.
func New(threads int) *Device { return newDevice(threads, bestKernels()) }

func newDevice(threads int, k *kernels) *Device {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	d := &Device{k: k, pool: newPool(threads - 1), kept: &kept{ropes: map[weak.Pointer[npu.Rope]]*ropeTable{}, packed: map[tensorKey]weak.Pointer[packed]{}, room: roomFor}}
	d.runs.New = func() any {
		r := &run{}
		r.part = r.compute
		return r
	}
	d.rows.New = func() any { return new([]float32) }
	d.panels.New = func() any { return new(kScratch) }
	d.near.New = func() any { return new(scratch) }
	d.wide.New = func() any { return new(panel) }
	d.attends.New = func() any { return new(attendance) }
	return d
}

// Name implements npu.Device. It names the kernels and the number of threads.
func (d *Device) Name() string {
	if d.pool.helpers == 0 {
		return fmt.Sprintf("native (%s, 1 thread)", d.k.name)
	}
	return fmt.Sprintf("native (%s, %d threads)", d.k.name, d.pool.helpers+1)
}

// Traits implements npu.Device.
func (d *Device) Traits() npu.Traits {
	return npu.Traits{Processor: true, PassesAtOnce: min(2, d.pool.helpers+1), Packer: d, Second: func() npu.Device { return d.second() }}
}

// second returns a device with half as many threads, that reads the same packed weights.
func (d *Device) second() *Device {
	o := newDevice(max(1, (d.pool.helpers+1)/2), d.k)
	o.kept = d.kept
	return o
}

// Close implements npu.Device. It stops the threads.
func (d *Device) Close() error {
	d.pool.close()
	return nil
}

// rope returns the table of a rope. It is kept until the rope, and so the model that it belongs to, is garbage.
func (d *Device) rope(r *npu.Rope) *ropeTable {
	key := weak.Make(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.ropes[key]
	if t == nil {
		t = newRopeTable(r)
		d.ropes[key] = t
		runtime.AddCleanup(r, d.kept.forgetRope, key)
	}
	return t
}

func (k *kept) forgetRope(key weak.Pointer[npu.Rope]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.ropes, key)
}

// program is a graph with an offset in a run's arena for every value. Values whose lifetimes do not overlap may share
// memory. Offsets and room count float32 values per row: in a run of n rows, value v starts at n·offset[v] in an arena
// of n·room.
type program struct {
	dev     *Device
	graph   *npu.Graph
	offset  []int
	room    int
	ropes   []*ropeTable
	kernels [][]float32  // of convolutions [positions × width]
	experts [][]*program // of nodes that send rows through experts
	packed  []*packed    // the weights of products that Compile packs
	with    [][]int      // for each node, the nodes that are computed with it (see together)
	adds    []npu.Value  // for each sum that adds an adapter's product, that product; else 0 (see fuse)
	staged  bool         // whether any weights are staged
	factors bool         // whether adapters are inputs
}

// Compile implements npu.Device. It checks the graph and lays out its values.
func (d *Device) Compile(g *npu.Graph) (npu.Program, error) {
	p, err := d.compile(g)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (d *Device) compile(g *npu.Graph) (*program, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if bigEndian {
		return nil, errors.New("native device requires a little-endian processor: it reads weights in place")
	}
	p := &program{dev: d, graph: g, ropes: make([]*ropeTable, len(g.Nodes)),
		packed: make([]*packed, len(g.Nodes)), kernels: make([][]float32, len(g.Nodes)), experts: make([][]*program, len(g.Nodes))}
	for i, n := range g.Nodes {
		p.staged = p.staged || n.Weight != nil && n.Weight.Staged
		p.factors = p.factors || n.Op == npu.OpFactor || n.Op == npu.OpSelect
		if err := supports(&n); err != nil {
			return nil, fmt.Errorf("graph %s: %%%d %v: %w", g.Name, i, n.Op, err)
		}
		switch n.Op {
		case npu.OpRope:
			p.ropes[i] = d.rope(n.Rope)
		case npu.OpShortConv:
			p.kernels[i] = kernelOf(n.Weight)
		case npu.OpExperts:
			for _, e := range n.Experts.Graphs {
				compiled, err := d.compile(e)
				if err != nil {
					return nil, err
				}
				p.experts[i] = append(p.experts[i], compiled)
			}
		}
	}
	for i, n := range g.Nodes {
		if n.Op == npu.OpMatMul && !n.Weight.Staged && (packs(n.Weight.Type) || d.k.mulK256[n.Weight.Type] != nil) {
			p.packed[i] = d.pack(n.Weight)
		}
	}
	p.with = together(g, p.staged)
	p.adds = fuse(g)
	p.offset, p.room = layOut(g, p.with, p.adds)
	return p, nil
}

var (
	errOperation = errors.New("operation not supported by the native device; use npu/reference")
	errNotFloats = errors.New("norms and biases must be F32")
)

// supports returns an error for a node that the device cannot compute.
func supports(n *npu.Node) error {
	switch n.Op {
	case npu.OpNormalize, npu.OpMul, npu.OpConv, npu.OpQuantized:
		return errOperation
	case npu.OpMatMul:
		if n.Bias != nil && n.Bias.Type != npu.F32 {
			return errNotFloats
		}
	case npu.OpRMSNorm:
		if n.Weight.Type != npu.F32 {
			return errNotFloats
		}
	case npu.OpLayerNorm:
		if n.Weight.Type != npu.F32 || n.Bias.Type != npu.F32 {
			return errNotFloats
		}
	case npu.OpAttention:
		switch a := n.Attention; {
		case a.CacheKVHeads != 0 || a.Columns:
			return errOperation
		case a.HeadDim > maxHeadDim:
			return fmt.Errorf("head dimension is %d, at most %d is supported", a.HeadDim, maxHeadDim)
		}
	}
	return nil
}

// layOut assigns each value of a graph an offset in one arena, in float32 values per row. The graph's result takes no
// space because it is written to the caller's memory.
func layOut(g *npu.Graph, with [][]int, adds []npu.Value) (offset []int, room int) {
	lives := memory.Lifetimes(g)
	for i := range lives {
		lives[i].Bytes = 4 * int64(g.Nodes[i].Width)
		for _, v := range with[i] {
			lives[v].First = i // v may be computed before its own turn
		}
	}
	for i, v := range adds {
		if v != 0 { // the sum reads the argument of the product, which is never stored
			lives[v].Bytes = 0
			t := g.Nodes[v].Args[0]
			lives[t].Last = max(lives[t].Last, i)
		}
	}
	lives[len(lives)-1].Bytes = 0
	inPlace := map[int]npu.Value{}
	for i, v := range adds {
		if v == 0 || i == len(lives)-1 {
			continue
		}
		x := g.Nodes[i].Args[0]
		if lives[x].Last > i || g.Nodes[v].Args[0] == x {
			continue
		}
		// Nothing else needs the sum's other argument any more. That may be such a sum, too.
		if first, ok := inPlace[int(x)]; ok {
			x = first
		}
		inPlace[i] = x
		lives[x].Last, lives[i].Bytes = lives[i].Last, 0
	}
	bytes, total := memory.Pack(lives)
	for i, at := range bytes {
		if x, ok := inPlace[i]; ok {
			at = bytes[x]
		}
		offset = append(offset, int(at)/4)
	}
	return offset, int(total) / 4
}

// together returns which nodes are computed in the turn of each node. That is the node itself, except that the first of
// several products of one input takes the others along, in one loop that the threads share. Staged weights are only in
// place in their own turn.
func together(g *npu.Graph, staged bool) [][]int {
	with := make([][]int, len(g.Nodes))
	first := map[npu.Value]int{} // product of each input
	for i, n := range g.Nodes {
		if n.Op != npu.OpMatMul || staged || i == len(g.Nodes)-1 { // the last may overwrite the graph's input
			with[i] = []int{i}
			continue
		}
		j, ok := first[n.Args[0]]
		if !ok {
			j = i
			first[n.Args[0]] = i
		}
		with[j] = append(with[j], i)
	}
	return with
}

// run is the state and memory of one run of a program. Runs are recycled: once the memory has grown to fit the largest
// program, a run does not allocate.
type run struct {
	*program
	npu.Args
	arena []float32 // [rows × room]
	acts  activations

	// The loop that the threads currently share: see share.
	loop      loop
	node      *npu.Node
	out, x, y []float32        // the node's result and its arguments
	turns     []float32        // cosines and sines of all positions, if the node is OpRope
	products  []product        // if the node is OpMatMul
	tile      tiling           // if the node is OpAttention
	cached    []input          // a row of keys or values, rounded for its cache
	kernel    []float32        // if the node is OpShortConv
	sent      sent             // if the node is OpExperts
	part      func(lo, hi int) // compute, bound once
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

func (p *program) Graph() *npu.Graph { return p.graph }

// Run implements npu.Program. It computes only the rows in use.
func (p *program) Run(a npu.Args) error {
	p.dev.pool.enter()
	defer p.dev.pool.leave()
	return p.compute(a)
}

// compute is Run within another run, too.
func (p *program) compute(a npu.Args) error {
	if err := p.check(&a); err != nil {
		return err
	}
	r := p.dev.runs.Get().(*run)
	r.program, r.Args = p, a
	r.acts.of, r.acts.ofWords, r.acts.ofK, r.acts.ofWide = -1, -1, -1, -1
	r.arena = grow(r.arena, a.Rows*p.room)
	err := r.steps()
	r.program, r.Args, r.node, r.out, r.x, r.y, r.turns = nil, npu.Args{}, nil, nil, nil, nil, nil
	p.dev.runs.Put(r)
	return err
}

// steps computes the nodes in order, each as soon as its weights are in place.
func (r *run) steps() error {
	for i := range r.graph.Nodes {
		if r.Stage != nil {
			if err := r.Stage.Enter(i); err != nil {
				return err
			}
		}
		if r.graph.Nodes[i].Op == npu.OpExperts {
			if err := r.sendToExperts(i); err != nil {
				return err
			}
		} else {
			r.step(i)
		}
		if r.Stage != nil {
			r.Stage.Leave(i)
		}
	}
	return nil
}

func (p *program) check(a *npu.Args) error {
	g := p.graph
	if p.staged && a.Stage == nil {
		return fmt.Errorf("program %s: weights are staged, but Args.Stage is nil", g.Name)
	}
	if a.Rows <= 0 || a.Rows > g.Chunk {
		return fmt.Errorf("program %s: takes 1 to %d rows, not %d", g.Name, g.Chunk, a.Rows)
	}
	if len(a.Out) < a.Rows*g.Result().Width {
		return fmt.Errorf("program %s: output too short for %d rows of %d values", g.Name, a.Rows, g.Result().Width)
	}
	for i := range g.Nodes {
		if err := checkNode(a, &g.Nodes[i]); err != nil {
			return fmt.Errorf("program %s: %w", g.Name, err)
		}
	}
	if !p.factors {
		return nil
	}
	if err := a.CheckAdapters(g); err != nil {
		return fmt.Errorf("program %s: %w", g.Name, err)
	}
	return nil
}

// checkNode checks the arguments that a node reads.
func checkNode(a *npu.Args, n *npu.Node) error {
	switch n.Op {
	case npu.OpInput:
		if len(a.X) < a.Rows*n.Width {
			return fmt.Errorf("input has %d values, not %d rows of %d", len(a.X), a.Rows, n.Width)
		}
	case npu.OpEmbed:
		if len(a.Tokens) < a.Rows {
			return fmt.Errorf("%d tokens for %d rows", len(a.Tokens), a.Rows)
		}
		for _, t := range a.Tokens[:a.Rows] {
			if t < 0 || int(t) >= n.Weight.Rows {
				return fmt.Errorf("token %d is out of range 0 to %d", t, n.Weight.Rows-1)
			}
		}
	case npu.OpShortConv:
		return checkKV(a, n.Layer, n.Width, n.Weight.Cols, false)
	case npu.OpRope, npu.OpPosition, npu.OpTemper:
		if len(a.Positions) < a.Rows {
			return fmt.Errorf("%d positions for %d rows", len(a.Positions), a.Rows)
		}
		for _, pos := range a.Positions[:a.Rows] {
			if pos < 0 || n.Op == npu.OpPosition && int(pos) >= n.Weight.Rows {
				return fmt.Errorf("position %d is out of range", pos)
			}
		}
	case npu.OpAttention:
		return checkKV(a, n.Attention.Layer, n.Attention.CacheRow(), n.Attention.Window, true)
	}
	return nil
}

// checkKV checks that every row has a slot in its cache, and memory there and in all slots that it attends to: row numbers for each
// of them. values says that the layer has values besides keys. Slots before the window may have no memory any more.
func checkKV(a *npu.Args, layer, row, window int, values bool) error {
	if len(a.Positions) < a.Rows || len(a.KV) < a.Rows {
		return fmt.Errorf("%d positions and %d caches for %d rows", len(a.Positions), len(a.KV), a.Rows)
	}
	if a.Masks != nil && len(a.Masks) < a.Rows {
		return fmt.Errorf("%d masks for %d rows", len(a.Masks), a.Rows)
	}
	for i, pos := range a.Positions[:a.Rows] {
		if pos < 0 || a.KV[i] == nil {
			return fmt.Errorf("row %d: position %d", i, pos)
		}
		m := a.Mask(i)
		if err := m.Check(); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		s, at := a.KV[i].At(int(m.Slot))
		if s == nil || layer >= len(s.K) {
			return fmt.Errorf("row %d: cache has no slot %d in layer %d", i, m.Slot, layer)
		}
		if s, _ := a.KV[i].At(m.Reach() - 1); s == nil {
			return fmt.Errorf("row %d: cache has no slot %d to attend to", i, m.Reach()-1)
		}
		short := at >= room(s, layer, row, values)
		m.Within(window, func(slot, n int) {
			stretch(a.KV[i].Spans, slot, n, func(s *npu.Span, at, n int) { short = short || at+n > room(s, layer, row, values) })
		})
		if short {
			return fmt.Errorf("row %d: cache has slots without memory in layer %d", i, layer)
		}
	}
	return nil
}

// room returns for how many positions a span has memory in a layer.
func room(s *npu.Span, layer, row int, values bool) int {
	if layer >= len(s.K) || values && layer >= len(s.V) {
		return 0
	}
	n := len(s.K[layer]) / row
	if values {
		n = min(n, len(s.V[layer])/row)
	}
	return n
}

// value returns the arena memory of a value.
func (r *run) value(v npu.Value) []float32 {
	n := r.Rows * r.graph.Nodes[v].Width
	return r.arena[r.Rows*r.offset[v]:][:n:n]
}

// result returns the memory that a node writes to. The last node writes to the caller's memory.
func (r *run) result(i int) []float32 {
	if i == len(r.graph.Nodes)-1 {
		return r.Out[:r.Rows*r.graph.Nodes[i].Width]
	}
	return r.value(npu.Value(i))
}

// loop identifies a loop over rows or other units that the threads share.
type loop uint8

const (
	loopNorm loop = iota
	loopQuantize
	loopQuantizeK
	loopInterleave
	loopWords
	loopMatMul
	loopSwiGLU
	loopAttention
	loopFactor
	loopAdapt
	loopRope
	loopElements
	loopConv
)

// share runs compute for loop l over n units on several threads. cost is the cost of a unit in multiplications.
func (r *run) share(l loop, n, cost int) {
	r.loop = l
	r.dev.pool.each(n, cost, r.part)
}

// compute computes units lo to hi−1 of the loop.
func (r *run) compute(lo, hi int) {
	switch r.loop {
	case loopNorm:
		r.normRows(lo, hi)
	case loopQuantize:
		r.quantizeRows(lo, hi)
	case loopQuantizeK:
		r.quantizeKRows(lo, hi)
	case loopWords:
		r.widenQuads(lo, hi)
	case loopInterleave:
		r.interleaveQuads(lo, hi)
	case loopMatMul:
		r.mulUnits(lo, hi)
	case loopSwiGLU:
		r.dev.k.swiGLU(r.out[lo*32:hi*32], r.x[lo*32:hi*32], r.y[lo*32:hi*32])
	case loopAttention:
		r.attend(lo, hi)
	case loopFactor:
		r.factorRows(lo, hi)
	case loopAdapt:
		r.adaptRows(lo, hi)
	case loopRope:
		r.ropeRows(lo, hi)
	case loopElements:
		r.elementRows(lo, hi)
	case loopConv:
		r.convolveRows(lo, hi)
	}
}

// arg returns the value of the node's argument j.
func (r *run) arg(j int) []float32 { return r.value(r.node.Args[j]) }

func (r *run) step(i int) {
	n, out := &r.graph.Nodes[i], r.result(i)
	r.node, r.out = n, out
	if len(n.Args) > 0 {
		r.x = r.arg(0)
	}
	switch n.Op {
	case npu.OpInput:
		copy(out, r.X)
	case npu.OpEmbed:
		r.embed(out, n.Weight, r.Tokens)
	case npu.OpPosition:
		r.embed(out, n.Weight, r.Positions)
	case npu.OpRMSNorm, npu.OpLayerNorm:
		r.share(loopNorm, r.Rows, 4*n.Width)
	case npu.OpReLU, npu.OpScale, npu.OpSoftcap, npu.OpTemper:
		r.share(loopElements, r.Rows, 4*n.Width)
	case npu.OpFactor:
		if !r.fused(npu.Value(i)) {
			r.factor(n)
		}
	case npu.OpSelect:
		r.selectParts(n)
	case npu.OpMatMul:
		if with := r.with[i]; len(with) > 0 {
			r.matMul(with)
		}
	case npu.OpRope:
		r.rope(r.ropes[i])
	case npu.OpAttention:
		r.store(r.arg(1), r.arg(2), n.Attention)
		r.attention(n.Attention)
	case npu.OpSwiGLU:
		r.swiGLU(r.arg(1))
	case npu.OpGeGLU, npu.OpClippedSwiGLU:
		r.y = r.arg(1)
		r.share(loopElements, r.Rows, 16*n.Width)
	case npu.OpTimes:
		r.y = r.arg(1)
		r.share(loopElements, r.Rows, 4*n.Width)
	case npu.OpShortConv:
		r.shortConv(n, r.kernels[i])
	case npu.OpGELU:
		r.share(loopElements, r.Rows, 16*n.Width)
	case npu.OpConcat:
		r.concat(out, n)
	case npu.OpAdd:
		if v := r.adds[i]; v != 0 {
			r.adapt(v)
			return
		}
		r.y = r.arg(1)
		r.share(loopElements, r.Rows, 4*n.Width)
	}
}

func (r *run) concat(out []float32, n *npu.Node) {
	at := 0
	for j, a := range n.Args {
		w, x := r.graph.Nodes[a].Width, r.arg(j)
		for row := range r.Rows {
			copy(out[row*n.Width+at:][:w], x[row*w:])
		}
		at += w
	}
}
