package model

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/native"
)

// oracleBound is how far logits may be from llama.cpp's, relative to the standard deviation of a position's logits.
// Only rounding differs. ggml rounds the activations that it multiplies by F16 and BF16 weights to the same type; this
// package keeps float32. For quantised types both round activations to 8 bits, but a value halfway between two integers
// may round either way. The bounds are three times the largest difference measured over all positions of both
// architectures.
var oracleBound = map[npu.DType]float64{
	npu.F32: 5e-4, npu.F16: 8e-3, npu.BF16: 0.055, npu.Q8_0: 0.15, npu.Q4_0: 0.12, npu.Q4_K: 0.19, npu.Q5_K: 0.18, npu.Q6_K: 0.16,
}

// sameArithmetic bounds the smallest difference of a position, for types whose inputs both round in the same way. At
// positions where no value rounded the other way, such as the first ones, logits agree almost to float32's precision,
// which shows that the arithmetic is the same.
var sameArithmetic = map[npu.DType]float64{
	npu.F32: 5e-5, npu.Q8_0: 2e-5, npu.Q4_0: 2e-5, npu.Q4_K: 2e-5, npu.Q5_K: 2e-5, npu.Q6_K: 2e-5,
}

func TestLogitsAgreeWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	type variant struct {
		name string
		spec tinymodel.Spec
	}
	var variants []variant
	for _, arch := range []string{"llama", "qwen2", "llada", "dream"} {
		for _, typ := range npu.DTypes {
			variants = append(variants, variant{fmt.Sprintf("%s/%v", arch, typ), tinymodel.Spec{Arch: arch, Type: typ, Untied: arch == "llama" || arch == "llada"}})
		}
	}
	variants = append(variants,
		variant{"llama/biases", tinymodel.Spec{Bias: true}},
		variant{"llama/frequency-factors", tinymodel.Spec{Factors: true, RopeBase: 500000}},
		variant{"qwen2/linear-scaling", tinymodel.Spec{Arch: "qwen2", Linear: 4}},
		variant{"llama/wide-heads", tinymodel.Spec{HeadDim: 96}},
		variant{"qwen2/one-kv-head", tinymodel.Spec{Arch: "qwen2", KVHeads: 1, Heads: 8}},
		variant{"llada/wide-heads", tinymodel.Spec{Arch: "llada", HeadDim: 96}},
		variant{"dream/one-kv-head", tinymodel.Spec{Arch: "dream", KVHeads: 1, Heads: 8}},
	)
	for _, arch := range []string{"qwen3", "olmo2", "smollm3", "granite", "gemma", "gemma2", "gemma3", "phi3"} {
		for _, typ := range []npu.DType{npu.F32, npu.Q8_0, npu.Q4_K} {
			variants = append(variants, variant{fmt.Sprintf("%s/%v", arch, typ), tinymodel.Spec{Arch: arch, Type: typ, Untied: typ == npu.F32}})
		}
		odd := tinymodel.Spec{Arch: arch, HeadDim: 96, Heads: 6, KVHeads: 3}
		if arch == "olmo2" || arch == "phi3" { // llama.cpp computes their heads' width from the model's
			odd.HeadDim, odd.Heads, odd.KVHeads = 128, 2, 1
		}
		variants = append(variants, variant{arch + "/odd", odd}, variant{arch + "/deep", tinymodel.Spec{Arch: arch, Layers: 24, Heads: 8, KVHeads: 1}})
	}
	variants = append(variants,
		variant{"phi3/long-rope", tinymodel.Spec{Arch: "phi3", Factors: true}},
		variant{"gemma2/wide-window", tinymodel.Spec{Arch: "gemma2", Window: 500}},
		variant{"qwen3/yarn", tinymodel.Spec{Arch: "qwen3", YaRN: 4, RopeBase: 1e4}},
		variant{"llama/yarn", tinymodel.Spec{YaRN: 8, RopeBase: 5e5}},
	)
	for _, arch := range []string{"mistral3", "qwen3moe", "olmoe", "granitemoe", "gpt-oss", "lfm2"} {
		for _, typ := range []npu.DType{npu.F32, npu.Q8_0, npu.Q4_K} {
			variants = append(variants, variant{fmt.Sprintf("%s/%v", arch, typ), tinymodel.Spec{Arch: arch, Type: typ}})
		}
		odd := tinymodel.Spec{Arch: arch, HeadDim: 96, Heads: 6, KVHeads: 3, Experts: 5, Used: 2}
		if arch == "olmoe" || arch == "lfm2" { // llama.cpp computes their heads' width from the model's
			odd.HeadDim, odd.Heads, odd.KVHeads = 128, 2, 1
		}
		variants = append(variants, variant{arch + "/odd", odd},
			variant{arch + "/deep", tinymodel.Spec{Arch: arch, Layers: 24, Heads: 8, KVHeads: 1, Experts: 3, Used: 1}})
	}
	variants = append(variants,
		variant{"mistral3/yarn", tinymodel.Spec{Arch: "mistral3", YaRN: 4, Context: 128}},
		variant{"gpt-oss/yarn", tinymodel.Spec{Arch: "gpt-oss", YaRN: 4, Context: 128, Window: 500}},
		variant{"qwen3moe/all", tinymodel.Spec{Arch: "qwen3moe", Experts: 3, Used: 3}})
	for _, arch := range []string{"llama", "qwen2", "llada", "dream"} {
		variants = append(variants, variant{arch + "/deep", tinymodel.Spec{Arch: arch, Layers: 24}})
	}
	for i, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			v.spec.Dim, v.spec.FF, v.spec.Seed = 256, 512, uint64(i)
			compareLogits(t, lib, v.spec)
		})
	}
}

