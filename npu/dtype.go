package npu

import "fmt"

// DType is an element type. Its values are GGML's type numbers, as in GGUF files.
type DType uint32

// The element types that devices can compute with.
const (
	F32    DType = 0
	F16    DType = 1
	Q4_0   DType = 2
	Q4_1   DType = 3
	Q5_0   DType = 6
	Q5_1   DType = 7
	Q8_0   DType = 8
	Q2_K   DType = 10
	Q3_K   DType = 11
	Q4_K   DType = 12
	Q5_K   DType = 13
	Q6_K   DType = 14
	IQ4_NL DType = 20
	IQ4_XS DType = 23
	BF16   DType = 30
	MXFP4  DType = 39
)

// DTypes lists the types that weights can be written in, in ascending order.
var DTypes = []DType{F32, F16, Q4_0, Q8_0, Q4_K, Q5_K, Q6_K, BF16}

// ReadOnly lists the types that are only read, from files that others made.
var ReadOnly = []DType{Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, IQ4_NL, IQ4_XS, MXFP4}

type layout struct {
	name         string
	size, nbytes int
}

var layouts = [MXFP4 + 1]layout{
	F32:    {"F32", 1, 4},
	F16:    {"F16", 1, 2},
	BF16:   {"BF16", 1, 2},
	Q4_0:   {"Q4_0", 32, 2 + 16},
	Q4_1:   {"Q4_1", 32, 2 + 2 + 16},
	Q5_0:   {"Q5_0", 32, 2 + 4 + 16},
	Q5_1:   {"Q5_1", 32, 2 + 2 + 4 + 16},
	Q8_0:   {"Q8_0", 32, 2 + 32},
	Q2_K:   {"Q2_K", 256, 16 + 64 + 2 + 2},
	Q3_K:   {"Q3_K", 256, 32 + 64 + 12 + 2},
	Q4_K:   {"Q4_K", 256, 2 + 2 + 12 + 128},
	Q5_K:   {"Q5_K", 256, 2 + 2 + 12 + 32 + 128},
	Q6_K:   {"Q6_K", 256, 128 + 64 + 16 + 2},
	IQ4_NL: {"IQ4_NL", 32, 2 + 16},
	IQ4_XS: {"IQ4_XS", 256, 2 + 2 + 4 + 128},
	MXFP4:  {"MXFP4", 32, 1 + 16},
}

func (t DType) layout() layout {
	if int(t) < len(layouts) {
		return layouts[t]
	}
	return layout{}
}

// Known reports whether t is one of DTypes or ReadOnly.
func (t DType) Known() bool { return t.layout().size != 0 }

// BlockSize returns the number of elements in a block, which are stored together; 0 for an unknown type.
func (t DType) BlockSize() int { return t.layout().size }

// BlockBytes returns the number of bytes of one block, 0 for an unknown type.
func (t DType) BlockBytes() int { return t.layout().nbytes }

// RowBytes returns the number of bytes of a row of cols elements, which must be a multiple of BlockSize.
func (t DType) RowBytes(cols int) int {
	l := t.layout()
	if l.size == 0 {
		return 0
	}
	return cols / l.size * l.nbytes
}

func (t DType) String() string {
	if l := t.layout(); l.size != 0 {
		return l.name
	}
	return fmt.Sprintf("type(%d)", uint32(t))
}

// Tensor is a named matrix of weights, row-major: Rows rows of Cols elements (Cols is GGML's ne[0], the index that
// runs fastest). A vector has one row. Data may be a read-only mapping of a file.
type Tensor struct {
	Name string
	Type DType
	Cols int
	Rows int
	Data []byte
	// File is the path of the file that holds Data, at Offset; empty if Data is only in memory.
	File   string
	Offset int64
	// Staged says that Data is filled before each use and emptied after it (see Stage), and may move between runs.
	// A device must read it in place, during the use. A device that copies or converts weights refuses the tensor.
	Staged bool
	// Packed says that the Data of a staged tensor, or of an adapter's factor, is in the device's own layout (see Traits.Packer).
	Packed bool
}

// Check reports whether the tensor's sizes and data agree.
func (t Tensor) Check() error {
	switch {
	case !t.Type.Known():
		return fmt.Errorf("tensor %q: %v is not a supported type: use one of %v or %v", t.Name, t.Type, DTypes, ReadOnly)
	case t.Cols <= 0 || t.Rows <= 0:
		return fmt.Errorf("tensor %q: empty shape %d×%d", t.Name, t.Rows, t.Cols)
	case t.Cols%t.Type.BlockSize() != 0:
		return fmt.Errorf("tensor %q: rows of %d elements are not whole blocks of %d (%v)", t.Name, t.Cols, t.Type.BlockSize(), t.Type)
	}
	if t.Packed {
		return nil // only the device knows the size
	}
	// Avoid products that might overflow.
	blocks := t.Cols / t.Type.BlockSize()
	if have := len(t.Data) / t.Type.BlockBytes(); blocks > have || len(t.Data)%(blocks*t.Type.BlockBytes()) != 0 || have/blocks != t.Rows {
		return fmt.Errorf("tensor %q: %d bytes of data, not %d rows of %d blocks of %d bytes", t.Name, len(t.Data), t.Rows, blocks, t.Type.BlockBytes())
	}
	return nil
}

// Row returns the bytes of row i.
func (t Tensor) Row(i int) []byte {
	n := t.Type.RowBytes(t.Cols)
	return t.Data[i*n : (i+1)*n : (i+1)*n]
}

func (t Tensor) String() string { return fmt.Sprintf("%s %v[%d×%d]", t.Name, t.Type, t.Rows, t.Cols) }
