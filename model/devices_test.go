package model

import (
	"context"
	"math"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone/pass"
	"tandem/npu/reference"
)

// passing compiles graphs after a pass.
type passing struct {
	npu.Device
	pass pass.Pass
}

func (d passing) Compile(g *npu.Graph) (npu.Program, error) {
	g, err := d.pass(g)
	if err != nil {
		return nil, err
	}
	return d.Device.Compile(g)
}

// Every architecture gives the same logits on native, on the plain reference, and there as graphs of a phone: with norms
// unfolded and scales folded, one node for each head, and keys by column.
func TestArchitecturesOnAllDevices(t *testing.T) {
	phone := pass.Chain(pass.Unfold, pass.FoldScales(nil), pass.FoldNorms, pass.SplitHeads, pass.Convolve)
	for _, arch := range Architectures() {
		b := tinymodel.GGUF(tinymodel.Spec{Arch: arch, Dim: 32, FF: 64, Seed: 3})
		var want [][]float32
		for _, d := range []npu.Device{native.New(1), reference.New(), passing{reference.New(), phone}} {
			m, err := OpenBytes("tiny", b, d)
			if _, cut := d.(passing); cut && (arch == "olmo2" || arch == "olmoe") { // its norms read all heads together
				if err == nil || !strings.Contains(err.Error(), "a head cannot be cut out of") {
					t.Errorf("%s as single heads: error %v", arch, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s on %s: %v", arch, d.Name(), err)
				continue
			}
			var tokens []tandem.Token
			for i := range 24 { // more than a window
				tokens = append(tokens, tandem.Token(i*37%256))
			}
			var got [][]float32
			if m.Config().Pooling != NoPooling {
				var vector []float32
				vector, err = m.Embed(context.Background(), tokens)
				got = [][]float32{vector}
			} else if m.Config().Diffusion {
				got, err = allLogits(m, tokens)
			} else {
				got, err = m.Forward(context.Background(), []Input{{Seq: m.NewSeq(), Tokens: tokens, All: true}})
			}
			m.Close()
			if err != nil {
				t.Errorf("%s on %s: %v", arch, d.Name(), err)
				continue
			}
			if want == nil {
				want = got
				continue
			}
			off := 0.0
			for i := range got {
				for j, v := range got[i] {
					off = max(off, math.Abs(float64(v-want[i][j]))/deviation(want[i]))
				}
			}
			if off > 5e-3 {
				t.Errorf("%s on %s: logits differ by %.2g of their deviation", arch, d.Name(), off)
			}
		}
	}
}

// ggml's devices refuse what they lack, with the way out.
func TestGGMLRefuses(t *testing.T) {
	info := needGGML(t)[0]
	for arch, want := range map[string]string{"qwen3moe": "experts", "gpt-oss": "sinks", "lfm2": "shortconv"} {
		_, err := OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: arch}), openDevice(t, "ggml:"+info.Name))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--device native") {
			t.Errorf("%s: error %v", arch, err)
		}
	}
	_, err := OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{HeadDim: 32}), openDevice(t, "ggml:"+info.Name), KVCache(npu.CacheQ8_0))
	if err == nil || !strings.Contains(err.Error(), "--kv-type f16") {
		t.Errorf("keys and values in Q8_0: error %v", err)
	}
}
