package native

import (
	"encoding/binary"
	"runtime"
	"unsafe"
	"weak"

	"tandem/npu"
)

// Weights in blocks of 32 (Q4_0, Q8_0) are packed before use, so that a vector holds the same four elements of sixteen
// rows. Each lane then sums one row, and no sum runs across lanes. A group of sixteen rows holds
//
//	their F16 scales, block by block: [blocks × 16], padded to a multiple of 64 bytes
//	their integers, block by block: [blocks × words of 4 bytes × 16]
//
// where the words of a block are those of the file format. Packing only reorders the data, so apart from padding a packed
// matrix is as large as in the file. It is a copy, so the system can drop the mapped pages of the file. The last group is
// padded with rows of zeros.

// groupRows is the number of rows in a group.
const groupRows = 16

// groupScales returns the size in bytes of a group's scales.
func groupScales(blocks int) int { return (2*groupRows*blocks + 63) &^ 63 }

// groupWords returns the size in bytes of the integers of one block of a group.
func groupWords(t npu.DType) int { return groupRows * (t.BlockBytes() - 2) }

// groupBytes returns the size of a group in bytes.
func groupBytes(t npu.DType, blocks int) int {
	if n := packedKBytes(t); n > 0 {
		return blocks * n
	}
	return groupScales(blocks) + blocks*groupWords(t)
}

// packs reports whether weights of type t are always packed.
func packs(t npu.DType) bool { return t == npu.Q4_0 || t == npu.Q8_0 }

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
	size, words, each := w.Type.BlockBytes(), groupWords(w.Type), (w.Type.BlockBytes()-2)/4
	scales, integers := dst[:groupScales(blocks)], dst[groupScales(blocks):]
	for r := range rows {
		from := w.Row(row + r)
		for b := range blocks {
			block := from[b*size:][:size]
			copy(scales[2*(groupRows*b+r):][:2], block)
			to := integers[b*words:][:words]
			for j := range each {
				binary.LittleEndian.PutUint32(to[64*j+4*r:], binary.LittleEndian.Uint32(block[2+4*j:]))
			}
		}
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
	size   int // of a group
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

// tensorKey identifies the matrix that a packed one was made from.
type tensorKey struct {
	data       *byte
	typ        npu.DType
	rows, cols int
}

// pack returns the matrix in groups. A matrix is packed once for all programs that use it and kept until the last of them
// is garbage collected. Without memory for a copy that is not necessary, pack returns nil.
func (d *Device) pack(w *npu.Tensor) *packed {
	key := tensorKey{&w.Data[0], w.Type, w.Rows, w.Cols}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.packed[key].Value(); p != nil {
		return p
	}
	n := (w.Rows + groupRows - 1) / groupRows
	p := &packed{size: groupBytes(w.Type, w.Cols/w.Type.BlockSize())}
	if !packs(w.Type) && !d.room(int64(n*p.size)) {
		return nil
	}
	memory, free := allocate(n * p.size)
	p.groups = memory
	d.pool.each(n, 4*groupRows*w.Cols, func(lo, hi int) {
		for g := lo; g < hi; g++ {
			packGroup(p.group(g, 1), w, g*groupRows)
		}
	})
	if free != nil {
		runtime.AddCleanup(p, func(memory []byte) { free(memory) }, memory)
	}
	d.packed[key] = weak.Make(p)
	return p
}

// align64 returns n bytes whose address is a multiple of 64, in b if it is large enough.
func align64(b []byte, n int) []byte {
	b = grow(b[:0], n+63)
	off := int(-uintptr(unsafe.Pointer(&b[0])) & 63)
	return b[off : off+n]
}
