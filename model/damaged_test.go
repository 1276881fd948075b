package model

import (
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/native"
)

// A model with weights that are not numbers says so, and its sequences stay as they were.
func TestNotANumber(t *testing.T) {
	for _, spec := range []tinymodel.Spec{{Type: npu.F16}, {Arch: "llada", Type: npu.F16, Context: 64}, {Arch: "bert", Dim: 64, Type: npu.F16}} {
		meta, tensors := tinymodel.Parts(spec)
		for _, w := range tensors {
			if strings.HasSuffix(w.Name, "0.ffn_down.weight") {
				copy(w.Data, []byte{0, 0x7e}) // NaN
			}
		}
		m, err := OpenBytes("tiny", encode(t, meta, tensors), native.New(1))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		seq := m.NewSeq()
		switch {
		case m.Config().Pooling != NoPooling:
			_, err = m.Embed(t.Context(), []tandem.Token{1, 2})
		case m.Config().Diffusion:
			_, err = m.Denoise(t.Context(), seq, []DenoiseRow{{Token: 1, Sees: 1, Logits: true}}, new(Logits))
		default:
			_, err = m.Forward(t.Context(), []Input{{Seq: seq, Tokens: []tandem.Token{1, 2}}})
		}
		if err == nil || !strings.Contains(err.Error(), "weights are damaged") || seq.Len() != 0 {
			t.Errorf("%q: error %v, %d tokens", spec.Arch, err, seq.Len())
		}
	}
}
