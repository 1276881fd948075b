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

// schemeNames lists the names of the schemes.
func schemeNames() []string {
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
	return Scheme{}, fmt.Errorf("unknown type %q: use one of %s", name, strings.Join(schemeNames(), ", "))
}

// floats reports whether the scheme stores unquantised numbers.
func (s Scheme) floats() bool { return s.matrix.BlockSize() == 1 }

// Choose sets the types of a model's tensors as llama.cpp's quantiser does without an importance matrix, except for mixtures of
// eight experts and 70B models, some of whose matrices it gives more bits:
//
//   - vectors (norms, biases, frequency factors), the scores of experts and short convolutions become F32; MXFP4 stays;
//     learned positions keep their type, or become F16 if quantised;
//   - the output matrix, or the embedding if it serves as both, becomes Q6_K in quantised schemes other than Q8_0;
//   - the _M schemes store ffn_down, and attn_v or what it is fused into, as Q6_K in the first and last eighth of the layers and
//     in every third layer between; layers without attention do not count for attn_v;
//   - Q4_K_S stores attn_v as Q5_K in the first four layers, and ffn_down in the first eighth of the layers;
//   - a matrix whose rows are not whole blocks of 256 becomes Q5_0 instead of Q4_K, Q5_1 instead of Q5_K and Q8_0 instead of Q6_K,
//     or F16 if they are not blocks of 32 either.
func (s Scheme) Choose(tensors []gguf.TensorInfo) {
	layers, attend, tied := 0, 0, true
	for _, t := range tensors {
		layer, part, ok := layerOf(t.Name)
		if ok {
			layers = max(layers, layer+1)
		}
		if ok && holdsValues(part) {
			attend++
		}
		tied = tied && t.Name != "output.weight"
	}
	attends := 0
	for i := range tensors {
		t := &tensors[i]
		layer, part, inLayer := layerOf(t.Name)
		if s.keeps(t, part) {
			continue
		}
		t.Type = s.matrix
		switch {
		case s.floats():
			continue
		case t.Name == "output.weight", t.Name == "token_embd.weight" && tied:
			if s.matrix != npu.Q8_0 {
				t.Type = npu.Q6_K
			}
		case inLayer && holdsValues(part):
			t.Type = s.more(attends, attend, attends < 4)
			attends++
		case inLayer && strings.HasPrefix(part, "ffn_down"):
			t.Type = s.more(layer, layers, layer < layers/8)
		}
		if cols := int(t.Shape[0]); cols%t.Type.BlockSize() != 0 {
			small, ok := smaller[t.Type]
			if t.Type = npu.F16; ok && cols%small.BlockSize() == 0 {
				t.Type = small
			}
		}
	}
}

// holdsValues reports whether a tensor computes the values of attention, alone or with queries and keys.
func holdsValues(part string) bool { return part == "attn_v.weight" || part == "attn_qkv.weight" }

// smaller are the types with blocks of 32 for rows that are not whole blocks of 256.
var smaller = map[npu.DType]npu.DType{npu.Q4_K: npu.Q5_0, npu.Q5_K: npu.Q5_1, npu.Q6_K: npu.Q8_0}

// keeps sets the type of a tensor that is no matrix of weights and reports whether it is one.
func (s Scheme) keeps(t *gguf.TensorInfo, part string) bool {
	switch {
	case t.Type == npu.MXFP4: // what its makers trained
	case len(t.Shape) == 1 || part == "ffn_gate_inp.weight" || part == "shortconv.conv.weight" || strings.HasSuffix(t.Name, ".bias") || strings.HasSuffix(t.Name, "norm.weight"):
		t.Type = npu.F32
	case t.Name == "position_embd.weight":
		if t.Type.BlockSize() > 1 {
			t.Type = npu.F16
		}
	default:
		return false
	}
	return true
}

// more returns the type of matrix i of n that the mixes may give more bits; first says whether it is one of the first.
func (s Scheme) more(i, n int, first bool) npu.DType {
	switch {
	case s.mix == medium && (i < n/8 || i >= 7*n/8 || (i-n/8)%3 == 2):
		return npu.Q6_K
	case s.mix == small && first:
		return npu.Q5_K
	}
	return s.matrix
}

// choose sets the output type of every tensor: that of Choose, or Q8_0 for types that this package does not write.
func (s Scheme) choose(tensors []tensor) {
	infos := make([]gguf.TensorInfo, len(tensors))
	for i, t := range tensors {
		infos[i] = gguf.TensorInfo{Name: t.name, Type: t.typ, Shape: t.shape}
	}
	s.Choose(infos)
	for i := range tensors {
		to := infos[i].Type
		if to == npu.Q5_0 || to == npu.Q5_1 {
			to = npu.Q8_0
		}
		tensors[i].to = to
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
