package gguf

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tandem/npu"
)

// Two parts of a model, whatever is in them, open as one model whose tensors are no larger than the parts, or not at all.
func FuzzSplit(f *testing.F) {
	part := func(no, tensors int, name string) []byte {
		meta := []KV{{"split.no", uint16(no)}, {"split.count", uint16(2)}}
		if no == 0 {
			meta = append(meta, KV{"split.tensors.count", int32(tensors)})
		}
		var b bytes.Buffer
		if err := Write(&b, meta, []npu.Tensor{{Name: name, Type: npu.F32, Cols: 2, Rows: 1, Data: make([]byte, 8)}}); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	f.Add(part(0, 2, "a"), part(1, 2, "b"))
	f.Add(part(0, 2, "a"), part(1, 2, "a"))
	f.Add(part(0, 3, "a"), part(0, 2, "b"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		if len(first)+len(second) > 1<<16 {
			t.Skip()
		}
		dir := t.TempDir()
		for i, b := range [][]byte{first, second} {
			if err := os.WriteFile(filepath.Join(dir, []string{"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}[i]), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"} {
			whole, err := Open(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			total := 0
			for _, info := range whole.Tensors {
				x, err := whole.Tensor(info.Name)
				if err != nil {
					continue // of a type that is not read
				}
				total += len(x.Data)
			}
			if len(whole.Tensors) > 1 && total > 64*(len(first)+len(second)) { // tensors may overlap, but are few
				t.Errorf("%s: %d bytes of tensors in %d of files", name, total, len(first)+len(second))
			}
			whole.Close()
		}
	})
}
