package memory_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone/memory"
	"tandem/npu/phone/sim"
)

const (
	simBlocks = 6
	simWidth  = 256
	simBytes  = 4 * simWidth * simWidth // size of a block's weights
)

// blocks returns graphs of one product each.
func blocks() (graphs []*npu.Graph) {
	for b := range simBlocks {
		w := &npu.Tensor{Name: fmt.Sprintf("w%d", b), Type: npu.F32, Rows: simWidth, Cols: simWidth, Data: make([]byte, simBytes)}
		for i := range simWidth * simWidth {
			binary.LittleEndian.PutUint32(w.Data[4*i:], math.Float32bits(float32((i*7+b*3)%11-5)/simWidth))
		}
		g := npu.NewGraph(fmt.Sprintf("block %d", b), 1)
		g.MatMul(g.Input(simWidth), w, nil)
		graphs = append(graphs, g)
	}
	return graphs
}

// chip returns the costs of a chip whose operators are fast compared with reading their weights
// from flash. It leaves out the fixed cost of loading a graph, which the first step pays, and the
// cost of calling it.
func chip(t *testing.T) sim.Costs {
	t.Helper()
	c, err := sim.Find("sm8750/llada")
	if err != nil {
		t.Fatal(err)
	}
	c.Stage, c.Op, c.LoadFixed, c.Launch = 2e9, time.Microsecond, 0, 0
	return c
}

// played holds what a simulated phone did in the steps after warming up, and what Device counted.
type played struct {
	sim.Stats
	memory.Counters
	placement memory.Placement
	out       []float32
}

const warm, steps = 12, 4 // Device may change its placement after the first 8 steps

