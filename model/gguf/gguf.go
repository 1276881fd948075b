// Package gguf reads and writes GGUF files: the weights, the tokenizer and the hyper-parameters of a model
// in one file (format version 3; version 2 has the same layout and is read too).
//
// The room knows bytes, keys and tensors. It must not know what a key means to a transformer or to a
// tokenizer (package model and package model/tokenizer do), and it computes nothing. A file is treated as
// hostile: every count and size is checked against the bytes that are really there before anything is
// allocated, and an error names the file, the key or tensor and the byte at which it went wrong.
package gguf

import (
	"errors"
	"fmt"
	"sort"

	"tandem/npu"
)

// A Type is the type of a metadata value, with the number that stands for it in the file.
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

// typeSizes holds the least number of bytes that a value of each type takes in a file.
var typeSizes = [...]int{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8}

func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint32(t))
}

// A KV is one metadata entry. Value holds one of the Go types uint8, int8, uint16, int16, uint32, int32,
// float32, bool, string, uint64, int64, float64, a slice of one of them, or, for an array of arrays, a
// []any whose elements are such slices.
type KV struct {
	Key   string
	Value any
}

// DefaultAlignment is the alignment in bytes of tensor data when general.alignment does not give another.
const DefaultAlignment = 32

// MaxDims is the largest number of dimensions of a tensor.
const MaxDims = 4

// A TensorInfo describes one tensor of a file.
type TensorInfo struct {
	Name   string
	Type   npu.DType
	Shape  []uint64 // 1 to MaxDims sizes, the fastest-moving first
	Offset uint64   // in bytes from the start of the data section; ignored when writing
}

// Elements returns the number of elements of the tensor. It is exact for every info of an opened file.
func (t TensorInfo) Elements() uint64 {
	n := uint64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// A File is an opened GGUF file. It is safe for concurrent use until Close.
type File struct {
	Meta                   // the metadata, with its typed getters
	Name      string       // the path, or what Parse was told
	Version   uint32       // of the format
	Alignment uint64       // of tensor data in bytes
	Tensors   []TensorInfo // in the order of the file

	data   []byte // the data section
	start  uint64 // of the data section in the file
	byName map[string]int
	unmap  func() error

	parts []*File // of a model in several files, which then has no data of its own
	owner []int   // the part that holds each tensor
}

// Open maps the file at path into memory and parses it. Tensor data is read from the disk when it is
// first touched, so the file must stay as it is until Close; a program that truncates it kills ours.
//
// The path of any part of a model in several files (NAME-00001-of-00005.gguf) opens all of them, each
// mapped: the metadata is the first one's, the tensors are those of all.
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

// Parse reads a GGUF file from memory. The tensors alias b, which must not change.
func Parse(b []byte) (*File, error) { return parse("gguf", b) }

// ParseNamed is Parse with a name for the bytes, which errors mention.
func ParseNamed(name string, b []byte) (*File, error) { return parse(name, b) }

// Close releases the mapping. Tensors taken from the file must not be used afterwards; metadata may.
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

// Tensor returns a tensor by name, its bytes aliasing the file. Dimensions after the first are folded
// into Rows, so a vector has one row. The error names a tensor that is missing or whose type cannot be
// computed with.
func (f *File) Tensor(name string) (npu.Tensor, error) { return f.tensor(name, false) }

// Raw is Tensor for types whose blocks are known, and which cannot be computed with as they are: Q5_0 and
// IQ4_NL. (quant.AsQ8 can read them.)
func (f *File) Raw(name string) (npu.Tensor, error) { return f.tensor(name, true) }

func (f *File) tensor(name string, raw bool) (npu.Tensor, error) {
	i, ok := f.byName[name]
	if !ok {
		if parts, _ := f.Uint("split.count"); parts > 1 {
			return npu.Tensor{}, fmt.Errorf("%s: no tensor %q: the bytes are one of %d parts of a model: open it by its path, with the other parts beside it",
				f.Name, name, parts)
		}
		return npu.Tensor{}, fmt.Errorf("%s: no tensor %q", f.Name, name)
	}
	if f.parts != nil {
		return f.parts[f.owner[i]].tensor(name, raw)
	}
	info := f.Tensors[i]
	size, err := tensorBytes(info)
	if err != nil {
		return npu.Tensor{}, fmt.Errorf("%s: tensor %q: %w", f.Name, name, err)
	}
	if info.Offset+size > uint64(len(f.data)) {
		return npu.Tensor{}, fmt.Errorf("%s: tensor %q: the file is closed", f.Name, name)
	}
	if !info.Type.Known() && !raw {
		return npu.Tensor{}, fmt.Errorf("%s: tensor %q: %w", f.Name, name, &TypeError{info.Type})
	}
	cols := int(info.Shape[0])
	t := npu.Tensor{
		Name: name, Type: info.Type, Cols: cols, Rows: int(info.Elements() / info.Shape[0]),
		Data: f.data[info.Offset : info.Offset+size : info.Offset+size],
	}
	if f.unmap != nil {
		t.File, t.Offset = f.Name, int64(f.start+info.Offset)
	}
	return t, nil
}

// Has reports whether the file holds a tensor of that name.
func (f *File) Has(name string) bool {
	_, ok := f.byName[name]
	return ok
}

// A Description is what a reader wants to know about a model file before loading it.
type Description struct {
	Name, Architecture, License string
	Version                     uint32
	Tokenizer, Pre              string // tokenizer.ggml.model and .pre
	Vocabulary                  int
	Context, Layers, Width      uint64 // 0 when the file does not say
	Tensors                     int
	Parameters                  uint64
	Bytes                       uint64 // of tensor data
	Types                       []TypeShare
	Template                    bool // whether the file brings a chat template
}

// A TypeShare says how much of a file is stored in one tensor type.
type TypeShare struct {
	Type       npu.DType
	Name       string
	Tensors    int
	Parameters uint64
}

// Describe summarises the file; the types come with the most frequent (by parameters) first.
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
			d.Types = append(d.Types, TypeShare{Type: t.Type, Name: dtypeName(t.Type)})
		}
		n := t.Elements()
		d.Types[i].Tensors++
		d.Types[i].Parameters += n
		d.Parameters += n
	}
	sort.SliceStable(d.Types, func(i, j int) bool { return d.Types[i].Parameters > d.Types[j].Parameters })
	return d
}
