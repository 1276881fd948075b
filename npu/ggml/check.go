package ggml

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

// This package was written for one version of the libraries' headers, and other versions may differ. These checks call the
// libraries and compare results before the libraries are used. A library that fails is rejected.

// drift returns the error for a library that behaves differently from the version that this program was written for.
func drift(version, format string, args ...any) error {
	return fmt.Errorf("version %s differs from 0.25, which this program was written for: %s", version, fmt.Sprintf(format, args...))
}

// lacks returns the error for a library in which functions are missing.
func lacks(version string, missing []string) error {
	const most = 3
	names := strings.Join(missing[:min(most, len(missing))], ", ")
	if n := len(missing) - most; n > 0 {
		names += fmt.Sprintf(" and %d more functions", n)
	}
	return fmt.Errorf("%s has no %s: this program was written for version 0.25; install libraries of about that version", version, names)
}

// checkTypes checks struct ggml_init_params, the numbers and sizes of element types, and views.
func (a *api) checkTypes(version string) error {
	size := 1024 + 16*a.Overhead()
	if o := a.Overhead(); o < 64 || o > 1<<16 {
		return drift(version, "a tensor's description takes %d bytes", o)
	}
	ctx := a.Init(size)
	if ctx == 0 {
		return drift(version, "ggml_init gives no context")
	}
	defer a.Free(ctx)
	if got := a.MemSize(ctx); got != size || !a.NoAlloc(ctx) || a.UsedMem(ctx) != 0 {
		return drift(version, "ggml_init makes a context of %d bytes, not %d, no_alloc %v", got, size, a.NoAlloc(ctx))
	}
	for _, t := range slices.Concat(npu.DTypes, npu.ReadOnly) {
		name, n, bytes := a.TypeName(int32(t)), a.BlckSize(int32(t)), a.TypeSize(int32(t))
		if !strings.EqualFold(name, t.String()) || n != int64(t.BlockSize()) || bytes != uintptr(t.BlockBytes()) {
			return drift(version, "type %d is %s in blocks of %d, %d bytes each, not %v", t, name, n, bytes, t)
		}
	}
	for t, want := range map[int32]string{i32Type: "i32", i64Type: "i64"} {
		if name := a.TypeName(t); name != want {
			return drift(version, "type %d is %s, not %s", t, name, want)
		}
	}
	x := a.New2D(ctx, int32(npu.F32), 6, 20)
	if n, b := a.Elements(x), a.Bytes(x); n != 120 || b != 480 {
		return drift(version, "a tensor of 6×20 has %d elements in %d bytes", n, b)
	}
	view := a.View3D(ctx, x, 2, 3, 4, 8, 24, 96)
	if n, b := a.Elements(view), a.Bytes(view); n != 24 || b != 96 {
		return drift(version, "a view of 2×3×4 has %d elements in %d bytes", n, b)
	}
	if n := a.Elements(a.Reshape2D(ctx, a.Permute(ctx, a.Reshape3D(ctx, x, 6, 4, 5), 0, 1, 2, 3), 24, 5)); n != 120 {
		return drift(version, "a reshaped tensor of 6×20 has %d elements", n)
	}
	return nil
}

// checkResults computes small graphs with every operation on the libraries' processor, and compares them with the native
// device.
func (a *api) checkResults(version string) error {
	cpu := -1
	infos := a.devices()
	for i, info := range infos {
		if info.Kind == kinds[0] {
			cpu = i
			break
		}
	}
	if cpu < 0 {
		return fmt.Errorf("version %s has no processor backend (libggml-cpu): its folder is incomplete", version)
	}
	theirs, err := newDevice(a, a.DevGet(uintptr(cpu)), infos[cpu], version, 1)
	if err != nil {
		return err
	}
	defer theirs.Close()
	list, lacks, err := theirs.differences(npu.Q4_0, npu.Q8_0)
	if err != nil {
		return drift(version, "%v", err)
	}
	if len(lacks) > 0 {
		return drift(version, "its processor backend cannot compute with %v", lacks)
	}
	for _, d := range list {
		if !(d.off < d.bound) {
			return drift(version, "%s is off by %.3g", d.what, d.off)
		}
	}
	return nil
}

// ErrWrong is wrapped by the error of Check if a device's results differ from those of the native device.
var ErrWrong = errors.New("computes wrong")

