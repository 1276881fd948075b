package native

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"tandem/npu"
	"tandem/npu/quant"
)

// Every kernel that this machine supports gives the same bits as the plain Go kernels, which define the results. The test
// covers all tail lengths and values of many magnitudes, zeros, negative zeros and subnormals.
func TestKernelsEqualPlainGo(t *testing.T) {
	for _, k := range available() {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				n := rapid.IntRange(1, 200).Draw(t, "length")
				rows := rapid.IntRange(1, 13).Draw(t, "rows")
				compareDots(t, k, r, n, rows)
				compareMix(t, k, r, n, rows)
				compareFactors(t, k, r, 1+r.IntN(40), 1+r.IntN(5))
				compareTiles(t, k, r, 2*n)
				compareAttention(t, k, r, n, rows)
				compareCacheQ80(t, k, r, 32*(1+n%7), rows)
				compareElementwise(t, k, r, n)
				compareProducts(t, k, r, rapid.IntRange(1, 6).Draw(t, "blocks"), 3*rows, rapid.IntRange(1, 37).Draw(t, "inputs"))
			})
		})
	}
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func same(t fataler, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d of %d is %v (%08x), plain Go gives %v (%08x)", what, i, len(want),
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// awkward returns numbers of many magnitudes.
func awkward(r *rand.Rand, n int) []float32 {
	scale := math.Pow(10, r.Float64()*8-4)
	x := make([]float32, n)
	for i := range x {
		switch r.IntN(24) {
		case 0:
			x[i] = 0
		case 1:
			x[i] = float32(math.Copysign(0, -1))
		case 2:
			x[i] = float32(r.NormFloat64() * 1e-39)
		default:
			x[i] = float32(r.NormFloat64() * scale)
		}
	}
	return x
}

// delicate fills x, one time in four, with a special case of rounding to 8 bits: zeros, numbers around the smallest that has
// a scale, or values halfway between two integers.
func delicate(r *rand.Rand, x []float32) {
	if r.IntN(4) > 0 {
		return
	}
	top := []float32{0, 1e-39, 1e-30, math.Nextafter32(1e-30, 1), 127}[r.IntN(5)]
	for i := range x {
		x[i] = top / 254 * float32(r.IntN(509)-254)
	}
	x[r.IntN(len(x))] = top
}

func halves(x []float32) []uint16 {
	h := make([]uint16, len(x))
	for i, v := range x {
		h[i] = quant.F32ToF16(min(max(v, -60000), 60000))
	}
	return h
}

func compareDots(t fataler, k *kernels, r *rand.Rand, n, rows int) {
	stride := n + r.IntN(5)
	x, w := awkward(r, n), awkward(r, rows*stride+1)
	h, b := halves(w), make([]uint16, len(w))
	for i, v := range w {
		b[i] = quant.F32ToBF16(v)
	}
	got, want := make([]float32, rows), make([]float32, rows)
	k.dotsF32(got, x, unsafe.Pointer(&w[1]), 4*stride)
	dotsF32Plain(want, x, unsafe.Pointer(&w[1]), 4*stride)
	same(t, fmt.Sprintf("dotsF32 of %d", n), got, want)
	k.dotsF16(got, x, unsafe.Pointer(&h[1]), 2*stride)
	dotsF16Plain(want, x, unsafe.Pointer(&h[1]), 2*stride)
	same(t, fmt.Sprintf("dotsF16 of %d", n), got, want)
	k.dotsBF16(got, x, unsafe.Pointer(&b[1]), 2*stride)
	dotsBF16Plain(want, x, unsafe.Pointer(&b[1]), 2*stride)
	same(t, fmt.Sprintf("dotsBF16 of %d", n), got, want)
}

// compareTiles checks that a tile that accumulates block by block gives the same sums as dots.
func compareTiles(t fataler, k *kernels, r *rand.Rand, cols int) {
	cols = (cols + 31) &^ 31
	typ := []npu.DType{npu.F16, npu.BF16, npu.F32}[r.IntN(3)]
	size := typ.RowBytes(cols)
	w, x := randomBlocks(r, typ, 2*cols), awkward(r, 4*cols)
	pair, rows, inputs := make([]float32, 2*cols), make([]float32, 2*cols), make([]float32, 0, 4*cols)
	k.pair(typ, pair, w[:size], w[size:])
	widen(typ, rows, w)
	for at := 0; at < cols; at += 32 {
		same(t, "a pair", pair[2*at:][:32], rows[at:][:32])
		same(t, "a pair", pair[2*at+32:][:32], rows[cols+at:][:32])
		for i := range 4 {
			inputs = append(inputs, x[i*cols+at:][:32]...)
		}
	}
	var got, want [8]float32
	for i := range want {
		dotsF32Plain(want[i:i+1], x[i/2*cols:][:cols], unsafe.Pointer(&rows[i%2*cols]), 0)
	}
	var sums tileSums
	for at, n := 0, 0; at < cols; at += n {
		n = min(32*(1+r.IntN(4)), cols-at)
		k.tile(&sums, &inputs[4*at], &pair[2*at], n/32)
	}
	k.sumTile(&got, &sums)
	same(t, fmt.Sprintf("a tile of %d", cols), got[:], want[:])
}

func compareMix(t fataler, k *kernels, r *rand.Rand, n, rows int) {
	stride := n + r.IntN(5)
	v, p, got := halves(awkward(r, rows*stride)), awkward(r, rows), awkward(r, n)
	want := append([]float32(nil), got...)
	k.mixF16(got, p, v, stride)
	mixF16Plain(want, p, v, stride)
	same(t, fmt.Sprintf("mixF16 of %d", n), got, want)
}

// compareCacheQ80 compares the kernels that read keys and values in blocks.
func compareCacheQ80(t fataler, k *kernels, r *rand.Rand, dim, n int) {
	stride := npu.CacheQ8_0.Row(dim) + r.IntN(5)
	cache := make([]uint16, max(n, keyBlock)*stride)
	for i := range cache {
		cache[i] = uint16(r.Uint32())
	}
	for i := 0; i < len(cache); i += stride {
		for b := i; b+npu.CacheBlockSize <= min(len(cache), i+npu.CacheQ8_0.Row(dim)); b += npu.CacheBlockSize {
			cache[b] = halves(awkward(r, 1))[0]
		}
	}
	kernels, plain := &k.caches[npu.CacheQ8_0], &plainKernels.caches[npu.CacheQ8_0]
	got, want := make([]float32, dim*keyBlock), make([]float32, dim*keyBlock)
	kernels.turnKeys(got, cache, stride, dim)
	plain.turnKeys(want, cache, stride, dim)
	same(t, fmt.Sprintf("turn of %d in Q8_0", dim), got, want)

	p := awkward(r, 4*(n+2))
	got = awkward(r, 4*dim)
	want = append([]float32(nil), got...)
	kernels.mix4(got, p, n+2, n, cache, stride)
	plain.mix4(want, p, n+2, n, cache, stride)
	same(t, fmt.Sprintf("mix4 of %d values of %d in Q8_0", n, dim), got, want)
	kernels.mix(got[:dim], p[:n], cache, stride)
	plain.mix(want[:dim], p[:n], cache, stride)
	same(t, fmt.Sprintf("mix of %d values of %d in Q8_0", n, dim), got, want)
}

// compareFactors compares the kernels for packed factors in Q8_0.
func compareFactors(t fataler, k *kernels, r *rand.Rand, ranks, blocks int) {
	v := make([]byte, blocks*mixBytes(ranks))
	for i := range v {
		v[i] = byte(r.Uint32())
	}
	for b := range blocks {
		for j, h := range halves(awkward(r, ranks)) {
			binary.LittleEndian.PutUint16(v[b*mixBytes(ranks)+2*j:], h)
		}
	}
	p, got := awkward(r, ranks+7), awkward(r, blocks*npu.FactorBlock)
	want := append([]float32(nil), got...)
	k.mixFactor(got, p, v, ranks)
	mixFactorPlain(want, p, v, ranks)
	same(t, fmt.Sprintf("mixFactor of %d ranks", ranks), got, want)
}

// compareAttention compares the kernels that transpose keys, compute scores, mix values and convert to F16. Every fourth
// dimension is a usual head size.
func compareAttention(t fataler, k *kernels, r *rand.Rand, dim, n int) {
	if dim%4 == 0 {
		dim = dim / 4 % 9 * 16 // 0 to 128
	}
	if dim == 0 {
		dim = 8
	}
	stride := dim + r.IntN(5)
	keys := halves(awkward(r, max(n, keyBlock)*stride))
	got, want := make([]float32, dim*keyBlock), make([]float32, dim*keyBlock)
	f16 := &k.caches[npu.CacheF16]
	f16.turnKeys(got, keys, stride, dim)
	turnPlain(want, keys, stride, dim)
	same(t, fmt.Sprintf("turn of %d", dim), got, want)

	m, step := 4*(1+r.IntN(5)), keyBlock+r.IntN(5)
	q := awkward(r, m*dim)
	got, want = make([]float32, m*step), make([]float32, m*step)
	turned := awkward(r, dim*keyBlock)
	k.scores(got, step, turned, q, dim, m)
	scoresPlain(want, step, turned, q, dim, m)
	same(t, fmt.Sprintf("scores of %d queries of %d", m, dim), got, want)

	p := awkward(r, 4*(n+2))
	got = awkward(r, 4*dim)
	want = append([]float32(nil), got...)
	f16.mix4(got, p, n+2, n, keys, stride)
	mix4By(mixF16Plain)(want, p, n+2, n, keys, stride)
	same(t, fmt.Sprintf("mix4 of %d values of %d", n, dim), got, want)

	x := awkward(r, dim)
	x[r.IntN(dim)] = float32(math.Inf(1 - 2*r.IntN(2)))
	x[r.IntN(dim)] = 65519.996
	x[r.IntN(dim)] = 65520
	half, half2 := make([]uint16, dim), make([]uint16, dim)
	k.narrow(half, x)
	narrowPlain(half2, x)
	if !slices.Equal(half, half2) {
		t.Fatalf("narrow of %v gives %04x, plain Go gives %04x", x, half, half2)
	}
}

func compareElementwise(t fataler, k *kernels, r *rand.Rand, n int) {
	x, up := awkward(r, n), awkward(r, n)
	scale := float32(r.Float64())
	if r.IntN(4) == 0 { // beyond both ends of exp: softmax takes e^x of these, SwiGLU e^−x
		scale = 1
		for i := range x {
			x[i] = -100 * r.Float32()
		}
		x[0] = 0
	}
	got, want := append([]float32(nil), x...), append([]float32(nil), x...)
	k.softmax(got, scale)
	plainKernels.softmax(want, scale)
	same(t, fmt.Sprintf("softmax of %d", n), got, want)
	if blocks := n / maximaBlock; blocks > 0 {
		x := slices.Clone(x)
		for range n / 8 {
			x[r.IntN(n)] = float32([]float64{math.NaN(), math.Inf(-1), math.Inf(1)}[r.IntN(3)])
		}
		got, want := make([]float32, blocks), make([]float32, blocks)
		k.maxima(got, x)
		maximaPlain(want, x)
		same(t, fmt.Sprintf("maxima of %d", n), got, want)
	}
	k.swiGLU(got, x, up)
	swiGLUPlain(want, x, up)
	same(t, fmt.Sprintf("swiGLU of %d", n), got, want)
	copy(got, up)
	copy(want, up)
	k.gate(got, up, x)
	gatePlain(want, up, x)
	same(t, fmt.Sprintf("gate of %d", n), got, want)
	k.scale(got, x, up, scale)
	scalePlain(want, x, up, scale)
	same(t, fmt.Sprintf("scale of %d", n), got, want)
	k.add(got, x, up)
	addPlain(want, x, up)
	same(t, fmt.Sprintf("sum of %d", n), got, want)
	for _, least := range []float32{0, float32(math.Inf(-1)), scale} {
		k.floor(got, x, -up[0], least)
		floorPlain(want, x, -up[0], least)
		same(t, fmt.Sprintf("floor of %d", n), got, want)
		odd := append([]float32{float32(math.NaN()), float32(math.Copysign(0, -1))}, up...)[:n]
		k.floor(got, odd, 0, least)
		floorPlain(want, odd, 0, least)
		same(t, fmt.Sprintf("floor of %d", n), got, want)
	}
	cos, sin, a := awkward(r, n), awkward(r, n), append([]float32(nil), x...)
	copy(got, up)
	copy(want, up)
	k.rotate(x, got, cos, sin)
	rotatePlain(a, want, cos, sin)
	same(t, fmt.Sprintf("rotation of %d, first", n), x, a)
	same(t, fmt.Sprintf("rotation of %d, second", n), got, want)
}

func compareProducts(t fataler, k *kernels, r *rand.Rand, blocks, rows, m int) {
	cols := 32 * blocks
	x := awkward(r, m*cols)
	delicate(r, x[:32])
	in, in2 := make([]input, len(x)/32), make([]input, len(x)/32)
	k.quantize(in, x)
	quantizePlain(in2, x)
	for i := range in {
		if in[i] != in2[i] {
			t.Fatalf("quantize(%v) = %+v, plain Go gives %+v", x[32*i:][:32], in[i], in2[i])
		}
	}
	for _, typ := range slices.Concat(npu.DTypes, npu.ReadOnly) {
		n := 256 * blocks
		if typ.BlockSize() == 1 {
			n -= r.IntN(256) // these types allow any length
		}
		w := randomBlocks(r, typ, n)
		got, want := make([]float32, n), make([]float32, n)
		k.widen(typ, got, w)
		widen(typ, want, w)
		same(t, fmt.Sprintf("widen %d of %v", n, typ), got, want)
	}
	for _, typ := range blockTypes {
		if typ.BlockSize() != 32 {
			continue
		}
		groups := (rows + groupRows - 1) / groupRows
		w := packAll(&npu.Tensor{Type: typ, Rows: rows, Cols: cols, Data: randomBlocks(r, typ, rows*cols)})
		stride := groups*groupRows + r.IntN(3)
		got, want := make([]float32, m*stride), make([]float32, m*stride)
		k.mul[typ](got, stride, w, groups, blocks, in, m)
		plainKernels.mul[typ](want, stride, w, groups, blocks, in, m)
		same(t, fmt.Sprintf("mul%v of %d×%d by %d", typ, rows, cols, m), got, want)
	}
}

// blockTypes are the types of weights in blocks.
var blockTypes = slices.DeleteFunc(slices.Concat(npu.DTypes, npu.ReadOnly), func(t npu.DType) bool { return t.BlockSize() == 1 })

// packAll packs a matrix.
func packAll(w *npu.Tensor) []byte {
	size := groupBytes(w.Type, w.Cols/w.Type.BlockSize())
	groups := (w.Rows + groupRows - 1) / groupRows
	b := align64(nil, groups*size)
	for g := range groups {
		packGroup(b[g*size:][:size], w, g*groupRows)
	}
	return b
}

// halvesOf says where F16 or BF16 numbers are in a block of a type.
var halvesOf = map[npu.DType][]int{npu.Q8_0: {0}, npu.Q4_0: {0}, npu.Q4_K: {0, 2}, npu.Q5_K: {0, 2}, npu.Q6_K: {208}, npu.F16: {0}, npu.BF16: {0},
	npu.Q4_1: {0, 2}, npu.Q5_0: {0}, npu.Q5_1: {0, 2}, npu.IQ4_NL: {0}, npu.Q2_K: {80, 82}, npu.Q3_K: {108}, npu.IQ4_XS: {0}}

// randomBlocks returns blocks with random integers, including −128, and finite scales.
func randomBlocks(r *rand.Rand, typ npu.DType, n int) []byte {
	w := make([]byte, typ.RowBytes(n))
	for i := range w {
		w[i] = byte(r.Uint32())
	}
	for i := 0; i < len(w); i += typ.BlockBytes() {
		for _, at := range halvesOf[typ] {
			h := quant.F32ToF16(float32(r.NormFloat64()))
			w[i+at], w[i+at+1] = byte(h), byte(h>>8)
		}
	}
	for i := 0; typ == npu.MXFP4 && i < len(w); i += typ.BlockBytes() {
		w[i] = 108 + w[i]%40
	}
	if typ == npu.F32 {
		for i := 3; i < len(w); i += 4 {
			w[i] &= 0xbf // no infinities, no NaN
		}
	}
	return w
}

// The integer product agrees with its definition, Σ over blocks of dw·dx·Σ qw·qx, computed in float64 from dequantized
// values.
func TestProductsAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, cols = 7, 256
	x := make([]float32, cols)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	in := make([]input, cols/32)
	quantizePlain(in, x)
	for i := range x {
		b := &in[i/32]
		if e := math.Abs(float64(x[i] - b.d*float32(b.q[i%32]))); e > float64(b.d)*0.57 {
			t.Errorf("input %d: %v is stored as %v·%d", i, x[i], b.d, b.q[i%32])
		}
	}
	for _, typ := range blockTypes {
		if typ.BlockSize() != 32 {
			continue
		}
		w := &npu.Tensor{Type: typ, Rows: rows, Cols: cols, Data: randomBlocks(r, typ, rows*cols)}
		wide, got := make([]float32, rows*cols), make([]float32, groupRows)
		if err := quant.Dequantize(typ, wide, w.Data); err != nil {
			t.Fatal(err)
		}
		bestKernels().mul[typ](got, groupRows, packAll(w), 1, cols/32, in, 1)
		for _, v := range got[rows:] {
			if v != 0 {
				t.Errorf("padding row gives %v, want 0", v)
			}
		}
		got = got[:rows]
		for j := range got {
			var want, size float64
			for i := range cols {
				p := float64(wide[j*cols+i]) * float64(in[i/32].d) * float64(in[i/32].q[i%32])
				want, size = want+p, size+math.Abs(p)
			}
			if e := math.Abs(float64(got[j]) - want); e > 1e-6*size {
				t.Errorf("%v row %d: %v, want %v", typ, j, got[j], want)
			}
		}
	}
}

