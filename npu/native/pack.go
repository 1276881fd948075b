package native

import (
	"encoding/binary"
	"math"
	"runtime"
	"unsafe"
	"weak"

	"tandem/npu"
)

// Weights in blocks of 32 are packed before use, so that a vector holds the same four elements of sixteen rows. Each
// lane then sums one row, and no sum runs across lanes. A group of sixteen rows holds, block by block,
//
//	their scales of 16 bits: [16]
//	if the type has them, their minima, as the scales: [16]
//	their integers: [words of 4 bytes × 16]
//
// So a group is read in one stream. Two streams, of scales and of integers, take up to 1.4 times as long.
//
// The words of a block are those of the file format, in Q5_0 and Q5_1 with the fifth bits in other places. Packing only
// reorders the data, so apart from padding a packed matrix is as large as in the file (of MXFP4 by a byte a block
// larger). It is a copy, so the system can drop the mapped pages of the file. The last group is padded with rows of
// zeros.

// groupRows is the number of rows in a group.
const groupRows = 16

// blockForm says how blocks of 32 of a type are packed.
type blockForm struct {
	words  int // of integers, in the group
	at     int // offset of the integers in a block of the file
	fifths int // offset of 32 fifth bits, which are the last word; 0 for none
	minima int // offset of an F16 minimum; 0 for none
}

var blockForms = [types]blockForm{
	npu.Q8_0: {words: 8, at: 2}, npu.Q4_0: {words: 4, at: 2}, npu.Q4_1: {words: 4, at: 4, minima: 2},
	npu.Q5_0: {words: 5, at: 6, fifths: 2}, npu.Q5_1: {words: 5, at: 8, fifths: 4, minima: 2},
	npu.IQ4_NL: {words: 4, at: 2}, npu.MXFP4: {words: 4, at: 1},
}

// scales returns the size in bytes of the scales and minima of one block of a group.
func (f *blockForm) scales() int {
	if f.minima > 0 {
		return 4 * groupRows
	}
	return 2 * groupRows
}

// bytes returns the size of one block of a group.
func (f *blockForm) bytes() int { return f.scales() + 4*groupRows*f.words }

// block returns where a group holds the scales of block b, with any minima after them, and its integers.
func (f *blockForm) block(group []byte, b int) (scales, words []byte) {
	block := group[b*f.bytes():][:f.bytes()]
	return block[:f.scales()], block[f.scales():]
}

// groupBytes returns the size of a group in bytes.
func groupBytes(t npu.DType, blocks int) int {
	if n := packedKBytes(t); n > 0 {
		return blocks * n
	}
	return blocks * blockForms[t].bytes()
}

// packs reports whether weights of type t are always packed.
func packs(t npu.DType) bool {
	return t.BlockSize() > 1 && t != npu.Q4_K && t != npu.Q5_K && t != npu.Q6_K
}

// packGroup packs up to sixteen rows, starting at row.
func packGroup(dst []byte, w *npu.Tensor, row int) {
	if packedKBytes(w.Type) > 0 {
		packGroupK(dst, w, row)
		return
	}
	rows, blocks := min(groupRows, w.Rows-row), w.Cols/w.Type.BlockSize()
	if rows < groupRows {
		clear(dst)
	}
	form, size := &blockForms[w.Type], w.Type.BlockBytes()
	for r := range rows {
		from := w.Row(row + r)
		for b := range blocks {
			block := from[b*size:][:size]
			scales, words := form.block(dst, b)
			binary.LittleEndian.PutUint16(scales[2*r:], packedScale(w.Type, block))
			if form.minima > 0 {
				copy(scales[2*(groupRows+r):][:2], block[form.minima:])
			}
			form.put(words, r, block)
		}
	}
}

// packedScale returns the scale of a block, as scaleOf reads it.
func packedScale(t npu.DType, block []byte) uint16 {
	if t == npu.MXFP4 {
		return uint16(math.Float32bits(float32(math.Ldexp(1, int(block[0])-128))) >> 16)
	}
	return binary.LittleEndian.Uint16(block)
}

