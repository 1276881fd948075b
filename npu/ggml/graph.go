package ggml

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"weak"

	"tandem/npu"
)

// Numbers of ggml's enumerations other than types of tensors. checkResults checks them.
const (
	ropeNormal = 0 // GGML_ROPE_TYPE_NORMAL
	ropeNeoX   = 2 // GGML_ROPE_TYPE_NEOX
	precF32    = 10
	i32Type    = 26
	i64Type    = 27
)

// fed is an input of the ggml graph: a value that a run computes in Go, or a node's factor.
type fed struct {
	node int
	at   ptr
}

// graph is a program's ggml graph for one number of rows and one window of cells.
type graph struct {
	ctx, g       ptr
	rows, window int
	work         float64 // approximate number of multiplications
	epoch        int     // the device's when it was allocated
	bytes        int     // of its description
	key          drawing
	of           map[drawing]*graph // the program's, which has it
	fed          []fed
	masks        [maxSlots]ptr // which rows use each slot; 0 if all do or none
	out          ptr           // the result
	kept         ptr           // keys and values of the rows as F16, of each attention first all keys, then all values; 0 without
}

// leaves holds the tensors that a graph reads and that outlive it: see inputs and cache.
type leaves struct {
	positions, slots, written ptr
	mask                      func(window int) ptr // of attention to that many of the last positions; 0 for all
	layer                     func(node int) *cacheLayer
	slot                      func(slot int, f factorKey) ptr
}

// drawing is what a ggml graph is drawn for.
type drawing struct {
	rows, window int
	mix          mix
}

// nodesEach is an upper bound on the number of tensors per node.
const nodesEach = 24

// sketch is a graph under construction.
type sketch struct {
	*program
	*graph
	leaves
	values []ptr // of each node, [width × rows]
	bases  []ptr // the tensors that hold them, which are no views
	fused  []ptr // fused attentions
	looked []ptr // lookups of keys and values in the cache

	keptTo uintptr // bytes of kept in use
	mix    mix
}

// draw builds the graph without allocating memory for its values. take returns its leaves, which are created in the graph's
// context if they are only for a trial.
func (p *program) draw(key drawing, take func(ctx ptr) leaves) (*sketch, error) {
	a, n, rows, window := p.dev.api, uintptr(8+maxSlots), key.rows, key.window
	for i := range p.graph.Nodes {
		n += nodesEach + uintptr(len(p.graph.Nodes[i].Args))
		if p.graph.Nodes[i].Op == npu.OpFactor {
			n += uintptr(6 * bits.OnesCount8(key.mix.slots))
		}
	}
	ctx := a.Init(a.Overhead()*n + a.GraphMem(n, false) + 1024)
	if ctx == 0 {
		return nil, fmt.Errorf("graph %s: ggml is out of memory", p.graph.Name)
	}
	s := &sketch{program: p, graph: &graph{ctx: ctx, rows: rows, window: window}, mix: key.mix,
		values: make([]ptr, len(p.graph.Nodes)), bases: make([]ptr, len(p.graph.Nodes))}
	s.leaves = take(ctx)
	s.g = a.NewGraph(ctx, n, false)
	if p.attend {
		s.kept = a.New1D(ctx, int32(npu.F16), int64(p.keeps*rows))
		a.SetInput(s.kept) // so that it does not share memory
		a.SetOutput(s.kept)
	}
	for i := range p.graph.Nodes {
		s.node(i)
		s.work += float64(rows) * workOf(&p.graph.Nodes[i], window)
	}
	last := len(p.graph.Nodes) - 1
	s.present(npu.Value(last))
	s.out = s.bases[last]
	a.SetOutput(s.out)
	a.Expand(s.g, s.out)
	if p.lookup {
		s.lookUp()
	}
	return s, nil
}

// workOf returns the approximate number of multiplications of a node for a row that attends to the given number of cells.
func workOf(n *npu.Node, window int) float64 {
	switch n.Op {
	case npu.OpMatMul:
		return float64(n.Weight.Rows) * float64(n.Weight.Cols)
	case npu.OpFactor:
		return float64(n.Width) * float64(n.Factor.Cols)
	case npu.OpAttention:
		return 2 * float64(n.Width) * float64(window)
	}
	return float64(n.Width)
}

