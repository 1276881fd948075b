// Package tinymodel makes GGUF files of transformers with random weights, for tests that need a model but no meaningful text.
// Stream writes large files, for measurements.
package tinymodel

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

// Spec describes a model. Zero fields mean the defaults in brackets.
type Spec struct {
	Arch     string     // one of Architectures [llama]
	Type     npu.DType  // of all matrices [F32, which is 0]
	Embed    *npu.DType // of the embedding, which is also the output matrix unless Untied [Type]
	Expert   *npu.DType // of the matrices of experts, in architectures that have them [Type]
	Layers   int        // [2]
	Dim      int        // [64]
	Heads    int        // [4]
	KVHeads  int        // [2; opt: Heads]
	HeadDim  int        // [Dim/Heads]
	FF       int        // [128]
	Context  int        // [512]
	RopeBase float64    // [10000]
	Linear   float64    // factor of linear scaling of positions [none]
	YaRN     float64    // factor of YaRN [none]
	Window   int        // of layers that attend to the last positions, in architectures that have them [12]
	Experts  int        // of each layer, in architectures that have them [6]
	Used     int        // for each token [3]
	Factors  bool       // frequency factors of the rotary embedding, as in Llama 3
	Untied   bool       // a separate output matrix
	Bias     bool       // q, k and v biases; qwen2 always has them
	Seed     uint64
	Gain     float64                         // of the random matrices; a larger one makes distributions less uniform [1]
	Words    []string                        // tokens besides the 256 bytes, of ASCII letters
	Template string                          // chat template
	Unigrams bool                            // a vocabulary of SentencePiece's unigrams, instead of bytes; see Unigram
	Mix      func(tensors []gguf.TensorInfo) // sets the types of tensors, of which Type and the like are the first choice; nil for none
	Labels   []string                        // of a classification head, which makes an encoder a cross-encoder; none for no head
}

// EOS returns the id of the end-of-text token, the first after the 256 bytes and the words. The vocabulary is byte-level
// BPE whose only merges are those of the words.
func (s Spec) EOS() int { return 256 + len(s.withDefaults().pieces()) }

// Mask returns the id of the token that stands for an undecided one, in diffusion models.
func (s Spec) Mask() int { return s.EOS() + 1 }

func (s Spec) withDefaults() Spec {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if s.Arch == "" {
		s.Arch = "llama"
	}
	set(&s.Dim, 64)
	set(&s.Heads, 4)
	if set := architectures[s.Arch].defaults; set != nil {
		set(&s)
	}
	set(&s.Layers, 2)
	set(&s.KVHeads, 2)
	set(&s.HeadDim, s.Dim/s.Heads)
	set(&s.FF, 128)
	set(&s.Context, 512)
	set(&s.Experts, 6)
	set(&s.Used, 3)
	if s.RopeBase == 0 {
		s.RopeBase = 10000
	}
	if s.Embed == nil {
		s.Embed = &s.Type
	}
	if s.Expert == nil {
		s.Expert = &s.Type
	}
	if s.Gain == 0 {
		s.Gain = 1
	}
	return s
}

// GGUF returns the file of a model. It panics if a matrix does not fit its type's blocks.
func GGUF(s Spec) []byte {
	meta, tensors := Parts(s)
	var b bytes.Buffer
	if err := gguf.Write(&b, meta, tensors); err != nil {
		panic(fmt.Sprintf("tinymodel: %v", err))
	}
	return b.Bytes()
}

// Parts returns the metadata and tensors of the file, for tests that change them.
func Parts(s Spec) ([]gguf.KV, []npu.Tensor) {
	s = s.withDefaults()
	meta, vocab := s.meta()
	r := rand.New(rand.NewPCG(s.Seed, 0x7a))
	var tensors []npu.Tensor
	for _, w := range s.mixed(meta, vocab) {
		tensors = append(tensors, random(r, w))
	}
	return meta, tensors
}

func random(r *rand.Rand, w weights) npu.Tensor {
	x := make([]float32, w.rows*w.cols)
	for i := range x { // uniform, by operations that all processors round alike
		x[i] = w.at(r.Float64())
	}
	out := npu.Tensor{Name: w.name, Type: w.typ, Rows: w.rows, Cols: w.cols, Data: make([]byte, w.typ.RowBytes(w.cols)*w.rows)}
	if err := quant.Quantize(w.typ, out.Data, x); err != nil {
		panic(fmt.Sprintf("tinymodel: %s of %d×%d as %v: %v", w.name, w.rows, w.cols, w.typ, err))
	}
	return out
}

// at returns the quantile u of a uniform distribution.
func (w weights) at(u float64) float32 {
	return float32(w.mean + float64(w.spread*math.Sqrt(3)*(2*u-1)))
}

