package native

import (
	"encoding/binary"
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// packedQ4K is one block of sixteen rows of Q4_K, packed at load like weights in blocks of 32 (see pack.go): a lane of a vector is
// a row, and no sum runs across lanes. It takes 3 % more than the rows in the file, because scales and minima have whole bytes.
type packedQ4K struct {
	q      [32][groupRows][4]uint8 // the file's words of four bytes: two parts of 32 values each, one in the lower nibbles
	scales [8][groupRows]uint8     // one for each part
	minima [4][groupRows][2]uint8  // one for each part, in pairs
	d, m   [groupRows]uint16       // F16
}

// packedQ5K is the same of Q5_K, 2 % more than in the file.
type packedQ5K struct {
	q      [32][groupRows][4]uint8
	fifth  [8][groupRows][4]uint8 // bit p of each byte belongs to part p
	scales [8][groupRows]uint8
	minima [4][groupRows][2]uint8
	d, m   [groupRows]uint16
}

// packedQ6K is the same of Q6_K, 1 % more than in the file. Three words hold four: each has six bits of one, and above them two of
// the fourth, whose upper bits are in the first.
type packedQ6K struct {
	q      [16][3][groupRows][4]uint8 // one for each 16 values
	scales [8][groupRows][2]int8      // two for each part of 32 values
	d      [groupRows]uint16          // F16
	_      [32]byte                   // padding to whole cache lines
}

// roomFor reports whether a copy of weights in memory, in addition to the file's pages, leaves the machine an eighth of its
// memory. Without room for it, products read the file's format in place, with the same results.
func roomFor(bytes int64) bool {
	left, all, known := memoryLeft()
	return !known || left-bytes > all/8
}

// packedKBytes returns the size of a block of sixteen packed rows, 0 for types that are not packed.
func packedKBytes(t npu.DType) int {
	switch t {
	case npu.Q4_K:
		return int(unsafe.Sizeof(packedQ4K{}))
	case npu.Q5_K:
		return int(unsafe.Sizeof(packedQ5K{}))
	case npu.Q6_K:
		return int(unsafe.Sizeof(packedQ6K{}))
	}
	return 0
}

// mulPackedK returns the kernel for packed weights of a K-quant, nil if there is none.
func (k *kernels) mulPackedK(t npu.DType) mulPacked[kInput] {
	switch t {
	case npu.Q4_K:
		return k.mulQ4K
	case npu.Q5_K:
		return k.mulQ5K
	case npu.Q6_K:
		return k.mulQ6K
	}
	return nil
}

// packGroupK packs up to sixteen rows of a K-quant, starting at row.
func packGroupK(dst []byte, w *npu.Tensor, row int) {
	rows, size, packed := min(groupRows, w.Rows-row), w.Type.BlockBytes(), packedKBytes(w.Type)
	if rows < groupRows {
		clear(dst)
	}
	for r := range rows {
		from := w.Row(row + r)
		for b := range w.Cols / w.Type.BlockSize() {
			block, to := from[b*size:][:size], unsafe.Pointer(&dst[b*packed])
			switch w.Type {
			case npu.Q4_K:
				(*packedQ4K)(to).put(r, block)
			case npu.Q5_K:
				(*packedQ5K)(to).put(r, block)
			default:
				(*packedQ6K)(to).put(r, block)
			}
		}
	}
}

// put makes a block of the file row r of a packed one.
func (p *packedQ4K) put(r int, block []byte) {
	p.d[r], p.m[r] = binary.LittleEndian.Uint16(block), binary.LittleEndian.Uint16(block[2:])
	scales, minima := quant.ScalesMinima(block[4:16])
	for j := range p.scales {
		p.scales[j][r], p.minima[j/2][r][j%2] = uint8(scales>>(8*j)), uint8(minima>>(8*j))
	}
	for j := range p.q {
		p.q[j][r] = [4]uint8(block[16+4*j:])
	}
}

func (p *packedQ5K) put(r int, block []byte) {
	p.d[r], p.m[r] = binary.LittleEndian.Uint16(block), binary.LittleEndian.Uint16(block[2:])
	scales, minima := quant.ScalesMinima(block[4:16])
	for j := range p.scales {
		p.scales[j][r], p.minima[j/2][r][j%2] = uint8(scales>>(8*j)), uint8(minima>>(8*j))
	}
	for j := range p.fifth {
		p.fifth[j][r] = [4]uint8(block[16+4*j:])
	}
	for j := range p.q {
		p.q[j][r] = [4]uint8(block[48+4*j:])
	}
}

func (p *packedQ6K) put(r int, block []byte) {
	const low, high = 0x0f0f0f0f, 0x03030303
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(block[i:]) }
	for part, l := range quant.LayoutOf(npu.Q6_K).Parts {
		var q [8]uint32
		for k := range q {
			q[k] = word(int(l.Low)+4*k)>>l.LowShift&low | word(int(l.High)+4*k)>>l.HighShift&high<<4
		}
		for half := range 2 {
			q, to := q[4*half:], &p.q[2*part+half]
			for i := range to {
				binary.LittleEndian.PutUint32(to[i][r][:], q[i]|q[3]>>(4-2*i)&high<<6)
			}
			p.scales[part][r][half] = int8(block[192+2*part+half])
		}
	}
	p.d[r] = binary.LittleEndian.Uint16(block[208:])
}