// node adds the tensors of node i.
func (s *sketch) node(i int) {
	n, a, ctx := &s.program.graph.Nodes[i], s.dev.api, s.ctx
	if s.absent(i, n) {
		return
	}
	var x ptr
	if len(n.Args) > 0 {
		x = s.values[n.Args[0]]
	}
	switch n.Op {
	case npu.OpInput, npu.OpEmbed, npu.OpPosition:
		x = s.feed(i, n.Width)
	case npu.OpRMSNorm:
		s.rmsNorm(i, n, x)
		return
	case npu.OpLayerNorm:
		x = a.Add(ctx, a.Mul(ctx, a.Norm(ctx, x, n.Eps), s.weight(n.Weight)), s.weight(n.Bias))
	case npu.OpMatMul:
		x = a.MulMat(ctx, s.weight(n.Weight), x)
		if n.Bias != nil {
			x = a.Add(ctx, x, s.weight(n.Bias))
		}
	case npu.OpFactor:
		x = s.factor(n, x)
	case npu.OpSelect:
		x = a.Mul(ctx, x, s.feed(i, n.Width))
	case npu.OpScale:
		x = a.Scale(ctx, x, n.Scale)
	case npu.OpRope:
		s.rope(i, n.Rope, x)
		return
	case npu.OpAttention:
		s.attention(i, n)
		return
	case npu.OpTemper:
		x = a.Mul(ctx, x, s.feed(i, 1))
	case npu.OpConcat:
		for _, part := range n.Args[1:] {
			x = a.Concat(ctx, x, s.values[part], 0)
		}
	default:
		x = s.elementwise(n, x)
	}
	s.values[i], s.bases[i] = x, x
}

// elementwise adds the tensor of an operation that takes each element of x, and of a second argument, by itself.
func (s *sketch) elementwise(n *npu.Node, x ptr) ptr {
	a, ctx := s.dev.api, s.ctx
	var y ptr
	if len(n.Args) > 1 {
		y = s.values[n.Args[1]]
	}
	switch n.Op {
	case npu.OpSwiGLU:
		return a.SwiGLU(ctx, x, y)
	case npu.OpGeGLU:
		return a.GeGLU(ctx, x, y)
	case npu.OpGELU:
		return a.GELU(ctx, x)
	case npu.OpSoftcap:
		return s.softcap(x, n.Scale)
	case npu.OpReLU:
		return a.ReLU(ctx, x)
	case npu.OpAdd:
		return a.Add(ctx, x, y)
	case npu.OpTimes:
		return a.Mul(ctx, x, y)
	}
	return x
}

// feed returns a tensor for node i with rows of the given width, which the program fills before each run.
func (s *sketch) feed(i, width int) ptr {
	a := s.dev.api
	x := a.New2D(s.ctx, int32(npu.F32), int64(width), int64(s.rows))
	a.SetInput(x)
	s.fed = append(s.fed, fed{i, x})
	return x
}

// rmsNorm adds a norm of x, or of equal parts of it if the weight is shorter than a row.
func (s *sketch) rmsNorm(i int, n *npu.Node, x ptr) {
	a, part := s.dev.api, n.Weight.Cols
	if part < n.Width {
		x = a.Reshape3D(s.ctx, x, int64(part), int64(n.Width/part), int64(s.rows))
	}
	x = a.Mul(s.ctx, a.RMSNorm(s.ctx, x, n.Eps), s.weight(n.Weight))
	s.bases[i], s.values[i] = x, x
	if part < n.Width {
		s.values[i] = a.Reshape2D(s.ctx, x, int64(n.Width), int64(s.rows))
	}
}

// weight returns the tensor on the device.
func (s *sketch) weight(t *npu.Tensor) ptr { return s.dev.weights[keyOf(t)].at }

func (s *sketch) rope(i int, r *npu.Rope, x ptr) {
	a, width, mode := s.dev.api, s.program.graph.Nodes[i].Width, int32(ropeNormal)
	if r.Pairing == npu.HalfSplit {
		mode = ropeNeoX
	}
	magnitude := float32(r.Magnitude)
	if magnitude == 0 {
		magnitude = 1
	}
	factors := ptr(0)
	if t := s.factors[r]; t != nil {
		factors = s.weight(t)
	}
	x = a.Reshape3D(s.ctx, x, int64(r.HeadDim), int64(width/r.HeadDim), int64(s.rows))
	x = a.Rope(s.ctx, x, s.positions, factors, int32(r.Dims), mode, 0, float32(r.Base), float32(1/r.Linear), 0, magnitude, 32, 1)
	s.bases[i] = x
	// A view, not a reshaped tensor: ggml fuses a rotation, a view and a write to rows, in this order.
	row := uintptr(4 * width)
	s.values[i] = a.View3D(s.ctx, x, int64(width), int64(s.rows), 1, row, row*uintptr(s.rows), 0)
}

