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

// A mix determines which matrices get more bits than the others.
type mix int

const (
	noMix  mix = iota
	small      // as in Q4_K_S
	medium     // as in the _M schemes
)

// schemes lists the schemes under the names that llama.cpp's tools use.
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
	return Scheme{}, fmt.Errorf("unknown type %q: use one of %s", name, strings.Join(Schemes(), ", "))
}

// floats reports whether the scheme stores unquantised numbers.
func (s Scheme) floats() bool { return s.matrix.BlockSize() == 1 }

// choose sets the output type of every tensor. It chooses as llama.cpp does without an importance matrix, except for rows
// that do not fit a block and for 70B models, whose attention values llama.cpp stores as Q5_K or better:
//
//   - vectors (norms, biases, frequency factors), the scores of experts and short convolutions become F32; MXFP4 stays; learned positions keep their type, or become F16 if quantised;
//   - the output matrix, or the embedding if it serves as both, becomes Q6_K in quantised schemes other than Q8_0;
//   - the _M schemes store attn_v and ffn_down as Q6_K in the first and last eighth of the layers and in every third
//     layer between;
//   - Q4_K_S stores attn_v as Q5_K in the first four layers, and ffn_down in the first eighth of the layers;
//   - a matrix whose rows are not whole blocks of its type becomes Q8_0, or F16 if they are not blocks of 32 either
//     (llama.cpp uses Q5_0 and Q5_1, which this package does not write).
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
		case t.typ == npu.MXFP4: // what its makers trained
			t.to = t.typ
			continue
		case len(t.shape) == 1 || part == "ffn_gate_inp.weight" || part == "shortconv.conv.weight" || strings.HasSuffix(t.name, ".bias") || strings.HasSuffix(t.name, "norm.weight"):
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

// layerOf splits a name such as blk.7.attn_v.weight into 7 and attn_v.weight.
func layerOf(name string) (layer int, part string, ok bool) {
	rest, ok := strings.CutPrefix(name, "blk.")
	if !ok {
		return 0, "", false
	}
	number, part, ok := strings.Cut(rest, ".")
	layer, err := strconv.Atoi(number)
	return layer, part, ok && err == nil && layer >= 0 && layer < 1<<16
}

// Options controls a conversion or quantisation.
type Options struct {
	Scheme     Scheme
	Requantize bool // accept sources of fewer than 8 bits
	Progress   func(Progress)
}

// Quantize converts the tensors of the model at in to the types of opt.Scheme and writes a new file at out. It keeps the
// metadata. It refuses tensors of fewer than 8 bits unless opt.Requantize is set, because rounding errors add up.
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
		if lossy := t.typ.BlockSize() != 1 && t.typ != npu.Q8_0; lossy && t.typ != t.to && !opt.Requantize {
			return nil, fmt.Errorf("%s: tensor %q is already %v, and converting it to %v adds rounding errors: start from an F16 or Q8_0 file, or allow it (--requantize)",
				f.Name, t.name, gguf.DTypeName(t.typ), t.to)
		}
	}
	return writeFile(ctx, out, setScheme(f.KVs(), opt.Scheme), tensors, opt.Progress)
}

// setScheme returns the metadata for a scheme, without the keys of split files and importance matrices.
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
