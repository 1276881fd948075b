package native

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"tandem/npu"
	"tandem/npu/quant"
)

var (
	kTypes    = []npu.DType{npu.Q4_K, npu.Q5_K, npu.Q6_K}
	readOnlyK = []npu.DType{npu.Q2_K, npu.Q3_K, npu.IQ4_XS}
)

// The K-quant kernels give the same bits as plain Go.
func TestKKernelsEqualPlainGo(t *testing.T) {
	for _, k := range available() {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
				blocks, rows, m := rapid.IntRange(1, 9).Draw(t, "blocks"), rapid.IntRange(1, 35).Draw(t, "rows"), rapid.IntRange(1, 19).Draw(t, "inputs")
				compareK(t, k, r, blocks, rows, m)
			})
		})
	}
}

func compareK(t fataler, k *kernels, r *rand.Rand, blocks, rows, m int) {
	x := awkward(r, m*blocks*256)
	delicate(r, x[:256])
	in, in2 := make([]kInput, m*blocks), make([]kInput, m*blocks)
	for i := range in { // previous contents must not matter
		for j := range in[i].sums {
			in[i].sums[j] = -1
		}
	}
	k.quantizeK(in, x)
	quantizeKPlain(in2, x)
	for i := range in {
		if in[i] != in2[i] {
			t.Fatalf("quantizeK(%v):\n%v, plain Go gives\n%v", x[256*i:][:256], in[i], in2[i])
		}
	}
	for _, typ := range readOnlyK {
		comparePackedK(t, k, r, typ, blocks, rows, in, m)
	}
	for _, typ := range kTypes {
		b := randomBlocks(r, typ, rows*blocks*256)
		w, w2 := make([]kBlock, rows*blocks), make([]kBlock, rows*blocks)
		k.unpackK(typ, w, b)
		unpackKPlain(typ, w2, b)
		for i := range w {
			if w[i] != w2[i] {
				t.Fatalf("unpackK of %v:\n%v, plain Go gives\n%v", typ, w[i], w2[i])
			}
		}
		for _, m := range []int{m, 1} {
			got, want := make([]float32, m*rows), make([]float32, m*rows)
			k.mulK(got, rows, w, rows, in, m)
			mulKPlain(want, rows, w, rows, in, m)
			same(t, fmt.Sprintf("mulK %v of %d×%d by %d", typ, rows, 256*blocks, m), got, want)
			s := &kScratch{last: [4 * groupRows]float32{1, 2, 3}} // previous contents must not matter
			for i := range got {
				got[i] = 5
			}
			k.mulRows(s, got, rows, typ, b, typ.RowBytes(256*blocks), in[:m*blocks], m)
			same(t, fmt.Sprintf("%v of %d×%d by %d, in the file's format", typ, rows, 256*blocks, m), got, want)
			mul := k.mulK256[typ]
			if mul == nil {
				continue
			}
			groups := (rows + groupRows - 1) / groupRows
			stride := groups*groupRows + r.IntN(3)
			got = make([]float32, m*stride)
			mul(got, stride, packAll(&npu.Tensor{Type: typ, Rows: rows, Cols: 256 * blocks, Data: b}), groups, blocks, in, m)
			for i := range m {
				same(t, fmt.Sprintf("%v of %d×%d, packed, by input %d of %d", typ, rows, 256*blocks, i, m), got[i*stride:][:rows], want[i*rows:][:rows])
			}
		}
	}
}

// Kernels for packed types that are read only give the bits of plain Go.
func comparePackedK(t fataler, k *kernels, r *rand.Rand, typ npu.DType, blocks, rows int, in []kInput, m int) {
	groups := (rows + groupRows - 1) / groupRows
	stride := groups*groupRows + r.IntN(3)
	w := packAll(&npu.Tensor{Type: typ, Rows: rows, Cols: 256 * blocks, Data: randomBlocks(r, typ, rows*blocks*256)})
	got, want := make([]float32, m*stride), make([]float32, m*stride)
	for i := range m * stride {
		if i%stride < groups*groupRows {
			got[i] = 5 // previous contents must not matter
		}
	}
	k.mulK256[typ](got, stride, w, groups, blocks, in, m)
	plainKernels.mulK256[typ](want, stride, w, groups, blocks, in, m)
	same(t, fmt.Sprintf("%v of %d×%d by %d", typ, rows, 256*blocks, m), got, want)
}