// softcap is limit·tanh(x/limit).
func (s *sketch) softcap(x ptr, limit float32) ptr {
	a := s.dev.api
	return a.Scale(s.ctx, a.Tanh(s.ctx, a.Scale(s.ctx, x, 1/limit)), limit)
}

// attention writes keys and values to their cells and attends to the window of cells through the mask.
func (s *sketch) attention(i int, n *npu.Node) {
	a, ctx, at := s.dev.api, s.ctx, n.Attention
	l := s.layer(i)
	// Add these before the attention, because the graph computes nodes in the order of their addition.
	a.Expand(s.g, a.SetRows(ctx, l.k, s.values[n.Args[1]], s.slots))
	a.Expand(s.g, a.SetRows(ctx, l.v, s.values[n.Args[2]], s.slots))
	if !s.lookup {
		s.keep(s.values[n.Args[1]], l.width, 1)
		s.keep(s.values[n.Args[2]], l.width, 1)
	}

	dim, heads, kvHeads, rows := int64(at.HeadDim), int64(at.Heads), int64(at.KVHeads), int64(s.rows)
	head, cell := uintptr(2*dim), uintptr(2*dim*kvHeads) // bytes
	k := a.View3D(ctx, l.k, dim, kvHeads, int64(s.window), head, cell, 0)
	v := a.View3D(ctx, l.v, dim, kvHeads, int64(s.window), head, cell, 0)
	q := s.bases[n.Args[0]]
	if from := &s.program.graph.Nodes[n.Args[0]]; from.Op != npu.OpRope || from.Rope.HeadDim != at.HeadDim {
		q = a.Reshape3D(ctx, s.values[n.Args[0]], dim, heads, rows)
	} // else the rotation has that shape already, and each tensor costs time in each step
	q = a.Permute(ctx, q, 0, 2, 1, 3) // [dim, rows, heads]
	k = a.Permute(ctx, k, 0, 2, 1, 3) // [dim, window, kvHeads]
	var out ptr                       // [dim, heads, rows]
	if s.flash && s.dev.fuses(at) {
		out = a.FlashAttn(ctx, q, k, a.Permute(ctx, v, 0, 2, 1, 3), s.mask(at.Window), at.Scale, 0, at.Softcap)
		a.FlashPrec(out, precF32)
		s.fused = append(s.fused, out)
	} else {
		scores, scale := a.MulMat(ctx, k, q), at.Scale // [window, rows, heads]
		if at.Softcap != 0 {
			scores, scale = s.softcap(a.Scale(ctx, scores, scale), at.Softcap), 1
		}
		p := a.SoftMax(ctx, scores, s.mask(at.Window), scale, 0)
		v = a.Cont(ctx, a.Permute(ctx, v, 1, 2, 0, 3))                     // [window, dim, kvHeads]
		out = a.Cont(ctx, a.Permute(ctx, a.MulMat(ctx, v, p), 0, 2, 1, 3)) // from [dim, rows, heads]
	}
	s.bases[i] = out
	s.values[i] = a.Reshape2D(ctx, out, dim*heads, rows)
}

// fuses reports whether the device may compute the attention fused, if it says that it can. CUDA says so of attention with
// capped scores and heads of any width, but it has kernels for widths of 128 and 256 only: another width ends the process.
// Of the models with capped scores, Gemma 2 has heads of 256 and 128.
func (d *Device) fuses(at *npu.Attention) bool {
	return d.cpu || at.Softcap == 0 || at.HeadDim == 128 || at.HeadDim == 256
}

// keep adds rows of keys or values to those that are copied back. They are stored together, because a GPU takes about as
// long to copy those of one layer as those of all layers. x holds one or more matrices [width × rows].
func (s *sketch) keep(x ptr, width, matrices int) {
	a, row := s.dev.api, uintptr(2*width)
	matrix := row * uintptr(s.rows)
	place := a.View3D(s.ctx, s.kept, int64(width), int64(s.rows), int64(matrices), row, matrix, s.keptTo)
	x = a.Cpy(s.ctx, x, place)
	s.looked = append(s.looked, x)
	a.Expand(s.g, x)
	s.keptTo += matrix * uintptr(matrices)
}

