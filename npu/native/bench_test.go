package native

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// BenchmarkProduct measures each kernel on each instruction set that this machine supports. The weights, 64 rows, stay in
// the caches, so the figures compare instructions, not memory. GMAC/s is billions of multiply-adds per second.
func BenchmarkProduct(b *testing.B) {
	const rows, cols = 64, 1536
	r := rand.New(rand.NewPCG(1, 1))
	for _, typ := range blockTypes {
		w := &npu.Tensor{Type: typ, Rows: rows, Cols: cols, Data: randomBlocks(r, typ, rows*cols)}
		for _, m := range []int{1, 4, 8, 16, 32, 64, 128} {
			x, out := make([]float32, m*cols), make([]float32, m*rows)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			for _, k := range available() {
				b.Run(fmt.Sprintf("%v/rows=%d/%s", typ, m, k.name), func(b *testing.B) {
					product, w := k.product(typ, out, rows, cols, x, m), k.read(w)
					b.ResetTimer()
					for range b.N {
						product(w)
					}
					b.ReportMetric(float64(b.N*rows*cols*m)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
				})
			}
		}
	}
}

// read returns the weights as these kernels read them: packed or in their file format.
func (k *kernels) read(w *npu.Tensor) []byte {
	if w.Type.BlockSize() > 32 && k.mulK256[w.Type] == nil {
		return w.Data
	}
	size := groupBytes(w.Type, w.Cols/w.Type.BlockSize())
	groups := align64(nil, w.Rows/groupRows*size)
	for g := range w.Rows / groupRows {
		packGroup(groups[g*size:][:size], w, g*groupRows)
	}
	return groups
}

// product rounds m inputs and returns a function that multiplies rows of weights by them.
func (k *kernels) product(typ npu.DType, out []float32, rows, cols int, x []float32, m int) func(w []byte) {
	if mul := k.mulK256[typ]; mul != nil {
		in := make([]kInput, len(x)/256)
		k.quantizeK(in, x)
		return func(w []byte) { mul(out, rows, w, rows/groupRows, cols/256, in, m) }
	}
	if quant.LayoutOf(typ) != nil {
		in, s := make([]kInput, len(x)/256), new(kScratch)
		k.quantizeK(in, x)
		return func(w []byte) { k.mulRows(s, out, rows, typ, w[:typ.RowBytes(rows*cols)], typ.RowBytes(cols), in, m) }
	}
	if d := map[npu.DType]dots{npu.F32: k.dotsF32, npu.F16: k.dotsF16, npu.BF16: k.dotsBF16}[typ]; d != nil { // for one input
		return func(w []byte) { d(out, x, unsafe.Pointer(&w[0]), typ.RowBytes(cols)) }
	}
	in := make([]input, len(x)/32)
	k.quantize(in, x)
	if m >= minWordInputs && k.words != nil && k.words.mul[typ] != nil {
		words := make([]wordQuad, m/4*cols/32)
		for q := range m / 4 {
			k.words.quad(words[q*cols/32:][:cols/32], in[4*q*cols/32:])
		}
		return func(w []byte) { k.words.mul[typ](out, rows, w, rows/groupRows, cols/32, words, m) }
	}
	return func(w []byte) { k.mul[typ](out, rows, w, rows/groupRows, cols/32, in, m) } // w is not packed, but any bytes will do
}

func BenchmarkDots(b *testing.B) {
	const rows, cols = 16, 1536
	x, w, out := make([]float32, cols), make([]float32, rows*cols), make([]float32, rows)
	for _, k := range available() {
		for _, c := range []struct {
			typ  npu.DType
			dots dots
		}{{npu.F32, k.dotsF32}, {npu.F16, k.dotsF16}, {npu.BF16, k.dotsBF16}} {
			b.Run(fmt.Sprintf("%v/%s", c.typ, k.name), func(b *testing.B) {
				for range b.N {
					c.dots(out, x, unsafe.Pointer(&w[0]), c.typ.RowBytes(cols))
				}
				b.ReportMetric(float64(b.N*rows*cols)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
			})
		}
	}
}

// BenchmarkElementwise measures operations that read a vector once. G/s is billions of elements per second.
func BenchmarkElementwise(b *testing.B) {
	const n = 1536
	r := rand.New(rand.NewPCG(1, 1))
	x, y, out, v := make([]float32, n), make([]float32, n), make([]float32, n), make([]uint16, n)
	for i := range x {
		x[i], y[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
	}
	blocks, in, half := make([]input, n/32), make([]kInput, n/256), make([]uint16, n)
	for _, k := range available() {
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"quantize", func() { k.quantize(blocks, x) }},
			{"quantizeK", func() { k.quantizeK(in, x) }},
			{"softmax", func() { copy(out, x); k.softmax(out, 0.1) }},
			{"maxima", func() { k.maxima(out[:n/maximaBlock], x) }},
			{"swiGLU", func() { k.swiGLU(out, x, y) }},
			{"scale", func() { k.scale(out, x, y, 0.1) }},
			{"add", func() { k.add(out, x, y) }},
			{"rotate", func() { k.rotate(out[:n/2], out[n/2:], x[:n/2], y[:n/2]) }},
			{"mixF16", func() { k.mixF16(out[:64], y[:n/64], v, 64) }},
			{"turn", func() { k.caches[npu.CacheF16].turnKeys(out, v, n/keyBlock, n/keyBlock) }},
			{"narrow", func() { k.narrow(half, x) }},
			{"widenF16", func() { k.widen(npu.F16, out, unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 2*n)) }},
		} {
			b.Run(c.name+"/"+k.name, func(b *testing.B) {
				for range b.N {
					c.f()
				}
				b.ReportMetric(float64(b.N*n)/float64(b.Elapsed().Nanoseconds()), "G/s")
			})
		}
	}
}

