package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"tandem/npu"
)

// plain is a device that multiplies F32 matrices and reads them only while they are loaded. It can
// take a given time for each product, and can be lost at a given product.
type plain struct {
	takes  time.Duration
	longer func(weight string) time.Duration
	lost   int
	closed bool
}

func (d *plain) Name() string       { return "plain" }
func (d *plain) Close() error       { d.closed = true; return nil }
func (d *plain) Traits() npu.Traits { return npu.Traits{} }
func (d *plain) Compile(g *npu.Graph) (npu.Program, error) {
	return plainProgram{d, g}, g.Check()
}

type plainProgram struct {
	d *plain
	g *npu.Graph
}

func (p plainProgram) Graph() *npu.Graph { return p.g }

func (p plainProgram) Run(a npu.Args) error {
	values := make([][]float32, len(p.g.Nodes))
	for i, n := range p.g.Nodes {
		if err := a.Stage.Enter(i); err != nil {
			return err
		}
		switch n.Op {
		case npu.OpInput:
			values[i] = slices.Clone(a.X[:n.Width])
		case npu.OpMatMul:
			x := values[n.Args[0]]
			for r := range n.Weight.Rows {
				var sum float32
				for j := range x {
					sum += x[j] * math.Float32frombits(binary.LittleEndian.Uint32(n.Weight.Data[4*(r*n.Weight.Cols+j):]))
				}
				values[i] = append(values[i], sum)
			}
			time.Sleep(p.d.takes)
			if p.d.longer != nil {
				time.Sleep(p.d.longer(n.Weight.Name))
			}
			if p.d.lost--; p.d.lost == 0 {
				clear(a.Out)
				return fmt.Errorf("product %d: %w", i, npu.ErrLost)
			}
		case npu.OpConcat:
			for _, v := range n.Args {
				values[i] = append(values[i], values[v]...)
			}
		}
		a.Stage.Leave(i)
	}
	copy(a.Out, values[len(values)-1])
	return nil
}

// chain returns blocks of one product each, of the given width. Their weights keep the numbers
// small.
func chain(blocks, width int) []*npu.Graph {
	var graphs []*npu.Graph
	for b := range blocks {
		w := &npu.Tensor{Name: fmt.Sprintf("w%d", b), Type: npu.F32, Rows: width, Cols: width, Data: make([]byte, 4*width*width)}
		for i := range width * width {
			v := float32((i*7+b*3)%11-5) / float32(width)
			binary.LittleEndian.PutUint32(w.Data[4*i:], math.Float32bits(v))
		}
		g := npu.NewGraph(fmt.Sprintf("block %d", b), 1)
		g.MatMul(g.Input(width), w, nil)
		graphs = append(graphs, g)
	}
	return graphs
}

