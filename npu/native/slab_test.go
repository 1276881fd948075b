package native

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"tandem/npu"
)

// Matrices share a slab, at whole cache lines, as long as it has room, and the slab lasts as long as one of them.
func TestMatricesShareASlab(t *testing.T) {
	d := New(1)
	defer d.Close()
	r := rand.New(rand.NewPCG(3, 4))
	matrix := func(rows int) *packed {
		return d.pack(&npu.Tensor{Type: npu.Q4_0, Rows: rows, Cols: 32, Data: randomBlocks(r, npu.Q4_0, rows*32)})
	}
	gone := make(chan bool, 1)
	first, second := matrix(16), matrix(40)
	large := matrix(slabSize / 18)
	if first.in != second.in || large.in == first.in {
		t.Error("the slab is not shared while it has room, or is shared without room")
	}
	from := uintptr(unsafe.Pointer(&first.groups[0]))
	if at := uintptr(unsafe.Pointer(&second.groups[0])); from%hugePage != 0 || at%line != 0 || at < from+uintptr(len(first.groups)) {
		t.Errorf("the first matrix is at %#x, the second at %#x", from, at)
	}
	runtime.AddCleanup(first.in, func(c chan bool) { c <- true }, gone)
	want := append([]byte(nil), second.groups...)
	first = nil
	for range 3 {
		runtime.GC()
	}
	if string(second.groups) != string(want) || len(gone) > 0 {
		t.Error("the memory is gone before the second matrix")
	}
	runtime.KeepAlive(second)
	for second = nil; len(gone) == 0; {
		runtime.GC()
		runtime.Gosched()
	}
}

// A slab gives out no more than it has.
func TestSlabEnds(t *testing.T) {
	s := newSlab(hugePage + 1)
	if a, b, c := s.take(hugePage), s.take(hugePage-1), s.take(1); len(a) != hugePage || len(b) != hugePage-1 || c != nil {
		t.Errorf("%d, %d and %d bytes", len(a), len(b), len(c))
	}
	u := new(npu.Tensor)
	keepFor(u, s)
	gone := make(chan bool, 1)
	runtime.AddCleanup(s, func(c chan bool) { c <- true }, gone)
	s = nil
	runtime.GC()
	runtime.GC()
	if len(gone) > 0 {
		t.Error("the slab is gone before its user")
	}
	runtime.KeepAlive(u)
	for len(gone) == 0 {
		runtime.GC()
		runtime.Gosched()
	}
}

// A device keeps neither weights nor ropes of programs that are gone, nor a record of them: some graphs are made for one text.
func TestDeviceForgetsPrograms(t *testing.T) {
	d := New(1)
	defer d.Close()
	r := rand.New(rand.NewPCG(5, 6))
	const graphs = 20
	gone := make(chan bool, graphs)
	for range graphs {
		w := &npu.Tensor{Name: "w", Type: npu.Q8_0, Rows: 64, Cols: 64, Data: randomBlocks(r, npu.Q8_0, 64*64)}
		runtime.AddCleanup(&w.Data[0], func(c chan bool) { c <- true }, gone)
		g := npu.NewGraph("g", 1)
		g.Rope(g.MatMul(g.Input(64), w, nil), &npu.Rope{HeadDim: 64, Dims: 64, Base: 100, Linear: 1})
		if _, err := d.Compile(g); err != nil {
			t.Fatal(err)
		}
	}
	records := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.packed) + len(d.ropes)
	}
	for end := time.Now().Add(2 * time.Minute); len(gone) < graphs || records() > 0; {
		if time.Now().After(end) {
			t.Fatalf("%d of %d matrices are gone, and there are %d records", len(gone), graphs, records())
		}
		runtime.GC()
		runtime.Gosched()
	}
}
