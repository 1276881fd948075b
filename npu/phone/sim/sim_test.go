package sim

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"tandem/npu"
)

// Every chip and stack defines every parameter, with a source or a fit.
func TestParameters(t *testing.T) {
	if want := []string{"sm8550", "sm8650", "sm8750", "sm8850"}; !slices.Equal(Names(), want) {
		t.Fatalf("chips %v, want %v", Names(), want)
	}
	for _, name := range Names() {
		s, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.SoC != name || s.Name == "" || s.NPU == "" {
			t.Errorf("%s: names are %q, %q, %q", name, s.SoC, s.Name, s.NPU)
		}
		for stack := range s.Stacks {
			c, err := Find(name + "/" + stack)
			if err != nil {
				t.Error(err)
			}
			if c.Tile < 1 || c.Window < 1<<30 {
				t.Errorf("%s/%s: %+v", name, stack, c)
			}
		}
	}
	for _, bad := range []string{"", "sm1", "sm8650/none", "../sm8650"} {
		if _, err := Find(bad); err == nil || !strings.Contains(err.Error(), "use one of") {
			t.Errorf("Find(%q): %v", bad, err)
		}
	}
	s, _ := Open("sm8650")
	for name := range s.Chip {
		kept := s.Chip[name]
		delete(s.Chip, name)
		if _, err := s.Costs("mllm"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		s.Chip[name] = Param{Value: kept.Value, Unit: kept.Unit}
		if _, err := s.Costs("mllm"); err == nil || !strings.Contains(err.Error(), "source") {
			t.Errorf("%s without a source: %v", name, err)
		}
		s.Chip[name] = kept
	}
}

// Every value is counted once, each chip has fitted values, and the root of a value that is carried
// over is not itself carried over.
func TestOrigins(t *testing.T) {
	for _, name := range Names() {
		s, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		values := len(s.Chip)
		check := func(params map[string]Param) {
			for param, p := range params {
				root, ok := Default().Raw(p.Root)
				if !ok {
					root, ok = Default().Raw(common + p.Root[strings.Index(p.Root, "/"):])
				}
				if !ok || root.As != "" || p.RootFitted != (root.Fitted != "") {
					t.Errorf("%s: %s is %+v, from %+v", name, param, p, root)
				}
			}
		}
		check(s.Chip)
		for _, st := range s.Stacks {
			values += len(st.Params)
			check(st.Params)
		}
		if o := s.Origins(); o.Sum() != values || o.Sourced == 0 || o.Fitted == 0 || o.Carried < o.FromFits || o.FromFits == 0 {
			t.Errorf("%s: %+v of %d values", name, o, values)
		}
	}
}

// Values that are carried over are computed, also through several steps. The chip's own file takes
// precedence over the common one.
func TestCarriedOver(t *testing.T) {
	files := Files{
		common: {Chip: map[string]Param{"b": {As: "x/a", Source: "shared"}}, Stacks: map[string]Stack{"s": {About: "all", Params: map[string]Param{"c": {As: "same/b", Times: .5, Source: "half"}}}}},
		"x":    {SoC: "x", Chip: map[string]Param{"a": {Value: 8, Unit: "W", Fitted: "to something"}}},
		"y":    {SoC: "y", Chip: map[string]Param{"a": {As: "x/a", Times: 2, Source: "twice"}, "b": {As: "same/a", Source: "its own"}}},
	}
	for chip, want := range map[string]float64{"x": 4, "y": 8} {
		s, err := files.Open(chip)
		if c := s.Stacks["s"].Params["c"]; err != nil || c.Value != want || c.Unit != "W" || c.Root != "x/a" || !c.RootFitted || s.Stacks["s"].About != "all" {
			t.Errorf("%s: %+v, %v", chip, c, err)
		}
	}
	moved, err := files.With("x/a", 80)
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[*Files]float64{&moved: 80, &files: 8} {
		if s, err := of.Open("y"); err != nil || s.Stacks["s"].Params["c"].Value != want {
			t.Errorf("%+v, %v, want %v", s, err, want)
		}
	}
	if _, err := files.With("y/a", 1); err == nil || !strings.Contains(err.Error(), "y/a") {
		t.Errorf("a value that is carried over was replaced: %v", err)
	}
}

// Values without a clear origin are rejected, and the error names them.
func TestUnclearOrigins(t *testing.T) {
	for _, bad := range []struct {
		want  string
		param Param
	}{
		{"z/p", Param{Value: 1}},
		{"z/p", Param{Value: 1, Source: "Assumed: a guess"}},
		{"z/p", Param{Value: 1, Source: "s", Fitted: "f"}},
		{"z/p", Param{Value: 1, Source: "s", Times: 2}},
		{"z/p", Param{As: "z/q"}},
		{"z/p", Param{As: "z/q", Value: 2, Source: "s"}},
		{"z/p", Param{As: "z/q", Times: -1, Source: "s"}},
		{"z/none", Param{As: "z/none", Source: "s"}},
		{"w/q", Param{As: "w/q", Source: "s"}},
		{"z/p, z/r, z/p", Param{As: "same/r", Source: "s"}},
	} {
		files := Files{"z": {SoC: "z", Chip: map[string]Param{"p": bad.param, "q": {Value: 1, Source: "s"}, "r": {As: "z/p", Source: "s"}}}}
		if _, err := files.Open("z"); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%+v: %v, want it to name %s", bad.param, err, bad.want)
		}
	}
}