// step runs all programs in sequence on an input of ones.
func step(programs []npu.Program, width int) ([]float32, error) {
	x := make([]float32, width)
	for i := range x {
		x[i] = 1
	}
	for _, p := range programs {
		if err := p.Run(npu.Args{Rows: 1, X: x, Out: x}); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func compile(t testing.TB, d npu.Device, graphs []*npu.Graph) (programs []npu.Program) {
	t.Helper()
	for _, g := range graphs {
		p, err := d.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	return programs
}

// wanted returns the result without a bound on memory.
func wanted(t testing.TB, graphs []*npu.Graph, width int) []float32 {
	t.Helper()
	d, err := New(&plain{}, Options{Budget: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x, err := step(compile(t, d, graphs), width)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// flaky is a source that sometimes reads too little or fails.
type flaky struct {
	fate func() int // 0 fails, 1 reads short
}

func (f flaky) ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error) {
	switch f.fate() {
	case 0:
		return 0, errors.New("injected")
	case 1:
		n, _ := InMemory{}.ReadAt(t, dst[:len(dst)/2], off)
		return n, nil
	}
	return InMemory{}.ReadAt(t, dst, off)
}

// Whatever fails, a run gives the right numbers or an error, and the next run can succeed.
func TestFailuresGiveErrorsNotNumbers(t *testing.T) {
	const width = 40
	graphs := chain(6, width)
	want := wanted(t, graphs, width)
	rapid.Check(t, func(t *rapid.T) {
		inner := &plain{lost: rapid.IntRange(0, 40).Draw(t, "lost at")}
		maps := rapid.IntRange(0, 30).Draw(t, "mapping that fails")
		rate := rapid.IntRange(2, 30).Draw(t, "rate")
		seed := rapid.Uint32().Draw(t, "seed")
		opt := Options{
			Budget: int64(rapid.IntRange(15_000, 45_000).Draw(t, "budget")),
			Piece:  int64(rapid.IntRange(1000, 8000).Draw(t, "piece")),
			Paging: rapid.Bool().Draw(t, "paging"),
			Source: flaky{func() int {
				seed = seed*1664525 + 1013904223
				return int(seed>>8) % rate
			}},
			Map: func(n int) ([]byte, error) {
				if maps--; maps == 0 {
					return nil, errors.New("no memory")
				}
				return mapMemory(n)
			},
			Unmap: unmapMemory,
		}
		d, err := New(inner, opt)
		if err != nil {
			t.Fatal(err)
		}
		programs := make([]npu.Program, 0, len(graphs))
		for _, g := range graphs {
			p, err := d.Compile(g)
			if err != nil {
				t.Fatal(err)
			}
			programs = append(programs, p)
		}
		for range 8 {
			got, err := step(programs, width)
			if err == nil && !slices.Equal(got, want) {
				t.Fatal("wrong numbers")
			}
		}
		if c := d.Counters(); c.Peak > opt.Budget {
			t.Fatalf("%d bytes mapped, budget %d", c.Peak, opt.Budget)
		}
		if d.Close() != nil || !inner.closed || d.Counters().Mapped != 0 {
			t.Fatalf("closed with %d bytes mapped", d.Counters().Mapped)
		}
		if _, err := step(programs, width); err == nil {
			t.Fatal("a closed device computes")
		}
	})
}

func TestShortReadsAreTriedAgain(t *testing.T) {
	const width = 40
	graphs := chain(3, width)
	want := wanted(t, graphs, width)
	n := 0
	source := flaky{func() int { n++; return 1 + n%2 }} // every other read is short
	d, err := New(&plain{}, Options{Budget: 14_000, Source: source})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got, err := step(compile(t, d, graphs), width)
	if err != nil || !slices.Equal(got, want) || d.Counters().Retries == 0 {
		t.Errorf("%v, %+v", err, d.Counters())
	}
	broken, err := New(&plain{}, Options{Budget: 14_000, Source: flaky{func() int { return 1 }}})
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	if _, err := step(compile(t, broken, graphs), width); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "weights of w0") {
		t.Errorf("error %v", err)
	}
}

func TestLostDeviceIsLoadedAgain(t *testing.T) {
	const width = 40
	graphs := chain(4, width)
	want := wanted(t, graphs, width)
	for at := 1; at < 12; at++ {
		d, err := New(&plain{lost: at}, Options{Budget: 15_000})
		if err != nil {
			t.Fatal(err)
		}
		programs := compile(t, d, graphs)
		for range 3 {
			if got, err := step(programs, width); err != nil || !slices.Equal(got, want) {
				t.Errorf("lost at %d: %v", at, err)
			}
		}
		if c := d.Counters(); c.Retries != 1 {
			t.Errorf("lost at %d: %d retries", at, c.Retries)
		}
		d.Close()
	}
}

// slow is a source whose reads take virtual time.
type slow struct{ perByte time.Duration }

func (s slow) ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error) {
	time.Sleep(s.perByte * time.Duration(len(dst)))
	return InMemory{}.ReadAt(t, dst, off)
}

// In virtual time, Device stalls exactly as long as a replay of its placement.
func TestDeviceStallsAsReplayed(t *testing.T) {
	const width, blocks, steps = 40, 10, 4
	graphs := chain(blocks, width)
	for _, paging := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			costs := Costs{PerByte: 500}
			opt := Options{Budget: 34_000, Piece: 1 << 20, Source: slow{500}, Costs: costs, Paging: paging}
			d, err := New(&plain{takes: 2 * time.Millisecond}, opt)
			if err != nil {
				t.Fatal(err)
			}
			programs := compile(t, d, graphs)
			for range steps {
				if _, err := step(programs, width); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			got := d.Counters()
			sizes := slices.Repeat([]int64{4 * width * width}, blocks)
			objects := make([]int, blocks)
			for i := range objects {
				objects[i] = i
			}
			uses := evenly(sizes, objects, blocks*2*time.Millisecond)
			var want Counters
			if paging {
				want = Replay(NewLRU(func(o int) int64 { return sizes[o] }, opt.Budget), sizes, uses, costs, steps, Counters{})
			} else {
				p, _ := d.Layout()
				want = Replay(NewStaging(p), sizes, uses, costs, steps, p.Fixed(sizes, 0))
			}
			if got.Stall != want.Stall || got.Mappings != want.Mappings || got.Steps != want.Steps || got.Peak > opt.Budget {
				t.Errorf("paging %v: device %+v, replay %+v", paging, got, want)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// After Adapt the placement follows the measurements, and the numbers do not change.
func TestAdapt(t *testing.T) {
	const width = 40
	graphs := chain(8, width)
	want := wanted(t, graphs, width)
	d, err := New(&plain{}, Options{Budget: 30_000, Piece: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	programs := compile(t, d, graphs)
	if d.Adapt() {
		t.Error("adapts without measurements")
	}
	for i := range 3 {
		if got, err := step(programs, width); err != nil || !slices.Equal(got, want) {
			t.Fatalf("step %d: %v", i, err)
		}
		if !d.Adapt() {
			t.Error("does not adapt")
		}
	}
	if p, sizes := d.Layout(); len(p.Temporary) == 0 || p.ResidentBytes(sizes)+stagingSlots*p.Slot > 30_000 {
		t.Errorf("placement %+v", p)
	}
}

// Without given costs, Device measures the first steps, moves weights if that helps, and then
// stalls less. The numbers do not change.
func TestPlacementFollowsTheProfile(t *testing.T) {
	const width = 40
	synctest.Test(t, func(t *testing.T) {
		graphs := chain(10, width)
		want := wanted(t, graphs, width)
		inner := &plain{takes: 2 * time.Millisecond}
		inner.longer = func(name string) time.Duration { // some blocks take long enough to hide their neighbours' loads
			if name >= "w7" {
				return 20 * time.Millisecond
			}
			return 0
		}
		d, err := New(inner, Options{Budget: 47_000, Piece: 1 << 20, Source: slow{1500}})
		if err != nil {
			t.Fatal(err)
		}
		programs := compile(t, d, graphs)
		var stalls []time.Duration
		for range 3 * profiledSteps {
			before := d.Counters().Stall
			if got, err := step(programs, width); err != nil || !slices.Equal(got, want) {
				t.Fatal(err)
			}
			stalls = append(stalls, d.Counters().Stall-before)
		}
		if first, last := stalls[profiledSteps-1], stalls[len(stalls)-1]; last >= first {
			t.Errorf("stalls of %v", stalls)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestBadBudget(t *testing.T) {
	if _, err := New(&plain{}, Options{}); err == nil {
		t.Error("no error")
	}
	d, err := New(&plain{}, Options{Budget: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := step(compile(t, d, chain(2, 40)), 40); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("error %v", err)
	}
}

// Independent products swap places if that hides more of a transfer. The numbers do not change.
func TestIndependentProductsSwapPlaces(t *testing.T) {
	const width = 64
	// A block is three products of one input, of two sizes.
	block := func(b int) *npu.Graph {
		g := npu.NewGraph(fmt.Sprintf("block %d", b), 1)
		x := g.Input(width)
		var parts []npu.Value
		for i, rows := range []int{32, 16, 16} {
			w := &npu.Tensor{Name: fmt.Sprintf("b%d.w%d", b, i), Type: npu.F32, Rows: rows, Cols: width, Data: make([]byte, 4*rows*width)}
			for j := range rows * width {
				binary.LittleEndian.PutUint32(w.Data[4*j:], math.Float32bits(float32((j*5+b+i)%13-6)/width))
			}
			parts = append(parts, g.MatMul(x, w, nil))
		}
		g.Concat(parts...)
		return g
	}
	var graphs []*npu.Graph
	for b := range 6 {
		graphs = append(graphs, block(b))
	}
	want := wanted(t, graphs, width)
	moved := false
	for _, perByte := range []float64{0.05, 0.1, 0.15, 0.2, 0.3, 1} {
		for _, budget := range []int64{20_000, 30_000, 40_000, 60_000, 80_000} {
			d, err := New(&plain{}, Options{Budget: budget, Piece: 1 << 20, Costs: Costs{PerByte: perByte}})
			if err != nil {
				t.Fatal(err)
			}
			programs := compile(t, d, graphs)
			for range 2 {
				if got, err := step(programs, width); err != nil || !slices.Equal(got, want) {
					t.Fatalf("budget %d, %v ns per byte: %v", budget, perByte, err)
				}
				for id := range d.stager.profile.compute { // overrides the measurements: a tenth of a nanosecond per byte
					d.stager.profile.compute[id] = time.Duration(d.weights.sizes()[id] / 10)
				}
				d.Adapt()
			}
			for _, p := range programs {
				last := -1
				for _, id := range p.(*program).objects {
					if id >= 0 {
						moved, last = moved || id < last, id
					}
				}
			}
			d.Close()
		}
	}
	if !moved {
		t.Error("no product ever moved")
	}
}

// A reordered graph computes the same numbers, whatever the order.
func TestReorderKeepsDependencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const width = 16
		g := npu.NewGraph("g", 1)
		x := g.Input(width)
		objects := []int{-1}
		groups := []int{}
		var weights []*npu.Tensor
		for layer := range rapid.IntRange(1, 3).Draw(t, "layers") {
			var parts []npu.Value
			for i, rows := range []int{8, 4, 4} {
				w := &npu.Tensor{Name: fmt.Sprint(layer, i), Type: npu.F32, Rows: rows, Cols: width, Data: make([]byte, 4*rows*width)}
				for j := range rows * width {
					binary.LittleEndian.PutUint32(w.Data[4*j:], math.Float32bits(float32((j*5+layer+3*i)%13-6)/width))
				}
				weights = append(weights, w)
				y := g.MatMul(x, w, nil)
				objects, groups = append(objects, len(groups)), append(groups, layer)
				parts = append(parts, g.Concat(y)) // a node in between, which must stay after its product
				objects = append(objects, -1)
			}
			x = g.Concat(parts...)
			objects = append(objects, -1)
		}
		rank := rapid.Permutation(rangeOf(len(groups))).Draw(t, "rank")
		out, moved := reorder(g, objects, func(id int) int { return groups[id] }, rank)
		if err := out.Check(); err != nil {
			t.Fatal(err)
		}
		last := map[int]int{}
		for i, id := range moved {
			if id < 0 {
				continue
			}
			if out.Nodes[i].Weight != weights[id] {
				t.Fatalf("node %d does not read object %d", i, id)
			}
			if r, ok := last[groups[id]]; ok && rank[id] < r {
				t.Fatalf("objects in order %v, ranks %v", moved, rank)
			}
			last[groups[id]] = rank[id]
		}
		run := func(g *npu.Graph) []float32 {
			out := make([]float32, width)
			p := plainProgram{&plain{}, g}
			if err := p.Run(npu.Args{Rows: 1, X: slices.Repeat([]float32{1}, width), Out: out, Stage: anyStage{}}); err != nil {
				t.Fatal(err)
			}
			return out
		}
		if !slices.Equal(run(g), run(out)) {
			t.Fatal("the numbers differ")
		}
	})
}

func rangeOf(n int) (s []int) {
	for i := range n {
		s = append(s, i)
	}
	return s
}

type anyStage struct{}

func (anyStage) Enter(int) error { return nil }
func (anyStage) Leave(int)       {}

// rounding is a device whose arithmetic differs from native's.
type rounding struct{ plain }

func (*rounding) Traits() npu.Traits {
	return npu.Traits{Rounding: "ggml cpu", Processor: true, LayersAtOnce: 4}
}

// Bounded memory changes where weights are, not the arithmetic.
func TestTraitsOfTheInnerDevice(t *testing.T) {
	d, err := New(&rounding{}, Options{Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := d.Traits(); got.Rounding != "ggml cpu" || !got.Processor || got.LayersAtOnce != 1 || got.Packer != nil || got.Clock != nil {
		t.Errorf("%+v", got)
	}
}

// Graphs that are made for one text take nothing of the budget, however many there are, and the weights in it stay.
func TestGraphsForOneText(t *testing.T) {
	const width = 64
	graphs := chain(4, width)
	want := wanted(t, graphs, width)
	d, err := New(&plain{}, Options{Budget: 4 * 4 * width * width}) // of these four products
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	programs := compile(t, d, graphs)
	if _, err := step(programs, width); err != nil {
		t.Fatal(err)
	}
	before := d.Counters()
	for range 8 {
		once := chain(1, width)
		once[0].Transient = true
		got, err := step(compile(t, d, once), width)
		if err != nil || !slices.Equal(got, wanted(t, once, width)) {
			t.Fatalf("a graph for one text gives %v, %v", got, err)
		}
		if got, err := step(programs, width); err != nil || !slices.Equal(got, want) {
			t.Fatalf("the others give %v, %v", got, err)
		}
	}
	after := d.Counters()
	if after.Transfers != before.Transfers || after.Mapped != before.Mapped || len(d.programs) != len(programs) {
		t.Errorf("%d transfers, %d bytes mapped and %d programs, before: %d, %d and %d",
			after.Transfers, after.Mapped, len(d.programs), before.Transfers, before.Mapped, len(programs))
	}
}

// held is a source whose first read of a tensor waits until it is let go.
type held struct {
	tensor  *npu.Tensor
	first   sync.Once
	reading chan bool // closed when that read begins
	letGo   chan bool
}

func (h *held) ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error) {
	if t == h.tensor {
		h.first.Do(func() {
			close(h.reading)
			<-h.letGo
		})
	}
	return InMemory{}.ReadAt(t, dst, off)
}

// Graphs may be compiled while weights are fetched ahead.
func TestCompileDuringALoad(t *testing.T) {
	const width = 40
	graphs := chain(10, width)
	want := wanted(t, graphs, width)
	source := &held{tensor: graphs[1].Nodes[1].Weight, reading: make(chan bool), letGo: make(chan bool)}
	d, err := New(&plain{}, Options{Budget: 14_000, Piece: 1 << 20, Source: source})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	programs := compile(t, d, graphs[:4])
	if _, err := step(programs[:1], width); err != nil {
		t.Fatal(err)
	}
	<-source.reading
	go close(source.letGo)
	programs = append(programs, compile(t, d, graphs[4:])...)
	if got, err := step(programs, width); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// The weights of programs that nothing refers to any more, as those of an adapter, take nothing of the budget.
func TestProgramsThatAreGone(t *testing.T) {
	const width = 40
	graphs := chain(6, width)
	want := wanted(t, append(graphs[2:4:4], graphs[5]), width)
	d, err := New(&plain{}, Options{Budget: 1 << 20, Piece: 2000})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	programs := compile(t, d, graphs[:5])
	if _, err := step(programs, width); err != nil {
		t.Fatal(err)
	}
	_, before := d.Layout()
	programs = slices.Clone(programs[2:4])
	for !d.programsFreed.Load() { // the cleanups run on their own
		runtime.GC()
		runtime.Gosched()
	}
	if _, err := step(programs, width); err != nil {
		t.Fatal(err)
	}
	if _, after := d.Layout(); len(after)*5 != len(before)*2 {
		t.Errorf("%d pieces of 5 matrices, then %d of 2", len(before), len(after))
	}
	programs = append(programs, compile(t, d, graphs[5:])...)
	for range 2 {
		if got, err := step(programs, width); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	if _, after := d.Layout(); len(after)*5 != len(before)*3 || len(d.programs) != 3 {
		t.Errorf("%d pieces of 5 matrices, then %d of 3; %d programs", len(before), len(after), len(d.programs))
	}
}