// put makes the integers of a block of the file those of row r of a packed one.
func (f *blockForm) put(words []byte, r int, block []byte) {
	each := f.words
	if f.fifths > 0 {
		each--
		high, spread := binary.LittleEndian.Uint32(block[f.fifths:]), uint32(0)
		for k := range 8 { // bits 4k to 4k+3 become bits k of four bytes
			spread |= (high >> (4 * k) & 15 * 0x00204081 & 0x01010101) << k
		}
		binary.LittleEndian.PutUint32(words[64*each+4*r:], spread)
	}
	for j := range each {
		binary.LittleEndian.PutUint32(words[64*j+4*r:], binary.LittleEndian.Uint32(block[f.at+4*j:]))
	}
}

// Group implements npu.Packer.
func (d *Device) Group(w *npu.Tensor) (rows, bytes int) {
	if !packs(w.Type) {
		return 0, 0
	}
	return groupRows, groupBytes(w.Type, w.Cols/w.Type.BlockSize())
}

// PackGroup implements npu.Packer.
func (d *Device) PackGroup(dst []byte, w *npu.Tensor, row int) { packGroup(dst, w, row) }

// packed is a matrix in groups.
type packed struct {
	groups []byte
	size   int    // of a group
	in     *slab  // the memory of groups, if Compile has packed them
	of     []byte // the rows: while they exist, no other matrix has their address
}

// loaded returns the groups of a product's weights if Compile or a Stage has packed them. It returns an empty packed for
// weights in their file format.
func (r *run) loaded(i int) packed {
	if p := r.packed[i]; p != nil {
		return *p
	}
	w := r.graph.Nodes[i].Weight
	if !w.Packed {
		return packed{}
	}
	_, size := r.dev.Group(w)
	return packed{groups: w.Data, size: size}
}

func (p *packed) group(g, n int) []byte { return p.groups[g*p.size : (g+n)*p.size] }

// tensorKey identifies the matrix that a packed one was made from. It does not keep the matrix: many are made for one text.
type tensorKey struct {
	data       uintptr
	typ        npu.DType
	rows, cols int
}

// pack returns the matrix in groups. A matrix is packed once for all programs that use it and kept until the last of them
// is garbage collected. Without memory for a copy that is not necessary, pack returns nil.
func (d *Device) pack(w *npu.Tensor) *packed {
	key := tensorKey{uintptr(unsafe.Pointer(&w.Data[0])), w.Type, w.Rows, w.Cols}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.packed[key].Value(); p != nil {
		return p
	}
	n := (w.Rows + groupRows - 1) / groupRows
	p := &packed{size: groupBytes(w.Type, w.Cols/w.Type.BlockSize()), of: w.Data}
	if !packs(w.Type) && !d.room(int64(n*p.size)) {
		return nil
	}
	p.in, p.groups = d.memory(n * p.size)
	d.pool.each(n, 4*groupRows*w.Cols, func(lo, hi int) {
		for g := lo; g < hi; g++ {
			packGroup(p.group(g, 1), w, g*groupRows)
		}
	})
	d.packed[key] = weak.Make(p)
	runtime.AddCleanup(p, d.kept.forget, key)
	return p
}

// forget drops the record of a packed matrix that is garbage.
func (k *kept) forget(key tensorKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.packed[key].Value() == nil { // else it has been packed again
		delete(k.packed, key)
	}
}

// memory returns n bytes of a slab. Matrices that are packed one after the other stand so, in huge pages that they share.
func (d *Device) memory(n int) (*slab, []byte) {
	if s := d.filling.Value(); s != nil {
		if memory := s.take(n); memory != nil {
			return s, memory
		}
	}
	s := newSlab(max(n, slabSize))
	d.filling = weak.Make(s)
	return s, s.take(n)
}

// align64 returns n bytes whose address is a multiple of 64, in b if it is large enough.
func align64(b []byte, n int) []byte {
	b = grow(b[:0], n+63)
	off := int(-uintptr(unsafe.Pointer(&b[0])) & 63)
	return b[off : off+n]
}
