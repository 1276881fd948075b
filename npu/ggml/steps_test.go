package ggml

import (
	"hash/fnv"
	"slices"
	"testing"
	"unsafe"

	"tandem/npu"
)

// step is what a run asks of the library.
type step struct {
	drawn, computed, sets, gets, syncs int
	first                              ptr    // the computed graph's first node
	sum                                uint64 // of all fields of its nodes
}

// watch makes s the record of what the device's next runs ask of the library.
func watch(d *Device, s *step) {
	a, was := *d.api, *d.api
	a.NewGraph = func(ctx ptr, size uintptr, grads bool) ptr { s.drawn++; return was.NewGraph(ctx, size, grads) }
	a.Sync = func(b ptr) { s.syncs++; was.Sync(b) }
	a.Set = func(b, x ptr, p unsafe.Pointer, at, n uintptr) { s.sets++; was.Set(b, x, p, at, n) }
	a.Get = func(b, x ptr, p unsafe.Pointer, at, n uintptr) { s.gets++; was.Get(b, x, p, at, n) }
	a.Compute = func(b, g ptr) int32 {
		s.computed++
		h := fnv.New64a()
		for i := range was.GraphNodes(g) {
			x := was.GraphNode(g, i)
			if i == 0 {
				s.first = x
			}
			const header = 32 // that the library puts before a tensor
			h.Write(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&x))), was.Overhead()-header))
		}
		s.sum = h.Sum64()
		return was.Compute(b, g)
	}
	d.api = &a
}

// Steps of many sequences compute one graph, whose nodes do not change as long as the window does not. CUDA launches a graph that
// it has recorded only then; otherwise it launches each kernel. Sequences that begin later use the graphs of earlier ones.
func TestStepsKeepTheirGraph(t *testing.T) { each(t, 1, testStepsKeepTheirGraph) }

func testStepsKeepTheirGraph(t *testing.T, d *Device) {
	const rows, spans = 64, 3
	var s step
	watch(d, &s)
	g := probe(npu.HalfSplit)
	g.Chunk = rows
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	x := waves(rows*64, 1)
	var known []step
	for round := range 4 {
		var last step
		kvs := make([]*npu.KV, rows)
		for i := range kvs {
			kvs[i] = &npu.KV{}
		}
		for at := range int32(pageSize * spans) {
			for _, kv := range kvs {
				if at%pageSize == 0 {
					empty := probeCache(1, 0, pageSize, 32).Spans[1]
					empty.Len = 0
					kv.Spans = append(kv.Spans, empty)
				}
				kv.Spans[len(kv.Spans)-1].Len++
			}
			s = step{}
			a := npu.Args{Rows: rows, X: x, Out: make([]float32, rows*64), Positions: slices.Repeat([]int32{at}, rows), KV: kvs}
			if err := p.Run(a); err != nil {
				t.Fatal(err)
			}
			if round < 2 { // memory grows, and then all graphs are drawn again
				known = append(known, s)
				continue
			}
			if s.drawn > 0 || !slices.ContainsFunc(known, func(k step) bool { return k.first == s.first && k.sum == s.sum }) {
				t.Fatalf("round %d, position %d: %d graphs were drawn, or one has changed", round, at, s.drawn)
			}
			if at%pageSize > 0 && (s.first != last.first || s.sum != last.sum) {
				t.Fatalf("round %d, position %d: another graph than before, in the same window", round, at)
			}
			// Positions, slots (twice), mask and input; keys and values, and the result.
			if s.computed != 1 || s.sets != 5 || s.gets != 2 || s.syncs != 1 {
				t.Fatalf("round %d, position %d: %+v", round, at, s)
			}
			last = s
		}
	}
}

// What a plan knows of a run's writes is what its slots say.
func TestChanges(t *testing.T) {
	p := plan{wants: []want{{n: 20}, {n: 7}, {n: 3}}, own: []home{{0, 18}, {1, 6}, {0, 17}, {0, 19}}}
	p.note()
	if want := []change{{17, 3}, {6, 1}, {3, 0}}; !slices.Equal(p.changes, want) {
		t.Errorf("%v, want %v", p.changes, want)
	}
}

// Touching the memory of new keys and values changes nothing.
func TestTouchChangesNothing(t *testing.T) {
	const width, n = 5000, 9
	s := &npu.Span{Len: n, K: [][]uint16{make([]uint16, n*width)}, V: [][]uint16{make([]uint16, n*width)}}
	for i := range s.K[0] {
		s.K[0][i], s.V[0][i] = uint16(i%3), uint16(i%7)
	}
	k, v := slices.Clone(s.K[0]), slices.Clone(s.V[0])
	p := plan{wants: []want{{span: s, n: n}}, own: []home{{0, 3}, {0, 4}, {0, 8}}}
	p.touch(&cacheLayer{width: width})
	if !slices.Equal(s.K[0], k) || !slices.Equal(s.V[0], v) {
		t.Error("numbers have changed")
	}
}

