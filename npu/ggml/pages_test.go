package ggml

import (
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"tandem/npu"
)

func span(n int) *npu.Span {
	return &npu.Span{Len: n, K: [][]uint16{make([]uint16, n)}, V: [][]uint16{make([]uint16, n)}}
}

// For any spans in any order, each position has its own cell within the window and outside page 0, and a span whose
// copies stay valid keeps its cells.
func TestPagesShareNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPages(rapid.IntRange(8, 64).Draw(t, "pages"), 1)
		var spans []*npu.Span
		for range rapid.IntRange(1, 12).Draw(t, "spans") {
			spans = append(spans, span(rapid.IntRange(1, 300).Draw(t, "length")))
		}
		for range rapid.IntRange(1, 20).Draw(t, "runs") {
			var wants []want
			for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(spans)-1), 1, len(spans), rapid.ID).Draw(t, "which") {
				wants = append(wants, want{span: spans[i], n: rapid.IntRange(1, spans[i].Len).Draw(t, "n")})
			}
			window, err := p.place(wants)
			if err != nil {
				need := 1
				for _, w := range wants {
					need += pagesFor(w.n)
				}
				if need <= len(p.free) {
					t.Fatalf("%v, although %d pages are enough", err, need)
				}
				continue
			}
			owner := map[int]*npu.Span{}
			for _, w := range wants {
				at := 0
				for _, s := range w.stretches(0, w.n) {
					if s.at != at {
						t.Fatalf("a stretch at position %d, not %d", s.at, at)
					}
					at += s.n
				}
				if at != w.n {
					t.Fatalf("stretches of %d positions for %d", at, w.n)
				}
				for pos := range w.n {
					c := w.cell(pos)
					if c < pageSize || c >= window {
						t.Fatalf("cell %d in a window of %d", c, window)
					}
					if owner[c] != nil {
						t.Fatalf("cell %d holds two positions", c)
					}
					owner[c] = w.span
				}
				if w.valid[0] > 0 && w.valid[0] != 1000+w.cell(0) {
					t.Fatal("a span moved, but its copies count as valid")
				}
				w.valid[0] = 1000 + w.cell(0)
			}
		}
	})
}

// Pages of unreachable spans are freed before those of live ones.
func TestPagesForgetUnreachableSpans(t *testing.T) {
	p := newPages(5, 1) // four can be in use
	kept := span(32)
	place := func(s *npu.Span) {
		t.Helper()
		if _, err := p.place([]want{{span: s, n: s.Len}}); err != nil {
			t.Fatal(err)
		}
	}
	place(kept)
	for range 3 {
		place(span(32))
	}
	runtime.GC()
	place(kept)
	place(span(64))
	if p.spans[idOf(kept)] == nil {
		t.Error("a live span was dropped although others are unreachable")
	}
	if _, err := p.place([]want{{span: span(1000), n: 1000}}); err == nil {
		t.Error("1,000 positions were placed in 128 cells")
	}
	runtime.KeepAlive(kept)
}

// An edit invalidates the copies from its position on. After several edits all copies are invalid, because only the position
// of the last edit is known.
func TestEditsMakeCopiesInvalid(t *testing.T) {
	p, s := newPages(8, 2), span(100)
	wants := []want{{span: s, n: 100}}
	at := func() [2]int {
		if _, err := p.place(wants); err != nil {
			t.Fatal(err)
		}
		return [2]int(wants[0].valid)
	}
	at()
	copy(wants[0].valid, []int{100, 60})
	if got := at(); got != [2]int{100, 60} {
		t.Errorf("%v without an edit", got)
	}
	s.Touch(80)
	if got := at(); got != [2]int{80, 60} {
		t.Errorf("%v after an edit at 80", got)
	}
	s.Touch(70)
	s.Touch(79)
	if got := at(); got != [2]int{0, 0} {
		t.Errorf("%v after two more edits", got)
	}
}

func TestBuckets(t *testing.T) {
	before := 0
	for n := 1; n < 5000; n++ {
		b := windowBucket(n)
		if b < n || b < before || b%256 != 0 || n > 256 && b >= 2*n {
			t.Fatalf("a window of %d for %d cells", b, n)
		}
		before = b
	}
	for n := 1; n <= 128; n++ {
		if b := rowBucket(n, 128); b < n || b > 128 || n <= 16 && b != n || 8*(b-n) > n {
			t.Errorf("a graph of %d rows for %d", b, n)
		}
	}
	if b := rowBucket(31, 31); b != 31 {
		t.Errorf("%d rows for a chunk of 31", b)
	}
}