// meta returns the metadata, and the number of tokens in them.
func (s Spec) meta() (meta []gguf.KV, vocab int) {
	meta = s.hyperparameters()
	add := func(key string, value any) { meta = append(meta, gguf.KV{Key: key, Value: value}) }
	arch := architectures[s.Arch]
	tokens, types, merges := s.bytePairs()
	eos := len(tokens) - 1
	if arch.diffusion {
		add("tokenizer.ggml.mask_token_id", uint32(len(tokens)))
		add("diffusion.shift_logits", arch.shifted)
		tokens, types = append(tokens, "<|mask|>"), append(types, 3)
	}
	if arch.encoder {
		add("tokenizer.ggml.token_type_count", uint32(2))
	}
	if len(s.Labels) > 0 {
		add(s.Arch+".classifier.output_labels", s.Labels)
		add("tokenizer.ggml.add_eos_token", true)
		add("tokenizer.ggml.seperator_token_id", uint32(eos))
	}
	if s.Unigrams {
		n := max(300, len(tokens))
		meta = slices.DeleteFunc(meta, func(kv gguf.KV) bool {
			return strings.HasPrefix(kv.Key, "tokenizer.") && kv.Key != "tokenizer.ggml.token_type_count"
		})
		return append(meta, Unigram(n, s.Seed)...), n
	}
	if len(merges) == 0 {
		merges = []string{"Ā Ā"} // a pair that never occurs, because an empty list has no element type
		tokens, types = append(tokens, "ĀĀ"), append(types, 1)
	}
	add("tokenizer.ggml.model", "gpt2")
	add("tokenizer.ggml.pre", "gpt-2")
	add("tokenizer.ggml.tokens", tokens)
	add("tokenizer.ggml.token_type", types)
	add("tokenizer.ggml.merges", merges)
	add("tokenizer.ggml.bos_token_id", uint32(eos))
	add("tokenizer.ggml.eos_token_id", uint32(eos))
	add("tokenizer.ggml.add_bos_token", false)
	if s.Template != "" {
		add("tokenizer.chat_template", s.Template)
	}
	return meta, len(tokens)
}

// hyperparameters returns the metadata that describe the layers.
func (s Spec) hyperparameters() (meta []gguf.KV) {
	add := func(key string, value any) { meta = append(meta, gguf.KV{Key: key, Value: value}) }
	p := s.Arch + "."
	add("general.architecture", s.Arch)
	add("general.name", cmp.Or(architectures[s.Arch].title, "tiny-"+s.Arch))
	add(p+"block_count", uint32(s.Layers))
	add(p+"context_length", uint32(s.Context))
	add(p+"embedding_length", uint32(s.Dim))
	add(p+"feed_forward_length", uint32(s.FF))
	add(p+"attention.head_count", uint32(s.Heads))
	if arch := architectures[s.Arch]; arch.convolves != nil {
		heads := make([]int32, s.Layers)
		for i := range heads {
			if !arch.convolves(i) {
				heads[i] = int32(s.KVHeads)
			}
		}
		add(p+"attention.head_count_kv", heads)
	} else {
		add(p+"attention.head_count_kv", uint32(s.KVHeads))
	}
	if s.HeadDim != s.Dim/s.Heads {
		add(p+"attention.key_length", uint32(s.HeadDim))
		add(p+"attention.value_length", uint32(s.HeadDim))
		add(p+"rope.dimension_count", uint32(s.HeadDim))
	}
	for _, kv := range architectures[s.Arch].meta(s) {
		add(p+kv.Key, kv.Value)
	}
	if s.Linear != 0 {
		add(p+"rope.scaling.type", "linear")
		add(p+"rope.scaling.factor", float32(s.Linear))
	}
	if s.YaRN != 0 {
		add(p+"rope.scaling.type", "yarn")
		add(p+"rope.scaling.factor", float32(s.YaRN))
		add(p+"rope.scaling.original_context_length", uint32(float64(s.Context)/s.YaRN))
	}
	return meta
}

// bytePairs returns the tokens of byte-level BPE with their types, and the merges. The last token is that of the end of
// text.
func (s Spec) bytePairs() (tokens []string, types []int32, merges []string) {
	for b := range 256 {
		tokens = append(tokens, byteText(byte(b)))
	}
	for _, w := range s.pieces() {
		tokens = append(tokens, w)
		merges = append(merges, w[:len(w)-1]+" "+w[len(w)-1:])
	}
	for range tokens {
		types = append(types, 1) // normal
	}
	return append(tokens, "<|endoftext|>"), append(types, 3), merges // control
}

// pieces returns the prefixes of all words, of two letters or more, each once. Merges build words letter by letter.
func (s Spec) pieces() []string {
	var list []string
	seen := map[string]bool{}
	for _, w := range s.Words {
		for n := 2; n <= len(w); n++ {
			if !seen[w[:n]] {
				seen[w[:n]] = true
				list = append(list, w[:n])
			}
		}
	}
	return list
}

// byteText returns the spelling of a byte in byte-level BPE: printable Latin-1 as itself, the others as U+0100 and up.
func byteText(b byte) string {
	printable := func(c int) bool { return c >= '!' && c <= '~' || c >= 0xa1 && c <= 0xac || c >= 0xae && c <= 0xff }
	if printable(int(b)) {
		return string(rune(b))
	}
	n := 0
	for c := range int(b) {
		if !printable(c) {
			n++
		}
	}
	return string(rune(256 + n))
}
