package gguf

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sort"

	"tandem/npu"
)

const (
	magic     = "GGUF"
	version   = 3
	maxDepth  = 4       // of nested arrays; no known model needs more than 1
	maxString = 1 << 30 // bytes of one string
	maxTexts  = 1 << 22 // texts and arrays in all arrays: each takes more memory than bytes of the file, which may have gaps
	roomFor   = 1 << 12 // things that are given room before they are read
)

// A FormatError says where and why a file is not a GGUF file that this package can read.
type FormatError struct {
	File   string
	Offset int    // where the reader was, in bytes
	Where  string // the key or tensor, if known
	What   string
}

func (e *FormatError) Error() string {
	where := e.Where
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s: %s%s (at byte %d)", e.File, where, e.What, e.Offset)
}

// A reader reads the head of a file. After the first error, all methods return zero.
type reader struct {
	name  string
	where string
	b     []byte
	off   int
	texts int // and arrays, in the arrays so far
	err   error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &FormatError{File: r.name, Offset: r.off, Where: r.where, What: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) left() int { return len(r.b) - r.off }

// take returns the next n bytes, or zeros if there are fewer.
func (r *reader) take(n int) []byte {
	if r.err == nil && n > r.left() {
		r.fail("the file ends here: %d more bytes expected, %d left; it may be cut short", n, r.left())
	}
	if r.err != nil {
		return make([]byte, min(n, 8))
	}
	b := r.b[r.off : r.off+n]
	r.off += n
	return b
}

func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// count reads the number of things that follow, each of which takes at least size bytes.
func (r *reader) count(size int, things string) int {
	n := r.u64()
	if r.err == nil && n > uint64(r.left()/size) {
		r.off -= 8
		r.fail("%d %s cannot fit in the %d bytes left", n, things, r.left()-8)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

func (r *reader) str() string {
	n := r.count(1, "bytes of text")
	if r.err == nil && n > maxString {
		r.fail("a text of %d bytes is too long", n)
	}
	if r.err != nil {
		return ""
	}
	return string(r.take(n))
}

func parse(name string, b []byte) (*File, error) {
	r := &reader{name: name, b: b}
	f := &File{Name: name, Alignment: defaultAlignment}
	f.Version = r.header()
	tensors := r.count(24, "tensors")
	r.metadata(f, r.count(13, "metadata entries"))
	r.alignment(f)
	r.infos(f, tensors)
	r.layout(f)
	if r.err != nil {
		return nil, r.err
	}
	return f, nil
}

// ParseHeader parses the beginning of a file of the given size, such as the first megabytes of a download. The tensors of
// the File have no data: see HeaderOnly. If b ends before the header does, the error is io.ErrUnexpectedEOF.
func ParseHeader(name string, b []byte, size int64) (*File, error) {
	r := &reader{name: name, b: b}
	f := &File{Name: name, Alignment: defaultAlignment, headerOnly: true}
	if f.Version = r.header(); r.err != nil {
		return nil, r.err
	}
	tensors := r.count(24, "tensors")
	r.metadata(f, r.count(13, "metadata entries"))
	r.alignment(f)
	r.infos(f, tensors)
	if r.err != nil && int64(len(b)) < size { // perhaps only because the rest is missing
		return nil, io.ErrUnexpectedEOF
	}
	start := roundUp(uint64(r.off), f.Alignment)
	for _, t := range f.Tensors {
		r.where = fmt.Sprintf("tensor %.200q", t.Name)
		n, err := tensorBytes(t)
		if _, unknown := err.(*TypeError); err != nil && !(unknown && elementsFit(t)) {
			r.fail("%v", err)
		} else if rest := uint64(max(size, 0)) - min(start, uint64(max(size, 0))); t.Offset > rest || n > rest-t.Offset {
			r.fail("its %d bytes at offset %d lie outside the %d bytes of tensor data; the file may be cut short", n, t.Offset, rest)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return f, nil
}

func (r *reader) header() uint32 {
	if len(r.b) == 0 {
		r.fail("not a GGUF file: it is empty")
		return 0
	}
	if len(r.b) < 24 || string(r.b[:4]) != magic {
		r.fail("not a GGUF file: it does not start with %q and a header of 24 bytes", magic)
		return 0
	}
	r.off = 4
	v := r.u32()
	switch swapped := bits.ReverseBytes32(v); {
	case v == 2 || v == version:
	case swapped >= 1 && swapped <= 16:
		r.off = 4
		r.fail("the file is big-endian: convert it to little-endian, for example with gguf_convert_endian")
	default:
		r.off = 4
		r.fail("GGUF version %d is not supported: only 2 and %d are", v, version)
	}
	return v
}

func (r *reader) metadata(f *File, n int) {
	f.Meta = Meta{list: make([]KV, 0, min(n, roomFor)), index: make(map[string]int, min(n, roomFor))}
	for i := 0; i < n && r.err == nil; i++ {
		r.where = fmt.Sprintf("metadata entry %d", i)
		at := r.off
		key := r.str()
		if r.err != nil {
			return
		}
		r.where = fmt.Sprintf("key %.200q", key)
		if _, twice := f.index[key]; twice {
			r.off = at
			r.fail("the key occurs twice")
			return
		}
		v := r.value(Type(r.u32()), 0)
		f.index[key] = len(f.list)
		f.list = append(f.list, KV{key, v})
	}
	r.where = ""
}

func (r *reader) value(t Type, depth int) any {
	switch t {
	case Uint8:
		return r.take(1)[0]
	case Int8:
		return int8(r.take(1)[0])
	case Uint16:
		return binary.LittleEndian.Uint16(r.take(2))
	case Int16:
		return int16(binary.LittleEndian.Uint16(r.take(2)))
	case Uint32:
		return r.u32()
	case Int32:
		return int32(r.u32())
	case Float32:
		return math.Float32frombits(r.u32())
	case Uint64:
		return r.u64()
	case Int64:
		return int64(r.u64())
	case Float64:
		return math.Float64frombits(r.u64())
	case Bool:
		return r.bool()
	case String:
		return r.str()
	case Array:
		return r.array(depth)
	}
	r.off -= min(r.off, 4)
	r.fail("unknown value %v", t)
	return nil
}

func (r *reader) bool() bool {
	b := r.take(1)[0]
	if b > 1 {
		r.off--
		r.fail("a boolean is %d", b)
	}
	return b == 1
}

func (r *reader) array(depth int) any {
	t := Type(r.u32())
	if r.err == nil && int(t) >= len(typeSizes) {
		r.off -= 4
		r.fail("an array of unknown %v", t)
	}
	if r.err == nil && depth == maxDepth {
		r.fail("arrays nested more than %d deep", maxDepth)
	}
	if r.err != nil {
		return nil
	}
	n := r.count(typeSizes[t], t.String()+" values")
	if t == String || t == Array {
		if r.texts += n; r.texts > maxTexts {
			r.fail("its arrays have more than %d texts and arrays", maxTexts)
		}
	}
	if r.err != nil {
		return nil
	}
	return r.values(t, n, depth)
}

// values reads n values of an array at the given depth.
func (r *reader) values(t Type, n, depth int) any {
	switch t {
	case Uint8:
		return append([]uint8{}, r.take(n)...)
	case Int8:
		return decode(r, n, 1, func(b []byte) int8 { return int8(b[0]) })
	case Uint16:
		return decode(r, n, 2, binary.LittleEndian.Uint16)
	case Int16:
		return decode(r, n, 2, func(b []byte) int16 { return int16(binary.LittleEndian.Uint16(b)) })
	case Uint32:
		return decode(r, n, 4, binary.LittleEndian.Uint32)
	case Int32:
		return decode(r, n, 4, func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) })
	case Float32:
		return decode(r, n, 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
	case Uint64:
		return decode(r, n, 8, binary.LittleEndian.Uint64)
	case Int64:
		return decode(r, n, 8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) })
	case Float64:
		return decode(r, n, 8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })
	case Bool:
		list := make([]bool, n)
		for i := range list {
			list[i] = r.bool()
		}
		return list
	case String:
		return r.strings(n)
	}
	list := make([]any, n) // of arrays
	for i := range list {
		if list[i] = r.array(depth + 1); r.err != nil {
			return nil
		}
	}
	return list
}

func decode[T any](r *reader, n, size int, one func([]byte) T) []T {
	b := r.take(n * size)
	list := make([]T, n)
	for i := range list {
		list[i] = one(b[i*size:])
	}
	return list
}

// strings reads n strings as slices of one string, so that a vocabulary takes one allocation instead of 151,936.
func (r *reader) strings(n int) []string {
	type span struct{ from, to int }
	start, spans := r.off, make([]span, n)
	for i := range spans {
		size := r.count(1, "bytes of text")
		from := r.off
		r.take(size)
		if r.err != nil {
			return nil
		}
		spans[i] = span{from - start, r.off - start}
	}
	all, list := string(r.b[start:r.off]), make([]string, n)
	for i, s := range spans {
		list[i] = all[s.from:s.to]
	}
	return list
}

func (r *reader) alignment(f *File) {
	v, ok := f.Value("general.alignment")
	if !ok || r.err != nil {
		return
	}
	a, ok := f.Uint("general.alignment")
	if !ok || a == 0 || a&(a-1) != 0 || a > 1<<30 {
		r.where = `key "general.alignment"`
		r.fail("%v is not an alignment: it must be a power of two", v)
		return
	}
	f.Alignment = a
}

func (r *reader) infos(f *File, n int) {
	if r.err != nil {
		return
	}
	if n > r.left()/24 {
		r.fail("%d tensors cannot fit in the %d bytes left", n, r.left())
		return
	}
	f.Tensors, f.byName = make([]TensorInfo, 0, min(n, roomFor)), make(map[string]int, min(n, roomFor))
	for i := 0; i < n && r.err == nil; i++ {
		r.where = fmt.Sprintf("tensor %d", i)
		at := r.off
		t := TensorInfo{Name: r.str()}
		r.where = fmt.Sprintf("tensor %.200q", t.Name)
		if _, twice := f.byName[t.Name]; twice && r.err == nil {
			r.off = at
			r.fail("the tensor occurs twice")
			return
		}
		dims := r.u32()
		if r.err == nil && (dims == 0 || dims > maxDims) {
			r.off -= 4
			r.fail("%d dimensions: a tensor has 1 to %d", dims, maxDims)
			return
		}
		for range dims {
			t.Shape = append(t.Shape, r.u64())
		}
		t.Type = npu.DType(r.u32())
		t.Offset = r.u64()
		f.byName[t.Name] = i
		f.Tensors = append(f.Tensors, t)
	}
	r.where = ""
}

// layout checks that every tensor lies in the data section, is aligned, and overlaps no other.
func (r *reader) layout(f *File) {
	if r.err != nil || len(f.Tensors) == 0 {
		return
	}
	start := roundUp(uint64(r.off), f.Alignment)
	if start > uint64(len(r.b)) {
		r.fail("the file ends before the tensor data, which starts at byte %d; it may be cut short", start)
		return
	}
	f.data, f.start = r.b[start:], uint64(start)
	order := make([]int, len(f.Tensors))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return f.Tensors[order[a]].Offset < f.Tensors[order[b]].Offset })
	var end uint64
	last := ""
	for _, i := range order {
		t := f.Tensors[i]
		r.where, r.off = fmt.Sprintf("tensor %.200q", t.Name), int(start)
		if t.Offset < uint64(len(f.data)) {
			r.off += int(t.Offset)
		}
		size, err := tensorBytes(t)
		if _, unknown := err.(*TypeError); unknown && elementsFit(t) {
			size = 1 // a type whose size is not known: it takes at least one byte
		} else if err != nil {
			r.fail("%v", err)
			return
		}
		switch {
		case t.Offset%f.Alignment != 0:
			r.fail("its offset %d is not a multiple of the alignment %d", t.Offset, f.Alignment)
		case t.Offset > uint64(len(f.data)) || size > uint64(len(f.data))-t.Offset:
			r.fail("its %d bytes at offset %d lie outside the %d bytes of tensor data; the file may be cut short",
				size, t.Offset, len(f.data))
		case t.Offset < end:
			r.fail("it overlaps tensor %.200q, which ends at offset %d", last, end)
		}
		if r.err != nil {
			return
		}
		end, last = t.Offset+size, t.Name
	}
}

