package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/npu"
)

// values draws any metadata value, with arrays of arrays up to the given depth.
func values(depth int) *rapid.Generator[any] {
	list := []*rapid.Generator[any]{
		rapid.Uint8().AsAny(), rapid.Int8().AsAny(), rapid.Uint16().AsAny(), rapid.Int16().AsAny(),
		rapid.Uint32().AsAny(), rapid.Int32().AsAny(), rapid.Uint64().AsAny(), rapid.Int64().AsAny(),
		rapid.Float32().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.String().AsAny(),
	}
	if depth > 0 {
		list = append(list, arrays(depth))
	}
	return rapid.OneOf(list...)
}

func arrays(depth int) *rapid.Generator[any] {
	list := []*rapid.Generator[any]{
		rapid.SliceOf(rapid.Uint8()).AsAny(), rapid.SliceOf(rapid.Int8()).AsAny(),
		rapid.SliceOf(rapid.Uint16()).AsAny(), rapid.SliceOf(rapid.Int16()).AsAny(),
		rapid.SliceOf(rapid.Uint32()).AsAny(), rapid.SliceOf(rapid.Int32()).AsAny(),
		rapid.SliceOf(rapid.Uint64()).AsAny(), rapid.SliceOf(rapid.Int64()).AsAny(),
		rapid.SliceOf(rapid.Float32()).AsAny(), rapid.SliceOf(rapid.Float64()).AsAny(),
		rapid.SliceOf(rapid.Bool()).AsAny(), rapid.SliceOf(rapid.String()).AsAny(),
	}
	if depth > 1 {
		list = append(list, rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return arrays(depth - 1) }), 0, 3).AsAny())
	}
	return rapid.OneOf(list...)
}

func drawFile(t *rapid.T) ([]KV, []npu.Tensor) {
	var meta []KV
	for i := range rapid.IntRange(0, 6).Draw(t, "keys") {
		meta = append(meta, KV{fmt.Sprint(rapid.String().Draw(t, "key"), i), values(maxDepth).Draw(t, "value")})
	}
	if rapid.Bool().Draw(t, "aligned") {
		a := rapid.SampledFrom([]uint32{1, 8, 32, 64, 4096}).Draw(t, "alignment")
		meta = append(meta, KV{"general.alignment", a})
	}
	var tensors []npu.Tensor
	for i := range rapid.IntRange(0, 5).Draw(t, "tensors") {
		dt := rapid.SampledFrom(npu.DTypes).Draw(t, "type")
		cols := dt.BlockSize() * rapid.IntRange(1, 3).Draw(t, "blocks")
		rows := rapid.IntRange(1, 4).Draw(t, "rows")
		data := make([]byte, rows*dt.RowBytes(cols))
		for j := range data {
			data[j] = byte(j*31 + i)
		}
		tensors = append(tensors, npu.Tensor{Name: fmt.Sprint("t", i), Type: dt, Cols: cols, Rows: rows, Data: data})
	}
	return meta, tensors
}

// same is reflect.DeepEqual, but compares the bits of floating-point numbers, so that NaN equals itself.
func same(a, b any) bool { return fmt.Sprintf("%T%#v", a, a) == fmt.Sprintf("%T%#v", b, b) }

func TestWriteThenReadGivesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		meta, tensors := drawFile(t)
		var buf bytes.Buffer
		if err := Write(&buf, meta, tensors); err != nil {
			t.Fatal(err)
		}
		f, err := Parse("test", buf.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if len(f.KVs()) != len(meta) || len(f.Tensors) != len(tensors) {
			t.Fatalf("%d keys and %d tensors, want %d and %d", len(f.KVs()), len(f.Tensors), len(meta), len(tensors))
		}
		for i, kv := range f.KVs() {
			if kv.Key != meta[i].Key || !same(kv.Value, meta[i].Value) {
				t.Fatalf("%#v, want %#v", kv, meta[i])
			}
		}
		for i, want := range tensors {
			got, err := f.Tensor(want.Name)
			if err != nil {
				t.Fatal(err)
			}
			if f.Tensors[i].Name != want.Name || f.Tensors[i].Offset%f.Alignment != 0 {
				t.Fatalf("tensor %d is %+v", i, f.Tensors[i])
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
		for range 20 { // a truncated file is refused, unless only padding is lost
			cut := rapid.IntRange(0, buf.Len()-1).Draw(t, "cut")
			if g, err := Parse("test", buf.Bytes()[:cut]); err == nil && len(g.Tensors) > 0 {
				last := g.Tensors[len(g.Tensors)-1]
				if size, _ := tensorBytes(last); last.Offset+size > uint64(len(g.data)) {
					t.Fatalf("cut to %d of %d bytes was accepted", cut, buf.Len())
				}
			}
		}
	})
}