// lookedUp bounds the bytes that one operation looks up, because it temporarily needs twice as much memory.
const lookedUp = 16 << 20

// lookUp keeps what all attentions have written by looking it up in the cache, many layers at a time. A copy in each layer
// would take two kernel launches on a GPU, and ggml fuses a rotation with the write to the cache only if nothing else reads
// the result.
func (s *sketch) lookUp() {
	a := s.dev.api
	for list := s.attentions; len(list) > 0; {
		first, n := s.layer(list[0]), 1
		most := max(1, lookedUp/(2*4*first.width*s.rows))
		for n < min(len(list), most) {
			if next := s.layer(list[n]); next.bank != first.bank || next.plane != first.plane+2*n {
				break
			}
			n++
		}
		list = list[n:]
		row := uintptr(2 * first.width)
		plane, planes := row*uintptr(first.cells), int64(2*n)
		from := a.View3D(s.ctx, first.bank.at, int64(first.width), int64(first.cells), planes, row, plane, plane*uintptr(first.plane))
		indices := uintptr(4 * s.rows)
		x := a.GetRows(s.ctx, from, a.View3D(s.ctx, s.written, int64(s.rows), planes, 1, indices, indices*uintptr(planes), 0))
		s.looked = append(s.looked, x)
		s.keep(x, first.width, 2*n)
	}
}

// unsupported returns the first node that the device cannot compute, or 0.
func (s *sketch) unsupported() ptr {
	a := s.dev.api
	for i := range a.GraphNodes(s.g) {
		if x := a.GraphNode(s.g, i); !a.DevCan(s.dev.dev, x) {
			return x
		}
	}
	return 0
}

// program is a compiled graph.
type program struct {
	dev            *Device
	graph          *npu.Graph
	flash          bool                      // the device has fused attention for this program
	lookup         bool                      // the device can look up rows of its cache
	places, attend bool                      // inputs that a run needs
	factors        map[*npu.Rope]*npu.Tensor // of rotations with frequency factors
	attentions     []int                     // nodes
	keeps          int                       // keys and values of a row, in numbers
	keptAt         []int                     // where those of each attention begin
	kvOf           map[int]int               // attention node → layer of the device's cache
	adapted        []*npu.Factor             // factors of adapters, each once
	selects        bool                      // there are nodes that select
	graphs         map[drawing]*graph
}

// Compile implements npu.Device. It checks that the device can compute the graph, and uploads its weights.
func (d *Device) Compile(g *npu.Graph) (npu.Program, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("graph %s: device %s is closed", g.Name, d.name)
	}
	p := &program{dev: d, graph: g, flash: !d.noFlash, lookup: true, factors: map[*npu.Rope]*npu.Tensor{}, kvOf: map[int]int{}, graphs: map[drawing]*graph{}}
	need, err := p.collect()
	if err != nil {
		return nil, fmt.Errorf("graph %s: %w", g.Name, err)
	}
	d.sweep()
	held, err := d.load(need.weights, need.products)
	if err != nil {
		return nil, fmt.Errorf("graph %s: %w", g.Name, err)
	}
	for _, rows := range []int{1, g.Chunk} {
		if err := p.try(rows); err != nil {
			d.release(held)
			return nil, fmt.Errorf("graph %s: %w", g.Name, err)
		}
	}
	for _, i := range p.attentions {
		at := g.Nodes[i].Attention
		p.kvOf[i] = d.cacheLayer(at.Layer, at.KVHeads*at.HeadDim)
		d.addWindow(at.Window)
	}
	runtime.AddCleanup(p, func(r remains) {
		d.deadMu.Lock()
		defer d.deadMu.Unlock()
		d.dead = append(d.dead, r)
	}, remains{p.graphs, held})
	return p, nil
}

// needs is what a graph needs on the device.
type needs struct {
	weights  []*npu.Tensor
	products map[*npu.Tensor]bool // those of the weights that are in products
}

// collect lists what the graph needs on the device, and notes what its runs need.
func (p *program) collect() (needs, error) {
	all := needs{products: map[*npu.Tensor]bool{}}
	for i := range p.graph.Nodes {
		if err := p.need(i, &all); err != nil {
			return needs{}, err
		}
	}
	return all, nil
}

