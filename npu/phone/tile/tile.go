// Package tile stores weights in the layout of a mobile NPU's matrix unit, tiles of 32×32 (llada.cpp §2.2, Figure 4), and
// multiplies by them in place, so that the processor can compute with the weights that the NPU has mapped (llada.cpp
// §3.3). No program uses it yet. It is meant for block diffusion, where processor and NPU share the work of a step.
//
// A weight matrix has a row for each output. Tile (o, i) covers outputs 32o to 32o+31 and inputs 32i to 32i+31. The tiles
// of the same outputs follow each other, in the order of the inner product. Within a tile two neighbouring inputs of an
// output are neighbours, and the 32 outputs of an input pair follow each other (the row shuffle): element (output r, input
// c) is number (c/2)·64 + 2r + c%2. The paper gives the size of tiles and says that rows are shuffled; the order is this
// project's choice.
//
// F16 tiles are 1,024 numbers. Q4_0 tiles are 32 F16 scales, one for each output, then 512 bytes: byte j holds number j in
// its low half and number j+512 in its high half, so that one mask and one shift turn a vector of bytes into two vectors in
// tile order. Zeros fill the last tiles of matrices whose sizes are not multiples of 32.
package tile

import (
	"encoding/binary"
	"fmt"

	"tandem/npu"
	"tandem/npu/quant"
)

// Size is the number of rows and of columns of a tile.
const Size = 32

const elements = Size * Size

// Matrix is a weight matrix in tiles.
type Matrix struct {
	Name       string
	Type       npu.DType // F16 or Q4_0
	Rows, Cols int       // outputs and inputs, without filling
	Data       []byte    // [⌈Rows/32⌉ × ⌈Cols/32⌉ tiles]
}

// Bytes returns the size of a tile of the type; 0 for types without tiles.
func Bytes(t npu.DType) int {
	switch t {
	case npu.F16:
		return 2 * elements
	case npu.Q4_0:
		return 2*Size + elements/2
	}
	return 0
}

// at returns the number of element (r, c) within its tile.
func at(r, c int) int { return c/2*2*Size + 2*r + c%2 }

func tiles(n int) int { return (n + Size - 1) / Size }

// tile returns the bytes of tile (o, i).
func (m *Matrix) tile(o, i int) []byte {
	size := Bytes(m.Type)
	return m.Data[(o*tiles(m.Cols)+i)*size:][:size:size]
}

// Check returns an error unless sizes and data agree.
func (m *Matrix) Check() error {
	size := Bytes(m.Type)
	if size == 0 {
		return fmt.Errorf("%s: %v has no tiles: use F16 or Q4_0", m.Name, m.Type)
	}
	if m.Rows <= 0 || m.Cols <= 0 || m.Rows > 1<<24 || m.Cols > 1<<24 || len(m.Data) != tiles(m.Rows)*tiles(m.Cols)*size {
		return fmt.Errorf("%s: %d bytes are not the tiles of %d×%d in %v", m.Name, len(m.Data), m.Rows, m.Cols, m.Type)
	}
	return nil
}

// Pack puts a matrix of F16 or Q4_0 into tiles. No number changes.
func Pack(t *npu.Tensor) (*Matrix, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	m := &Matrix{Name: t.Name, Type: t.Type, Rows: t.Rows, Cols: t.Cols}
	size := Bytes(t.Type)
	if size == 0 {
		return nil, fmt.Errorf("%s: %v has no tiles: use F16 or Q4_0", t.Name, t.Type)
	}
	m.Data = make([]byte, tiles(t.Rows)*tiles(t.Cols)*size)
	for r := range t.Rows {
		row := t.Row(r)
		for i := range tiles(t.Cols) {
			to := m.tile(r/Size, i)
			if t.Type == npu.F16 {
				for c := range min(Size, t.Cols-i*Size) {
					copy(to[2*at(r%Size, c):][:2], row[2*(i*Size+c):])
				}
				continue
			}
			block := row[18*i:][:18]
			copy(to[2*(r%Size):][:2], block)
			for c := range Size {
				putNibble(to[2*Size:], at(r%Size, c), nibble(block[2:], c))
			}
		}
	}
	return m, nil
}

