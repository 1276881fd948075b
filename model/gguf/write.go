package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"tandem/npu"
)

// Write writes a whole file: the metadata in the given order, then the tensors. A tensor with one row is written as a
// vector, and the matrices of experts as Shape says. Only tests use it; programs stream tensors through a Writer.
func Write(w io.Writer, meta []KV, tensors []npu.Tensor) error {
	infos := make([]TensorInfo, len(tensors))
	for i, t := range tensors {
		infos[i] = TensorInfo{Name: t.Name, Type: t.Type, Shape: Shape(meta, t.Name, t.Cols, t.Rows)}
	}
	gw, err := NewWriter(w, meta, infos)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := gw.Write(t.Data); err != nil {
			return err
		}
	}
	return gw.Close()
}

// Shape returns the shape of a matrix in a file with that metadata. Matrices of experts, which stand in one tensor, have a third
// size: the number of experts.
func Shape(meta []KV, name string, cols, rows int) []uint64 {
	if rows == 1 {
		return []uint64{uint64(cols)}
	}
	if strings.HasSuffix(name, "_exps.weight") {
		for _, kv := range meta {
			if n, ok := kv.Value.(uint32); ok && strings.HasSuffix(kv.Key, ".expert_count") && n > 0 && rows%int(n) == 0 {
				return []uint64{uint64(cols), uint64(rows) / uint64(n), uint64(n)}
			}
		}
	}
	return []uint64{uint64(cols), uint64(rows)}
}

// A Writer streams a GGUF file, so that its tensors need not be in memory together. NewWriter writes the head; Write
// appends the tensors' data in the order of the infos and adds the padding.
type Writer struct {
	w     *bufio.Writer
	infos []TensorInfo
	sizes []uint64
	align uint64
	off   uint64 // within the file
	next  int    // the tensor being written
	done  uint64 // bytes of it that are written
	err   error
}

// NewWriter checks the metadata and the tensors and writes the head of the file. It computes the offsets and ignores
// those of the infos. The key general.alignment sets the alignment.
func NewWriter(w io.Writer, meta []KV, infos []TensorInfo) (*Writer, error) {
	gw := &Writer{w: bufio.NewWriterSize(w, 1<<16), align: defaultAlignment}
	head, err := appendMeta(nil, meta)
	if err != nil {
		return nil, err
	}
	if v, ok := NewMeta(meta).Value("general.alignment"); ok {
		a, ok := integer(v)
		if !ok || a <= 0 || a&(a-1) != 0 || a > 1<<30 {
			return nil, fmt.Errorf(`write gguf: key "general.alignment": %v is not a power of two`, v)
		}
		gw.align = uint64(a)
	}
	seen := make(map[string]bool, len(infos))
	var off uint64
	for _, t := range infos {
		size, err := tensorBytes(t)
		if err != nil {
			return nil, fmt.Errorf("write gguf: tensor %q: %w", t.Name, err)
		}
		if seen[t.Name] {
			return nil, fmt.Errorf("write gguf: tensor %q occurs twice", t.Name)
		}
		seen[t.Name] = true
		t.Offset = off
		off = roundUp(off+size, gw.align)
		gw.infos, gw.sizes = append(gw.infos, t), append(gw.sizes, size)
		head = appendInfo(head, t)
	}
	prefix := append([]byte(magic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(prefix[4:], version)
	prefix = binary.LittleEndian.AppendUint64(prefix, uint64(len(infos)))
	prefix = binary.LittleEndian.AppendUint64(prefix, uint64(len(meta)))
	gw.put(prefix)
	gw.put(head)
	gw.pad()
	gw.skipEmpty()
	return gw, gw.err
}

func (w *Writer) put(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
		w.off += uint64(len(b))
	}
}

func (w *Writer) pad() {
	w.put(make([]byte, roundUp(w.off, w.align)-w.off))
}

// skipEmpty pads and skips tensors that are complete.
func (w *Writer) skipEmpty() {
	for w.next < len(w.infos) && w.done == w.sizes[w.next] {
		w.pad()
		w.next, w.done = w.next+1, 0
	}
}

// Write appends tensor data. One tensor may take several calls, and one call may span several tensors. Data beyond the
// last tensor is an error.
func (w *Writer) Write(b []byte) (int, error) {
	n := 0
	for len(b) > 0 && w.err == nil {
		if w.next == len(w.infos) {
			w.err = fmt.Errorf("write gguf: %d bytes of data after the last tensor", len(b))
			break
		}
		part := b[:min(uint64(len(b)), w.sizes[w.next]-w.done)]
		w.put(part)
		b, n, w.done = b[len(part):], n+len(part), w.done+uint64(len(part))
		w.skipEmpty()
	}
	return n, w.err
}

// Close flushes the file. It is an error if data of a tensor is missing. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err == nil && w.next < len(w.infos) {
		w.err = fmt.Errorf("write gguf: tensor %q has %d of %d bytes", w.infos[w.next].Name, w.done, w.sizes[w.next])
	}
	if w.err == nil {
		w.err = w.w.Flush()
	}
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("write gguf: the writer is closed")
	return nil
}

