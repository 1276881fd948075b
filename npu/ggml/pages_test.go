package ggml

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/npu"
)

func span(n int) *npu.Span {
	return &npu.Span{Len: n, K: [][]uint16{make([]uint16, n)}, V: [][]uint16{make([]uint16, n)}}
}

// contents records which position each cell holds.
type contents map[int]position

type position struct {
	spanID
	at int
}

// run copies the positions of the wanted spans that are not valid to their cells. It fails if a valid one is not there.
func (c contents) run(wants []want) error {
	for _, w := range wants {
		for at := range max(w.valid[0], w.n) {
			cell, is := w.cell(at), position{idOf(w.span), at}
			if at < w.valid[0] && c[cell] != is {
				return fmt.Errorf("position %d of a span counts as valid, but its cell holds %+v", at, c[cell])
			}
			c[cell] = is
		}
		w.valid[0] = max(w.valid[0], w.n)
	}
	return nil
}

// For any spans in any order, each position has its own cell within the window and outside the last page, and a span whose
// copies stay valid keeps its cells.
func TestPagesShareNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, holds := newPages(rapid.IntRange(8, 64).Draw(t, "pages"), 1), contents{}
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
				need := 0
				for _, w := range wants {
					need += pagesFor(w.n)
				}
				if need < len(p.free) {
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
					if c < 0 || c >= min(window, p.unused()) {
						t.Fatalf("cell %d in a window of %d", c, window)
					}
					if owner[c] != nil {
						t.Fatalf("cell %d holds two positions", c)
					}
					owner[c] = w.span
				}
			}
			if err := holds.run(wants); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Pages of unreachable spans are freed before those of live ones.