// gpuFactor is how much farther a GPU's results may be from native's than a processor's. GPUs round inputs and sums of
// products to fewer bits.
const gpuFactor = 10

// Check computes the operations that models use on the device with the given name and on the native device. It returns the
// largest difference relative to the largest value, and the weight types that the device does not support. If results
// differ by more than rounding, the error wraps ErrWrong: a model would produce nonsense.
func Check(name string) (off float64, lacks []npu.DType, err error) {
	d, err := Open(name, 1)
	if err != nil {
		return 0, nil, err
	}
	defer d.Close()
	return d.check()
}

func (d *Device) check() (off float64, lacks []npu.DType, err error) {
	list, lacks, err := d.differences(npu.DTypes...)
	for _, x := range list {
		if !(x.off < gpuFactor*x.bound) {
			return x.off, lacks, fmt.Errorf("%s %w: %s is off by %.3g; use another device, or another driver for it", d.name, ErrWrong, x.what, x.off)
		}
		off = max(off, x.off)
	}
	if err == nil && !d.cpu {
		var deep float64
		if deep, err = d.checkDeep(); deep > off {
			off = deep
		}
	}
	return off, lacks, err
}

// checkDeep compares several layers at once, with heads of a width for which GPUs have fused attention. It repeats a step of one
// row, because GPUs start kernels early: one that does not wait for what it reads is wrong only sometimes, most of all in graphs
// that CUDA has recorded. It returns the largest difference.
func (d *Device) checkDeep() (off float64, err error) {
	ours := native.New(1)
	defer ours.Close()
	for _, pairing := range []npu.Pairing{npu.Adjacent, npu.HalfSplit} {
		var layers []*npu.Graph
		for i := range 4 {
			g := probeOf(pairing, 64)
			attentionOf(g).Layer = i
			layers = append(layers, g)
		}
		g := npu.Join(layers...)
		one, kept, err := compare(ours, d, g)
		if err != nil {
			return off, err
		}
		many, err := compareSteps(ours, d, g)
		if err != nil {
			return off, err
		}
		if off = max(off, one, kept, many); !(off < gpuFactor*deepBound) {
			return off, fmt.Errorf("%s %w: four layers (rope %v) are off by %.3g; use another device, or another driver for it", d.name, ErrWrong, pairing, off)
		}
	}
	return off, nil
}

// compareSteps computes the same row again and again, and returns the largest difference from the first device's result.
func compareSteps(one, two npu.Device, g *npu.Graph) (off float64, err error) {
	const filled, steps = 70, 24
	at, width := attentionOf(g), g.Nodes[0].Width
	var want []float32
	for i, d := range []npu.Device{one, two} {
		p, err := d.Compile(g)
		if err != nil {
			return 0, err
		}
		a := npu.Args{Rows: 1, X: waves(width, 3), Out: make([]float32, g.Result().Width), Positions: []int32{filled},
			KV: []*npu.KV{probeCache(layersOf(g), filled, filled+1, at.KVHeads*at.HeadDim)}}
		for range 1 + i*(steps-1) {
			if err := p.Run(a); err != nil {
				return 0, err
			}
			if i == 0 {
				want = a.Out
			}
			off = max(off, distance(a.Out, want))
		}
	}
	return off, nil
}

// deepBound is the bound of checkDeep for a processor.
const deepBound = 0.004

// difference is how far a result is from native's, relative to the largest number, and the bound for a processor.
type difference struct {
	what       string
	off, bound float64
}

// differences compares with native: a block with every operation, factors and scales, and products with weights of some
// types. It returns the types that the device cannot compute with.
func (d *Device) differences(types ...npu.DType) (list []difference, lacks []npu.DType, err error) {
	ours := native.New(1)
	defer ours.Close()
	defer func(was bool) { d.noFlash = was }(d.noFlash)
	for _, pairing := range []npu.Pairing{npu.Adjacent, npu.HalfSplit} {
		for _, flash := range []bool{true, false} {
			d.noFlash = !flash
			off, kept, err := compare(ours, d, probe(pairing))
			if err != nil {
				return nil, nil, err
			}
			what := fmt.Sprintf("a probe (rope %v, fused attention %v)", pairing, flash)
			list = append(list, difference{what, off, 0.002}, difference{"what it keeps of " + what, kept, 0.002})
		}
	}
	off, err := compareFactors(ours, d)
	if err != nil {
		return nil, nil, err
	}
	list = append(list, difference{"a probe of factors and scales", off, 0.002})
	for _, typ := range types {
		off, err := compareProduct(ours, d, typ)
		if errors.Is(err, errCannot) {
			lacks = append(lacks, typ)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, difference{fmt.Sprintf("a probe of %v", typ), off, 0.005}) // both round the inputs to 8 bits, but perhaps not all alike
	}
	return list, lacks, nil
}