func appendInfo(b []byte, t TensorInfo) []byte {
	b = appendString(b, t.Name)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Shape)))
	for _, d := range t.Shape {
		b = binary.LittleEndian.AppendUint64(b, d)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(t.Type))
	return binary.LittleEndian.AppendUint64(b, t.Offset)
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func appendMeta(b []byte, meta []KV) ([]byte, error) {
	seen := make(map[string]bool, len(meta))
	for _, kv := range meta {
		if seen[kv.Key] {
			return nil, fmt.Errorf("write gguf: key %q occurs twice", kv.Key)
		}
		seen[kv.Key] = true
		t, ok := typeOf(kv.Value)
		if !ok {
			return nil, fmt.Errorf("write gguf: key %q: a %T is not a metadata value", kv.Key, kv.Value)
		}
		b = appendString(b, kv.Key)
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
		var err error
		if b, err = appendValue(b, kv.Value, 0); err != nil {
			return nil, fmt.Errorf("write gguf: key %q: %w", kv.Key, err)
		}
	}
	return b, nil
}

func typeOf(v any) (Type, bool) {
	switch v.(type) {
	case uint8:
		return Uint8, true
	case int8:
		return Int8, true
	case uint16:
		return Uint16, true
	case int16:
		return Int16, true
	case uint32:
		return Uint32, true
	case int32:
		return Int32, true
	case float32:
		return Float32, true
	case bool:
		return Bool, true
	case string:
		return String, true
	case uint64:
		return Uint64, true
	case int64:
		return Int64, true
	case float64:
		return Float64, true
	case []uint8, []int8, []uint16, []int16, []uint32, []int32, []float32, []bool, []string,
		[]uint64, []int64, []float64, []any:
		return Array, true
	}
	return 0, false
}

func appendValue(b []byte, v any, depth int) ([]byte, error) {
	le := binary.LittleEndian
	switch x := v.(type) {
	case uint8:
		return append(b, x), nil
	case int8:
		return append(b, byte(x)), nil
	case uint16:
		return le.AppendUint16(b, x), nil
	case int16:
		return le.AppendUint16(b, uint16(x)), nil
	case uint32:
		return le.AppendUint32(b, x), nil
	case int32:
		return le.AppendUint32(b, uint32(x)), nil
	case float32:
		return le.AppendUint32(b, math.Float32bits(x)), nil
	case bool:
		if x {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case string:
		return appendString(b, x), nil
	case uint64:
		return le.AppendUint64(b, x), nil
	case int64:
		return le.AppendUint64(b, uint64(x)), nil
	case float64:
		return le.AppendUint64(b, math.Float64bits(x)), nil
	}
	return appendList(b, v, depth)
}

// appendList is appendValue for arrays.
func appendList(b []byte, v any, depth int) ([]byte, error) {
	switch x := v.(type) {
	case []uint8:
		return appendArray(b, Uint8, x, depth)
	case []int8:
		return appendArray(b, Int8, x, depth)
	case []uint16:
		return appendArray(b, Uint16, x, depth)
	case []int16:
		return appendArray(b, Int16, x, depth)
	case []uint32:
		return appendArray(b, Uint32, x, depth)
	case []int32:
		return appendArray(b, Int32, x, depth)
	case []float32:
		return appendArray(b, Float32, x, depth)
	case []bool:
		return appendArray(b, Bool, x, depth)
	case []string:
		return appendArray(b, String, x, depth)
	case []uint64:
		return appendArray(b, Uint64, x, depth)
	case []int64:
		return appendArray(b, Int64, x, depth)
	case []float64:
		return appendArray(b, Float64, x, depth)
	case []any:
		for _, e := range x {
			if t, ok := typeOf(e); !ok || t != Array {
				return nil, fmt.Errorf("an array of arrays holds a %T", e)
			}
		}
		return appendArray(b, Array, x, depth)
	}
	return nil, fmt.Errorf("a %T is not a metadata value", v)
}

func appendArray[T any](b []byte, t Type, list []T, depth int) ([]byte, error) {
	if depth == maxDepth {
		return nil, fmt.Errorf("arrays nested more than %d deep", maxDepth)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(t))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(list)))
	for _, e := range list {
		var err error
		if b, err = appendValue(b, e, depth+1); err != nil {
			return nil, err
		}
	}
	return b, nil
}
