package ggml

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
	"weak"

	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

func numbers(name string, typ npu.DType, rows, cols int) *npu.Tensor {
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(math.Sin(float64(i*i%997))) / 8
	}
	t := &npu.Tensor{Name: name, Type: typ, Rows: rows, Cols: cols, Data: make([]byte, rows*typ.RowBytes(cols))}
	if err := quant.Quantize(typ, t.Data, x); err != nil {
		panic(err)
	}
	return t
}

// A transformer layer gives the same results as on native, with fused attention and without.
func TestBlockAgreesWithNative(t *testing.T) { each(t, 2, testBlockAgreesWithNative) }

func testBlockAgreesWithNative(t *testing.T, d *Device) {
	n := native.New(1)
	defer n.Close()
	for _, flash := range []bool{true, false} {
		for _, pairing := range []npu.Pairing{npu.Adjacent, npu.HalfSplit} {
			d.noFlash = !flash
			off, kept, err := compare(n, d, probe(pairing))
			if err != nil || !(off < 1e-3 && kept < 1e-3) {
				t.Errorf("fused %v, %v: off by %.2g, caches by %.2g, %v", flash, pairing, off, kept, err)
			}
		}
	}
}

// Joined layers give the same results as one layer after the other.
func TestJoinedLayers(t *testing.T) { each(t, 1, testJoinedLayers) }

// Joined layers may have their caches in several banks of memory.
func TestJoinedLayersInSmallBanks(t *testing.T) {
	each(t, 1, func(t *testing.T, d *Device) {
		a := *d.api
		a.BuftMost = func(ptr) uintptr { return uintptr(5 * planeBytes(32, firstPages*pageSize)) }
		d.api = &a
		testJoinedLayers(t, d)
		if n := len(d.cache.bufs); n != 2 {
			t.Errorf("three layers are in %d banks, want 2: each has space for two", n)
		}
	})
}

// If a device cannot look up rows of its cache, new keys and values are copied layer by layer.
func TestWithoutLookups(t *testing.T) {
	each(t, 1, func(t *testing.T, d *Device) {
		a := *d.api
		can := a.DevCan
		a.DevCan = func(dev, op ptr) bool { return can(dev, op) && a.OpDesc(op) != "GET_ROWS" }
		d.api = &a
		p, err := d.Compile(probe(npu.Adjacent))
		if err != nil || p.(*program).lookup {
			t.Errorf("%v", err)
		}
		testJoinedLayers(t, d)
	})
}

func testJoinedLayers(t *testing.T, d *Device) {
	n := native.New(1)
	defer n.Close()
	layers := func() (list []*npu.Graph) {
		for i := range 3 {
			g := probe(npu.Adjacent)
			attentionOf(g).Layer = i
			list = append(list, g)
		}
		return list
	}
	run := func(d npu.Device, graphs ...*npu.Graph) []float32 {
		x, kv := make([]float32, 2*64), probeCache(3, 40, 60, 32)
		for i := range x {
			x[i] = float32(math.Sin(float64(i)))
		}
		for _, g := range graphs {
			p, err := d.Compile(g)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(npu.Args{Rows: 2, X: x, Out: x, Positions: []int32{40, 41}, KV: []*npu.KV{kv, kv}}); err != nil {
				t.Fatal(err)
			}
		}
		for l := range 3 {
			for _, v := range kv.Spans[1].K[l][20*32 : 22*32] { // what the rows wrote
				x = append(x, quant.F16ToF32(v))
			}
		}
		return x
	}
	want := run(n, layers()...)
	if got := run(n, npu.Join(layers()...)); !slices.Equal(got, want) {
		t.Error("native gives different bits for joined layers")
	}
	for _, got := range [][]float32{run(d, layers()...), run(d, npu.Join(layers()...))} {
		for i := range want {
			if off := math.Abs(float64(got[i] - want[i])); !(off < 0.02) {
				t.Fatalf("number %d is %v, native gives %v", i, got[i], want[i])
			}
		}
	}
}

// A GPU waits for the host at each call, so the number of calls in a run must not grow with the number of layers.
func TestCallsDoNotGrowWithLayers(t *testing.T) { each(t, 1, testCallsDoNotGrowWithLayers) }