// The largest possible integers do not overflow.
func TestKExtremes(t *testing.T) {
	for _, k := range available() {
		for _, q := range []uint8{0, 63} {
			for _, s := range []int16{-128, 127} {
				for _, a := range []int8{-127, 127} {
					w, x := make([]kBlock, 1), make([]kInput, 4)
					w[0].d, w[0].m = 1, 32
					for i := range w[0].q {
						w[0].q[i] = q
					}
					for i := range w[0].scales {
						w[0].scales[i], w[0].minima[i] = s, s
					}
					for i := range x {
						x[i].d = 1
						for j := range x[i].q {
							x[i].q[j] = a
							x[i].sums[j/16] += int16(a)
						}
					}
					want := 256 * float32(s) * float32(a) * (float32(q) - 32)
					for _, m := range []int{1, 4} {
						got := make([]float32, m)
						k.mulK(got, 1, w, 1, x, m)
						for _, g := range got {
							if g != want {
								t.Errorf("%s: %d·(%d−32)·%d, 256 times, is %v, want %v", k.name, s, q, a, g, want)
							}
						}
					}
				}
			}
		}
	}
}

// The same for packed weights: the largest integers, scales of either sign and minima.
func TestPackedKExtremes(t *testing.T) {
	for _, k := range available() {
		for _, typ := range kTypes {
			mul := k.mulK256[typ]
			if mul == nil {
				continue
			}
			for _, scale := range []byte{0xFF, 0x7F, 0x80} {
				for _, a := range []int8{-127, 127} {
					b := bytes.Repeat([]byte{0xFF}, typ.BlockBytes())
					if typ == npu.Q6_K {
						copy(b[192:], bytes.Repeat([]byte{scale}, 16))
						copy(b[208:], []byte{0, 0x3C}) // d is 1
					} else {
						copy(b, []byte{0, 0x3C, 0, 0x3C})
					}
					x := make([]kInput, 8)
					for i := range x {
						x[i].d = 1
						for j := range x[i].q {
							x[i].q[j] = a
							x[i].sums[j/16] += int16(a)
							x[i].wide[j/32] += int16(a)
						}
					}
					var w [1]kBlock
					var want [1]float32
					unpackKPlain(typ, w[:], b)
					mulKPlain(want[:], 1, w[:], 1, x[:1], 1)
					packed := packAll(&npu.Tensor{Type: typ, Rows: 1, Cols: 256, Data: b})
					for _, m := range []int{1, 4, 8} {
						got := make([]float32, m*groupRows)
						mul(got, groupRows, packed, 1, 1, x, m)
						for i := range m {
							same(t, fmt.Sprintf("%s, %v with scales %x by %d", k.name, typ, scale, a), got[i*groupRows:][:1], want[:])
						}
					}
				}
			}
		}
	}
}

// The same for types that are only read: all bits set or none, and scales of either sign.
func TestReadOnlyExtremes(t *testing.T) {
	for _, k := range available() {
		for _, typ := range npu.ReadOnly {
			for _, bits := range []byte{0xFF, 0x00, 0x0F, 0xF0} {
				for _, a := range []float32{-127, 127} {
					row := bytes.Repeat([]byte{bits}, typ.RowBytes(256))
					for i := 0; i < len(row); i += typ.BlockBytes() {
						for _, at := range halvesOf[typ] {
							copy(row[i+at:], []byte{0, 0x3C}) // 1
						}
					}
					w := packAll(&npu.Tensor{Type: typ, Rows: 1, Cols: 256, Data: row})
					x := make([]float32, 40*256)
					for i := range x {
						x[i] = a
					}
					for _, m := range []int{1, 4, 8, 16, 40} {
						got, want := make([]float32, m*groupRows), make([]float32, m*groupRows)
						if typ.BlockSize() == 32 {
							in := make([]input, m*8)
							quantizePlain(in, x[:m*256])
							k.mul[typ](got, groupRows, w, 1, 8, in, m)
							plainKernels.mul[typ](want, groupRows, w, 1, 8, in, m)
						} else {
							in := make([]kInput, m)
							quantizeKPlain(in, x[:m*256])
							k.mulK256[typ](got, groupRows, w, 1, 1, in, m)
							plainKernels.mulK256[typ](want, groupRows, w, 1, 1, in, m)
						}
						same(t, fmt.Sprintf("%s, %v of bytes %x by %v", k.name, typ, bits, a), got, want)
					}
				}
			}
		}
	}
}