// The cost of a product is constant within a tile, never falls with more tiles, and up to the
// saturation point equals that of streaming the weights (sd.npu §3.2, llada.cpp §2.2).
func TestStaircase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := Find(rapid.SampledFrom(Names()).Draw(t, "soc"))
		if err != nil {
			t.Fatal(err)
		}
		cols, out := rapid.IntRange(64, 4096).Draw(t, "cols"), rapid.IntRange(64, 4096).Draw(t, "out")
		weights := int64(cols * out / 2)
		rows := rapid.IntRange(1, 1000).Draw(t, "rows")
		a, b := c.Product(rows, cols, out, weights), c.Product(rows+1, cols, out, weights)
		if b < a || rows%c.Tile != 0 && a != b {
			t.Fatalf("%d rows take %v, one more %v", rows, a, b)
		}
		if n := c.Saturation(4); n > c.Tile && c.Product(n, cols, out, weights) != c.Product(1, cols, out, weights) {
			t.Fatalf("below saturation (%d rows) the cost is not constant", n)
		}
	})
}

// A graph's cost is the sum of its parts and grows with the context. The CPU is charged if it
// computes attention.
func TestGraphCost(t *testing.T) {
	s, err := FindShape("Qwen2.5-1.5B")
	if err != nil {
		t.Fatal(err)
	}
	s.Type, s.HeadType = npu.Q8_0, npu.Q8_0
	for _, name := range []string{"sm8650/qnn", "sm8650/mllm", "sm8750/hexagon"} {
		c, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		short, long := c.Graphs(s.Blocks(32, 32), 100), c.Graphs(s.Blocks(32, 32), 10_000)
		if long.Time() <= short.Time() {
			t.Errorf("%s: a long context takes %v, a short one %v", name, long.Time(), short.Time())
		}
		if (short.CPU > 0) != (c.CPUAttends || c.Row > 0) {
			t.Errorf("%s: the CPU takes %v", name, short.CPU)
		}
		// The shape has 1.54 billion weights, at the stack's width.
		bits := c.WeightBits
		if bits == 0 {
			bits = 8.5
		}
		if want := s.Parameters() * bits / 8; math.Abs(float64(short.Weights)/want-1) > 1e-3 {
			t.Errorf("%s: %d bytes of weights, want %.0f", name, short.Weights, want)
		}
		if got := short.Joules(c); got <= 0 || got > 100 {
			t.Errorf("%s: %v J for a pass", name, got)
		}
	}
}

// A product costs the same as a matrix product and as a convolution. Quantised weights cost less.
func TestCostOfProductForms(t *testing.T) {
	c, err := Find("sm8650")
	if err != nil {
		t.Fatal(err)
	}
	g := product("layer 0", 32, 512, 512)
	want := c.Graph(g, 0)
	g.Nodes[1].Op = npu.OpConv
	if got := c.Graph(g, 0); got != want || c.Bytes(g) != want.Weights {
		t.Errorf("as a convolution: %+v, want %+v", got, want)
	}
	// Weights of 4 bits are an eighth the size of weights of 32.
	g.Nodes[1].Op, g.Nodes[1].Weight, g.Nodes[1].Quantized = npu.OpQuantized, nil, &npu.Quantized{Rows: 512, Cols: 512}
	if got := c.Graph(g, 0); got.Weights != want.Weights/8 || got.NPU >= want.NPU || c.Bytes(g) != got.Weights {
		t.Errorf("quantised: %+v of %+v", got, want)
	}
}

