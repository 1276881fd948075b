package ggml

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"tandem/npu"
)

// Memory that was taken stays in place and keeps its contents until reset, however much more is taken.
func TestStagingKeepsContents(t *testing.T) { each(t, 1, testStagingKeepsContents) }

func testStagingKeepsContents(t *testing.T, d *Device) {
	s := &d.staging
	t.Logf("pinned memory: %v", s.pinned())
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		var taken [][]int64
		for i := range 1 + rng.IntN(30) {
			x := staged[int64](s, 1+rng.IntN(5000))
			for j := range x {
				x[j] = int64(i)
			}
			taken = append(taken, x)
		}
		for i, x := range taken {
			for j, v := range x {
				if v != int64(i) {
					t.Fatalf("round %d: number %d of part %d is %d", round, j, i, v)
				}
			}
		}
		s.reset()
		if len(s.blocks) != 1 {
			t.Fatalf("%d blocks after a reset", len(s.blocks))
		}
	}
}

// If no pinned memory is left, ordinary memory gives the same results.
func TestStagingWithoutPinnedMemory(t *testing.T) {
	each(t, 1, func(t *testing.T, d *Device) {
		a := *d.api
		alloc := a.BufAlloc
		a.BufAlloc = func(buft ptr, n uintptr) ptr {
			if buft == d.staging.buft {
				return 0
			}
			return alloc(buft, n)
		}
		d.api, d.staging.api = &a, &a
		testBlockAgreesWithNative(t, d)
		for _, b := range d.staging.blocks {
			if b.buf != 0 {
				t.Error("a block is in pinned memory, which was refused")
			}
		}
	})
}

func TestDivideCoversEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 1000} {
		for _, bytes := range []int{1, 1 << 10, 1 << 20, 5 << 20} {
			done := make([]int, n)
			divide(n, bytes, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					done[i]++
				}
			})
			for i, times := range done {
				if times != 1 {
					t.Fatalf("%d items of %d bytes: item %d was done %d times", n, bytes, i, times)
				}
			}
		}
	}
}

// A result of any size passes through little pinned memory, and a part is copied from there while the device sends the next.
func TestLargeResults(t *testing.T) { each(t, 1, testLargeResults) }

func testLargeResults(t *testing.T, d *Device) {
	if !d.staging.pinned() {
		d.staging.buft = d.api.DevBuft(d.dev) // the memory of a processor will do
	}
	const rows, width = 64, 40_000
	g := npu.NewGraph("head", rows)
	g.MatMul(g.Input(32), numbers("w", npu.F16, width, 32), nil)
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	x, out := make([]float32, rows*32), make([]float32, rows*width)
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	for i := range out {
		out[i] = float32(math.NaN())
	}
	a := *d.api
	get, wait := a.Get, a.Sync
	var ready, sent []int // at each Sync, the numbers that are copied and that the device was asked for
	asked := 0
	a.Get = func(backend, x ptr, p unsafe.Pointer, at, n uintptr) {
		if n > 4*received && d.staging.pinned() {
			t.Errorf("%d bytes at a time", n)
		}
		asked += int(n / 4)
		get(backend, x, p, at, n)
	}
	a.Sync = func(backend ptr) {
		ready = append(ready, slices.IndexFunc(out, func(v float32) bool { return v != v }))
		sent = append(sent, asked)
		wait(backend)
	}
	d.api = &a
	if err := p.Run(npu.Args{Rows: rows, X: x, Out: out}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ready, []int{0, received, 2 * received}) || !slices.Equal(sent, []int{received, 2 * received, rows * width}) {
		t.Errorf("%d numbers were copied when %d were asked for", ready, sent)
	}
	want := make([]float32, rows*width)
	d.staging.buft = 0 // without pinned memory
	if err := p.Run(npu.Args{Rows: rows, X: x, Out: want}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out, want) {
		t.Error("other numbers than without pinned memory")
	}
}
