package memory

import (
	"runtime"
	"testing"
	"weak"

	"tandem/npu"
)

// Memory counts once that several caches share, layer by layer: a layer with a window may have forgotten what another keeps.
func TestCachesShareLayers(t *testing.T) {
	c := caches{spansByCache: map[weak.Pointer[npu.KV]][]spanBytes{}}
	far, near := make([]uint16, 40), make([]uint16, 40)
	whole := &npu.KV{Spans: []npu.Span{{Len: 10, K: [][]uint16{near, far}, V: [][]uint16{make([]uint16, 40), make([]uint16, 40)}}}}
	rest := &npu.KV{Spans: []npu.Span{
		{Len: 10, K: [][]uint16{nil, far}, V: [][]uint16{nil, whole.Spans[0].V[1]}},
		{Len: 3, K: [][]uint16{nil, make([]uint16, 12)}, V: [][]uint16{nil, make([]uint16, 12)}},
		{Len: 1, K: [][]uint16{make([]uint16, 4), make([]uint16, 4)}, V: [][]uint16{make([]uint16, 4), make([]uint16, 4)}},
	}}
	c.addCaches(&npu.Args{KV: []*npu.KV{whole, rest}})
	if got, want := c.bytes(), int64(2*(4*40+2*12+4*4)); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	runtime.KeepAlive([]*npu.KV{whole, rest})
}

// Caches may divide the memory that they share at different places: one of them has forgotten some positions.
func TestCachesShareParts(t *testing.T) {
	const width, n = 8, 100
	memory := func() []uint16 { return make([]uint16, n*width) }
	k, v := memory(), memory()
	whole := &npu.KV{Spans: []npu.Span{{Len: n, K: [][]uint16{k}, V: [][]uint16{v}}}}
	var parts []npu.Span
	for _, cut := range [][2]int{{0, 30}, {30, n}} {
		from, to := cut[0]*width, cut[1]*width
		parts = append(parts, npu.Span{Len: cut[1] - cut[0], K: [][]uint16{k[from:to:to]}, V: [][]uint16{v[from:to:to]}})
	}
	divided := &npu.KV{Spans: parts}
	c := caches{spansByCache: map[weak.Pointer[npu.KV]][]spanBytes{}}
	for range 20 { // in any order
		clear(c.spansByCache)
		c.addCaches(&npu.Args{KV: []*npu.KV{whole, divided}})
		if got, want := c.bytes(), int64(2*2*n*width); got != want {
			t.Fatalf("%d bytes, want %d", got, want)
		}
	}
	runtime.KeepAlive(whole)
	runtime.KeepAlive(divided)
}