// A TypeError reports a tensor of a type that devices cannot compute with.
type TypeError struct{ Type npu.DType }

func (e *TypeError) Error() string {
	return fmt.Sprintf("type %s is not supported: use a file in F32, F16, BF16, Q8_0, Q4_0, Q4_K, Q5_K, Q6_K, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, IQ4_NL, IQ4_XS or MXFP4",
		DTypeName(e.Type))
}

// tensorBytes returns the size of a tensor's data. The error is a *TypeError if the size of the type is not known.
func tensorBytes(t TensorInfo) (uint64, error) {
	if len(t.Shape) == 0 || len(t.Shape) > maxDims || !elementsFit(t) {
		return 0, fmt.Errorf("shape %d is empty or too large", t.Shape)
	}
	block, size := uint64(t.Type.BlockSize()), uint64(t.Type.BlockBytes())
	if block == 0 || size == 0 {
		return 0, &TypeError{t.Type}
	}
	if t.Shape[0]%block != 0 {
		return 0, fmt.Errorf("%d columns are not a multiple of the %d elements of a %s block",
			t.Shape[0], block, DTypeName(t.Type))
	}
	return t.Elements() / block * size, nil
}

// elementsFit reports whether the number of elements is positive and so small that the size in bytes does not
// overflow.
func elementsFit(t TensorInfo) bool {
	n := uint64(1)
	for _, d := range t.Shape {
		hi, lo := bits.Mul64(n, d)
		if hi != 0 || lo == 0 || lo > 1<<58 {
			return false
		}
		n = lo
	}
	return true
}

func roundUp(n, align uint64) uint64 { return (n + align - 1) &^ (align - 1) }

// foreignTypes are the names of tensor types that devices cannot compute with.
var foreignTypes = map[npu.DType]string{
	9: "Q8_1", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 21: "IQ3_S", 22: "IQ2_S", 24: "I8",
	25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 40: "NVFP4",
}

// DTypeName returns the name of a type of tensors, also of those that devices cannot compute with.
func DTypeName(t npu.DType) string {
	if name, ok := foreignTypes[t]; ok {
		return name
	}
	return t.String()
}