// play runs steps on a simulated phone within a budget.
func play(t *testing.T, c sim.Costs, opt memory.Options) (p played) {
	t.Helper()
	phone := sim.Wrap(native.New(1), c, sim.Options{})
	d, err := memory.New(phone, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var programs []npu.Program
	for _, g := range blocks() {
		program, err := d.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, program)
	}
	for i := range warm + steps {
		if i == warm {
			p.Stats, p.Counters = phone.Stats(), d.Counters()
		}
		p.out = slices.Repeat([]float32{1}, simWidth)
		for _, program := range programs {
			if err := program.Run(npu.Args{Rows: 1, X: p.out, Out: p.out}); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.Stats, p.Counters = phone.Stats().Sub(p.Stats), d.Counters().Sub(p.Counters)
	p.placement, _ = d.Layout()
	return p
}

// A simulated phone charges for what Device really moves: nothing once everything is resident, more
// with less memory, and most with paging, which maps memory for each load.
func TestSimulatedPhoneChargesForTransfers(t *testing.T) {
	c := chip(t)
	const total = simBlocks * simBytes
	share := func(percent int64, paging bool) played {
		p := play(t, c, memory.Options{Budget: total * percent / 100, Piece: simBytes / 16, Paging: paging})
		if p.Stats.Mapped > total*percent/100 || p.Stats.Mapped != p.Counters.Mapped || p.Staging != p.Stall {
			t.Errorf("%d %%, paging %v: %+v, but Device counts %+v", percent, paging, p.Stats, p.Counters)
		}
		return p
	}
	all := share(110, false)
	if all.Staging != 0 || all.Transfers != 0 || all.Stats.Mapped != total {
		t.Errorf("with memory for everything: %+v, %+v", all.Stats, all.Counters)
	}
	for before, percent := all, int64(100); percent >= 10; percent -= 10 {
		p := share(percent, false)
		if p.Staging < before.Staging || p.Busy < before.Busy {
			t.Errorf("%d %% of the weights cost %+v, a tenth more %+v", percent, p.Stats, before.Stats)
		}
		if !slices.Equal(p.out, all.out) {
			t.Errorf("%d %%: different numbers", percent)
		}
		before = p
	}
	ours, paging := share(50, false), share(50, true)
	if ours.Staging == 0 || paging.Mappings == 0 || paging.Staging <= ours.Staging {
		t.Errorf("at half the weights: %+v, paging %+v", ours.Stats, paging.Stats)
	}
	for _, n := range []time.Duration{1, 10} {
		slow := c
		slow.Map *= n
		if p := play(t, slow, memory.Options{Budget: total / 2, Piece: simBytes / 16, Paging: true}); p.Staging < paging.Staging+time.Duration(p.Mappings)*(slow.Map-c.Map) {
			t.Errorf("mappings of %v: %v in %d of them, %v before", slow.Map, p.Staging, p.Mappings, paging.Staging)
		}
	}
}

// The phone charges as much as a replay of the same placement in virtual time.
func TestSimulatedPhoneStallsAsReplayed(t *testing.T) {
	c := chip(t)
	costs := memory.Costs{PerByte: 1e9 / c.Stage, PerMapping: c.Map, MapPerByte: 1e9 / c.MapRate}
	sizes := slices.Repeat([]int64{simBytes}, simBlocks)
	var uses []memory.Use
	for i := range sizes {
		uses = append(uses, memory.Use{Object: i, Compute: c.Product(1, simWidth, simWidth, simBytes)})
	}
	for _, budget := range []int64{3, 4, 5} {
		for _, paging := range []bool{false, true} {
			opt := memory.Options{Budget: budget * simBytes, Piece: simBytes, Paging: paging, Costs: costs}
			p := play(t, c, opt)
			run := func(steps int) memory.Counters {
				if paging {
					return memory.Replay(memory.NewLRU(func(o int) int64 { return sizes[o] }, opt.Budget), sizes, uses, costs, steps, memory.Counters{})
				}
				return memory.Replay(memory.NewStaging(p.placement), sizes, uses, costs, steps, p.placement.Fixed(sizes, 0))
			}
			want := run(warm + steps).Sub(run(warm))
			// Durations are whole nanoseconds, rounded once per transfer and mapping.
			if e := p.Staging - want.Stall; e.Abs() > time.Duration(want.Transfers+want.Mappings) || p.Mappings != want.Mappings || want.Stall == 0 {
				t.Errorf("%d of %d in memory, paging %v: %v with %d mappings, the replay has %v and %d",
					budget, simBlocks, paging, p.Staging, p.Mappings, want.Stall, want.Mappings)
			}
		}
	}
}

// lazy is a source whose reads take real time.
type lazy struct{ memory.InMemory }

func (l lazy) ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error) {
	time.Sleep(time.Second)
	return l.InMemory.ReadAt(t, dst, off)
}

// The charges do not depend on how fast the host reads weights.
func TestSimulatedTimeIsNotRealTime(t *testing.T) {
	c := chip(t)
	staged := false
	for _, op := range []time.Duration{5, 20, 40} { // from transfers that dominate to transfers that are hidden
		c.Op = op * time.Microsecond
		for _, budget := range []int64{2, 3, 4, 5} {
			opt := memory.Options{Budget: budget * simBytes, Piece: simBytes * 2 / 5} // blocks in 2/5, 2/5 and 1/5
			want := play(t, c, opt)
			synctest.Test(t, func(t *testing.T) {
				opt.Source = lazy{}
				if p := play(t, c, opt); p.Staging != want.Staging || p.Busy != want.Busy {
					t.Errorf("%d blocks of %d, %v: staging takes %v of %v, with slow reads %v of %v", budget, simBlocks, c.Op, want.Staging, want.Busy, p.Staging, p.Busy)
				}
			})
			staged = staged || want.Staging > 0
		}
	}
	if !staged {
		t.Error("no run ever waited, so nothing was tested")
	}
}

// Mappings lie within the sessions' address windows. Weights that are too large for one window use
// several. Weights that are too large for all of them are refused.
func TestSimulatedWindows(t *testing.T) {
	c := chip(t)
	want := play(t, c, memory.Options{Budget: 2 * simBlocks * simBytes, Piece: simBytes})
	c.Window, c.Sessions = 2*simBytes, 3
	p := play(t, c, memory.Options{Budget: 2 * simBlocks * simBytes, Piece: simBytes})
	if !slices.Equal(p.out, want.out) || p.Stats.Mapped != simBlocks*simBytes || p.Staging != 0 {
		t.Errorf("three windows: %+v", p.Stats)
	}
	c.Sessions = 2
	d, err := memory.New(sim.Wrap(native.New(1), c, sim.Options{}), memory.Options{Budget: 2 * simBlocks * simBytes, Piece: simBytes})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := make([]float32, simWidth)
	for _, g := range blocks() {
		program, err := d.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		var w *sim.WindowError
		if err = program.Run(npu.Args{Rows: 1, X: x, Out: x}); g.Name == "block 5" && !errors.As(err, &w) {
			t.Errorf("six blocks in windows for four: %v", err)
		}
	}
}
