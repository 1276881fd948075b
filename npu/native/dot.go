package native

import (
	"encoding/binary"
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// kernels is a set of inner loops. One set is plain Go and defines every result bit for bit. The others are faster and need
// certain processor instructions. Kernels do not check lengths.
type kernels struct {
	name string

	// widen reads len(dst) values of type t.
	widen func(t npu.DType, dst []float32, src []byte)
	// quantize rounds x to blocks of 32 int8.
	quantize func(dst []input, x []float32)
	// mul multiplies groups of weights in blocks of 32 (see pack.go), by their type, by m rows of inputs with the same number of
	// blocks: dst[i·stride + r] = w[r]·x[i].
	mul [types]mulPacked[input]
	// words, if not nil, replaces mul for many inputs of some types. It gives the same sums.
	words *wordKernels
	// mulK256 does the same with packed weights in blocks of 256 (see kpacked.go). Q4_K, Q5_K and Q6_K may be nil; their sums are
	// those of mulKPlain.
	mulK256 [types]mulPacked[kInput]
	// quantizeK, unpackK and mulK multiply K-quants (see kquants.go): dst[i·stride + r] = w[r]·x[i]. The rows of w and
	// the m inputs x have the same length.
	quantizeK func(dst []kInput, x []float32)
	unpackK   func(t npu.DType, dst []kBlock, src []byte)
	mulK      func(dst []float32, stride int, w []kBlock, rows int, x []kInput, m int)
	// dotsK, if not nil, computes dst[r] = w[r]·x for weights in their file format. panels, if not nil, replaces unpackK
	// and mulK. Both give the same sums as mulKPlain.
	dotsK  func(t npu.DType, dst []float32, w []byte, x []kInput)
	panels *kPanels
	// turned, if not nil, replaces unpackK and mulK where it can.
	turned *kTurned
	// dotsF32, dotsF16 and dotsBF16 compute dst[j] = x·w[j]. The vectors w[j] hold values of the named type, are as long
	// as x and lie stride bytes apart.
	dotsF32, dotsF16, dotsBF16 dots
	// pair, tile and sumTile multiply several inputs by float weights (see wide.go), 32 columns per step. pair widens two
	// rows to [steps × 2 × 32]. tile adds the products of such a pair and four inputs [steps × 4 × 32] to acc. sumTile
	// adds the lanes of acc. The results have the same bits as those of dotsF32.
	pair    func(t npu.DType, dst []float32, a, b []byte)
	tile    func(acc *tileSums, x, w *float32, steps int)
	sumTile func(dst *[8]float32, acc *tileSums)
	// mixF16 adds p[j]·v[j·stride + i] to acc[i], j ascending.
	mixF16 func(acc, p []float32, v []uint16, stride int)
	// mixBlocks does the same for an adapter's factor, whose columns stand in blocks (see npu.FactorAt): acc holds whole blocks.
	mixBlocks func(acc, p []float32, v []uint16)
	// mixFactor does the same for packed factors in Q8_0: see mixFactorPlain. It reads p in eights.
	mixFactor func(acc, p []float32, v []byte, ranks int)
	// scores and caches are for attention: see scoresPlain.
	scores func(dst []float32, stride int, turned, q []float32, dim, m int)
	caches [2]cacheKernels // by npu.CacheType
	// fetch prefetches n elements of each of keyBlock keys or values, which are stride apart. They may extend past those
	// in use.
	fetch func(p *uint16, stride, n int)
	// narrow rounds to F16.
	narrow func(dst []uint16, src []float32)
	// scaleMax and exps are the two halves of a softmax: see scaleMaxPlain and expsPlain.
	scaleMax func(s []float32, scale float32) (top float32)
	exps     func(s []float32, top float32) (sum float32)
	// maxima sets dst[i] to the largest of x[64·i:][:64] that is not NaN, −Inf if there is none.
	maxima func(dst, x []float32)
	// swiGLU computes out = silu(gate)·up.
	swiGLU func(out, gate, up []float32)
	// gate adds x / (1 + e^−gate) to out.
	gate func(out, x, gate []float32)
	// scale computes out = x·by·w. add computes out = x + y.
	scale func(out, x, w []float32, by float32)
	add   func(out, x, y []float32)
	// floor computes out = max(x + by, least), least for NaN.
	floor func(out, x []float32, by, least float32)
	// rotate rotates the pairs (a[i], b[i]) by the angles with the given cosines and sines.
	rotate func(a, b, cos, sin []float32)
}

// cacheKernels read keys and values of a type of cache: see turnPlain, mixF16Plain and mix4By.
type cacheKernels struct {
	turnKeys func(dst []float32, k []uint16, stride, dim int)
	mix      func(acc, p []float32, v []uint16, stride int)
	mix4     func(acc, p []float32, stride, n int, v []uint16, stepV int)
}

// types is the length of arrays by type of weights.
const types = npu.MXFP4 + 1

func bestKernels() *kernels {
	k := available()
	return k[len(k)-1]
}

// mulPacked multiplies packed weights; see kernels.
type mulPacked[T any] func(dst []float32, stride int, w []byte, groups, blocks int, x []T, m int)

// dots computes many dot products with one vector; see kernels.
type dots func(dst, x []float32, w unsafe.Pointer, stride int)

var plainKernels = kernels{
	name:     "plain Go",
	widen:    widen,
	quantize: quantizePlain,
	pair:     pairBy(widen),
	tile:     tilePlain,
	sumTile:  sumTilePlain,
	mul: [types]mulPacked[input]{
		npu.Q8_0: mulQ80Plain, npu.Q4_0: mulQ40Plain, npu.Q5_0: mulQ50Plain, npu.IQ4_NL: mulTable(npu.IQ4_NL), npu.MXFP4: mulTable(npu.MXFP4),
		npu.Q4_1: mulQ41Plain, npu.Q5_1: mulQ51Plain,
	},
	mulK256:   [types]mulPacked[kInput]{npu.Q2_K: mulReadOnly(npu.Q2_K), npu.Q3_K: mulReadOnly(npu.Q3_K), npu.IQ4_XS: mulReadOnly(npu.IQ4_XS)},
	quantizeK: quantizeKPlain,
	unpackK:   unpackKPlain,
	mulK:      mulKPlain,
	dotsF32:   dotsF32Plain,
	dotsF16:   dotsF16Plain,
	dotsBF16:  dotsBF16Plain,
	mixF16:    mixF16Plain,
	mixBlocks: mixBlocksBy(mixF16Plain),
	mixFactor: mixFactorPlain,
	scores:    scoresPlain,
	caches: [2]cacheKernels{
		npu.CacheF16:  {turnPlain, mixF16Plain, mix4By(mixF16Plain)},
		npu.CacheQ8_0: {turnQ80Plain, mixQ80Plain, mix4By(mixQ80Plain)},
	},
	fetch:    func(*uint16, int, int) {},
	narrow:   narrowPlain,
	scaleMax: scaleMaxPlain,
	exps:     expsPlain,
	maxima:   maximaPlain,
	swiGLU:   swiGLUPlain,
	gate:     gatePlain,
	scale:    scalePlain,
	add:      addPlain,
	floor:    floorPlain,
	rotate:   rotatePlain,
}

// lanes is the accumulator of a vector sum: element i goes to lane i mod 8.
type lanes [8]float32

// sum adds the lanes in the order of repeatedly halving a vector.
func (l *lanes) sum() float32 {
	a, b, c, d := l[0]+l[4], l[1]+l[5], l[2]+l[6], l[3]+l[7]
	return (a + c) + (b + d)
}

// dot defines the order of float sums. Blocks of 32 elements are added to four accumulators of eight lanes, then blocks of 8
// to the first accumulator. The accumulators are added as (0+1)+(2+3), and then the remaining elements one by one. at(i)
// is element i of the other vector.
func dot(x []float32, at func(i int) float32) float32 {
	var acc [4]lanes
	i := 0
	for ; i+32 <= len(x); i += 32 {
		for j := range acc {
			for l := range 8 {
				acc[j][l] += float32(x[i+8*j+l] * at(i+8*j+l))
			}
		}
	}
	for ; i+8 <= len(x); i += 8 {
		for l := range 8 {
			acc[0][l] += float32(x[i+l] * at(i+l))
		}
	}
	for l := range acc[0] {
		acc[0][l] = (acc[0][l] + acc[1][l]) + (acc[2][l] + acc[3][l])
	}
	s := acc[0].sum()
	for ; i < len(x); i++ {
		s += float32(x[i] * at(i))
	}
	return s
}

func dotsF32Plain(dst, x []float32, w unsafe.Pointer, stride int) {
	for j := range dst {
		row := unsafe.Slice((*float32)(unsafe.Add(w, j*stride)), len(x))
		dst[j] = dot(x, func(i int) float32 { return row[i] })
	}
}

// tileSums holds the accumulators of dot for four inputs and two rows of weights.
type tileSums [8][4]lanes

func tilePlain(acc *tileSums, x, w *float32, steps int) {
	inputs, rows := unsafe.Slice(x, 128*steps), unsafe.Slice(w, 64*steps)
	for step := range steps {
		for k := range acc {
			x, w := inputs[128*step+k/2*32:][:32], rows[64*step+k%2*32:][:32]
			for i := range x {
				acc[k][i/8][i%8] += float32(x[i] * w[i])
			}
		}
	}
}

// pairBy returns a pair kernel that uses widen.
func pairBy(widen func(t npu.DType, dst []float32, src []byte)) func(t npu.DType, dst []float32, a, b []byte) {
	return func(t npu.DType, dst []float32, a, b []byte) {
		for size := t.RowBytes(32); len(dst) > 0; dst, a, b = dst[64:], a[size:], b[size:] {
			widen(t, dst[:32], a[:size])
			widen(t, dst[32:64], b[:size])
		}
	}
}

func sumTilePlain(dst *[8]float32, acc *tileSums) {
	for k := range acc {
		a := &acc[k]
		var l lanes
		for i := range l {
			l[i] = (a[0][i] + a[1][i]) + (a[2][i] + a[3][i])
		}
		dst[k] = l.sum()
	}
}

func dotsF16Plain(dst, x []float32, w unsafe.Pointer, stride int) {
	for j := range dst {
		row := unsafe.Slice((*byte)(unsafe.Add(w, j*stride)), 2*len(x))
		dst[j] = dot(x, func(i int) float32 { return quant.F16ToF32(binary.LittleEndian.Uint16(row[2*i:])) })
	}
}

func dotsBF16Plain(dst, x []float32, w unsafe.Pointer, stride int) {
	for j := range dst {
		row := unsafe.Slice((*byte)(unsafe.Add(w, j*stride)), 2*len(x))
		dst[j] = dot(x, func(i int) float32 { return quant.BF16ToF32(binary.LittleEndian.Uint16(row[2*i:])) })
	}
}

// widen converts values of any type. Errors are impossible after Graph.Check.
func widen(t npu.DType, dst []float32, src []byte) {
	if err := quant.Dequantize(t, dst, src); err != nil {
		panic(err)
	}
}

func mixF16Plain(acc, p []float32, v []uint16, stride int) {
	for j, w := range p {
		row := v[j*stride:]
		for i := range acc {
			acc[i] += float32(w * quant.F16ToF32(row[i]))
		}
	}
}

func scalePlain(out, x, w []float32, by float32) {
	for i, v := range x {
		out[i] = float32(v*by) * w[i]
	}
}

func addPlain(out, x, y []float32) {
	for i, v := range x {
		out[i] = v + y[i]
	}
}

func floorPlain(out, x []float32, by, least float32) {
	for i, v := range x {
		if v += by; v > least {
			out[i] = v
		} else {
			out[i] = least
		}
	}
}

func rotatePlain(a, b, cos, sin []float32) {
	for i, c := range cos {
		x, y, s := a[i], b[i], sin[i]
		a[i], b[i] = float32(x*c)-float32(y*s), float32(x*s)+float32(y*c)
	}
}

func swiGLUPlain(out, gate, up []float32) {
	for i, g := range gate {
		out[i] = silu(g) * up[i]
	}
}

func gatePlain(out, x, gate []float32) {
	for i, g := range gate {
		out[i] += x[i] / (1 + exp(-g))
	}
}

// input is a block of 32 inputs: value = d·q, with d rounded to F16 as in Q8_0. Sums of products with unsigned weights
// start from low or high instead of 0.
type input struct {
	q    [32]int8
	d    float32
	low  int32   // −8·Σq, which cancels an offset of 8 in the weights
	high int32   // −128·Σq, likewise for an offset of 128
	sum  float32 // d·Σq, for weights with minima
}

// quantizePlain rounds each block of 32 to int8 with the scale max|x|/127, halves to even. As in ggml, products use the
// scale rounded to F16.
func quantizePlain(dst []input, x []float32) {
	const magic = 3 << 22 // adding and subtracting it rounds to an integer, halves to even
	for b := range dst {
		x, in := x[32*b:][:32], &dst[b]
		var top float32
		for _, v := range x {
			top = max(top, v, -v)
		}
		inv := float32(0)
		if top > 1e-30 { // the scale of a smaller value is 0 and its inverse might overflow
			inv = 127 / top
		}
		in.d = quant.F16ToF32(quant.F32ToF16(top / 127))
		sum := int32(0)
		for i, v := range x {
			in.q[i] = int8(int32(float32(v*inv) + magic - magic))
			sum += int32(in.q[i])
		}
		in.low, in.high, in.sum = -8*sum, -128*sum, in.d*float32(sum)
	}
}

func mulQ80Plain(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulGroups(dst, stride, w, groups, blocks, x, m, npu.Q8_0, func(words []byte, r, i int) int32 {
		return int32(int8(words[i/4*64+4*r+i%4]))
	})
}

func mulQ40Plain(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulGroups(dst, stride, w, groups, blocks, x, m, npu.Q4_0, func(words []byte, r, i int) int32 { return nibble(words, r, i) - 8 })
}

func mulQ41Plain(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulGroups(dst, stride, w, groups, blocks, x, m, npu.Q4_1, nibble)
}

func mulQ50Plain(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulGroups(dst, stride, w, groups, blocks, x, m, npu.Q5_0, func(words []byte, r, i int) int32 { return five(words, r, i) - 16 })
}

func mulQ51Plain(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	mulGroups(dst, stride, w, groups, blocks, x, m, npu.Q5_1, five)
}

// mulTable is kernels.mul of IQ4_NL or MXFP4.
func mulTable(t npu.DType) mulPacked[input] {
	table := quant.Table(t)
	return func(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
		mulGroups(dst, stride, w, groups, blocks, x, m, t, func(words []byte, r, i int) int32 { return int32(table[nibble(words, r, i)]) })
	}
}

// nibble returns integer i of row r of packed words of nibbles, five one with a fifth bit.
func nibble(words []byte, r, i int) int32 {
	return int32(words[i%16/4*64+4*r+i%4] >> (i / 16 * 4) & 15)
}

func five(words []byte, r, i int) int32 {
	return nibble(words, r, i) | int32(words[256+4*r+i%4]>>(i/4)&1)<<4
}

// scaleOf returns a packed scale: F16, but BF16 in MXFP4.
func scaleOf(t npu.DType, b uint16) float32 {
	if t == npu.MXFP4 {
		return quant.BF16ToF32(b)
	}
	return quant.F16ToF32(b)
}

// mulGroups defines the sums of block formats. The 32 products of a block are added exactly, as integers. Their sum is
// converted to float32, multiplied by both scales and added to the sum of the previous blocks, and then the minimum, multiplied
// by the sum of the inputs. at(words, r, i) is integer i of row r.
func mulGroups(dst []float32, stride int, w []byte, groups, blocks int, x []input, m int, t npu.DType, at func(words []byte, r, i int) int32) {
	size, form := groupBytes(t, blocks), &blockForms[t]
	var block [groupRows][32]int32
	for g := range groups {
		w := w[g*size:][:size]
		for i := range m {
			clear(dst[i*stride+g*groupRows:][:groupRows])
		}
		for b := range blocks {
			scales, words := form.block(w, b)
			for r := range block {
				for i := range block[r] {
					block[r][i] = at(words, r, i)
				}
			}
			for i := range m {
				in := &x[i*blocks+b]
				for r := range block {
					sum := int32(0)
					for j, v := range block[r] {
						sum += v * int32(in.q[j])
					}
					to := &dst[i*stride+g*groupRows+r]
					scale := float32(scaleOf(t, binary.LittleEndian.Uint16(scales[2*r:])) * in.d)
					*to += float32(float32(sum) * scale)
					if form.minima > 0 {
						*to += float32(quant.F16ToF32(binary.LittleEndian.Uint16(scales[2*(groupRows+r):])) * in.sum)
					}
				}
			}
		}
	}
}