// need adds what node i needs to all.
func (p *program) need(i int, all *needs) error {
	n := &p.graph.Nodes[i]
	if n.Weight != nil && n.Weight.Staged {
		return fmt.Errorf("%%%d %v: the ggml device keeps all weights in memory: remove the memory limit, or use --device native", i, n.Op)
	}
	switch n.Op {
	case npu.OpInput, npu.OpSwiGLU, npu.OpReLU, npu.OpAdd, npu.OpConcat, npu.OpScale, npu.OpGeGLU, npu.OpSoftcap, npu.OpGELU, npu.OpTimes:
	case npu.OpExperts, npu.OpShortConv, npu.OpClippedSwiGLU:
		return fmt.Errorf("%%%d: the ggml device has no %v: use --device native", i, n.Op)
	case npu.OpFactor:
		if !slices.ContainsFunc(p.adapted, func(f *npu.Factor) bool { return factorKeyOf(f) == factorKeyOf(n.Factor) }) {
			p.adapted = append(p.adapted, n.Factor)
		}
	case npu.OpSelect:
		p.selects = true
	case npu.OpEmbed: // looked up in Go, in the model file
	case npu.OpPosition, npu.OpTemper:
		p.places = true
	case npu.OpMatMul:
		all.weights, all.products[n.Weight] = append(all.weights, n.Weight), true
		return all.vectors(i, n, n.Bias)
	case npu.OpRMSNorm, npu.OpLayerNorm:
		return all.vectors(i, n, n.Weight, n.Bias)
	case npu.OpRope:
		p.places = true
		if r := n.Rope; r.Factors != nil && p.factors[r] == nil {
			p.factors[r] = p.dev.factorsOf(r)
			all.weights = append(all.weights, p.factors[r])
		}
	case npu.OpAttention:
		return p.needAttention(i, n.Attention)
	default:
		return fmt.Errorf("%%%d %v: operation not supported by the ggml device; use npu/reference", i, n.Op)
	}
	return nil
}

// vectors adds the norms and biases of node i; those that are nil are left out.
func (all *needs) vectors(i int, n *npu.Node, vectors ...*npu.Tensor) error {
	for _, v := range vectors {
		if v == nil {
			continue
		}
		if v.Type != npu.F32 {
			return fmt.Errorf("%%%d %v: norms and biases must be F32, not %v", i, n.Op, v)
		}
		all.weights = append(all.weights, v)
	}
	return nil
}

// needAttention notes the attention of node i and the room for the keys and values that a run keeps.
func (p *program) needAttention(i int, at *npu.Attention) error {
	switch {
	case at.CacheKVHeads != 0 || at.Columns:
		return fmt.Errorf("%%%d: the ggml device supports only attention with all heads and keys by row; use npu/reference", i)
	case at.Cache != npu.CacheF16:
		return fmt.Errorf("%%%d: the ggml device keeps keys and values in F16, not in %v: use --device native or --kv-type f16", i, at.Cache)
	case at.Sinks != nil:
		return fmt.Errorf("%%%d: the ggml device has no attention sinks: use --device native", i)
	}
	p.places, p.attend = true, true
	p.attentions, p.keptAt = append(p.attentions, i), append(p.keptAt, p.keeps)
	p.keeps += 2 * at.KVHeads * at.HeadDim
	return nil
}

var errCannot = errors.New("cannot compute")

// try draws the graph for a number of rows and checks whether the device can compute all of it.
func (p *program) try(rows int) error {
	a := p.dev.api
	m := mix{slots: 1}
	if len(p.adapted) == 0 {
		m = mix{}
	}
	for {
		s, err := p.draw(drawing{rows, windowBucket(1), m}, func(ctx ptr) leaves { return p.trial(ctx, rows) })
		if err != nil {
			return err
		}
		x, what := s.unsupported(), ""
		if x != 0 {
			what = a.OpDesc(x)
		}
		a.Free(s.ctx)
		switch {
		case x == 0:
			return nil
		case slices.Contains(s.fused, x):
			p.flash = false // attend by separate products
		case p.lookup && slices.Contains(s.looked, x):
			p.lookup = false // copy keys and values layer by layer
		default:
			return fmt.Errorf("%s %w %s as this model needs it (types %s): use another device or another quantisation",
				p.dev.name, errCannot, what, p.types())
		}
	}
}

