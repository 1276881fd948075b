package native

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"tandem/npu"
	"tandem/npu/quant"
	"tandem/npu/reference"
)

// One run with rows of several streams, shared spans and a draft tree gives the same attention as one dense mask over the
// slots of all streams, on both the reference and the native device, in caches of both types.
func TestMaskOverStreams(t *testing.T) {
	for _, cache := range []npu.CacheType{npu.CacheF16, npu.CacheQ8_0} {
		t.Run(cache.String(), func(t *testing.T) { maskOverStreams(t, cache) })
	}
}

func maskOverStreams(t *testing.T, cache npu.CacheType) {
	const heads, size, prefix, room = 2, 32, 5, 12
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() float32 { return float32(math.Round(rng.NormFloat64()*64) / 64) } // F16 holds it exactly
	span := func(n int) npu.Span {
		fill := func() [][]uint16 {
			x := make([]float32, n*heads*size)
			for i := range x {
				x[i] = number()
			}
			typ := map[npu.CacheType]npu.DType{npu.CacheF16: npu.F16, npu.CacheQ8_0: npu.Q8_0}[cache]
			b := make([]byte, typ.RowBytes(len(x)))
			if err := quant.Quantize(typ, b, x); err != nil {
				t.Fatal(err)
			}
			out := make([]uint16, len(b)/2)
			if _, err := binary.Decode(b, binary.LittleEndian, out); err != nil {
				t.Fatal(err)
			}
			return [][]uint16{out}
		}
		return npu.Span{Len: n, K: fill(), V: fill()}
	}
	shared := span(prefix)
	streams := []*npu.KV{{Spans: []npu.Span{shared, span(room)}}, {Spans: []npu.Span{shared, span(room)}}, {Spans: []npu.Span{span(room)}}}
	// Two plain rows of the first stream, one of the last, a tree of three on the second: a root with two children.
	kv := []*npu.KV{streams[0], streams[0], streams[2], streams[1], streams[1], streams[1]}
	a := npu.Args{Rows: len(kv), KV: kv, Positions: []int32{7, 8, 3, 9, 10, 10}, Masks: []npu.RowMask{
		{Slot: 7, Base: 7}, {Slot: 8, Base: 8}, {Slot: 3, Base: 3}, {Slot: 9, Base: 9}, {Slot: 10, Base: 9, Ancestors: 1}, {Slot: 11, Base: 9, Ancestors: 1}}}
	const width = heads * size
	a.X, a.Out = make([]float32, a.Rows*3*width), make([]float32, a.Rows*width)
	for i := range a.X {
		a.X[i] = number()
	}

	// x holds query, key and value, which three products with rows of the identity separate.
	g := npu.NewGraph("masked", a.Rows)
	x := g.Input(3 * width)
	g.Attention(g.MatMul(x, part(0, width), nil), g.MatMul(x, part(1, width), nil), g.MatMul(x, part(2, width), nil),
		&npu.Attention{Heads: heads, KVHeads: heads, HeadDim: size, Scale: 0.5, Cache: cache})

	for _, d := range []npu.Device{reference.New(), New(2)} {
		p, err := d.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(a); err != nil {
			t.Fatal(err)
		}
		want := dense(&a, streams, heads, size, 0.5, cache)
		for i := range want {
			if diff := math.Abs(float64(a.Out[i]) - want[i]); diff > 2e-3 {
				t.Fatalf("%s: row %d element %d is %g, with a dense mask %g", d.Name(), i/width, i%width, a.Out[i], want[i])
			}
		}
		d.Close()
	}
}

// part returns the matrix that selects the i-th third of a row.
func part(i, width int) *npu.Tensor {
	t := &npu.Tensor{Name: "part", Type: npu.F32, Rows: width, Cols: 3 * width, Data: make([]byte, 4*3*width*width)}
	for r := range width {
		bits := math.Float32bits(1)
		at := 4 * (r*3*width + i*width + r)
		t.Data[at], t.Data[at+1], t.Data[at+2], t.Data[at+3] = byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24)
	}
	return t
}

// dense computes attention from every row to the slots of all streams, with a mask matrix of zeros and −∞.
func dense(a *npu.Args, streams []*npu.KV, heads, size int, scale float64, cache npu.CacheType) (out []float64) {
	type cell struct {
		memory *uint16
		slot   int
	}
	var cells []cell
	index := map[cell]int{}
	at := func(kv *npu.KV, slot int) int {
		s, i := kv.At(slot)
		c := cell{&s.K[0][0], i}
		if _, ok := index[c]; !ok {
			index[c] = len(cells)
			cells = append(cells, c)
		}
		return index[c]
	}
	var keys, values [][]uint16
	width := cache.Row(heads * size)
	number := func(row []uint16, i int) float64 {
		if cache == npu.CacheQ8_0 {
			return float64(cachedQ80(row, i))
		}
		return float64(quant.F16ToF32(row[i]))
	}
	for _, kv := range streams {
		slot := 0
		for range kv.Spans {
			s, _ := kv.At(slot)
			for i := range s.Len {
				if n := at(kv, slot+i); n == len(keys) {
					keys, values = append(keys, s.K[0][i*width:][:width]), append(values, s.V[0][i*width:][:width])
				}
			}
			slot += s.Len
		}
	}
	for row := range a.Rows {
		mask := make([]float64, len(cells))
		for i := range mask {
			mask[i] = math.Inf(-1)
		}
		a.Mask(row).Path(func(slot, n int) {
			for i := range n {
				mask[at(a.KV[row], slot+i)] = 0
			}
		})
		for h := range heads {
			sum, mixed := 0.0, make([]float64, size)
			for c := range cells {
				dot := 0.0
				for j := range size {
					dot += float64(a.X[row*3*heads*size+h*size+j]) * number(keys[c], h*size+j)
				}
				p := math.Exp(dot*scale + mask[c])
				sum += p
				for j := range size {
					mixed[j] += p * number(values[c], h*size+j)
				}
			}
			for j := range size {
				out = append(out, mixed[j]/sum)
			}
		}
	}
	return out
}