// What precedes computing does not take longer the more rows and spans there are, except for what they add themselves.
func BenchmarkSend(b *testing.B) {
	const rows, layers = 64, 28
	p, d := plan{}, &Device{}
	d.cache.layers = make([]cacheLayer, layers)
	for i := range 3 * rows { // three spans of each sequence, of which a run writes to the last
		r := &resident{valid: slices.Repeat([]int{pageSize}, layers)}
		p.wants = append(p.wants, want{span: &npu.Span{}, n: pageSize, resident: r})
		if i%3 == 2 {
			p.own = append(p.own, home{i, pageSize - 1})
		}
	}
	for b.Loop() {
		p.note()
		for layer := range layers {
			d.send(&p, layer)
		}
	}
}

// A result in memory that the device writes itself is not copied again.
func TestHostMemory(t *testing.T) { each(t, 1, testHostMemory) }

func testHostMemory(t *testing.T, d *Device) {
	if !d.staging.pinned() {
		if d.Traits().Host != nil {
			t.Error("a device without pinned memory has memory of its own for results")
		}
		d.staging.buft = d.api.DevBuft(d.dev) // the memory of a processor will do
	}
	const rows, width = 8, 40_000
	g := npu.NewGraph("head", rows)
	g.MatMul(g.Input(32), numbers("w", npu.F16, width, 32), nil)
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	a := npu.Args{Rows: rows, X: waves(rows*32, 1), Out: make([]float32, rows*width)}
	if err := p.Run(a); err != nil {
		t.Fatal(err)
	}
	mem, free := d.Traits().Host(2 * rows * width)
	if len(mem) != 2*rows*width {
		t.Fatalf("memory for %d numbers, want %d", len(mem), 2*rows*width)
	}
	b := a
	b.Out = mem[rows*width:]
	was := *d.api
	watched, to := was, []unsafe.Pointer{}
	watched.Get = func(backend, x ptr, p unsafe.Pointer, at, n uintptr) {
		to = append(to, p)
		was.Get(backend, x, p, at, n)
	}
	d.api = &watched
	if err := p.Run(b); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Out, a.Out) {
		t.Error("other numbers than in other memory")
	}
	if len(to) != 1 || to[0] != unsafe.Pointer(&b.Out[0]) {
		t.Errorf("the device wrote to %v, want %p only", to, &b.Out[0])
	}
	free()
	if d.hosted(mem) { // until it is swept
		d.Traits().Host(1)
	}
	if len(d.hosts) != 1 {
		t.Errorf("%d blocks of memory, want 1", len(d.hosts))
	}
	_, late := d.Traits().Host(1)
	d.Close()
	late() // after the device
	if len(d.deadHosts) != 0 {
		t.Error("memory is left")
	}
	if mem, _ := d.host(1); mem != nil {
		t.Error("a closed device gives memory")
	}
}

// Keys and values are kept while the device sends a large result, and before the run ends in any case.
func TestKeptWhileReceiving(t *testing.T) {
	d := need(t, 1)
	d.staging.buft = d.api.DevBuft(d.dev)
	for _, n := range []int{10, received / 4, 3 * received} {
		for _, hosted := range []bool{false, true} {
			out := make([]float32, n)
			if hosted {
				out, _ = d.host(n)
			}
			var order string
			a := *d.api
			was := d.api
			a.Get = func(ptr, ptr, unsafe.Pointer, uintptr, uintptr) { order += "g" }
			a.Sync = func(ptr) { order += "s" }
			d.api = &a
			d.receive(1, out, func() { order += "k" })
			d.api = was
			want := "gsk"
			switch {
			case hosted && n > 10:
				want = "sgks"
			case n > received:
				want = "gsgksgs"
			}
			if order != want {
				t.Errorf("%d numbers, memory of the device %v: %s, want %s", n, hosted, order, want)
			}
			d.staging.reset()
		}
	}
}

func BenchmarkResults(b *testing.B) {
	d := need(b, 1)
	d.staging.buft = d.api.DevBuft(d.dev)
	const n = 64 * 151_936 // the logits of 64 rows
	ctx := d.api.Init(2 * d.api.Overhead())
	x := d.api.New1D(ctx, int32(npu.F32), n)
	buf := d.api.AllocCtx(ctx, d.api.DevBuft(d.dev))
	d.api.BufClear(buf, 1) // so that each page is another one
	defer d.drop(owned{ctx, buf})
	for _, hosted := range []bool{false, true} {
		out, name := make([]float32, n), "elsewhere"
		if hosted {
			out, _ = d.host(n)
			name = "host"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d.receive(x, out, func() {})
				d.staging.reset()
			}
		})
	}
}