// A head is the beginning of a file, built without the Writer.
type head struct{ b []byte }

func file(tensors, keys uint64) *head {
	h := &head{[]byte("GGUF\x03\x00\x00\x00")}
	return h.u64(tensors).u64(keys)
}
func (h *head) u32(v uint32) *head  { h.b = binary.LittleEndian.AppendUint32(h.b, v); return h }
func (h *head) u64(v uint64) *head  { h.b = binary.LittleEndian.AppendUint64(h.b, v); return h }
func (h *head) str(s string) *head  { h.u64(uint64(len(s))); h.b = append(h.b, s...); return h }
func (h *head) raw(b ...byte) *head { h.b = append(h.b, b...); return h }
func (h *head) info(name string, t npu.DType, off uint64, shape ...uint64) *head {
	h.str(name).u32(uint32(len(shape)))
	for _, d := range shape {
		h.u64(d)
	}
	return h.u32(uint32(t)).u64(off)
}
func (h *head) data(n int) *head {
	for len(h.b)%32 != 0 {
		h.b = append(h.b, 0)
	}
	return h.raw(make([]byte, n)...)
}

func TestRefusals(t *testing.T) {
	swapped := file(0, 0)
	binary.BigEndian.PutUint32(swapped.b[4:], 3)
	old := file(0, 0)
	old.b[4] = 1
	cases := []struct {
		name string
		h    *head
		want []string
	}{
		{"empty", &head{}, []string{"not a GGUF file"}},
		{"text", &head{[]byte(strings.Repeat("hello ", 10))}, []string{"not a GGUF file"}},
		{"big endian", swapped, []string{"big-endian", "byte 4"}},
		{"version 1", old, []string{"version 1 is not supported"}},
		{"too many tensors", file(1<<60, 0), []string{"1152921504606846976 tensors", "byte 8"}},
		{"too many keys", file(0, 3), []string{"3 metadata entries"}},
		{"long key", file(0, 1).u64(1 << 62).raw(make([]byte, 40)...), []string{"metadata entry 0", "byte 24"}},
		{"long string", file(0, 1).str("general.name").u32(8).u64(99), []string{`key "general.name"`, "99 bytes of text"}},
		{"huge array", file(0, 1).str("a").u32(9).u32(4).u64(1 << 61).raw(1), []string{`key "a"`, "uint32 values"}},
		{"unknown type", file(0, 1).str("a").u32(77).u64(0), []string{`key "a"`, "type(77)"}},
		{"unknown element", file(0, 1).str("a").u32(9).u32(77).u64(0), []string{`key "a"`, "type(77)"}},
		{"bad bool", file(0, 1).str("aaaaaaaa").u32(7).raw(2), []string{"boolean is 2"}},
		{"nested", file(0, 1).str("a").u32(9).u32(9).u64(1).u32(9).u64(1).u32(9).u64(1).u32(9).u64(1).u32(9).u64(0), []string{"nested more than 4"}},
		{"key twice", file(0, 2).str("a").u32(4).u32(1).str("a").u32(4).u32(2), []string{`key "a"`, "twice", "byte 41"}},
		{"alignment", file(0, 1).str("general.alignment").u32(4).u32(24), []string{"general.alignment", "power of two"}},
		{"alignment 0", file(0, 1).str("general.alignment").u32(4).u32(0), []string{"power of two"}},
		{"dims", file(1, 0).info("w", npu.F32, 0, 1, 1, 1, 1, 1).data(64), []string{`tensor "w"`, "5 dimensions"}},
		{"no dims", file(1, 0).info("w", npu.F32, 0).data(64), []string{`tensor "w"`, "0 dimensions"}},
		{"empty dim", file(1, 0).info("w", npu.F32, 0, 4, 0).data(64), []string{`tensor "w"`, "empty"}},
		{"overflow", file(1, 0).info("w", npu.F32, 0, 1<<40, 1<<40).data(64), []string{`tensor "w"`, "too large"}},
		{"blocks", file(1, 0).info("w", npu.Q8_0, 0, 33).data(64), []string{`tensor "w"`, "multiple of the 32"}},
		{"tensor twice", file(2, 0).info("w", npu.F32, 0, 1).info("w", npu.F32, 32, 1).data(64), []string{`tensor "w"`, "twice"}},
		{"misaligned", file(1, 0).info("w", npu.F32, 8, 1).data(64), []string{`tensor "w"`, "multiple of the alignment"}},
		{"outside", file(1, 0).info("w", npu.F32, 64, 1).data(64), []string{`tensor "w"`, "outside the 64 bytes"}},
		{"far outside", file(1, 0).info("w", npu.F32, math.MaxUint64-31, 1).data(64), []string{`tensor "w"`, "outside"}},
		{"overlap", file(2, 0).info("w", npu.F32, 0, 9).info("x", npu.F32, 32, 1).data(64), []string{`tensor "x"`, `overlaps tensor "w"`}},
		{"no data", file(1, 0).info("w", npu.F32, 0, 1), []string{"cut short"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("some.gguf", c.h.b)
			var format *FormatError
			if !errors.As(err, &format) {
				t.Fatalf("error is %v, want a FormatError", err)
			}
			for _, want := range append(c.want, "some.gguf: ", "at byte") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestForeignTypesAreListed(t *testing.T) {
	f, err := Parse("test", file(1, 0).info("w", 16, 0, 256).data(66).b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Tensor("w")
	var te *TypeError
	if !errors.As(err, &te) || !strings.Contains(err.Error(), "IQ2_XXS") {
		t.Fatalf("error is %v", err)
	}
	if d := f.Describe(); d.Parameters != 256 || d.Types[0].Name != "IQ2_XXS" {
		t.Fatalf("described as %+v", d)
	}
	if _, err := f.Tensor("x"); err == nil || !strings.Contains(err.Error(), `no tensor "x"`) {
		t.Fatalf("error is %v", err)
	}
}

// A file says by its number how it is quantised, or by the type of most parameters.
func TestQuantization(t *testing.T) {
	for want, h := range map[string]*head{
		"Q4_K_M":  file(1, 1).str("general.file_type").u32(uint32(Uint32)).u32(15).info("w", 16, 0, 256).data(66),
		"IQ2_XXS": file(2, 1).str("general.file_type").u32(uint32(Uint32)).u32(4711).info("v", 0, 0, 1).info("w", 16, 32, 256).data(32 + 66),
		"F32":     file(1, 0).info("v", 0, 0, 1).data(4),
		"":        file(0, 0),
	} {
		f, err := Parse("test", h.b)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Quantization(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPartsOfAModelAreNamed(t *testing.T) {
	f, err := Parse("test", file(0, 1).str("split.count").u32(2).raw(3, 0).b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tensor("w"); err == nil || !strings.Contains(err.Error(), "one of 3 parts") {
		t.Fatalf("error is %v", err)
	}
}

func TestVersion2IsRead(t *testing.T) {
	h := file(0, 1).str("a").u32(4).u32(7)
	h.b[4] = 2
	f, err := Parse("test", h.b)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := f.Uint("a"); !ok || v != 7 || f.Version != 2 {
		t.Fatalf("read %v of version %d", v, f.Version)
	}
}

func TestGetters(t *testing.T) {
	m := NewMeta([]KV{{"u8", uint8(3)}, {"i64", int64(-3)}, {"u64", uint64(math.MaxUint64)}, {"f32", float32(0.5)},
		{"f64", 0.25}, {"s", "x"}, {"b", true}, {"is", []int32{1, -2}}, {"us", []uint64{1, math.MaxUint64}},
		{"fs", []float64{1.5}}, {"ss", []string{"p"}}, {"bs", []bool{true}}})
	if v, ok := m.Uint("u8"); !ok || v != 3 {
		t.Error("uint8", v)
	}
	if _, ok := m.Uint("i64"); ok {
		t.Error("a negative number is not a Uint")
	}
	if v, ok := m.Uint("u64"); !ok || v != math.MaxUint64 {
		t.Error("uint64", v)
	}
	if _, ok := m.Int("u64"); ok {
		t.Error("2^64-1 is not an Int")
	}
	if v, ok := m.Int("i64"); !ok || v != -3 {
		t.Error("int64", v)
	}
	if v, ok := m.Float("f32"); !ok || v != 0.5 {
		t.Error("float32", v)
	}
	if v, ok := m.Float("f64"); !ok || v != 0.25 {
		t.Error("float64", v)
	}
	if _, ok := m.Float("s"); ok {
		t.Error("a string is not a Float")
	}
	if v, ok := m.Ints("is"); !ok || !reflect.DeepEqual(v, []int64{1, -2}) {
		t.Error("ints", v)
	}
	if _, ok := m.Ints("us"); ok {
		t.Error("2^64-1 in Ints")
	}
	if v, ok := m.Floats("fs"); !ok || v[0] != 1.5 {
		t.Error("floats", v)
	}
	if v, ok := m.Strings("ss"); !ok || v[0] != "p" {
		t.Error("strings", v)
	}
	if v, ok := m.Bools("bs"); !ok || !v[0] {
		t.Error("bools", v)
	}
	if _, ok := m.Value("absent"); ok {
		t.Error("absent key found")
	}
	if k := m.Keys(); len(k) != 12 || k[0] != "u8" {
		t.Error("keys", k)
	}
}

func TestWriterRefuses(t *testing.T) {
	vec := TensorInfo{Name: "v", Type: npu.F32, Shape: []uint64{4}}
	for name, c := range map[string]struct {
		meta  []KV
		infos []TensorInfo
	}{
		"a value of no known type": {meta: []KV{{"k", struct{}{}}}},
		"an int":                   {meta: []KV{{"k", 1}}},
		"mixed nesting":            {meta: []KV{{"k", []any{uint8(1)}}}},
		"a key twice":              {meta: []KV{{"k", "a"}, {"k", "b"}}},
		"a bad alignment":          {meta: []KV{{"general.alignment", uint32(3)}}},
		"a tensor twice":           {infos: []TensorInfo{vec, vec}},
		"an unknown type":          {infos: []TensorInfo{{Name: "v", Type: 77, Shape: []uint64{256}}}},
		"no shape":                 {infos: []TensorInfo{{Name: "v", Type: npu.F32}}},
	} {
		var buf bytes.Buffer
		if _, err := NewWriter(&buf, c.meta, c.infos); err == nil || buf.Len() > 0 {
			t.Errorf("%s: error %v after %d bytes", name, err, buf.Len())
		}
	}
	w, err := NewWriter(&bytes.Buffer{}, nil, []TensorInfo{vec})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 15)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), `tensor "v" has 15 of 16 bytes`) {
		t.Fatalf("Close: %v", err)
	}
	w, _ = NewWriter(&bytes.Buffer{}, nil, []TensorInfo{vec})
	if _, err := w.Write(make([]byte, 17)); err == nil {
		t.Fatal("data after the last tensor was accepted")
	}
}

func TestOpenMapsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.gguf")
	var buf bytes.Buffer
	want := npu.Tensor{Name: "w", Type: npu.F32, Cols: 2, Rows: 1, Data: []byte("12345678")}
	if err := Write(&buf, []KV{{"general.architecture", "llama"}, {"llama.block_count", uint32(5)}}, []npu.Tensor{want}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Tensor("w")
	if err != nil || got.File != path || string(buf.Bytes()[got.Offset:][:8]) != "12345678" {
		t.Fatalf("read %+v, %v", got, err)
	}
	if got.File, got.Offset = "", 0; !reflect.DeepEqual(got, want) {
		t.Fatalf("read %v", got)
	}
	if d := f.Describe(); d.Architecture != "llama" || d.Layers != 5 || d.Parameters != 2 {
		t.Fatalf("described as %+v", d)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tensor("w"); err == nil {
		t.Fatal("a closed file gave a tensor")
	}
	for _, bad := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := Open(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Fatalf("opening %s: %v", bad, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.gguf")
	os.WriteFile(empty, nil, 0o644)
	if _, err := Open(empty); err == nil || !strings.Contains(err.Error(), "not a GGUF file") {
		t.Fatalf("opening an empty file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	var buf bytes.Buffer
	meta := []KV{{"general.architecture", "llama"}, {"n", []any{[]int8{1}, []string{"a", ""}}}, {"b", []bool{true}}}
	Write(&buf, meta, []npu.Tensor{{Name: "w", Type: npu.Q8_0, Cols: 32, Rows: 2, Data: make([]byte, 68)}})
	f.Add(buf.Bytes())
	f.Add(file(2, 0).info("w", npu.F32, 0, 9).info("x", 10, 64, 256).data(80).b)
	f.Add(file(0, 1).str("a").u32(9).u32(9).u64(1).u32(9).u64(1).u32(4).u64(0).b)
	f.Fuzz(func(t *testing.T, b []byte) {
		head, headErr := ParseHeader("test", b[:len(b)/2], int64(len(b)))
		g, err := Parse("test", b)
		if headErr == nil {
			for _, info := range head.Tensors {
				head.Tensor(info.Name)
			}
		}
		if err != nil {
			return
		}
		g.Describe()
		for _, info := range g.Tensors {
			if tensor, err := g.Tensor(info.Name); err == nil {
				if err := tensor.Check(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// A file of gaps that claims many entries, tensors or texts takes no memory for them. Such a file takes none of the disk, either.
func TestManyClaimed(t *testing.T) {
	const gap = 40 << 20
	for name, h := range map[string]*head{
		"entries": file(0, gap/13), "tensors": file(gap/24, 0),
		"texts": file(0, 1).str("a").u32(uint32(Array)).u32(uint32(String)).u64(maxTexts + 1),
	} {
		b := append(h.b, make([]byte, gap)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("some.gguf", b)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 4<<20 {
			t.Errorf("%s: %d MB, %v", name, took>>20, err)
		}
	}
}
