package native

// tile multiplies n groups of packed weights by a fixed number of inputs. The arguments are those of kernels.mul.
type tile[T any] struct {
	n   int
	mul func(dst *float32, stride int, w *byte, groups, blocks int, x *T)
}

// tiles are the tiles for one type of weights, from the largest to the one for a single input.
type tiles[T any] []tile[T]

// mul has the arguments of kernels.mul. If the tiles do not divide the inputs evenly, the last tile overlaps the one
// before and recomputes a few sums, with the same bits.
func (ts tiles[T]) mul(dst []float32, stride int, w []byte, groups, blocks int, x []T, m int) {
	for i := 0; i < m; {
		t := ts.fit(m, m-i)
		at := min(i, m-t.n)
		t.mul(&dst[at*stride], stride, &w[0], groups, blocks, &x[at*blocks])
		i = at + t.n
	}
}

// fit returns the largest tile of at most m inputs of which the remaining inputs fill more than half.
func (ts tiles[T]) fit(m, left int) *tile[T] {
	for i := range ts {
		if t := &ts[i]; t.n <= m && left > t.n/2 {
			return t
		}
	}
	return &ts[len(ts)-1]
}