func TestPagesForgetUnreachableSpans(t *testing.T) {
	p := newPages(5, 1) // four can be in use
	kept := span(pageSize)
	place := func(s *npu.Span) {
		t.Helper()
		if _, err := p.place([]want{{span: s, n: s.Len}}); err != nil {
			t.Fatal(err)
		}
	}
	place(kept)
	for range 3 {
		place(span(pageSize))
	}
	runtime.GC()
	place(kept)
	place(span(2 * pageSize))
	if p.spans[idOf(kept)] == nil {
		t.Error("a live span was dropped although others are unreachable")
	}
	if _, err := p.place([]want{{span: span(1000), n: 1000}}); err == nil {
		t.Error("1,000 positions were placed in 64 cells")
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

// answer is a sequence in tests of pages: spans that grow as those of model.Seq do, the first of which it may share.
type answer struct {
	spans []*npu.Span
	owned int // of the spans, the last ones
}

func (a *answer) grow(n int) {
	for ; n > 0; n-- {
		k := len(a.spans) - 1
		if a.owned == 0 || a.spans[k].Len == cap(a.spans[k].K[0]) {
			own := 0
			for _, s := range a.spans[len(a.spans)-a.owned:] {
				own += s.Len
			}
			s := span(min(max(own/2, 16), 1024))
			s.Len = 0
			a.spans, a.owned, k = append(a.spans, s), a.owned+1, k+1
		}
		a.spans[k].Len++
	}
}

func (a *answer) fork() *answer {
	return &answer{spans: slices.Clone(a.spans)}
}

// cut drops the last n positions.
func (a *answer) cut(n int) {
	for n > 0 && a.owned > 0 {
		k := len(a.spans) - 1
		some := min(n, a.spans[k].Len)
		if a.spans[k].Len -= some; a.spans[k].Len == 0 {
			a.spans, a.owned = slices.Delete(a.spans, k, k+1), a.owned-1
		}
		n -= some
	}
}

// wantsOf returns the answers' spans, each once, and the number of cells that they need.
func wantsOf(answers ...*answer) (wants []want, need int) {
	for _, a := range answers {
		for _, s := range a.spans {
			if s.Len > 0 && !slices.ContainsFunc(wants, func(w want) bool { return firstOf(w.span) == firstOf(s) }) {
				wants = append(wants, want{span: s, n: s.Len})
				need += pagesFor(s.Len) * pageSize
			}
		}
	}
	return wants, need
}

// runAll places and copies the spans of the answers. It returns the window and the fewest cells that it could have.
func (c contents) runAll(p *pages, answers ...*answer) (window, least int, err error) {
	wants, least := wantsOf(answers...)
	cells, err := p.place(wants)
	if err == nil {
		err = c.run(wants)
	}
	return windowBucket(cells), least, err
}

// Answers that end leave no holes: each group has the windows of the first, even while the garbage collector has not found out
// that the groups before are gone.
func TestWindowStays(t *testing.T) {
	for _, rows := range []int{1, 8, 64} {
		p, holds, held, seen := newPages(1<<16, 1), contents{}, []*answer{}, []int{}
		for round := range 6 {
			group := make([]*answer, rows)
			for i := range group {
				group[i] = &answer{}
			}
			held = append(held, group...)
			for range 64 {
				for _, a := range group {
					a.grow(1)
				}
				window, least, err := holds.runAll(p, group...)
				if err != nil || window > windowBucket(least) {
					t.Errorf("%d rows, group %d: a window of %d for %d cells, %v", rows, round, window, least, err)
				}
				if !slices.Contains(seen, window) {
					seen = append(seen, window)
				}
			}
		}
		t.Logf("%d rows: windows of %d", rows, seen)
		runtime.KeepAlive(held)
	}
}

// Answers that take turns are copied to the device only a few times.
func TestAnswersTakeTurns(t *testing.T) {
	p, holds := newPages(1<<12, 1), contents{}
	answers := make([]*answer, 6)
	for i := range answers {
		answers[i] = &answer{}
		answers[i].grow(100 * (i + 1))
	}
	for turn := range 40 {
		for _, a := range answers {
			for range 3 {
				if _, _, err := holds.runAll(p, a); err != nil {
					t.Fatal(err)
				}
			}
		}
		if turn < 5 {
			continue
		}
		for i, a := range answers {
			for _, s := range a.spans {
				if r := p.spans[idOf(s)]; r == nil || r.valid[0] < s.Len {
					t.Fatalf("turn %d: the copies of answer %d were dropped", turn, i)
				}
			}
		}
	}
}

// unseen returns the number of pages of spans that are none of the live ones, but that the garbage collector has not found out
// about yet.
func (p *pages) unseen(live []want) (n int) {
	for id, r := range p.spans {
		first := id.Value()
		if first != nil && !slices.ContainsFunc(live, func(w want) bool { return firstOf(w.span) == first }) {
			n += len(r.pages)
		}
	}
	return n
}

// Over any sequence of decoding, forks, rollbacks and drops, the window is at most that of twice the cells that the sequences
// need, beside those that wait for the garbage collector.
func TestWindowIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, holds := newPages(1<<12, 1), contents{}
		var live []*answer
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(live) == 0 || rapid.IntRange(0, 5).Draw(t, "new") == 0 {
				a := &answer{}
				a.grow(rapid.IntRange(1, 400).Draw(t, "prompt"))
				live = append(live, a)
			}
			i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				live[i].owned = 0
				live = append(live, live[i].fork())
			case 1:
				live[i].cut(rapid.IntRange(1, 200).Draw(t, "cut"))
				runtime.GC()
			case 2:
				live = slices.Delete(live, i, i+1)
				runtime.GC()
			}
			if len(live) == 0 {
				continue
			}
			some := live[rapid.IntRange(0, len(live)-1).Draw(t, "from"):]
			for range rapid.IntRange(1, 20).Draw(t, "tokens") {
				for _, a := range some {
					a.grow(1)
				}
				wants, need := wantsOf(live...)
				unseen := p.unseen(wants) * pageSize
				window, _, err := holds.runAll(p, some...)
				if err != nil {
					t.Fatal(err)
				}
				if window > windowBucket(2*(need+unseen)) {
					t.Fatalf("a window of %d, although all sequences together need %d cells, and %d are unreachable", window, need, unseen)
				}
			}
		}
	})
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