// Shapes have as many parameters as their names say, embedding included. A mixture keeps all its experts mapped, and a
// run takes those that its rows can use: one row two of eight, which cost as much as two dense layers of that size; a
// chunk of 64 all, each with a share of the rows.
func TestExperts(t *testing.T) {
	c, err := Find("sm8750")
	if err != nil {
		t.Fatal(err)
	}
	const dim, ff, count, used = 512, 256, 8, 2
	feed := func(g *npu.Graph, x npu.Value) npu.Value {
		m := func(rows, cols int) *npu.Tensor { return &npu.Tensor{Type: npu.Q4_0, Rows: rows, Cols: cols} }
		return g.MatMul(g.SwiGLU(g.MatMul(x, m(ff, dim), nil), g.MatMul(x, m(ff, dim), nil)), m(dim, ff), nil)
	}
	mixture := func(rows int) *npu.Graph {
		g := npu.NewGraph("mixture", rows)
		e := &npu.Experts{TopK: used}
		for range count {
			one := npu.NewGraph("expert", rows)
			feed(one, one.Input(dim))
			e.Graphs = append(e.Graphs, one)
		}
		x := g.Input(dim)
		g.Experts(x, g.MatMul(x, &npu.Tensor{Type: npu.F32, Rows: count, Cols: dim}, nil), e)
		return g
	}
	dense := func(rows int) (time.Duration, int64) {
		g := npu.NewGraph("dense", rows)
		feed(g, g.Input(dim))
		cost := c.Graph(g, 0)
		return cost.NPU - c.calls(g), cost.Weights
	}
	router := int64(4 * count * dim)
	for rows, want := range map[int]struct{ busy, each int }{1: {2, 1}, 3: {6, 1}, 64: {8, 16}} {
		took, weights := dense(want.each)
		got := c.node(mixture(rows), mixture(rows).Result(), 0)
		around := c.elementwise(rows*count) + 2*c.elementwise(rows*used*dim)
		if got.NPU != took*time.Duration(want.busy)+around || got.Weights != weights*int64(want.busy) {
			t.Errorf("%d rows: %v, want %d times %v and %d bytes, and %v", rows, got, want.busy, took, weights, around)
		}
		if c.WeightBits == 0 && c.Bytes(mixture(rows)) != count*weights+router {
			t.Errorf("%d rows: %d bytes, want %d", rows, c.Bytes(mixture(rows)), count*weights+router)
		}
	}
	_, weights := dense(1)
	if got, want := c.Bytes(mixture(1)), count*weights; got < want || got > want+router {
		t.Errorf("%d bytes mapped, want at least %d", got, want)
	}
}

func TestShapes(t *testing.T) {
	for name, want := range map[string]float64{
		"Qwen2.5-0.5B": .494e9, "Qwen2.5-1.5B": 1.54e9, "Llama-3.2-1B": 1.24e9, "Llama-3.2-3B": 3.21e9,
		"SmolLM2-135M": .1345e9, "LLaDA-8B": 7.5e9, "Llama-3.1-8B": 7.5e9, "granite-3.3-2B": 2.53e9,
	} {
		s, err := FindShape(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Parameters(); math.Abs(got/want-1) > 0.02 {
			t.Errorf("%s has %.3g parameters, want %.3g", name, got, want)
		}
	}
	if _, err := FindShape("GPT"); err == nil {
		t.Error("an unknown shape was found")
	}
}

// fake is a device that counts runs and takes a while for each.
type fake struct {
	npu.Device
	takes time.Duration
	runs  int
}

type fakeProgram struct {
	f *fake
	g *npu.Graph
}

func (f *fake) Name() string                              { return "fake" }
func (f *fake) Close() error                              { return nil }
func (f *fake) Traits() npu.Traits                        { return npu.Traits{} }
func (f *fake) Compile(g *npu.Graph) (npu.Program, error) { return fakeProgram{f, g}, nil }
func (p fakeProgram) Graph() *npu.Graph                   { return p.g }
func (p fakeProgram) Run(npu.Args) error                  { p.f.runs++; time.Sleep(p.f.takes); return nil }

// tensor returns a tensor of zeros.
func tensor(rows, cols int) *npu.Tensor {
	return &npu.Tensor{Name: "w", Type: npu.F32, Rows: rows, Cols: cols, Data: make([]byte, 4*rows*cols)}
}

func product(name string, chunk, rows, cols int) *npu.Graph {
	g := npu.NewGraph(name, chunk)
	g.MatMul(g.Input(cols), tensor(rows, cols), nil)
	return g
}

// A device adds up the costs and loads a graph if another graph of its block is loaded. When paced,
// it takes exactly as long as the costs say, however irregular the inner device is.
func TestDeviceTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Find("sm8750")
		if err != nil {
			t.Fatal(err)
		}
		inner := &fake{takes: 7 * time.Microsecond}
		// Sleep as imprecisely as an operating system.
		sloppy := func(d time.Duration) { time.Sleep(d + 60*time.Microsecond) }
		d := Wrap(inner, c, Options{Paced: true, Sleep: sloppy})
		var programs []npu.Program
		for _, chunk := range []int{128, 1} {
			p, err := d.Compile(product("layer 0", chunk, 512, 512))
			if err != nil {
				t.Fatal(err)
			}
			programs = append(programs, p)
		}
		start := time.Now()
		var want time.Duration
		for i, which := range []int{0, 0, 1, 1, 1, 0, 1} {
			if err := programs[which].Run(npu.Args{Rows: 1}); err != nil {
				t.Fatal(err)
			}
			want += c.Graph(programs[which].Graph(), 0).Time()
			if i == 0 || i == 2 || i == 5 || i == 6 {
				want += c.LoadTime(1, 512*512*4)
			}
		}
		s := d.Stats()
		if s.Switches != 4 || s.Runs != 7 || inner.runs != 7 || s.Busy != want || s.Mapped != 512*512*4 {
			t.Errorf("%+v after %d runs, want %v", s, inner.runs, want)
		}
		if e := time.Since(start) - want; e < 0 || e > 60*time.Microsecond {
			t.Errorf("paced time is off by %v", e)
		}
		if s.Late > 60*time.Microsecond {
			t.Errorf("late by %v", s.Late)
		}
		if !strings.Contains(d.Name(), "simulated sm8750/qnn") {
			t.Errorf("name %q", d.Name())
		}
	})
}