// normalInputs returns normal random numbers, and as they are rounded.
func normalInputs(r *rand.Rand, blocks int) (x []float32, in []kInput) {
	x, in = make([]float32, 256*blocks), make([]kInput, blocks)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	quantizeKPlain(in, x)
	return x, in
}

// Products with packed types that are only read agree with the values that package quant reads.
func TestReadOnlyProductsAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	const rows, blocks = 7, 3
	x, in := normalInputs(r, blocks)
	for _, typ := range readOnlyK {
		w := &npu.Tensor{Type: typ, Rows: rows, Cols: 256 * blocks, Data: randomBlocks(r, typ, rows*blocks*256)}
		wide, got := make([]float32, rows*w.Cols), make([]float32, groupRows)
		if err := quant.Dequantize(typ, wide, w.Data); err != nil {
			t.Fatal(err)
		}
		for _, k := range []*kernels{&plainKernels, bestKernels()} {
			k.mulK256[typ](got, groupRows, packAll(w), 1, blocks, in, 1)
			for j := range rows {
				var want, size float64
				for i := range x {
					p := float64(wide[j*w.Cols+i]) * float64(in[i/256].d) * float64(in[i/256].q[i%256])
					want, size = want+p, size+math.Abs(p)
				}
				if e := math.Abs(float64(got[j]) - want); e > 1e-5*size {
					t.Errorf("%s: %v row %d: %v, want %v", k.name, typ, j, got[j], want)
				}
			}
		}
	}
}

// The product agrees with its definition, the sum of dequantized weights times rounded inputs in float64.
func TestKProductsAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, blocks = 7, 3
	x, in := normalInputs(r, blocks)
	rounded := func(i int) float64 { return float64(in[i/256].d) * float64(in[i/256].q[i%256]) }
	for i := range x {
		if e := math.Abs(float64(x[i]) - rounded(i)); e > float64(in[i/256].d)*0.5001 {
			t.Errorf("input %d: %v is stored as %v", i, x[i], rounded(i))
		}
	}
	for _, typ := range kTypes {
		b := randomBlocks(r, typ, rows*blocks*256)
		wide, w, got := make([]float32, rows*blocks*256), make([]kBlock, rows*blocks), make([]float32, rows)
		if err := quant.Dequantize(typ, wide, b); err != nil {
			t.Fatal(err)
		}
		unpackKPlain(typ, w, b)
		mulKPlain(got, rows, w, rows, in, 1)
		for j := range got {
			var want, size float64
			for i := range x {
				p := float64(wide[j*len(x)+i]) * rounded(i)
				want, size = want+p, size+math.Abs(p)
			}
			if e := math.Abs(float64(got[j]) - want); e > 1e-6*size {
				t.Errorf("%v row %d: %v, want %v", typ, j, got[j], want)
			}
		}
	}
}

// turnKPlain is a plain Go version of kPanels.turn.
func turnKPlain(t npu.DType, dst *kPanel, src []byte, stride int) {
	for r := range groupRows {
		var w [1]kBlock
		unpackKPlain(t, w[:], src[r*stride:][:t.BlockBytes()])
		for i, q := range w[0].q {
			dst.q[i/4][r][i%4] = q
		}
		for s := range 16 {
			dst.scales[s][r] = int32(w[0].scales[s%2*8+s/2])
			dst.minima[s/2][r][s%2] = w[0].minima[s]
		}
		dst.d[r], dst.m[r] = w[0].d, w[0].m
	}
}

// Panels are bit-identical to those of plain Go.
func TestPanelsEqualPlainGo(t *testing.T) {
	for _, k := range available() {
		if k.panels == nil {
			continue
		}
		r := rand.New(rand.NewPCG(7, 8))
		for _, typ := range kTypes {
			for range 50 {
				const blocks = 3
				b := randomBlocks(r, typ, groupRows*blocks*256)
				got, want := make([]kPanel, blocks), make([]kPanel, blocks)
				for i := range got {
					k.panels.turn(typ, &got[i], b[i*typ.BlockBytes():], blocks*typ.BlockBytes())
					turnKPlain(typ, &want[i], b[i*typ.BlockBytes():], blocks*typ.BlockBytes())
					if got[i] != want[i] {
						t.Fatalf("%s: block %d of %v becomes\n%v, plain Go gives\n%v", k.name, i, typ, got[i], want[i])
					}
				}
			}
		}
	}
}
