package native

import (
	"sync"

	"golang.org/x/sys/cpu"

	"tandem/npu"
)

//go:noescape
func q80x16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func widex16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func wideMinimax16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *input)

//go:noescape
func widenQ40AMX(dst, w *byte, n int)

//go:noescape
func widenQ50AMX(dst, w *byte, n int)

//go:noescape
func widenNLAMX(dst, w *byte, n int)

//go:noescape
func widenMXAMX(dst, w *byte, n int)

//go:noescape
func widenQ41AMX(dst, w *byte, n int)

//go:noescape
func widenQ51AMX(dst, w *byte, n int)

//go:noescape
func widenQ4KAMX(dst, w *byte, n int)

//go:noescape
func widenQ5KAMX(dst, w *byte, n int)

//go:noescape
func widenQ6KAMX(dst, w *byte, n int)

//go:noescape
func k32x16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

//go:noescape
func k16x16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)

// matrix multiplies packed weights by many inputs with AMX, and by few with other kernels.
type matrix[T any] struct {
	few   mulPacked[T]
	widen func(dst, w *byte, n int) // makes blocks of 8-bit integers of packed ones; nil if they are that already
	bytes int                       // of such a block
	least int                       // inputs for which that pays
	tile  tile[T]
}

// mul has the arguments of kernels.mul. As in tiles.mul, the last tile may recompute a few sums.
func (a *matrix[T]) mul(dst []float32, stride int, w []byte, groups, blocks int, x []T, m int) {
	n, i := a.tile.n, 0
	if m >= max(n, a.least) {
		from := w
		if a.widen != nil {
			memory := widened.Get().(*scratch)
			defer widened.Put(memory)
			from = memory.bytes(groups * blocks * a.bytes)
			a.widen(&from[0], &w[0], groups*blocks)
		}
		for ; m-i > n/2; i += n {
			i = min(i, m-n)
			a.tile.mul(&dst[i*stride], stride, &from[0], groups, blocks, &x[i*blocks])
		}
	}
	if i < m {
		a.few(dst[i*stride:], stride, w, groups, blocks, x[i*blocks:], m-i)
	}
}

var widened = sync.Pool{New: func() any { return new(scratch) }}

// amxKernels are the AVX-512 kernels except for products of many inputs.
var amxKernels = func() kernels {
	k := vnniKernels
	k.name = "AMX"
	for t, a := range map[npu.DType]*matrix[input]{
		npu.Q8_0:   {tile: tile[input]{16, q80x16AMX}},
		npu.Q4_0:   {widen: widenQ40AMX, tile: tile[input]{16, widex16AMX}},
		npu.Q5_0:   {widen: widenQ50AMX, tile: tile[input]{16, widex16AMX}},
		npu.IQ4_NL: {widen: widenNLAMX, tile: tile[input]{16, widex16AMX}},
		npu.MXFP4:  {widen: widenMXAMX, tile: tile[input]{16, widex16AMX}},
		npu.Q4_1:   {widen: widenQ41AMX, tile: tile[input]{16, wideMinimax16AMX}},
		npu.Q5_1:   {widen: widenQ51AMX, tile: tile[input]{16, wideMinimax16AMX}},
	} {
		a.few, a.bytes = k.mul[t], 64+512
		if blockForms[t].minima > 0 {
			a.bytes += 64
		}
		if a.widen != nil {
			a.least = 32
		}
		k.mul[t] = a.mul
	}
	for t, a := range map[npu.DType]*matrix[kInput]{
		npu.Q4_K: {widen: widenQ4KAMX, tile: tile[kInput]{16, k32x16AMX}},
		npu.Q5_K: {widen: widenQ5KAMX, tile: tile[kInput]{16, k32x16AMX}},
		npu.Q6_K: {widen: widenQ6KAMX, tile: tile[kInput]{16, k16x16AMX}},
	} {
		a.few, a.bytes, a.least = k.mulK256[t], 8832, 32
		k.mulK256[t] = a.mul
	}
	return k
}()

// hasAMX reports whether the processor has AMX for 8-bit integers, and asks the system for leave to use it.
func hasAMX() bool {
	return cpu.X86.HasAMXTile && cpu.X86.HasAMXInt8 && allowTiles()
}
