package native

// tile multiplies groups of packed weights by a fixed number of inputs, n of them; the arguments are those
// of kernels.mulQ80.
type tile struct {
	n   int
	mul func(dst *float32, stride int, w *byte, groups, blocks int, x *input)
}

// mulTiles covers the inputs by tiles, which stand largest first and end with one for a single input. Where
// they do not divide evenly, the last overlaps the one before and computes a few sums again, to the same
// bits.
func mulTiles(tiles []tile, dst []float32, stride int, w []byte, groups, blocks int, x []input, m int) {
	for i := 0; i < m; {
		t := fit(tiles, m, m-i)
		at := min(i, m-t.n)
		t.mul(&dst[at*stride], stride, &w[0], groups, blocks, &x[at*blocks])
		i = at + t.n
	}
}

// fit returns the largest tile of which more than half is needed for the inputs left of m.
func fit(tiles []tile, m, left int) *tile {
	for i := range tiles {
		if t := &tiles[i]; t.n <= m && left > t.n/2 {
			return t
		}
	}
	return &tiles[len(tiles)-1]
}