// bothLogits returns the logits of n tokens, llama.cpp's and ours, and our model, which is open until the test ends.
func bothLogits(t *testing.T, lib *llamacpp.Lib, file []byte, n int, opts ...Option) (ours *Model, want, got [][]float32) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	theirs, err := lib.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if ours, err = Open(path, native.New(1), opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	ids, tokens := make([]int32, n), make([]tandem.Token, n)
	for i := range ids {
		ids[i] = int32((i*89 + 17) % 256)
		tokens[i] = tandem.Token(ids[i])
	}
	if want, err = theirs.Logits(ids); err != nil {
		t.Fatal(err)
	}
	if got, err = allLogits(ours, tokens); err != nil {
		t.Fatal(err)
	}
	return ours, want, got
}

// Beyond the context of the first training, LongRoPE has other factors.
func TestLongContextAgreesWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: "phi3", Factors: true, Dim: 256, FF: 512, Seed: 4})
	for i := range meta {
		if strings.HasSuffix(meta[i].Key, "original_context_length") {
			meta[i].Value = uint32(16)
		}
	}
	file := encode(t, meta, tensors)
	ours, want, got := bothLogits(t, lib, file, 64, LongContext())
	for pos := range want {
		for i, v := range want[pos] {
			if off := math.Abs(float64(v-got[pos][i])) / deviation(want[pos]); off > 1.7e-3 {
				t.Fatalf("position %d: logits differ by %.2g of their deviation", pos, off)
			}
		}
	}
	short, err := OpenBytes("tiny", file, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	if short.config.Context != 16 || ours.config.Context != 512 || short.cacheFingerprint(nil) == ours.cacheFingerprint(nil) {
		t.Errorf("contexts of %d and %d, and caches that are told apart: %v", short.config.Context, ours.config.Context, short.cacheFingerprint(nil) != ours.cacheFingerprint(nil))
	}
}

