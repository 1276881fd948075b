// Package toymodel makes tiny models with random weights for tests: real GGUF files with a tokenizer and a
// chat template, small enough to run a whole answer in a few milliseconds. They understand nothing; what
// they say depends on every token that they are given.
package toymodel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"tandem/model/gguf"
	"tandem/model/tokenizer"
	"tandem/npu"
)

// The model's sizes.
const (
	Vocab   = 1 + 256 + 3 // <|endoftext|>, every byte, three merges
	dim     = 32
	heads   = 4
	kvHeads = 2
	headDim = 8
	ff      = 48
	layers  = 2
)

// template is that of the built-in reader: the system message holds the passage.
const template = `{% for message in messages %}` +
	`{% if message['role'] == 'system' %}Context: {{ message['content'] }}` +
	`{% elif message['role'] == 'user' %}{% if not loop.first %}` + "\n" + `{% endif %}Question: {{ message['content'] }}` +
	`{% elif message['role'] == 'assistant' %}` + "\n" + `Answer: {{ message['content'] }}` +
	`{% endif %}{% endfor %}{% if add_generation_prompt %}` + "\n" + `Answer:{% endif %}`

// Reader returns a GGUF of architecture llama whose weights are drawn with the seed. The same seed gives
// the same bytes. context is its context length in tokens.
func Reader(seed uint64, context int) []byte {
	r := rand.New(rand.NewPCG(seed, 0x70_6f_79))
	tokens := []string{"<|endoftext|>"}
	for b := range 256 {
		tokens = append(tokens, tokenizer.ByteLevel(string([]byte{byte(b)})))
	}
	merges := []string{"t h", "th e", tokenizer.ByteLevel(" ") + " a"}
	for _, m := range merges {
		tokens = append(tokens, strings.ReplaceAll(m, " ", ""))
	}
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = 1 // normal
	}
	types[0] = 3 // control
	meta := []gguf.KV{
		{Key: "general.architecture", Value: "llama"},
		{Key: "general.name", Value: fmt.Sprintf("toy-%d", seed)},
		{Key: "llama.context_length", Value: uint32(context)},
		{Key: "llama.embedding_length", Value: uint32(dim)},
		{Key: "llama.block_count", Value: uint32(layers)},
		{Key: "llama.feed_forward_length", Value: uint32(ff)},
		{Key: "llama.attention.head_count", Value: uint32(heads)},
		{Key: "llama.attention.head_count_kv", Value: uint32(kvHeads)},
		{Key: "llama.attention.key_length", Value: uint32(headDim)},
		{Key: "llama.attention.value_length", Value: uint32(headDim)},
		{Key: "llama.rope.dimension_count", Value: uint32(headDim)},
		{Key: "llama.rope.freq_base", Value: float32(10000)},
		{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
		{Key: "llama.vocab_size", Value: uint32(len(tokens))},
		{Key: "tokenizer.ggml.model", Value: "gpt2"},
		{Key: "tokenizer.ggml.pre", Value: "qwen2"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: merges},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(0)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(0)},
		{Key: "tokenizer.ggml.add_bos_token", Value: true},
		{Key: "tokenizer.chat_template", Value: template},
	}
	matrix := func(name string, cols, rows int, scale float64) npu.Tensor {
		t := npu.Tensor{Name: name, Type: npu.F32, Cols: cols, Rows: rows}
		for range cols * rows {
			w := float32(r.NormFloat64() * scale / math.Sqrt(float64(cols)))
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(w))
		}
		return t
	}
	norm := func(name string) npu.Tensor {
		t := npu.Tensor{Name: name, Type: npu.F32, Cols: dim, Rows: 1}
		for range dim {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(float32(1+0.1*r.NormFloat64())))
		}
		return t
	}
	tensors := []npu.Tensor{
		matrix("token_embd.weight", dim, len(tokens), 4), // tied: sharp enough to prefer some tokens
		norm("output_norm.weight"),
	}
	for l := range layers {
		name := func(s string) string { return fmt.Sprintf("blk.%d.%s.weight", l, s) }
		tensors = append(tensors,
			norm(name("attn_norm")),
			matrix(name("attn_q"), dim, heads*headDim, 2),
			matrix(name("attn_k"), dim, kvHeads*headDim, 2),
			matrix(name("attn_v"), dim, kvHeads*headDim, 2),
			matrix(name("attn_output"), heads*headDim, dim, 2),
			norm(name("ffn_norm")),
			matrix(name("ffn_gate"), dim, ff, 2),
			matrix(name("ffn_up"), dim, ff, 2),
			matrix(name("ffn_down"), ff, dim, 2),
		)
	}
	var out bytes.Buffer
	if err := gguf.Write(&out, meta, tensors); err != nil {
		panic(err) // the file is ours
	}
	return out.Bytes()
}
