package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandem/model/gguf"
	"tandem/npu"
)

// A Scheme assigns types to tensors.
type Scheme struct {
	name   string
	matrix npu.DType // of most matrices
	number uint32    // general.file_type
	mix    mix       // which matrices get more bits
}

// A mix says which matrices of a scheme get more bits than most.
type mix int

const (
	noMix  mix = iota
	small      // Q4_K_S's
	medium     // the _M schemes'
)

// schemes have the names of llama.cpp's tools.
var schemes = []Scheme{
	{"f32", npu.F32, 0, noMix}, {"f16", npu.F16, 1, noMix}, {"bf16", npu.BF16, 32, noMix},
	{"q8_0", npu.Q8_0, 7, noMix}, {"q4_0", npu.Q4_0, 2, noMix},
	{"q4_k_s", npu.Q4_K, 14, small}, {"q4_k_m", npu.Q4_K, 15, medium},
	{"q5_k_s", npu.Q5_K, 16, noMix}, {"q5_k_m", npu.Q5_K, 17, medium}, {"q6_k", npu.Q6_K, 18, noMix},
}

// Schemes lists the names of the schemes.
func Schemes() []string {
	names := make([]string, len(schemes))
	for i, s := range schemes {
		names[i] = s.name
	}
	return names
}

// ParseScheme returns a scheme by its name. As in llama.cpp, q4_k means q4_k_m, and q5_k means q5_k_m.
func ParseScheme(name string) (Scheme, error) {
	key := strings.ToLower(name)
	if key == "q4_k" || key == "q5_k" {
		key += "_m"
	}
	for _, s := range schemes {
		if s.name == key {
			return s, nil
		}
	}
	return Scheme{}, fmt.Errorf("type %q is not known: use one of %s", name, strings.Join(Schemes(), ", "))
}

// floats reports whether the scheme stores unquantised numbers.
func (s Scheme) floats() bool { return s.matrix.BlockSize() == 1 }

// choose sets what every tensor becomes. The choices are llama.cpp's without an importance matrix, but for what
// does not fit and for models of 70B, whose attention values it stores as Q5_K at least:
//
//   - vectors (norms, biases, frequency factors) stay F32, learned positions as they are (at least F16);
//   - the output matrix, or the embedding where it is both, gets Q6_K in schemes with fewer bits;
//   - the _M schemes store attention values and the matrices back from the feed-forward layer as Q6_K in the
//     first and last eighth of the layers and in every third between;
//   - Q4_K_S stores as Q5_K the attention values of the first four layers, and the matrices back from the
//     feed-forward layer in the first eighth;
//   - rows that are no whole blocks of 256 become Q8_0, or F16 where they are no blocks of 32 either
//     (llama.cpp takes Q5_0 and Q5_1, which this program does not write).
func (s Scheme) choose(tensors []tensor) {
	layers, tied := 0, true
	for _, t := range tensors {
		if layer, _, ok := layerOf(t.name); ok {
			layers = max(layers, layer+1)
		}
		tied = tied && t.name != "output.weight"
	}
	for i := range tensors {
		t := &tensors[i]
		layer, part, inLayer := layerOf(t.name)
		t.to = s.matrix
		switch {
		case len(t.shape) == 1 || strings.HasSuffix(t.name, ".bias") || strings.HasSuffix(t.name, "norm.weight"):
			t.to = npu.F32
			continue
		case t.name == "position_embd.weight":
			t.to = npu.F16
			if t.typ.BlockSize() == 1 {
				t.to = t.typ
			}
			continue
		case s.floats():
			continue
		case t.name == "output.weight", t.name == "token_embd.weight" && tied:
			if s.matrix != npu.Q8_0 {
				t.to = npu.Q6_K
			}
		case s.mix == medium && inLayer && (part == "attn_v.weight" || part == "ffn_down.weight") &&
			(layer < layers/8 || layer >= 7*layers/8 || (layer-layers/8)%3 == 2):
			t.to = npu.Q6_K
		case s.mix == small && inLayer && (part == "attn_v.weight" && layer < 4 || part == "ffn_down.weight" && layer < layers/8):
			t.to = npu.Q5_K
		}
		if t.cols()%t.to.BlockSize() != 0 {
			t.to = npu.Q8_0
		}
		if t.cols()%t.to.BlockSize() != 0 {
			t.to = npu.F16
		}
	}
}

// layerOf splits a name such as blk.7.attn_v.weight.
func layerOf(name string) (layer int, part string, ok bool) {
	rest, ok := strings.CutPrefix(name, "blk.")
	if !ok {
		return 0, "", false
	}
	number, part, ok := strings.Cut(rest, ".")
	layer, err := strconv.Atoi(number)
	return layer, part, ok && err == nil && layer >= 0 && layer < 1<<16
}

// Options say how to quantise.
type Options struct {
	Scheme     Scheme
	Requantize bool // take sources of fewer bits than 8 too
	Progress   func(Progress)
}

// Quantize stores the tensors of the model at in as the scheme says, in a new file at out. Metadata is kept.
// A source that has lost bits already is refused unless opt.Requantize is set: its errors add up.
func Quantize(ctx context.Context, in, out string, opt Options) (*Report, error) {
	f, err := gguf.Open(in)
	if err != nil {
		return nil, err
	}
	r, err := quantize(ctx, f, out, opt)
	return r, errors.Join(err, f.Close())
}

func quantize(ctx context.Context, f *gguf.File, out string, opt Options) (*Report, error) {
	var tensors []tensor
	for _, info := range f.Tensors {
		t, err := f.Tensor(info.Name)
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, tensor{name: info.Name, shape: info.Shape, typ: t.Type, data: t.Data})
	}
	if len(tensors) == 0 {
		return nil, fmt.Errorf("%s holds no tensors", f.Name)
	}
	opt.Scheme.choose(tensors)
	for _, t := range tensors {
		if lossy := t.typ.BlockSize() > 1 && t.typ != npu.Q8_0; lossy && t.typ != t.to && !opt.Requantize {
			return nil, fmt.Errorf("%s: tensor %q is %v already, and turning it into %v adds up errors: start from an F16 or Q8_0 file, or allow it (--requantize)",
				f.Name, t.name, t.typ, t.to)
		}
	}
	return writeFile(ctx, out, setScheme(f.KVs(), opt.Scheme), tensors, opt.Progress)
}

// setScheme returns metadata with the scheme, and without the keys of a model in several files.
func setScheme(meta []gguf.KV, s Scheme) []gguf.KV {
	list := slices.DeleteFunc(slices.Clone(meta), func(kv gguf.KV) bool {
		return strings.HasPrefix(kv.Key, "split.") || kv.Key == "general.file_type" || kv.Key == "general.quantization_version" ||
			strings.HasPrefix(kv.Key, "quantize.imatrix.")
	})
	list = append(list, gguf.KV{Key: "general.file_type", Value: s.number})
	if !s.floats() {
		list = append(list, gguf.KV{Key: "general.quantization_version", Value: uint32(2)})
	}
	return list
}
