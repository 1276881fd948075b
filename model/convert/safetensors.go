package convert

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"tandem/model/gguf"
	"tandem/npu"
)

// maxHeader is the largest header in bytes that the safetensors format allows.
const maxHeader = 100 << 20

// A Stored is a tensor of a safetensors file.
type Stored struct {
	Type  npu.DType // F32, F16 or BF16, or no known type
	Shape []uint64  // rows first
	Data  []byte
}

// Safetensors parses a file in memory: eight bytes with the length of the header, the header in JSON, and the data that the
// header's offsets refer to. The name is for errors. Tensors of types other than F32, F16 and BF16 get the type notFloat,
// so that they are an error only if somebody needs them. The tensors alias b.
func Safetensors(name string, b []byte) (map[string]Stored, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%s: not a safetensors file: it has %d bytes", name, len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || n > uint64(len(b)-8) {
		return nil, fmt.Errorf("%s: the header of %d bytes does not fit in the file of %d; the file may be truncated, or not a safetensors file", name, n, len(b))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		return nil, fmt.Errorf("%s: header: %v", name, err)
	}
	delete(header, "__metadata__")
	tensors := make(map[string]Stored, len(header))
	var spans []span
	for key, raw := range header {
		t, at, err := parseEntry(raw, b[8+n:])
		if err != nil {
			return nil, fmt.Errorf("%s: tensor %.200q: %w", name, key, err)
		}
		tensors[key] = t
		if at.from < at.to {
			at.name = key
			spans = append(spans, at)
		}
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return nil, fmt.Errorf("%s: tensors %.200q and %.200q overlap", name, spans[i-1].name, spans[i].name)
		}
	}
	return tensors, nil
}

// span is the bytes of the data that a tensor takes.
type span struct {
	from, to uint64
	name     string
}

// parseEntry parses the header's entry of a tensor and finds the tensor in the data.
func parseEntry(raw json.RawMessage, data []byte) (t Stored, at span, err error) {
	var entry struct {
		Dtype   string    `json:"dtype"`
		Shape   []uint64  `json:"shape"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		return t, at, err
	}
	from, to := entry.Offsets[0], entry.Offsets[1]
	if from > to || to > uint64(len(data)) {
		return t, at, fmt.Errorf("bytes %d to %d are outside the %d bytes of data; the file may be truncated", from, to, len(data))
	}
	typ, size := dtypes[entry.Dtype].typ, dtypes[entry.Dtype].size
	if size == 0 {
		return t, at, fmt.Errorf("unknown type %.20q: F32, F16 and BF16 can be converted", entry.Dtype)
	}
	for _, d := range entry.Shape {
		var over uint64
		if over, size = bits.Mul64(size, d); over != 0 {
			return t, at, fmt.Errorf("shape %d is too large", entry.Shape)
		}
	}
	if size != to-from {
		return t, at, fmt.Errorf("%d bytes do not match type %s and shape %d", to-from, entry.Dtype, entry.Shape)
	}
	return Stored{Type: typ, Shape: entry.Shape, Data: data[from:to:to]}, span{from: from, to: to}, nil
}

const notFloat npu.DType = 1 << 30 // any type that cannot be converted

var dtypes = map[string]struct {
	typ  npu.DType
	size uint64
}{
	"F32": {npu.F32, 4}, "F16": {npu.F16, 2}, "BF16": {npu.BF16, 2}, "F64": {notFloat, 8}, "F8_E4M3": {notFloat, 1}, "F8_E5M2": {notFloat, 1},
	"I64": {notFloat, 8}, "I32": {notFloat, 4}, "I16": {notFloat, 2}, "I8": {notFloat, 1}, "U8": {notFloat, 1}, "BOOL": {notFloat, 1},
	"U16": {notFloat, 2}, "U32": {notFloat, 4}, "U64": {notFloat, 8},
}

// shards holds the tensors of all safetensors files of a model.
type shards struct {
	tensors map[string]Stored
	unmap   []func() error
}

func (s *shards) close() error {
	var errs []error
	for _, f := range s.unmap {
		errs = append(errs, f())
	}
	s.unmap = nil
	return errors.Join(errs...)
}

// text keeps the tensors of a language model that is part of a larger one, under the names that they have alone.
func (s *shards) text() {
	all := s.tensors
	s.tensors = make(map[string]Stored, len(all))
	for name, t := range all {
		switch {
		case strings.HasPrefix(name, "language_model."): // and model. or lm_head.
			s.tensors[strings.TrimPrefix(name, "language_model.")] = t
		case strings.HasPrefix(name, "model.language_model."):
			s.tensors["model."+strings.TrimPrefix(name, "model.language_model.")] = t
		case strings.Contains(name, "vision_tower.") || strings.Contains(name, "multi_modal_projector."):
		default:
			s.tensors[name] = t
		}
	}
}

// openShards maps the files that the index names; without an index, model.safetensors or the only .safetensors file.
func openShards(dir string) (_ *shards, err error) {
	s := &shards{tensors: map[string]Stored{}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	files, where, err := shardFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		path := filepath.Join(dir, name)
		b, unmap, err := gguf.Map(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is missing: download all files of the model", path)
		} else if err != nil {
			return nil, err
		}
		s.unmap = append(s.unmap, unmap)
		tensors, err := Safetensors(path, b)
		if err != nil {
			return nil, err
		}
		for key, t := range tensors {
			if _, twice := s.tensors[key]; twice {
				return nil, fmt.Errorf("%s: tensor %.200q is also in another file", path, key)
			}
			s.tensors[key] = t
		}
	}
	for key, file := range where {
		if _, ok := s.tensors[key]; !ok {
			return nil, fmt.Errorf("%s: tensor %.200q is missing, though the index lists it: download the file again", filepath.Join(dir, file), key)
		}
	}
	return s, nil
}

// shardFiles returns the names of the files in dir and, if there is an index, the file of each tensor.
func shardFiles(dir string) (files []string, where map[string]string, err error) {
	b, err := readSmall(filepath.Join(dir, "model.safetensors.index.json"))
	if err == nil {
		var index struct {
			Map map[string]string `json:"weight_map"`
		}
		if err := json.Unmarshal(b, &index); err != nil || len(index.Map) == 0 {
			return nil, nil, fmt.Errorf("%s: the index has no weight_map (%v)", dir, err)
		}
		for _, f := range index.Map {
			if !slices.Contains(files, f) {
				if !filepath.IsLocal(f) || strings.ContainsAny(f, `/\:`) {
					return nil, nil, fmt.Errorf("%s: the index names the file %.200q, which is not a plain file name", dir, f)
				}
				files = append(files, f)
			}
		}
		slices.Sort(files)
		return files, index.Map, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); err == nil {
		return []string{"model.safetensors"}, nil, nil
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if len(found) == 1 {
		return []string{filepath.Base(found[0])}, nil, nil
	}
	if other, _ := filepath.Glob(filepath.Join(dir, "*.bin")); len(found) == 0 && len(other) > 0 {
		return nil, nil, fmt.Errorf("%s has only PyTorch files (%s), which can contain programs and are not read: ask the owner for safetensors, or use the hub's conversion service", dir, filepath.Base(other[0]))
	}
	return nil, nil, fmt.Errorf("%s has %d .safetensors files and no index: want model.safetensors, or model.safetensors.index.json and its files", dir, len(found))
}

// maxSmall bounds the size of JSON and text files in bytes.
const maxSmall = 256 << 20

func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSmall {
		return nil, fmt.Errorf("%s: want a regular file of at most %d bytes", path, maxSmall)
	}
	return os.ReadFile(path)
}