// BenchmarkAttention measures the products of attention for 256 positions: four queries that share a key-value head times
// the transposed keys, and their weights times the values.
func BenchmarkAttention(b *testing.B) {
	const queries, keys, dim = 4, 256, 64
	r := rand.New(rand.NewPCG(1, 1))
	turned, q, weights := make([]float32, keys*dim), make([]float32, queries*dim), make([]float32, queries*keys)
	for _, x := range [][]float32{turned, q, weights} {
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
	}
	sums, scores, values := make([]float32, queries*dim), make([]float32, queries*keys), make([]uint16, keys*dim)
	narrowPlain(values, turned)
	for _, k := range available() {
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"scores", func() {
				for at := 0; at < keys; at += keyBlock {
					k.scores(scores[at:], keys, turned[at*dim:], q, dim, queries)
				}
			}},
			{"mix4", func() { clear(sums); k.caches[npu.CacheF16].mix4(sums, weights, keys, keys, values, dim) }},
		} {
			b.Run(c.name+"/"+k.name, func(b *testing.B) {
				for range b.N {
					c.f()
				}
				b.ReportMetric(float64(b.N*queries*keys*dim)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
			})
		}
	}
}

// BenchmarkStream multiplies one input by weights larger than the caches, as in decoding. GB/s is billions of bytes of
// weights per second.
func BenchmarkStream(b *testing.B) {
	const rows, cols, calls = 32, 1536, 2048
	r := rand.New(rand.NewPCG(1, 1))
	x, out := make([]float32, cols), make([]float32, rows)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for _, typ := range append([]npu.DType{npu.F32, npu.F16, npu.BF16}, blockTypes...) {
		size := typ.RowBytes(rows * cols)
		few, memory := randomBlocks(r, typ, rows*cols), newSlab((calls+1)*size)
		all := memory.take((calls + 1) * size)
		for i := range calls + 1 {
			copy(all[i*size:], few)
		}
		for _, k := range available()[1:] {
			b.Run(fmt.Sprintf("%v/%s", typ, k.name), func(b *testing.B) {
				product := k.product(typ, out, rows, cols, x, 1)
				b.ResetTimer()
				for range b.N {
					for i := range calls {
						product(all[i*size:])
					}
				}
				b.ReportMetric(float64(b.N*calls*size)/float64(b.Elapsed().Nanoseconds()), "GB/s")
			})
		}
		runtime.KeepAlive(memory)
	}
}

// BenchmarkWide multiplies float weights by several inputs, as in prefill and in decoding of several rows.
func BenchmarkWide(b *testing.B) {
	const rows = 128
	r := rand.New(rand.NewPCG(1, 1))
	for _, typ := range []npu.DType{npu.F16, npu.BF16, npu.F32} {
		for _, cols := range []int{896, 4864} {
			w := &npu.Tensor{Name: "w", Type: typ, Rows: rows, Cols: cols, Data: randomBlocks(r, typ, rows*cols)}
			for _, m := range []int{8, 256} {
				g := npu.NewGraph("product", m)
				g.MatMul(g.Input(cols), w, nil)
				for _, k := range available()[1:] {
					b.Run(fmt.Sprintf("%v/cols=%d/rows=%d/%s", typ, cols, m, k.name), func(b *testing.B) {
						d := newDevice(1, k)
						defer d.Close()
						p, err := d.Compile(g)
						if err != nil {
							b.Fatal(err)
						}
						x, out := make([]float32, m*cols), make([]float32, m*rows)
						for range b.N {
							if err := p.Run(npu.Args{Rows: m, X: x, Out: out}); err != nil {
								b.Fatal(err)
							}
						}
						b.ReportMetric(float64(b.N*rows*cols*m)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
					})
				}
			}
		}
	}
}

// BenchmarkPack packs a matrix, as happens when a model is opened. MB/s is of the file's bytes.
func BenchmarkPack(b *testing.B) {
	const rows, cols = 256, 1536
	for _, typ := range []npu.DType{npu.Q8_0, npu.Q4_0, npu.Q4_K, npu.Q6_K} {
		w := &npu.Tensor{Type: typ, Rows: rows, Cols: cols, Data: randomBlocks(rand.New(rand.NewPCG(1, 1)), typ, rows*cols)}
		b.Run(typ.String(), func(b *testing.B) {
			b.SetBytes(int64(len(w.Data)))
			for range b.N {
				packAll(w)
			}
		})
	}
}
