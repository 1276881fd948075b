package model

import (
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/npu/native"
)

// A file is opened or refused, and what was opened decodes: no file makes the program panic or take memory that the file
// does not account for.
func FuzzOpen(f *testing.F) {
	for _, arch := range tinymodel.Architectures() {
		f.Add(tinymodel.GGUF(tinymodel.Spec{Arch: arch, Layers: 1, Dim: 32, FF: 32, Heads: 2, KVHeads: 1}))
	}
	f.Add(tinymodel.GGUF(tinymodel.Spec{Arch: "bert", Layers: 1, Dim: 32, FF: 32, Heads: 2, Labels: []string{"a", "b"}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<18 {
			t.Skip()
		}
		m, err := OpenBytes("fuzzed", b, native.New(1))
		if err != nil {
			return
		}
		defer m.Close()
		c := m.Config()
		if c.Vocab < 1 || c.Dim > 1<<12 || c.Layers > 64 {
			t.Skip()
		}
		if _, err := m.Score(t.Context(), "a", "b"); err != nil {
			t.Log(err)
		}
		if _, err := m.Forward(t.Context(), []Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{0}}}); err != nil {
			t.Log(err)
		}
	})
}