func testCallsDoNotGrowWithLayers(t *testing.T, d *Device) {
	calls := 0
	a := *d.api
	set, get, wait, compute := a.Set, a.Get, a.Sync, a.Compute
	a.Set = func(backend, x ptr, p unsafe.Pointer, at, n uintptr) { calls++; set(backend, x, p, at, n) }
	a.Get = func(backend, x ptr, p unsafe.Pointer, at, n uintptr) { calls++; get(backend, x, p, at, n) }
	a.Sync = func(backend ptr) { calls++; wait(backend) }
	a.Compute = func(backend, graph ptr) int32 { calls++; return compute(backend, graph) }
	d.api = &a
	var seen []int
	for _, layers := range []int{1, 6} {
		var list []*npu.Graph
		for i := range layers {
			g := probe(npu.Adjacent)
			attentionOf(g).Layer = i
			list = append(list, g)
		}
		p, err := d.Compile(npu.Join(list...))
		if err != nil {
			t.Fatal(err)
		}
		kv := probeCache(layers, 40, 60, 32)
		decode(t, p, kv, 40, 2) // copies the cache to the device
		calls = 0
		decode(t, p, kv, 42, 2)
		seen = append(seen, calls)
	}
	t.Logf("%d calls a run", seen[0])
	if seen[0] != seen[1] || seen[0] > 9 {
		t.Errorf("%d calls for one layer, %d for six", seen[0], seen[1])
	}
}

// Both kinds of tables and Concat give the same results as native for several rows.
func TestTablesAndConcat(t *testing.T) { each(t, 1, testTablesAndConcat) }