// compareProduct multiplies weights of a type by one input and by several, which use different kernels. It returns the
// largest difference, relative to the largest number.
func compareProduct(ours, theirs npu.Device, typ npu.DType) (float64, error) {
	const width, rows = 256, 5
	w := &npu.Tensor{Name: "w", Type: typ, Rows: width, Cols: width, Data: make([]byte, typ.RowBytes(width*width))}
	if err := quant.Quantize(typ, w.Data, waves(width*width, 5)); err != nil {
		return 0, err
	}
	g := npu.NewGraph("product", rows)
	g.MatMul(g.Input(width), w, nil)
	p, err := theirs.Compile(g)
	if err != nil {
		return 0, err
	}
	q, err := ours.Compile(g)
	if err != nil {
		return 0, err
	}
	off := 0.0
	for _, n := range []int{1, rows} {
		a := npu.Args{Rows: n, X: waves(n*width, 3), Out: make([]float32, n*width)}
		b := a
		b.Out = make([]float32, n*width)
		if err := errors.Join(p.Run(a), q.Run(b)); err != nil {
			return 0, err
		}
		off = max(off, distance(a.Out, b.Out))
	}
	return off, nil
}

// waves returns n numbers within ±1 with a long period.
func waves(n, seed int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i * i * seed)))
	}
	return x
}

// distance returns the largest difference between numbers, relative to the largest of want; +Inf if one is NaN.
func distance(got, want []float32) float64 {
	off, top := 0.0, 0.0
	for i, v := range want {
		if got[i] != got[i] {
			return math.Inf(1)
		}
		off, top = max(off, math.Abs(float64(v-got[i]))), max(top, math.Abs(float64(v)))
	}
	return off / top
}

// compareFactors runs a graph with two factors after each other on both devices, and scales the product by some of their
// rows. It returns the largest difference, relative to the largest number.
func compareFactors(ours, theirs npu.Device) (float64, error) {
	const width, rows, out = 32, 12, 8
	g := npu.NewGraph("factors", 2)
	g.Nodes = []npu.Node{{Op: npu.OpInput, Width: width},
		{Op: npu.OpFactor, Args: []npu.Value{0}, Width: out, Factor: &npu.Factor{Name: "f", Rows: rows, Cols: width, From: 3}},
		{Op: npu.OpScale, Args: []npu.Value{1}, Width: out, Scale: 0.5}}
	p, err := theirs.Compile(g)
	if err != nil {
		return 0, err
	}
	q, err := ours.Compile(g)
	if err != nil {
		return 0, err
	}
	x := waves(2*width, 1)
	off := 0.0
	for _, seed := range []int{3, 5} {
		f := &npu.Tensor{Name: "f", Type: npu.F32, Rows: rows, Cols: width}
		for j := range rows * width {
			f.Data = binary.LittleEndian.AppendUint32(f.Data, math.Float32bits(float32(math.Cos(float64(j*seed)))))
		}
		a := npu.Args{Rows: 2, X: x, Adapters: []*npu.Adapter{{Factors: map[string]*npu.Tensor{"f": f}}, nil}}
		b := a
		a.Out, b.Out = make([]float32, 2*out), make([]float32, 2*out)
		if err := errors.Join(p.Run(a), q.Run(b)); err != nil {
			return 0, err
		}
		off = max(off, distance(a.Out, b.Out))
	}
	return off, nil
}

// probe returns a small graph in which every other operation affects the result.
func probe(pairing npu.Pairing) *npu.Graph { return probeOf(pairing, 16) }