// A preload proceeds while something else computes, and after earlier loads. A run waits for the
// rest of it. Nothing is loaded for blocks that run on the host.
func TestPreload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Find("sm8750")
		if err != nil {
			t.Fatal(err)
		}
		d := Wrap(&fake{}, c, Options{Paced: true})
		programs := map[string]npu.Program{}
		for _, name := range []string{"a", "b", "c"} {
			if programs[name], err = d.Compile(product(name, 32, 512, 512)); err != nil {
				t.Fatal(err)
			}
		}
		g := npu.NewGraph("embedding", 32)
		g.Embed(tensor(16, 512))
		if programs["embedding"], err = d.Compile(g); err != nil {
			t.Fatal(err)
		}
		load, run := c.LoadTime(1, 512*512*4), c.Graph(programs["a"].Graph(), 0).Time()
		if 2*run >= load {
			t.Fatalf("runs of %v hide loads of %v", run, load)
		}
		start := time.Now()
		check := func(what string, want time.Duration) {
			t.Helper()
			if s := d.Stats(); time.Since(start) != want || s.Busy != want {
				t.Fatalf("%s: at %v, %v busy, want %v", what, time.Since(start), s.Busy, want)
			}
		}
		do := func(name string) {
			t.Helper()
			if err := programs[name].Run(npu.Args{Rows: 1}); err != nil {
				t.Fatal(err)
			}
		}
		d.Preload("a", 32)
		check("loads begin at once", 0)
		d.AwaitGraph("a")
		check("awaited", load)
		d.Preload("b", 32)
		d.Preload("c", 32)
		d.Preload("a", 32) // already loaded
		do("a")
		check("after loads", load+run)
		if !d.Loaded("c", 32) || d.Loaded("c", 1) {
			t.Error("c is already loading")
		}
		do("b")
		check("behind its load", 2*load+run)
		do("a")
		do("c")
		check("behind both loads", 3*load+run)
		do("embedding")
		if s := d.Stats(); s.Switches != 3 || s.Loading != 3*load || s.Waiting != 3*load-3*run {
			t.Errorf("%+v, loads of %v, runs of %v", s, load, run)
		}
	})
}

// If the inner device is slower than the phone, the delay is counted, not hidden.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := Find("sm8750")
		d := Wrap(&fake{takes: time.Second}, c, Options{Paced: true})
		p, err := d.Compile(product("head", 1, 64, 64))
		if err != nil {
			t.Fatal(err)
		}
		p.Run(npu.Args{Rows: 1})
		if s := d.Stats(); s.Late != time.Second-s.Busy {
			t.Errorf("late by %v after %v", s.Late, s.Busy)
		}
	})
}

