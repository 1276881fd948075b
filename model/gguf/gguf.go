// Package gguf reads and writes GGUF files, which hold the weights, the tokenizer and the hyper-parameters of a model
// (format version 3; it also reads version 2, which has the same layout).
//
// The package knows bytes, keys and tensors, but not what a key means to a transformer or a tokenizer (see packages
// model and model/tokenizer), and it computes nothing. It treats a file as hostile: it checks every count and size
// against the bytes present before it allocates memory. Errors name the file, the key or tensor, and the offset.
package gguf

import (
	"errors"
	"fmt"
	"sort"

	"tandem/npu"
)

// A Type is the type of a metadata value, by its number in the file.
type Type uint32

// The metadata value types.
const (
	Uint8 Type = iota
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Float32
	Bool
	String
	Array
	Uint64
	Int64
	Float64
)

var typeNames = [...]string{"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool",
	"string", "array", "uint64", "int64", "float64"}

// typeSizes holds the smallest size of a value of each type in bytes.
var typeSizes = [...]int{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8}

func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint32(t))
}

// A KV is one metadata entry. Value is a uint8, int8, uint16, int16, uint32, int32, float32, bool, string, uint64,
// int64 or float64, a slice of one of these types, or, for an array of arrays, a []any of such slices.
type KV struct {
	Key   string
	Value any
}

// defaultAlignment is the alignment of tensor data in bytes if the key general.alignment is absent.
const defaultAlignment = 32

// maxDims is the largest number of dimensions of a tensor.
const maxDims = 4

// A TensorInfo describes one tensor of a file.
type TensorInfo struct {
	Name   string
	Type   npu.DType
	Shape  []uint64 // 1 to maxDims sizes, the one that varies fastest first
	Offset uint64   // in bytes from the start of the data section; ignored when writing
}