func TestExp(t *testing.T) {
	worst := 0.0
	for x := float32(-87.3); x < 88.7; x += 0.00137 {
		want := math.Exp(float64(x))
		ulp := float64(math.Nextafter32(float32(want), float32(math.Inf(1)))) - float64(float32(want))
		if e := math.Abs(float64(exp(x))-want) / ulp; e > worst {
			worst = e
		}
	}
	t.Logf("worst error %.2f units in the last place", worst)
	if worst > 3 {
		t.Errorf("exp is off by %.2f units in the last place", worst)
	}
	inf := float32(math.Inf(1))
	for x, want := range map[float32]float32{0: 1, -100: 0, -inf: 0, 100: inf, inf: inf} {
		if got := exp(x); got != want {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if got := exp(float32(math.NaN())); got == got {
		t.Errorf("exp(NaN) = %v", got)
	}
}

func TestSincos(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 200000 {
		x := r.Float64() * math.Pow(10, float64(i%8))
		s, c := sincos(x)
		if math.Abs(s-math.Sin(x)) > 4e-16+1e-16*x/1e6 || math.Abs(c-math.Cos(x)) > 4e-16+1e-16*x/1e6 {
			t.Fatalf("sincos(%v) = %v, %v, want %v, %v", x, s, c, math.Sin(x), math.Cos(x))
		}
	}
}

// An input that is no finite number shows in the products of its row, with weights of all types. So a damaged model
// gives an error and no text.
func TestProductsShowDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const cols, outs = 512, 20
	for _, k := range available() {
		d := newDevice(1, k)
		defer d.Close()
		for _, typ := range slices.Concat(npu.DTypes, npu.ReadOnly) {
			w := &npu.Tensor{Name: "w", Type: typ, Rows: outs, Cols: cols, Data: randomBlocks(r, typ, outs*cols)}
			for _, rows := range []int{1, 4, 40} {
				g := npu.NewGraph("product", rows)
				g.MatMul(g.Input(cols), w, nil)
				for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					x := normal(r, rows*cols, 0)
					for row := range rows {
						x[row*cols+r.IntN(cols)] = float32(bad)
					}
					for i, y := range runOn(t, d, g, x, nil) {
						if y-y == 0 {
							t.Fatalf("%s, %v, %d rows with %v: output %d is %v", k.name, typ, rows, bad, i, y)
						}
					}
				}
			}
		}
	}
}