// trial returns leaves for a trial, in the graph's context and without memory.
func (p *program) trial(ctx ptr, rows int) leaves {
	a, cells := p.dev.api, windowBucket(1)
	l := leaves{
		positions: a.New1D(ctx, i32Type, int64(rows)),
		slots:     a.New1D(ctx, i64Type, int64(rows)),
		written:   a.New2D(ctx, i32Type, int64(rows), 2),
	}
	masks := map[int]ptr{}
	l.mask = func(window int) ptr {
		if masks[window] == 0 {
			masks[window] = a.New2D(ctx, int32(npu.F16), int64(cells), int64(rows))
		}
		return masks[window]
	}
	trial := map[int]*cacheLayer{}
	l.layer = func(node int) *cacheLayer {
		if trial[node] == nil {
			at := p.graph.Nodes[node].Attention
			trial[node] = newCacheLayer(a, ctx, at.KVHeads*at.HeadDim, cells)
		}
		return trial[node]
	}
	l.slot = func(_ int, f factorKey) ptr {
		cols, rows := f.size()
		return a.New2D(ctx, int32(npu.F32), cols, rows)
	}
	return l
}

// types names the types of the weights, for errors.
func (p *program) types() string {
	seen, text := map[npu.DType]bool{}, ""
	for i := range p.graph.Nodes {
		if w := p.graph.Nodes[i].Weight; w != nil && !seen[w.Type] {
			seen[w.Type] = true
			if text != "" {
				text += ", "
			}
			text += w.Type.String()
		}
	}
	return text
}

// factorsOf returns a tensor of a rotation's frequency factors, the same one each time. It forgets those of models that are gone.
func (d *Device) factorsOf(r *npu.Rope) *npu.Tensor {
	key := weak.Make(r)
	if t := d.factors[key]; t != nil {
		return t
	}
	maps.DeleteFunc(d.factors, func(r weak.Pointer[npu.Rope], _ *npu.Tensor) bool { return r.Value() == nil })
	t := &npu.Tensor{Name: "frequency factors", Type: npu.F32, Rows: 1, Cols: len(r.Factors)}
	for _, f := range r.Factors {
		b := math.Float32bits(f)
		t.Data = append(t.Data, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	d.factors[key] = t
	return t
}

// Graph implements npu.Program.
func (p *program) Graph() *npu.Graph { return p.graph }

// drawn returns the graph for the given numbers of rows and cells, and the given slots. It builds and allocates the
// graph if necessary.
func (p *program) drawn(rows int, in *inputs, m mix) (*graph, error) {
	d, key := p.dev, drawing{rows, in.window, m}
	g := p.graphs[key]
	if g != nil && g.epoch == d.epoch {
		return g, nil
	}
	if g != nil {
		d.dropGraph(g)
	}
	s, err := p.draw(key, func(ptr) leaves {
		return leaves{in.positions, in.slots, in.written, func(window int) ptr { return in.masks[slices.Index(d.windows, window)] },
			func(node int) *cacheLayer { return &d.cache.layers[p.kvOf[node]] },
			func(slot int, f factorKey) ptr { return d.slots[slot].at[f] }}
	})
	if err != nil {
		return nil, err
	}
	before := d.api.GallocSize(d.galloc, 0)
	ok := d.api.GallocKeep(d.galloc, s.g)
	after := d.api.GallocSize(d.galloc, 0)
	if after != before {
		d.epoch++ // the memory has moved: other graphs point to the old one
	}
	if !ok || !d.api.Galloc(d.galloc, s.g) {
		d.api.Free(s.ctx)
		return nil, failed("graph %s: %s has no memory for %d rows", p.graph.Name, d.name, rows)
	}
	g = s.graph
	g.epoch, g.bytes, g.key, g.of = d.epoch, int(d.api.UsedMem(g.ctx)), key, p.graphs
	if d.held.graphs+g.bytes > d.most.graphs {
		for old := range d.graphs {
			d.dropGraph(old)
		}
	}
	p.graphs[key], d.graphs[g] = g, struct{}{}
	d.held.graphs += g.bytes
	return g, nil
}

// dropGraph frees a graph that has been drawn.
func (d *Device) dropGraph(g *graph) {
	d.api.Free(g.ctx)
	delete(d.graphs, g)
	delete(g.of, g.key)
	d.held.graphs -= g.bytes
}
