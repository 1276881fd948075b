package native

import (
	"encoding/binary"
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// packedQ4K is one block of sixteen rows of Q4_K, packed at load like weights in blocks of 32 (see pack.go): each lane of a
// vector is a row, and no sum runs across lanes. It takes 3 % more memory than the rows in the file, because each scale and
// minimum takes a whole byte.
type packedQ4K struct {
	q      [32][groupRows][4]uint8 // the file's words of four bytes: two parts of 32 values each, one in the lower nibbles
	scales [8][groupRows]uint8     // one for each part
	minima [4][groupRows][2]uint8  // one for each part, in pairs
	d, m   [groupRows]uint16       // F16
}

// packedQ5K is the same of Q5_K, 2 % more than in the file. A word of fifth bits precedes the four words to which they
// belong, so that a product reads a block from its first byte to its last: bits k and 4+k of a byte are those of the
// lower and the upper nibble of word k.
type packedQ5K struct {
	q      [4][2][5][groupRows][4]uint8 // for each two parts, and each half of their words
	scales [8][groupRows]uint8
	minima [4][groupRows][2]uint8
	d, m   [groupRows]uint16
}

// packedQ6K is the same of Q6_K, 1 % more than in the file. Three words hold four: each has six bits of one, and above
// them two of the fourth, whose upper bits are in the first.
type packedQ6K struct {
	q      [16][3][groupRows][4]uint8 // one for each 16 values
	scales [8][groupRows][2]int8      // two for each part of 32 values
	d      [groupRows]uint16          // F16
	_      [32]byte                   // padding to whole cache lines
}

// packedQ2K is the same of Q2_K, as large as in the file.
type packedQ2K struct {
	q      [2][8][groupRows][4]uint8 // words of each half, with two bits of each of its four parts
	scales [8][groupRows][2]uint8    // two for each part: minimum<<4 | scale
	d, m   [groupRows]uint16
}

// packedQ3K is the same of Q3_K, 5 % more than in the file.
type packedQ3K struct {
	q      [2][8][groupRows][4]uint8
	third  [8][groupRows][4]uint8 // bit p of each byte belongs to part p
	scales [8][groupRows][2]int8
	d      [groupRows]uint16
	_      [32]byte
}

// packedXS is the same of IQ4_XS, 3 % more than in the file.
type packedXS struct {
	q      [32][groupRows][4]uint8 // four words of indices for each part
	scales [4][groupRows][2]int8   // one for each part, in pairs
	d      [groupRows]uint16
	_      [32]byte
}

// roomFor reports whether a copy of weights in memory, in addition to the file's pages, leaves the machine an eighth of its
// memory. Without room for it, products read the file's format in place, with the same results.
func roomFor(bytes int64) bool {
	left, all, known := memoryLeft()
	return !known || left-bytes > all/8
}

// packedKBytes returns the size of a block of sixteen packed rows, 0 for types that are not packed so.
func packedKBytes(t npu.DType) int {
	switch t {
	case npu.Q2_K:
		return int(unsafe.Sizeof(packedQ2K{}))
	case npu.Q3_K:
		return int(unsafe.Sizeof(packedQ3K{}))
	case npu.Q4_K:
		return int(unsafe.Sizeof(packedQ4K{}))
	case npu.Q5_K:
		return int(unsafe.Sizeof(packedQ5K{}))
	case npu.Q6_K:
		return int(unsafe.Sizeof(packedQ6K{}))
	case npu.IQ4_XS:
		return int(unsafe.Sizeof(packedXS{}))
	}
	return 0
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
			case npu.Q2_K:
				(*packedQ2K)(to).put(r, block)
			case npu.Q3_K:
				(*packedQ3K)(to).put(r, block)
			case npu.IQ4_XS:
				(*packedXS)(to).put(r, block)
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
	for j := range 32 {
		pair, word := j/8, j%8
		to := &p.q[pair][word/4]
		to[1+word%4][r] = [4]uint8(block[48+4*j:])
		for i, bits := range block[16+4*word:][:4] {
			two := bits >> (2 * pair)
			to[0][r][i] |= (two&1 | two>>1&1<<4) << (word % 4)
		}
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

func (p *packedQ2K) put(r int, block []byte) {
	for j, s := range block[:16] {
		p.scales[j/2][r][j%2] = s
	}
	for j := range 16 {
		p.q[j/8][j%8][r] = [4]uint8(block[16+4*j:])
	}
	p.d[r], p.m[r] = binary.LittleEndian.Uint16(block[80:]), binary.LittleEndian.Uint16(block[82:])
}

func (p *packedQ3K) put(r int, block []byte) {
	g := quant.ReadGroups(npu.Q3_K, block)
	for j, s := range g.Factor {
		p.scales[j/2][r][j%2] = s
	}
	for j := range p.third {
		p.third[j][r] = [4]uint8(block[4*j:])
	}
	for j := range 16 {
		p.q[j/8][j%8][r] = [4]uint8(block[32+4*j:])
	}
	p.d[r] = binary.LittleEndian.Uint16(block[108:])
}

func (p *packedXS) put(r int, block []byte) {
	g := quant.ReadGroups(npu.IQ4_XS, block)
	for j := range 8 {
		p.scales[j/2][r][j%2] = g.Factor[j]
	}
	for j := range p.q {
		p.q[j][r] = [4]uint8(block[8+4*j:])
	}
	p.d[r] = binary.LittleEndian.Uint16(block)
}

// kRow is a row of a packed block: value = d·scale·q − m·minimum, with a scale and a minimum for each 16 values.
type kRow struct {
	q              [256]int32
	scales, minima [16]int32
	d, m           float32
}

// row reads row r of a packed block of a type that is read only. As in Q6_K, integers of Q3_K have an offset of 32:
// they are 28 to 35.
func (p *packedQ2K) row(k *kRow, r int) {
	for j := range 16 {
		s := int32(p.scales[j/2][r][j%2])
		k.scales[j], k.minima[j] = s&15, s>>4
	}
	for i := range k.q {
		k.q[i] = int32(p.q[i/128][i%32/4][r][i%4] >> (i / 32 % 4 * 2) & 3)
	}
	k.d, k.m = quant.F16ToF32(p.d[r]), quant.F16ToF32(p.m[r])
}

func (p *packedQ3K) row(k *kRow, r int) {
	for j := range 16 {
		s := int32(p.scales[j/2][r][j%2])
		k.scales[j], k.minima[j] = s, s
	}
	for i := range k.q {
		q := p.q[i/128][i%32/4][r][i%4]>>(i/32%4*2)&3 | p.third[i%32/4][r][i%4]>>(i/32)&1<<2
		k.q[i] = int32(q) + 28
	}
	k.d = quant.F16ToF32(p.d[r])
	k.m = 32 * k.d
}

func (p *packedXS) row(k *kRow, r int) {
	for j := range 16 {
		k.scales[j], k.minima[j] = int32(p.scales[j/4][r][j/2%2]), 0
	}
	table := quant.Table(npu.IQ4_XS)
	for i := range k.q {
		k.q[i] = int32(table[p.q[i/32*4+i%16/4][r][i%4]>>(i%32/16*4)&15])
	}
	k.d, k.m = quant.F16ToF32(p.d[r]), 0
}

// mulReadOnly is kernels.mulK256 of a type that is read only. It defines the sums, which are formed as in mulKPlain.
func mulReadOnly(t npu.DType) mulPacked[kInput] {
	return func(dst []float32, stride int, w []byte, groups, blocks int, x []kInput, m int) {
		var rows [groupRows]kRow
		for g := range groups {
			for i := range m {
				clear(dst[i*stride+g*groupRows:][:groupRows])
			}
			for b := range blocks {
				at := unsafe.Pointer(&w[(g*blocks+b)*packedKBytes(t)])
				for r := range rows {
					switch t {
					case npu.Q2_K:
						(*packedQ2K)(at).row(&rows[r], r)
					case npu.Q3_K:
						(*packedQ3K)(at).row(&rows[r], r)
					default:
						(*packedXS)(at).row(&rows[r], r)
					}
				}
				for i := range m {
					in := &x[i*blocks+b]
					for r := range rows {
						k := &rows[r]
						sum, least := k.sums(in)
						dst[i*stride+g*groupRows+r] += float32(float32(sum)*float32(k.d*in.d)) - float32(float32(least)*float32(k.m*in.d))
					}
				}
			}
		}
	}
}

func (k *kRow) sums(x *kInput) (sum, least int32) {
	for s := range 16 {
		dot := int32(0)
		for j, q := range k.q[16*s:][:16] {
			dot += q * int32(x.q[16*s+j])
		}
		sum += k.scales[s] * dot
		least += k.minima[s] * int32(x.sums[s])
	}
	return sum, least
}