// nibble returns integer c of a Q4_0 block.
func nibble(b []byte, c int) byte { return b[c%16] >> (c / 16 * 4) & 15 }

// putNibble sets integer n of a tile, which must be 0.
func putNibble(b []byte, n int, v byte) { b[n%(elements/2)] |= v << (n / (elements / 2) * 4) }

// Unpack returns the matrix as it was before Pack, byte for byte.
func (m *Matrix) Unpack() (*npu.Tensor, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if m.Cols%m.Type.BlockSize() != 0 {
		return nil, fmt.Errorf("%s: rows of %d are not whole blocks", m.Name, m.Cols)
	}
	t := &npu.Tensor{Name: m.Name, Type: m.Type, Rows: m.Rows, Cols: m.Cols, Data: make([]byte, m.Rows*m.Type.RowBytes(m.Cols))}
	for r := range m.Rows {
		row := t.Row(r)
		for i := range tiles(m.Cols) {
			from := m.tile(r/Size, i)
			if m.Type == npu.F16 {
				for c := range min(Size, m.Cols-i*Size) {
					copy(row[2*(i*Size+c):][:2], from[2*at(r%Size, c):])
				}
				continue
			}
			block := row[18*i:][:18]
			copy(block, from[2*(r%Size):][:2])
			for c := range Size {
				n := at(r%Size, c)
				v := from[2*Size+n%(elements/2)] >> (n / (elements / 2) * 4) & 15
				block[2+c%16] |= v << (c / 16 * 4)
			}
		}
	}
	return t, nil
}

// MulRows computes out[i·Rows + r] = Σ_c x[i·Cols + c]·w[r, c] for n inputs x and the outputs of tile rows lo to hi−1. c
// ascends, and every product and sum is rounded to float32, so the result equals the plain product bit for bit, and tile
// rows may be divided among threads. A tile is unpacked once for all inputs.
func (m *Matrix) MulRows(out, x []float32, n, lo, hi int) {
	var w [elements]float32
	acc := make([][Size]float32, n)
	for o := lo; o < hi; o++ {
		clear(acc)
		for i := range tiles(m.Cols) {
			m.widen(&w, o, i)
			cols := min(Size, m.Cols-i*Size)
			for k := range acc {
				a := &acc[k]
				for c, v := range x[k*m.Cols+i*Size:][:cols] {
					pair := w[c/2*2*Size+c%2:]
					for r := range a {
						a[r] += float32(v * pair[2*r])
					}
				}
			}
		}
		for k := range acc {
			copy(out[k*m.Rows+o*Size:][:min(Size, m.Rows-o*Size)], acc[k][:])
		}
	}
}

// Mul is MulRows for all outputs. x is [n × Cols] and out [n × Rows].
func (m *Matrix) Mul(out, x []float32, n int) { m.MulRows(out, x, n, 0, tiles(m.Rows)) }

// TileRows returns the number of tile rows.
func (m *Matrix) TileRows() int { return tiles(m.Rows) }

// widen converts a tile to float32, in tile order.
func (m *Matrix) widen(w *[elements]float32, o, i int) {
	b := m.tile(o, i)
	if m.Type == npu.F16 {
		for j := range w {
			w[j] = quant.F16ToF32(binary.LittleEndian.Uint16(b[2*j:]))
		}
		return
	}
	var scale [Size]float32
	for r := range scale {
		scale[r] = quant.F16ToF32(binary.LittleEndian.Uint16(b[2*r:]))
	}
	for j, v := range b[2*Size:] {
		s := scale[j/2%Size] // numbers j and j+512 belong to the same output
		w[j], w[j+elements/2] = s*float32(int(v&15)-8), s*float32(int(v>>4)-8)
	}
}