func compareLogits(t *testing.T, lib *llamacpp.Lib, spec tinymodel.Spec) {
	ours, want, got := bothLogits(t, lib, tinymodel.GGUF(spec), 64)
	bound, worst, nearest := oracleBound[spec.Type], 0.0, math.Inf(1)
	limit, ok := sameArithmetic[spec.Type]
	limit *= float64(max(spec.Layers, 2)) / 2 // rounding adds up from layer to layer
	if spec.Layers > 2 {
		bound = max(bound, 1.7e-3)
	}
	if spec.Arch != "" && !slices.Contains([]string{"llama", "qwen2", "llada", "dream"}, spec.Arch) {
		// Norms within a layer, scales and windows make small differences larger: again three times the largest measured.
		bound, limit = max(bound, 1.7e-3), 5*limit
	}
	gelu := strings.HasPrefix(spec.Arch, "gemma") // which ggml looks up in a table of F16
	if gelu {
		bound = max(bound, 5e-3)
	}
	if spec.Arch == "lfm2" { // it keeps the inputs of convolutions as F16, llama.cpp as F32
		bound = max(bound, 2e-2) // three times the largest measured, of 24 layers
	}
	for pos := range want {
		scale := deviation(want[pos])
		off := 0.0
		for i := range want[pos] {
			off = max(off, math.Abs(float64(got[pos][i]-want[pos][i])))
		}
		worst, nearest = max(worst, off/scale), min(nearest, off/scale)
		if !(off <= bound*scale) {
			t.Fatalf("position %d: logits differ by %.2g of their deviation, want at most %.2g", pos, off/scale, bound)
		}
		best, margin := top(want[pos])
		if mine, _ := top(got[pos]); mine != best && margin > 2*bound*scale {
			t.Errorf("position %d: best token %d, want llama.cpp's %d, which leads by %.2g", pos, mine, best, margin/scale)
		}
	}
	t.Logf("differences of %.2g to %.2g of the logits' deviation, bound %.2g", nearest, worst, bound)
	// Where rows attend both ways, no position is free of what the others round.
	if ok && !gelu && nearest > limit && !ours.Config().Diffusion {
		t.Errorf("no position agrees to %.2g: the closest differs by %.2g", limit, nearest)
	}
}

func deviation(x []float32) float64 {
	var s, s2 float64
	for _, v := range x {
		s, s2 = s+float64(v), s2+float64(v)*float64(v)
	}
	n := float64(len(x))
	return math.Sqrt(s2/n - s/n*s/n)
}

// top returns the index of the largest number and its margin over the second largest.
func top(x []float32) (best int, margin float64) {
	second := math.Inf(-1)
	for i, v := range x {
		switch {
		case v > x[best]:
			second, best = float64(x[best]), i
		case i != best:
			second = max(second, float64(v))
		}
	}
	return best, float64(x[best]) - second
}

// allLogits returns the logits of every token: both ways in a diffusion model, as llama.cpp computes it.
func allLogits(m *Model, tokens []tandem.Token) ([][]float32, error) {
	if !m.Config().Diffusion {
		return m.Forward(context.Background(), []Input{{Seq: m.NewSeq(), Tokens: tokens, All: true}})
	}
	var rows []DenoiseRow
	for i, t := range tokens {
		rows = append(rows, DenoiseRow{Position: i, Token: t, Sees: len(tokens), Logits: true})
	}
	return m.Denoise(context.Background(), m.NewSeq(), rows, new(Logits))
}

// Llama models that rotate parts of heads are refused, here and there.
func TestPartialRotaryIsRefused(t *testing.T) {
	meta, tensors := tinymodel.Parts(tinymodel.Spec{HeadDim: 96, Dim: 256, FF: 512})
	for i := range meta {
		if strings.HasSuffix(meta[i].Key, "rope.dimension_count") {
			meta[i].Value = uint32(48)
		}
	}
	file := encode(t, meta, tensors)
	if _, err := OpenBytes("tiny", file, native.New(1)); err == nil || !strings.Contains(err.Error(), "rope.dimension_count is 48") {
		t.Errorf("opened, with error %v", err)
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := llamacpp.Need(t).Open(path, false); err == nil {
		m.Close()
		t.Error("llama.cpp opens it")
	}
}
