package gguf

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tandem/npu"
)

// writeParts writes a model of n tensors, one in each part, and returns the parts' paths. bend may change a part.
func writeParts(t *testing.T, n int, bend func(part int, meta []KV, tensors []npu.Tensor) ([]KV, []npu.Tensor)) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := range n {
		meta := []KV{{"split.no", uint16(i)}, {"split.count", uint16(n)}}
		if i == 0 {
			meta = append(meta, KV{"general.architecture", "llama"}, KV{"split.tensors.count", int32(n)})
		}
		tensors := []npu.Tensor{{Name: fmt.Sprintf("w%d", i), Type: npu.F32, Cols: 2, Rows: 1, Data: []byte{byte(i), 2, 3, 4, 5, 6, 7, 8}}}
		if bend != nil {
			meta, tensors = bend(i, meta, tensors)
		}
		var b bytes.Buffer
		if err := Write(&b, meta, tensors); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("m-%05d-of-%05d.gguf", i+1, n))
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestAnyPartOpensTheWholeModel(t *testing.T) {
	paths := writeParts(t, 3, nil)
	for _, path := range paths {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != filepath.Join(filepath.Dir(path), "m.gguf") || len(f.Tensors) != 3 {
			t.Errorf("%s: %d tensors", f.Name, len(f.Tensors))
		}
		for i := range 3 {
			got, err := f.Tensor(fmt.Sprintf("w%d", i))
			if err != nil || got.Data[0] != byte(i) || len(got.Data) != 8 {
				t.Errorf("tensor %d: %v, %v", i, got, err)
			}
		}
		if arch, _ := f.String("general.architecture"); arch != "llama" {
			t.Errorf("architecture %q", arch)
		}
		if d := f.Describe(); d.Parameters != 6 || d.Bytes < 3*8 {
			t.Errorf("described as %+v", d)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := f.Tensor("w2"); err == nil {
			t.Error("a closed model gave a tensor")
		}
	}
}

func TestPartsThatDoNotFitAreRefused(t *testing.T) {
	bend := func(key string, value any) func(int, []KV, []npu.Tensor) ([]KV, []npu.Tensor) {
		return func(part int, meta []KV, tensors []npu.Tensor) ([]KV, []npu.Tensor) {
			for i := range meta {
				if meta[i].Key == key && (part == 1 || part == 0 && key == "split.tensors.count") {
					meta[i].Value = value
				}
			}
			if key == "twice" && part == 1 {
				tensors[0].Name = "w0"
			}
			return meta, tensors
		}
	}
	for _, c := range []struct {
		name   string
		bend   func(int, []KV, []npu.Tensor) ([]KV, []npu.Tensor)
		damage func(paths []string) string // returns the path to open
		want   string
	}{
		{"a part is missing", nil, func(p []string) string { os.Remove(p[1]); return p[0] }, "part 2 of 3 of the model is missing"},
		{"a part is cut short", nil, func(p []string) string { os.Truncate(p[2], 60); return p[0] }, "m-00003-of-00003.gguf"},
		{"the name has no number", nil, func(p []string) string {
			to := filepath.Join(filepath.Dir(p[0]), "m.gguf")
			os.Rename(p[0], to)
			return to
		}, "name it like NAME-00001-of-00003.gguf"},
		{"the number is another", bend("split.no", uint16(0)), nil, "part 1 of 3, its name 2 of 3"},
		{"the count is another", bend("split.count", uint16(9)), nil, "different models"},
		{"a tensor is there twice", bend("twice", nil), nil, `"w0" also occurs in another part`},
		{"tensors are missing", bend("split.tensors.count", int32(5)), nil, "hold 3 tensors, but the first part says 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := writeParts(t, 3, c.bend)
			path := paths[0]
			if c.damage != nil {
				path = c.damage(paths)
			}
			if _, err := Open(path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestSplitPaths(t *testing.T) {
	if got := SplitPaths("a/b-00002-of-00002.gguf"); !reflect.DeepEqual(got, []string{"a/b-00001-of-00002.gguf", "a/b-00002-of-00002.gguf"}) {
		t.Errorf("%q", got)
	}
	for _, other := range []string{"b.gguf", "b-00000-of-00002.gguf", "b-00003-of-00002.gguf", "b-1-of-2.gguf", "b-00001-of-00002.bin"} {
		if got := SplitPaths(other); got != nil || SplitBase(other) != other {
			t.Errorf("%s: %q", other, got)
		}
	}
}