// Weights beyond the address window are refused with advice. Graphs of one block share their
// weights.
func TestWindow(t *testing.T) {
	c, _ := Find("sm8750")
	c.Window, c.Stage = 3<<20, 1e9
	d := Wrap(&fake{}, c, Options{Sessions: 1})
	for _, chunk := range []int{1, 8, 128} {
		if _, err := d.Compile(product("layer 0", chunk, 512, 1024)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.Compile(product("layer 1", 1, 512, 1024))
	var w *WindowError
	if !errors.As(err, &w) || w.Need != 4<<20 || !strings.Contains(err.Error(), "--npu-memory") {
		t.Errorf("%v", err)
	}
	// Staged weights are mapped into the rest of the window.
	staged := product("layer 1", 1, 512, 1024)
	staged.Nodes[1].Weight.Staged = true
	if _, err := d.Compile(staged); err != nil {
		t.Fatal(err)
	}
	if err := d.Map(1 << 20); err != nil || d.Stats().Mapped != 3<<20 {
		t.Errorf("%v with %d bytes mapped", err, d.Stats().Mapped)
	}
	if err := d.Map(1); !errors.As(err, &w) || w.Need != 3<<20+1 {
		t.Errorf("beyond the window: %v", err)
	}
	d.Unmap(1 << 20)
	if err := d.Map(1); err != nil {
		t.Errorf("after unmapping: %v", err)
	}
}

// The core that maps and copies does one thing at a time, and starts nothing before it is requested.
// The NPU waits no longer than necessary.
func TestTransfers(t *testing.T) {
	c, _ := Find("sm8750")
	c.Map, c.MapRate, c.Stage, c.Launch = time.Millisecond, 1e15, 1e9, 0
	d := Wrap(&fake{}, c, Options{})
	if err := d.Map(100); err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	if begins, ends := d.Move(2e6, 0); begins != ms || ends != 3*ms || d.Now() != 0 {
		t.Errorf("the first from %v to %v, at %v", begins, ends, d.Now())
	}
	d.Await(3 * ms)
	d.Await(2 * ms)
	if begins, ends := d.Move(1e6, 5*ms); begins != 5*ms || ends != 6*ms {
		t.Errorf("the second from %v to %v", begins, ends)
	}
	if s := d.Stats(); s.Staging != 3*ms || s.Busy != 3*ms || s.Mapped != 100 || math.Abs(s.Joules-0.004*c.CPUWatts) > 1e-9 {
		t.Errorf("%+v", s)
	}
}

// Invalid parameter files give errors, not nonsensical costs.
func FuzzCosts(f *testing.F) {
	f.Add("stream", 40.0, "GB/s", "")
	f.Add("tile", math.Inf(1), "rows", "x")
	f.Add("nonsense", 1.0, "", "x")
	f.Fuzz(func(t *testing.T, name string, value float64, unit, source string) {
		s, err := Open("sm8650")
		if err != nil {
			t.Fatal(err)
		}
		s.Chip[name] = Param{Value: value, Unit: unit, Source: source}
		c, err := s.Costs("qnn")
		if err == nil && !(c.Stream > 0 && c.Matrix > 0 && c.Load > 0 && c.Tile > 0 && c.Window > 0) {
			t.Fatalf("%s = %v gives %+v", name, value, c)
		}
	})
}

// rounding is a device whose arithmetic differs from native's, as ggml's does.
type rounding struct{ fake }

func (*rounding) Traits() npu.Traits {
	return npu.Traits{Rounding: "ggml cpu", Processor: true, LayersAtOnce: 4, RowsAtOnce: 512}
}

// A phone simulated over ggml rounds as ggml does, so its KV caches must not be mixed with
// native's.
func TestTraitsOfTheInnerDevice(t *testing.T) {
	d := Wrap(&rounding{}, Costs{}, Options{})
	got := d.Traits()
	if got.Rounding != "ggml cpu" || !got.Processor || got.LayersAtOnce != 1 || got.RowsAtOnce != 0 || got.Clock == nil {
		t.Errorf("%+v", got)
	}
	if f := Wrap(&fake{}, Costs{}, Options{}); f.Traits().Rounding != "" {
		t.Errorf("%+v", f.Traits())
	}
}

// Rows of graphs are counted by size, and an earlier count can be taken off.
func TestGraphRows(t *testing.T) {
	var s Stats
	s.fill(128, 100, true)
	s.fill(32, 5, true)
	before := s
	before.Graphs = slices.Clone(s.Graphs)
	s.fill(32, 7, false)
	s.fill(32, 9, true)
	s.fill(64, 64, true)
	want := []GraphRows{{Size: 32, Runs: 2, Rows: 16, Prompt: 9}, {Size: 64, Runs: 1, Rows: 64, Prompt: 64}}
	if got := s.Sub(before).Graphs; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(s.Graphs) != 3 || s.Graphs[0].Rows != 21 {
		t.Errorf("the count itself has changed: %v", s.Graphs)
	}
}
