package ggml

import (
	"math/rand/v2"
	"testing"
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
