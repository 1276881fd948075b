package native

import (
	"encoding/binary"
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// kPacked is one block of sixteen rows of Q4_K, packed at load like weights in blocks of 32 (see pack.go): a lane of a vector is
// a row, and no sum runs across lanes. It takes 3 % more than the rows in the file, because scales and minima have whole bytes.
type kPacked struct {
	q      [32][groupRows][4]uint8 // the file's words of four bytes: two parts of 32 values each, one in the lower nibbles
	scales [8][groupRows]uint8     // one for each part
	minima [4][groupRows][2]uint8  // one for each part, in pairs
	d, m   [groupRows]uint16       // F16
}

const kPackedBytes = int(unsafe.Sizeof(kPacked{}))

// roomFor reports whether a copy of weights in memory, in addition to the file's pages, leaves the machine an eighth of its
// memory. Without room for it, products read the file's format in place, with the same results.
func roomFor(bytes int64) bool {
	left, all, known := memoryLeft()
	return !known || left-bytes > all/8
}

// packGroupK packs up to sixteen rows of Q4_K, starting at row.
func packGroupK(dst []byte, w *npu.Tensor, row int) {
	rows, size := min(groupRows, w.Rows-row), w.Type.BlockBytes()
	if rows < groupRows {
		clear(dst)
	}
	for r := range rows {
		from := w.Row(row + r)
		for b := range w.Cols / w.Type.BlockSize() {
			(*kPacked)(unsafe.Pointer(&dst[b*kPackedBytes])).put(r, from[b*size:][:size])
		}
	}
}

// put makes a block of the file row r of a packed one.
func (p *kPacked) put(r int, block []byte) {
	p.d[r], p.m[r] = binary.LittleEndian.Uint16(block), binary.LittleEndian.Uint16(block[2:])
	scales, minima := quant.ScalesMinima(block[4:16])
	for j := range p.scales {
		p.scales[j][r], p.minima[j/2][r][j%2] = uint8(scales>>(8*j)), uint8(minima>>(8*j))
	}
	for j := range p.q {
		p.q[j][r] = [4]uint8(block[16+4*j:])
	}
}
