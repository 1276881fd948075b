package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"tandem/model/gguf"
	"tandem/npu"
)

// Llama2C converts a llama2.c checkpoint (version 0, float32) and its SentencePiece vocabulary
// (tokenizer.bin) to a GGUF file at out. The zero Scheme keeps F32.
func Llama2C(ctx context.Context, checkpoint, vocabulary, out string, opt Options) (*Report, error) {
	b, unmap, err := gguf.Map(checkpoint)
	if err != nil {
		return nil, err
	}
	r, err := llama2c(ctx, b, checkpoint, vocabulary, out, opt)
	return r, errors.Join(err, unmap())
}

func llama2c(ctx context.Context, b []byte, checkpoint, vocabulary, out string, opt Options) (*Report, error) {
	h, err := readLlama2CHeader(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", checkpoint, err)
	}
	tensors := h.tensors(b)
	words, err := os.ReadFile(vocabulary)
	if err != nil {
		return nil, err
	}
	tokens, err := llama2cTokens(words, h.vocab)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", vocabulary, err)
	}
	if opt.Scheme.name == "" {
		opt.Scheme = schemes[0]
	}
	opt.Scheme.choose(tensors)
	name := filepath.Base(checkpoint)
	meta := append(h.meta(strings.TrimSuffix(name, filepath.Ext(name))), tokens...)
	return writeFile(ctx, out, setScheme(meta, opt.Scheme), tensors, opt.Progress)
}

// llama2cHeader is the header of a checkpoint: seven int32 values.
type llama2cHeader struct {
	width, hidden, layers, heads, kvHeads, vocab, context uint64
	apart                                                 bool // the output matrix is separate from the embedding: the vocabulary size is negative
}

// readLlama2CHeader reads the header and checks it against the size of the file.
func readLlama2CHeader(b []byte) (*llama2cHeader, error) {
	const maxContext = 1 << 24 // all others are at most maxDim, so that the sum of the products does not overflow
	if len(b) < 28 {
		return nil, errors.New("too short for a llama2.c checkpoint")
	}
	h := &llama2cHeader{}
	for i, size := range []*uint64{&h.width, &h.hidden, &h.layers, &h.heads, &h.kvHeads, &h.vocab, &h.context} {
		v := int32(binary.LittleEndian.Uint32(b[4*i:]))
		if i == 5 && v < 0 {
			h.apart, v = true, -v
		}
		if v <= 0 || v > maxDim && size != &h.context || v > maxContext {
			return nil, fmt.Errorf("not a llama2.c checkpoint: value %d of the header is %d", i+1, v)
		}
		*size = uint64(v)
	}
	if h.heads%h.kvHeads != 0 || h.width%h.heads != 0 || h.width/h.heads%2 != 0 || h.layers > 1<<12 {
		return nil, fmt.Errorf("not a llama2.c checkpoint: %d layers, %d heads and %d key-value heads for a width of %d", h.layers, h.heads, h.kvHeads, h.width)
	}
	kv := h.width / h.heads * h.kvHeads
	want := 28 + 4*(h.vocab*h.width+h.layers*(2*h.width+2*h.width*h.width+2*kv*h.width+3*h.hidden*h.width)+h.width+h.context*h.width/h.heads)
	if h.apart {
		want += 4 * h.vocab * h.width
	}
	if uint64(len(b)) != want {
		return nil, fmt.Errorf("the file has %d bytes, but its header requires %d: truncated, or not version 0 of the format", len(b), want)
	}
	return h, nil
}

// tensors returns the weights in the order of the file, with their GGUF names. The rotary pairs are adjacent in both
// formats, so no rows move.
func (h *llama2cHeader) tensors(b []byte) (list []tensor) {
	at := uint64(28)
	take := func(name string, rows, cols uint64) {
		t := tensor{name: name, shape: []uint64{cols, rows}, typ: npu.F32, data: b[at:][:4*rows*cols]}
		if rows == 1 {
			t.shape = t.shape[:1]
		}
		at += 4 * rows * cols
		list = append(list, t)
	}
	each := func(name string, rows, cols uint64) {
		for l := range h.layers {
			take(fmt.Sprintf("blk.%d.%s.weight", l, name), rows, cols)
		}
	}
	kv := h.width / h.heads * h.kvHeads
	take("token_embd.weight", h.vocab, h.width)
	each("attn_norm", 1, h.width)
	each("attn_q", h.width, h.width)
	each("attn_k", kv, h.width)
	each("attn_v", kv, h.width)
	each("attn_output", h.width, h.width)
	each("ffn_norm", 1, h.width)
	each("ffn_gate", h.hidden, h.width)
	each("ffn_down", h.width, h.hidden)
	each("ffn_up", h.hidden, h.width)
	take("output_norm.weight", 1, h.width)
	if h.apart {
		at += 4 * h.context * h.width / h.heads // precomputed rotary angles, which are not needed
		take("output.weight", h.vocab, h.width)
	}
	return list
}

func (h *llama2cHeader) meta(name string) []gguf.KV {
	return []gguf.KV{
		{Key: "general.architecture", Value: "llama"}, {Key: "general.name", Value: name},
		{Key: "llama.block_count", Value: uint32(h.layers)}, {Key: "llama.context_length", Value: uint32(h.context)},
		{Key: "llama.embedding_length", Value: uint32(h.width)}, {Key: "llama.feed_forward_length", Value: uint32(h.hidden)},
		{Key: "llama.attention.head_count", Value: uint32(h.heads)}, {Key: "llama.attention.head_count_kv", Value: uint32(h.kvHeads)},
		{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
		{Key: "llama.rope.dimension_count", Value: uint32(h.width / h.heads)}, {Key: "llama.vocab_size", Value: uint32(h.vocab)},
	}
}

// llama2cTokens reads n tokens from tokenizer.bin: the length of the longest, then score, length and text of each.
func llama2cTokens(b []byte, n uint64) ([]gguf.KV, error) {
	if uint64(len(b)) < 4+8*n {
		return nil, fmt.Errorf("%d bytes are too few for the %d tokens of the checkpoint", len(b), n)
	}
	tokens, scores, types := make([]string, 0, n), make([]float32, 0, n), make([]int32, 0, n)
	b = b[4:]
	for id := range n {
		if len(b) < 8 {
			return nil, fmt.Errorf("the file ends at token %d of %d", id, n)
		}
		score, size := math.Float32frombits(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
		if uint64(size) > uint64(len(b)-8) {
			return nil, fmt.Errorf("token %d has %d bytes, but only %d are left", id, size, len(b)-8)
		}
		text, typ := b[8:8+size], normal
		switch b = b[8+size:]; {
		case id == 0:
			typ = unknown
		case id <= 2: // "\n<s>\n" and "\n</s>\n"
			typ, text = control, bytes.TrimSpace(text)
		case id < 3+256:
			typ = byteToken
		}
		tokens = append(tokens, strings.ReplaceAll(string(text), " ", "▁"))
		scores, types = append(scores, score), append(types, typ)
	}
	return []gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "llama"}, {Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.scores", Value: scores}, {Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(1)}, {Key: "tokenizer.ggml.eos_token_id", Value: uint32(2)},
	}, nil
}
