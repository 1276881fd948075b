package memory

import (
	"runtime"
	"testing"
	"weak"

	"tandem/npu"
)

// Memory counts once that several caches share, layer by layer: a layer with a window may have forgotten what another keeps.
func TestCachesShareLayers(t *testing.T) {
	c := caches{of: map[weak.Pointer[npu.KV]][]spanBytes{}}
	far, near := make([]uint16, 40), make([]uint16, 40)
	whole := &npu.KV{Spans: []npu.Span{{Len: 10, K: [][]uint16{near, far}, V: [][]uint16{make([]uint16, 40), make([]uint16, 40)}}}}
	rest := &npu.KV{Spans: []npu.Span{
		{Len: 10, K: [][]uint16{nil, far}, V: [][]uint16{nil, whole.Spans[0].V[1]}},
		{Len: 3, K: [][]uint16{nil, make([]uint16, 12)}, V: [][]uint16{nil, make([]uint16, 12)}},
		{Len: 1, K: [][]uint16{make([]uint16, 4), make([]uint16, 4)}, V: [][]uint16{make([]uint16, 4), make([]uint16, 4)}},
	}}
	c.use(&npu.Args{KV: []*npu.KV{whole, rest}})
	if got, want := c.bytes(), int64(2*(4*40+2*12+4*4)); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	runtime.KeepAlive([]*npu.KV{whole, rest})
}
