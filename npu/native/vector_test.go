package native

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"unsafe"
)

// Dots, Exps and Softmax give the same bits as plain Go, and Dots panics if w is too short.
func TestVectorsEqualPlainGo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 7, 32, 33, 105} {
		x, w := make([]float32, n), make([]float32, 5*(n+3))
		for i := range x {
			x[i] = r.Float32() - .5
		}
		for i := range w {
			w[i] = r.Float32() - .5
		}
		got, want := make([]float32, 5), make([]float32, 5)
		Dots(got, x, w, n+3)
		dotsF32Plain(want, x, unsafe.Pointer(&w[0]), 4*(n+3))
		same(t, "dots", got, want)
		y := append([]float32(nil), x...)
		Softmax(x, .3)
		plainKernels.softmax(y, .3)
		same(t, "softmax", x, y)
	}
	defer func() {
		if recover() == nil {
			t.Error("Dots read beyond w")
		}
	}()
	Dots(make([]float32, 2), make([]float32, 4), make([]float32, 7), 4)
}

// MulColumns gives the same bits with every kernel, also for rows that are no multiple of four, and writes nothing else.
func TestMulColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = r.Float32() - .5
		}
		return x
	}
	for _, k := range available() {
		for _, c := range [][2]int{{0, 5}, {7, 1}, {32, 3}, {1, 4}, {33, 6}, {118, 8}, {5, 15}, {40, 110}} {
			dim, m := c[0], c[1]
			x, w, got := random(m*dim), random(dim*Columns), random(m*20)
			want := slices.Clone(got)
			k.mulColumns(got, 20, w, x, dim, m)
			for i := range m {
				for j := range Columns {
					var sum float32
					for d := range dim {
						sum += float32(x[i*dim+d] * w[d*Columns+j])
					}
					want[i*20+j] = sum
				}
			}
			same(t, k.name, got, want)
		}
	}
}

// Exps gives the same bits with every kernel, nothing for −Inf, and a sum as exact as its exponentials over a large vocabulary.
func TestExps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 7, 8, expBlock - 1, expBlock, expBlock + 9, 150001} {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(3 * r.NormFloat64())
		}
		x[n/2] = 4
		x[n/3] = float32(math.Inf(-1))
		if n == 1 {
			x[0] = 4
		}
		var top, want float64
		for _, v := range x {
			top = max(top, float64(v))
		}
		for _, v := range x {
			want += math.Exp(float64(v) - top)
		}
		got, plain := slices.Clone(x), slices.Clone(x)
		sum := Exps(got)
		if plainSum := plainKernels.expsInBlocks(plain); sum != plainSum {
			t.Errorf("%d: the sum is %v, in plain Go %v", n, sum, plainSum)
		}
		same(t, "exps", got, plain)
		if math.Abs(sum-want) > 1e-6*want || n > 1 && got[n/3] != 0 {
			t.Errorf("%d: the sum is %v, want %v; e^−∞ is %v", n, sum, want, got[n/3])
		}
	}
	if sum := Exps([]float32{1, float32(math.NaN()), 2}); !math.IsNaN(sum) {
		t.Errorf("with a NaN the sum is %v", sum)
	}
}

// Top gives what sorting gives, with ties, NaN and infinities among the elements.
func TestTop(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		x, n := make([]float32, r.IntN(400)), r.IntN(7)
		for i := range x {
			x[i] = float32(r.IntN(1 + r.IntN(50)))
			if r.IntN(20) == 0 {
				x[i] = float32([]float64{math.NaN(), math.Inf(-1), math.Inf(1)}[r.IntN(3)])
			}
		}
		var want []int
		for i, v := range x {
			if v > float32(math.Inf(-1)) {
				want = append(want, i)
			}
		}
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(x[b], x[a]) })
		if got := Top(x, n); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("the %d largest of %v are at %v, want %v", n, x, got, want[:min(n, len(want))])
		}
	}
}

// BenchmarkTop finds the four likeliest tokens of vocabularies.
func BenchmarkTop(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{2048, 151936} {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(3 * r.NormFloat64())
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				Top(x, 4)
			}
		})
	}
}
