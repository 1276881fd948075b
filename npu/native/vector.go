package native

import (
	"math"
	"slices"
	"sync"
	"unsafe"
)

var kernelsHere = sync.OnceValue(bestKernels)

// Dots sets dst[j] to the dot product of x and w[j·stride:]. It is for models that multiply by more than fixed weights.
// The results have the same bits on every processor, and the same as a product with F32 weights.
func Dots(dst, x, w []float32, stride int) {
	if len(dst) == 0 {
		return
	}
	if len(x) == 0 {
		clear(dst)
		return
	}
	_ = w[(len(dst)-1)*stride+len(x)-1] // the kernel does not check
	kernelsHere().dotsF32(dst, x, unsafe.Pointer(&w[0]), 4*stride)
}

// Columns is the number of columns that MulColumns multiplies by.
const Columns = keyBlock

// MulColumns sets dst[i·stride + j] to Σ_d x[i·dim + d]·w[d·Columns + j] for i < m and j < Columns, d ascending. It is for
// matrices that a model computes. The results have the same bits on every processor.
func MulColumns(dst []float32, stride int, w, x []float32, dim, m int) {
	kernelsHere().mulColumns(dst, stride, w, x, dim, m)
}

// mulColumns is MulColumns with these kernels, which take four rows at a time. The last four may overlap others.
func (k *kernels) mulColumns(dst []float32, stride int, w, x []float32, dim, m int) {
	if m == 0 {
		return
	}
	dst, w, x = dst[:(m-1)*stride+Columns], w[:dim*Columns], x[:m*dim] // the kernel does not check
	if m < 4 || dim == 0 {
		scoresPlain(dst, stride, w, x, dim, m)
		return
	}
	k.scores(dst, stride, w, x, dim, m&^3)
	if last := m - 4; m%4 > 0 {
		k.scores(dst[last*stride:], stride, w, x[last*dim:], dim, 4)
	}
}

// Add sets out to x + y. The lengths agree, here and below, and out may be one of the others.
func Add(out, x, y []float32) { kernelsHere().add(out, x[:len(out)], y[:len(out)]) }

// Floor sets out to max(x + by, least), and to least for NaN.
func Floor(out, x []float32, by, least float32) { kernelsHere().floor(out, x[:len(out)], by, least) }

// Scale sets out to x·by·w.
func Scale(out, x, w []float32, by float32) { kernelsHere().scale(out, x[:len(out)], w[:len(out)], by) }

// AddGated adds x / (1 + e^−gate) to out, with the same bits on every processor.
func AddGated(out, x, gate []float32) { kernelsHere().gate(out, x[:len(out)], gate[:len(out)]) }

// expBlock is how many exponentials Exps sums in float32 before it adds them in float64.
const expBlock = 1024

// Exps replaces each x in s by e^(x − max), within 3 units in the last place and 0 below e^−87, and returns their sum. The
// results have the same bits on every processor. s must not be empty.
func Exps(s []float32) (sum float64) { return kernelsHere().expsInBlocks(s) }

// expsInBlocks is Exps with these kernels.
func (k *kernels) expsInBlocks(s []float32) (sum float64) {
	top := k.scaleMax(s, 1)
	for block := range slices.Chunk(s, expBlock) {
		sum += float64(k.exps(block, top))
	}
	return sum
}

// maximaBlock is the number of elements that maxima looks at for each of its results.
const maximaBlock = 64

// maximaPlain is maxima in plain Go.
func maximaPlain(dst, x []float32) {
	for i := range dst {
		dst[i] = float32(math.Inf(-1))
		for _, v := range x[maximaBlock*i:][:maximaBlock] {
			if v > dst[i] {
				dst[i] = v
			}
		}
	}
}

// Top returns the indices of the n largest elements of x, the largest first and equal ones by index. It leaves out NaN and −Inf.
func Top(x []float32, n int) []int {
	if n <= 0 {
		return nil
	}
	t := newTopList(n)
	var memory [64]float32
	from, k := 0, kernelsHere()
	for from+maximaBlock <= len(x) {
		maxima := memory[:min(len(memory), (len(x)-from)/maximaBlock)]
		k.maxima(maxima, x[from:])
		bound := t.least
		if from == 0 { // n elements are at least the nth of the maxima
			first := newTopList(n)
			first.look(maxima, 0, len(maxima))
			bound = first.least
		}
		for i, top := range maxima {
			if top >= bound && top > t.least {
				t.look(x, from+maximaBlock*i, from+maximaBlock*(i+1))
			}
		}
		from += maximaBlock * len(maxima)
	}
	t.look(x, from, len(x))
	return t.at
}

// topList holds the n largest elements seen so far, the largest first.
type topList struct {
	at    []int
	n     int
	least float32 // what an element must exceed to be among them
}

func newTopList(n int) *topList {
	return &topList{at: make([]int, 0, n+1), n: n, least: float32(math.Inf(-1))}
}

// look adds those of x[from:to] that are among the n largest.
func (t *topList) look(x []float32, from, to int) {
	for i := from; i < to; i++ {
		v := x[i]
		if !(v > t.least) {
			continue
		}
		at := len(t.at)
		t.at = append(t.at, i)
		for ; at > 0 && v > x[t.at[at-1]]; at-- {
			t.at[at] = t.at[at-1]
		}
		if t.at[at] = i; len(t.at) > t.n {
			t.at = t.at[:t.n]
		}
		if len(t.at) == t.n {
			t.least = x[t.at[t.n-1]]
		}
	}
}

// Softmax replaces the scores in s by e^(scale·s − max) / Σ, with the same bits on every processor. s must not be empty.
func Softmax(s []float32, scale float32) { kernelsHere().softmax(s, scale) }