func testTablesAndConcat(t *testing.T, d *Device) {
	n := native.New(1)
	defer n.Close()
	g := npu.NewGraph("tables", 4)
	x := g.Add(g.Embed(numbers("words", npu.Q8_0, 10, 32)), g.Position(numbers("places", npu.F16, 20, 32)))
	g.Concat(g.ReLU(x), g.MatMul(x, numbers("w", npu.F16, 8, 32), nil), x)
	var out [2][]float32
	for i, dev := range []npu.Device{n, d} {
		p, err := dev.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = make([]float32, 3*g.Result().Width)
		if err := p.Run(npu.Args{Rows: 3, Tokens: []int32{9, 0, 4}, Positions: []int32{0, 19, 3}, Out: out[i]}); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range out[0] {
		if off := math.Abs(float64(v - out[1][i])); off > 2e-3 {
			t.Fatalf("number %d is %v, native gives %v", i, out[1][i], v)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	d := need(t, 1)
	for want, build := range map[string]func(g *npu.Graph){
		"widths 4 and 8 differ": func(g *npu.Graph) { g.Add(g.Input(4), g.Input(8)) },
		"must be F32":           func(g *npu.Graph) { g.RMSNorm(g.Input(32), numbers("n", npu.F16, 1, 32), 1e-5) },
		"remove the memory limit": func(g *npu.Graph) {
			w := numbers("w", npu.F16, 8, 32)
			w.Staged = true
			g.MatMul(g.Input(32), w, nil)
		},
		"attention with all heads": func(g *npu.Graph) {
			g.Attention(g.Input(32), g.Input(16), g.Input(16), &npu.Attention{Heads: 2, KVHeads: 1, HeadDim: 16, CacheKVHeads: 2})
		},
		"keys by row": func(g *npu.Graph) {
			g.Attention(g.Input(32), g.Input(16), g.Input(16), &npu.Attention{Heads: 2, KVHeads: 1, HeadDim: 16, Columns: true})
		},
		"normalize: operation not supported by the ggml device": func(g *npu.Graph) {
			x := g.Input(32)
			g.Nodes = append(g.Nodes, npu.Node{Op: npu.OpNormalize, Args: []npu.Value{x}, Width: 32, Eps: 1e-5})
		},
		"cannot compute": func(g *npu.Graph) {
			g.MatMul(g.Input(32), numbers("w", npu.F16, 8, 32), nil)
			a := *d.api
			a.DevCan = func(dev, op ptr) bool { return a.OpDesc(op) != "MUL_MAT" } // everything else
			d.api = &a
		},
	} {
		g, was := npu.NewGraph("g", 2), d.api
		build(g)
		if _, err := d.Compile(g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		d.api = was
	}
	if len(d.weights) != 0 || len(d.groups) != 0 {
		t.Errorf("refused graphs left %d weights in %d groups", len(d.weights), len(d.groups))
	}
}

// A device without fused attention gets separate products.
func TestWithoutFusedAttention(t *testing.T) {
	d := need(t, 1)
	a := *d.api
	can := a.DevCan
	a.DevCan = func(dev, op ptr) bool { return can(dev, op) && a.OpDesc(op) != "FLASH_ATTN_EXT" }
	d.api = &a
	p, err := d.Compile(probe(npu.Adjacent))
	if err != nil || p.(*program).flash {
		t.Errorf("%v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	d := need(t, 1)
	layer, err := d.Compile(probe(npu.Adjacent))
	if err != nil {
		t.Fatal(err)
	}
	e := npu.NewGraph("embed", 4)
	e.Embed(numbers("e", npu.F32, 3, 64))
	embed, err := d.Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]float32, 4*64)
	kv := probeCache(1, 0, 3, 32)
	short := probeCache(1, 0, 3, 32)
	short.Spans[1].V[0] = short.Spans[1].V[0][:5]
	for _, c := range []struct {
		p    npu.Program
		a    npu.Args
		want string
	}{
		{layer, npu.Args{Rows: 5, X: buf, Out: buf}, "takes 1 to 4 rows, not 5"},
		{layer, npu.Args{Rows: 0}, "not 0"},
		{layer, npu.Args{Rows: 4, X: buf, Out: buf[:7]}, "output too short"},
		{layer, npu.Args{Rows: 4, X: buf[:7], Out: buf, Positions: make([]int32, 4)}, "input has 7 values"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf}, "0 positions"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{0}}, "0 caches"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{0}, KV: []*npu.KV{nil}}, "no cache"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{3}, KV: []*npu.KV{kv}}, "cache has no slot 3"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{-1}, KV: []*npu.KV{kv}}, "position -1"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{1}, KV: []*npu.KV{short}}, "has memory for"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{1}, KV: []*npu.KV{{Spans: []npu.Span{{Len: 3}}}}}, "no layer 0"},
		{layer, npu.Args{Rows: 2, X: buf, Out: buf, Positions: []int32{1, 2}, KV: []*npu.KV{kv, kv}, Masks: make([]npu.RowMask, 1)}, "fewer masks"},
		{layer, npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{1}, KV: []*npu.KV{kv}, Masks: []npu.RowMask{{Slot: 1, Base: 2}}}, "ancestors"},
		{embed, npu.Args{Rows: 2, Out: buf, Tokens: []int32{1}}, "1 tokens for 2 rows"},
		{embed, npu.Args{Rows: 2, Out: buf, Tokens: []int32{1, 3}}, "token 3 is out of range 0 to 2"},
	} {
		if err := c.p.Run(c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	d.Close()
	d.Close()
	if err := layer.Run(npu.Args{Rows: 1, X: buf, Out: buf, Positions: []int32{1}, KV: []*npu.KV{kv}}); err == nil {
		t.Error("Run on a closed device succeeded")
	}
	if _, err := d.Compile(e); err == nil {
		t.Error("Compile on a closed device succeeded")
	}
}

// alike reports whether results differ only by rounding, as they may if copies are in other cells.
func alike(a, b []float32) bool { return within(a, b, 1e-3) }

func within(a, b []float32, most float64) bool {
	for i := range a {
		if !(math.Abs(float64(a[i]-b[i])) < most) {
			return false
		}
	}
	return len(a) == len(b)
}

// decode runs n rows from a position on and returns the results.
func decode(t *testing.T, p npu.Program, kv *npu.KV, from, n int) []float32 {
	t.Helper()
	a := npu.Args{Rows: n, X: make([]float32, n*64), Out: make([]float32, n*64)}
	for i := range a.X {
		a.X[i] = float32(math.Cos(float64(i + 64*from)))
	}
	for i := range n {
		a.Positions, a.KV = append(a.Positions, int32(from+i)), append(a.KV, kv)
	}
	if err := p.Run(a); err != nil {
		t.Fatal(err)
	}
	return a.Out
}

// A failed run does not change the caches. After it, the device's copies are made again from them.
func TestFailedRunLeavesNothing(t *testing.T) { each(t, 1, testFailedRunLeavesNothing) }

func testFailedRunLeavesNothing(t *testing.T, d *Device) {
	p, err := d.Compile(probe(npu.Adjacent))
	if err != nil {
		t.Fatal(err)
	}
	kv := probeCache(1, 40, 60, 32)
	want := decode(t, p, kv, 40, 1)
	before := slices.Clone(kv.Spans[1].K[0])
	was := d.api
	a := *d.api
	a.Compute = func(backend, graph ptr) int32 { return -1 }
	d.api = &a
	if err := p.Run(npu.Args{Rows: 1, X: make([]float32, 64), Out: make([]float32, 64), Positions: []int32{41}, KV: []*npu.KV{kv}}); err == nil || !strings.Contains(err.Error(), "status -1") {
		t.Errorf("%v", err)
	}
	d.api = was
	if !slices.Equal(before, kv.Spans[1].K[0]) {
		t.Error("a failed run changed the cache")
	}
	if got := decode(t, p, kv, 40, 1); !alike(got, want) {
		t.Error("the same token gives another result after a failed run")
	}
}

// Results stay the same when the cache outgrows its memory on the device and other sequences run in between.
func TestCacheGrowsAndComesBack(t *testing.T) { each(t, 1, testCacheGrowsAndComesBack) }

func testCacheGrowsAndComesBack(t *testing.T, d *Device) {
	p, err := d.Compile(probe(npu.Adjacent))
	if err != nil {
		t.Fatal(err)
	}
	small, large := probeCache(1, 40, 60, 32), probeCache(1, 5000, 5010, 32)
	first, second := decode(t, p, small, 40, 2), decode(t, p, large, 5000, 2)
	for range 3 {
		var others []*npu.KV
		for range 12 {
			others = append(others, probeCache(1, 900, 910, 32))
			decode(t, p, others[len(others)-1], 900, 1)
		}
		if got := decode(t, p, small, 40, 2); !alike(got, first) {
			t.Fatal("a small cache gives another result after other sequences")
		}
		if got := decode(t, p, large, 5000, 2); !alike(got, second) {
			t.Fatal("a large cache gives another result after other sequences")
		}
		runtime.GC()
	}
}

// However many numbers of rows and windows a device sees, graphs and inputs take bounded memory, and results stay the same.
func TestGraphsAndInputsAreBounded(t *testing.T) { each(t, 1, testGraphsAndInputsAreBounded) }

func testGraphsAndInputsAreBounded(t *testing.T, d *Device) {
	g := probe(npu.Adjacent)
	g.Chunk = 12
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	caches := map[int]*npu.KV{40: probeCache(1, 40, 60, 32), 600: probeCache(1, 600, 620, 32), 1500: probeCache(1, 1500, 1520, 32)}
	decode(t, p, caches[1500], 1500, 1) // the cache has its size
	all := func(check func(from, rows int, got []float32)) {
		for from, kv := range caches {
			for rows := 1; rows <= 12; rows++ {
				check(from, rows, decode(t, p, kv, from, rows))
			}
		}
	}
	want := map[[2]int][]float32{}
	all(func(from, rows int, got []float32) { want[[2]int{from, rows}] = got })
	if len(d.graphs) != len(want) || len(d.inputs) != len(want) {
		t.Fatalf("%d graphs and %d inputs for %d combinations", len(d.graphs), len(d.inputs), len(want))
	}
	d.most = bounds{d.held.graphs / 4, d.held.inputs / 4}
	for range 3 {
		all(func(from, rows int, got []float32) {
			if !within(got, want[[2]int{from, rows}], 5e-3) { // sums may be divided otherwise than at first
				t.Errorf("%d rows from %d: another result", rows, from)
			}
			decode(t, p, probeCache(1, 40, 200, 32), 40, 1)
		})
	}
	graphs, inputs := 0, 0
	for g := range d.graphs {
		graphs += g.bytes
	}
	for _, in := range d.inputs {
		inputs += in.bytes
	}
	if graphs != d.held.graphs || inputs != d.held.inputs || graphs > d.most.graphs || inputs > d.most.inputs {
		t.Errorf("%d bytes of graphs and %d of inputs, counted as %+v, want at most %+v", graphs, inputs, d.held, d.most)
	}
}

// The memory of programs that are no longer reachable is freed on the device.
func TestUnreachableProgramsAreFreed(t *testing.T) { each(t, 1, testUnreachableProgramsAreFreed) }

func testUnreachableProgramsAreFreed(t *testing.T, d *Device) {
	head := func(w *npu.Tensor) npu.Program {
		g := npu.NewGraph("head", 4)
		g.MatMul(g.Input(32), w, nil)
		p, err := d.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(npu.Args{Rows: 1, X: make([]float32, 32), Out: make([]float32, w.Rows)}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	shared := numbers("shared", npu.Q4_0, 8, 32)
	kept := head(shared)
	for range 20 {
		head(shared)
		head(numbers("w", npu.Q4_0, 8, 32))
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); { // the cleanups run on their own
		runtime.GC()
		d.mu.Lock()
		d.sweep()
		done := len(d.weights) == 1 && len(d.graphs) == 1
		d.mu.Unlock()
		if done {
			break
		}
		runtime.Gosched()
	}
	if len(d.weights) != 1 || len(d.groups) != 1 || len(d.graphs) != 1 || d.weights[keyOf(shared)].refs != 1 {
		t.Errorf("%d weights in %d groups, %d graphs; %d programs use the shared weights", len(d.weights), len(d.groups), len(d.graphs), d.weights[keyOf(shared)].refs)
	}
	if err := kept.Run(npu.Args{Rows: 1, X: make([]float32, 32), Out: make([]float32, 8)}); err != nil {
		t.Error(err)
	}
}

// A device gives a rotation's factors in the same tensor each time, and forgets those of rotations that are gone.
func TestDeviceForgetsRopes(t *testing.T) {
	d := &Device{factors: map[weak.Pointer[npu.Rope]]*npu.Tensor{}}
	rope, gone := &npu.Rope{Dims: 4, Factors: []float32{1, 2}}, make(chan bool, 1)
	runtime.AddCleanup(rope, func(c chan bool) { c <- true }, gone)
	if first := d.factorsOf(rope); d.factorsOf(rope) != first {
		t.Error("two tensors of the same factors")
	}
	rope = nil
	for end := time.Now().Add(2 * time.Minute); len(gone) == 0; {
		if time.Now().After(end) {
			t.Fatal("the device keeps the rotation")
		}
		runtime.GC()
		runtime.Gosched()
	}
	if d.factorsOf(&npu.Rope{Dims: 2, Factors: []float32{3}}); len(d.factors) != 1 {
		t.Errorf("the device has factors of %d rotations, want those of the second alone", len(d.factors))
	}
}

func TestSeveralGoroutines(t *testing.T) { each(t, 1, testSeveralGoroutines) }

func testSeveralGoroutines(t *testing.T, d *Device) {
	p, err := d.Compile(probe(npu.HalfSplit))
	if err != nil {
		t.Fatal(err)
	}
	want := decode(t, p, probeCache(1, 40, 60, 32), 40, 2)
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range 4 {
		wg.Go(func() {
			for range 5 {
				if got := decode(t, p, probeCache(1, 40, 60, 32), 40, 2); !alike(got, want) {
					errs <- errors.New("another result while other goroutines run")
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

func BenchmarkLayer(b *testing.B) {
	for _, typ := range []npu.DType{npu.Q4_0, npu.Q8_0, npu.F16} {
		b.Run(typ.String(), func(b *testing.B) {
			d := need(b, 1)
			g := npu.NewGraph("product", 1)
			g.MatMul(g.Input(896), numbers("w", typ, 4864, 896), nil)
			p, err := d.Compile(g)
			if err != nil {
				b.Fatal(err)
			}
			a := npu.Args{Rows: 1, X: make([]float32, 896), Out: make([]float32, 4864)}
			b.SetBytes(int64(4864 * typ.RowBytes(896)))
			for b.Loop() {
				if err := p.Run(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