// Elements returns the number of elements of the tensor. It does not overflow for a tensor of an opened file.
func (t TensorInfo) Elements() uint64 {
	n := uint64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// A File is an opened GGUF file. It is safe for concurrent use until Close.
type File struct {
	Meta                   // the metadata
	Name      string       // the path, or the name given to Parse
	Version   uint32       // of the format
	Alignment uint64       // of tensor data in bytes
	Tensors   []TensorInfo // in the order of the file

	data   []byte // the data section
	start  uint64 // of the data section in the file
	byName map[string]int
	unmap  func() error

	headerOnly bool // see ParseHeader

	parts []*File // of a model in several files; data is then empty
	owner []int   // for each tensor, the part that holds it
}

// Open maps the file at path into memory and parses it. Tensor data is read from the disk when it is first touched, so
// the file must not change until Close: if another program truncates it, this one crashes.
//
// If the file is one part of a model in several files (NAME-00001-of-00005.gguf), Open maps all of them. The metadata
// is that of the first part; the tensors are those of all parts.
func Open(path string) (*File, error) {
	f, err := openOne(path)
	if err != nil {
		return nil, err
	}
	if _, count := f.part(); count > 1 {
		return f.join(path)
	}
	return f, nil
}

func openOne(path string) (*File, error) {
	b, unmap, err := Map(path)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	f, err := parse(path, b)
	if err != nil {
		unmap()
		return nil, err
	}
	f.unmap = unmap
	return f, nil
}

// Parse parses a GGUF file in memory. Errors mention its name. Tensors alias b, which must not change.
func Parse(name string, b []byte) (*File, error) { return parse(name, b) }

// Close unmaps the file. Its tensors must not be used afterwards; its metadata may.
func (f *File) Close() error {
	var errs []error
	for _, p := range f.parts {
		errs = append(errs, p.Close())
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if f.unmap == nil {
		return nil
	}
	unmap := f.unmap
	f.unmap, f.data = nil, nil
	return unmap()
}

// Tensor returns a tensor by name. Its data aliases the file. Rows is the product of all dimensions after the first,
// so a vector has one row. It is an error if the tensor is missing or has a type that devices cannot compute with.
func (f *File) Tensor(name string) (npu.Tensor, error) {
	i, ok := f.byName[name]
	if !ok {
		if parts, _ := f.Uint("split.count"); parts > 1 {
			return npu.Tensor{}, fmt.Errorf("%s: no tensor %q: the file is one of %d parts of a model: open it by its path, with the other parts in the same folder",
				f.Name, name, parts)
		}
		return npu.Tensor{}, fmt.Errorf("%s: no tensor %q", f.Name, name)
	}
	if f.parts != nil {
		return f.parts[f.owner[i]].Tensor(name)
	}
	info := f.Tensors[i]
	size, err := tensorBytes(info)
	if err != nil {
		return npu.Tensor{}, fmt.Errorf("%s: tensor %q: %w", f.Name, name, err)
	}
	if !f.headerOnly && info.Offset+size > uint64(len(f.data)) {
		return npu.Tensor{}, fmt.Errorf("%s: tensor %q: the file is closed", f.Name, name)
	}
	cols := int(info.Shape[0])
	t := npu.Tensor{
		Name: name, Type: info.Type, Cols: cols, Rows: int(info.Elements() / info.Shape[0]),
	}
	if f.headerOnly {
		return t, nil
	}
	t.Data = f.data[info.Offset : info.Offset+size : info.Offset+size]
	if f.unmap != nil {
		t.File, t.Offset = f.Name, int64(f.start+info.Offset)
	}
	return t, nil
}

// HeaderOnly reports whether only the header of the file is there, so that tensors have no data.
func (f *File) HeaderOnly() bool { return f.headerOnly }

// Has reports whether the file has a tensor with that name.
func (f *File) Has(name string) bool {
	_, ok := f.byName[name]
	return ok
}

// A Description summarises a model file.
type Description struct {
	Name, Architecture, License string
	Version                     uint32
	Tokenizer, Pre              string // tokenizer.ggml.model and .pre
	Vocabulary                  int
	Context, Layers, Width      uint64 // 0 if the file does not tell
	Tensors                     int
	Parameters                  uint64
	Bytes                       uint64 // of tensor data
	Types                       []TypeShare
	Template                    bool // whether the file has a chat template
}

// A TypeShare says how much of a file is stored as one tensor type.
type TypeShare struct {
	Type       npu.DType
	Name       string
	Tensors    int
	Parameters uint64
}

// Describe summarises the file. The types with the most parameters come first.
func (f *File) Describe() Description {
	d := Description{Version: f.Version, Tensors: len(f.Tensors), Bytes: uint64(len(f.data))}
	for _, p := range f.parts {
		d.Bytes += uint64(len(p.data))
	}
	d.Name, _ = f.Meta.String("general.name")
	d.Architecture, _ = f.Meta.String("general.architecture")
	d.License, _ = f.Meta.String("general.license")
	d.Tokenizer, _ = f.Meta.String("tokenizer.ggml.model")
	d.Pre, _ = f.Meta.String("tokenizer.ggml.pre")
	d.Context, _ = f.Uint(d.Architecture + ".context_length")
	d.Layers, _ = f.Uint(d.Architecture + ".block_count")
	d.Width, _ = f.Uint(d.Architecture + ".embedding_length")
	_, d.Template = f.Meta.String("tokenizer.chat_template")
	if tokens, ok := f.Strings("tokenizer.ggml.tokens"); ok {
		d.Vocabulary = len(tokens)
	}
	at := map[npu.DType]int{}
	for _, t := range f.Tensors {
		i, ok := at[t.Type]
		if !ok {
			i = len(d.Types)
			at[t.Type] = i
			d.Types = append(d.Types, TypeShare{Type: t.Type, Name: DTypeName(t.Type)})
		}
		n := t.Elements()
		d.Types[i].Tensors++
		d.Types[i].Parameters += n
		d.Parameters += n
	}
	sort.SliceStable(d.Types, func(i, j int) bool { return d.Types[i].Parameters > d.Types[j].Parameters })
	return d
}