// probeOf is probe with heads of a width.
func probeOf(pairing npu.Pairing, dim int) *npu.Graph {
	const heads = 4
	width, seed := heads*dim, uint32(1)
	near := 0.4 * float32(math.Sqrt(64/float64(width))) // the range of weights
	tensor := func(rows, cols int, scale, shift float32) *npu.Tensor {
		t := &npu.Tensor{Name: "probe", Type: npu.F32, Rows: rows, Cols: cols}
		for range rows * cols {
			seed = seed*1664525 + 1013904223
			v := (float32(seed>>8)/(1<<24)-0.5)*scale + shift
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
		}
		return t
	}
	factors := make([]float32, (dim-4)/2)
	for i := range factors {
		factors[i] = []float32{1, 1, 2, 3, 4, 1}[i%6]
	}
	g := npu.NewGraph("probe", 4)
	rope := &npu.Rope{Pairing: pairing, HeadDim: dim, Dims: dim - 4, Base: 100, Linear: 2, Factors: factors}
	x := g.Input(width)
	h := g.RMSNorm(x, tensor(1, width, 1, 1), 1e-5)
	q := g.Rope(g.MatMul(h, tensor(width, width, near, 0), tensor(1, width, 1, 0)), rope)
	k := g.Rope(g.MatMul(h, tensor(width/2, width, near, 0), nil), rope)
	v := g.MatMul(h, tensor(width/2, width, near, 0), nil)
	x = g.Add(x, g.Attention(q, k, v, &npu.Attention{Heads: heads, KVHeads: heads / 2, HeadDim: dim, Scale: 0.25}))
	h = g.LayerNorm(x, tensor(1, width, 1, 1), tensor(1, width, 1, 0), 1e-5)
	h = g.SwiGLU(g.MatMul(h, tensor(width, width, near, 0), nil), g.ReLU(g.MatMul(h, tensor(width, width, near, 0), nil)))
	g.Add(x, h)
	return g
}

// compare runs the graph on both devices, over a cache with some positions, in several runs of several rows. It returns the
// largest difference of the results, and that of keys and values, each relative to the largest number.
func compare(one, two npu.Device, g *npu.Graph) (off, kept float64, err error) {
	const filled, length = 70, 74
	layers := layersOf(g)
	var results [2][]float32
	var caches [2]*npu.KV
	at := attentionOf(g)
	for i, d := range []npu.Device{one, two} {
		p, err := d.Compile(g)
		if err != nil {
			return 0, 0, err
		}
		caches[i] = probeCache(layers, filled, length, at.KVHeads*at.HeadDim)
		width, out := g.Nodes[0].Width, g.Result().Width
		for _, rows := range []int{3, 1} {
			from := filled
			if rows == 1 {
				from = length - 1
			}
			a := npu.Args{Rows: rows, X: make([]float32, rows*width), Out: make([]float32, rows*out)}
			for r := range rows {
				a.Positions, a.KV = append(a.Positions, int32(from+r)), append(a.KV, caches[i])
			}
			for j := range a.X {
				a.X[j] = float32(math.Sin(float64(j*j + from)))
			}
			if err := p.Run(a); err != nil {
				return 0, 0, err
			}
			results[i] = append(results[i], a.Out...)
		}
	}
	for s := range caches[0].Spans {
		want, got := caches[0].Spans[s], caches[1].Spans[s]
		for l := range layers {
			kept = max(kept, distance(widened(got.K[l]), widened(want.K[l])), distance(widened(got.V[l]), widened(want.V[l])))
		}
	}
	return distance(results[1], results[0]), kept, nil
}

func attentionOf(g *npu.Graph) *npu.Attention {
	for i := range g.Nodes {
		if g.Nodes[i].Op == npu.OpAttention {
			return g.Nodes[i].Attention
		}
	}
	return nil
}

// layersOf returns the number of layers of the graph's cache.
func layersOf(g *npu.Graph) (n int) {
	for i := range g.Nodes {
		if at := g.Nodes[i].Attention; at != nil {
			n = max(n, at.Layer+1)
		}
	}
	return n
}

// probeCache returns a cache in two spans, with some positions and room up to length.
func probeCache(layers, filled, length, width int) *npu.KV {
	kv := &npu.KV{}
	for _, n := range []int{filled / 2, length - filled/2} {
		s := npu.Span{Len: n, K: make([][]uint16, layers), V: make([][]uint16, layers)}
		for l := range layers {
			s.K[l], s.V[l] = make([]uint16, n*width), make([]uint16, n*width)
			for j := range s.K[l] {
				s.K[l][j] = quant.F32ToF16(float32(math.Sin(float64(j))))
				s.V[l][j] = quant.F32ToF16(float32(math.Cos(float64(3 * j))))
			}
		}
		kv.Spans = append(kv.Spans, s)
	}
	return kv
}

func widened(x []uint16) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = quant.F16ToF32(v)
	}
	return out
}
