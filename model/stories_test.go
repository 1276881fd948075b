package model

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
	"tandem/npu"
)

// sharedFile finds a file of the data set that stands beside the repository, or skips the test.
func sharedFile(t testing.TB, path ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("no go.mod above the test")
		}
		dir = up
	}
	file := filepath.Join(append([]string{dir, "..", "shared", "data"}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the data set is not there: %v", err)
	}
	return file
}

// storiesGGUF converts llama2.c's checkpoint and tokenizer (layouts: the data set's README) to a GGUF file.
func storiesGGUF(t testing.TB, checkpoint, vocabulary string) []byte {
	t.Helper()
	b, err := os.ReadFile(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	var h struct{ Dim, Hidden, Layers, Heads, KVHeads, Vocab, Seq int32 }
	r := bytes.NewReader(b)
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		t.Fatal(err)
	}
	kv := h.Dim / h.Heads * h.KVHeads
	var tensors []npu.Tensor
	take := func(name string, rows, cols int32) {
		data := make([]byte, 4*rows*cols)
		if _, err := io.ReadFull(r, data); err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, npu.Tensor{Name: name, Type: npu.F32, Rows: int(rows), Cols: int(cols), Data: data})
	}
	each := func(name string, rows, cols int32) {
		for l := range h.Layers {
			take(fmt.Sprintf("blk.%d.%s.weight", l, name), rows, cols)
		}
	}
	take("token_embd.weight", h.Vocab, h.Dim)
	each("attn_norm", 1, h.Dim)
	each("attn_q", h.Dim, h.Dim)
	each("attn_k", kv, h.Dim)
	each("attn_v", kv, h.Dim)
	each("attn_output", h.Dim, h.Dim)
	each("ffn_norm", 1, h.Dim)
	each("ffn_gate", h.Hidden, h.Dim)
	each("ffn_down", h.Dim, h.Hidden)
	each("ffn_up", h.Hidden, h.Dim)
	take("output_norm.weight", 1, h.Dim)

	tokens, scores, types := llama2cTokenizer(t, vocabulary, int(h.Vocab))
	meta := []gguf.KV{
		{Key: "general.architecture", Value: "llama"},
		{Key: "general.name", Value: "stories260K"},
		{Key: "llama.block_count", Value: uint32(h.Layers)},
		{Key: "llama.context_length", Value: uint32(h.Seq)},
		{Key: "llama.embedding_length", Value: uint32(h.Dim)},
		{Key: "llama.feed_forward_length", Value: uint32(h.Hidden)},
		{Key: "llama.attention.head_count", Value: uint32(h.Heads)},
		{Key: "llama.attention.head_count_kv", Value: uint32(h.KVHeads)},
		{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
		{Key: "tokenizer.ggml.model", Value: "llama"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.scores", Value: scores},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(1)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(2)},
	}
	var out bytes.Buffer
	if err := gguf.Write(&out, meta, tensors); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// llama2cTokenizer reads tok512.bin: a length, then score, size and text of each token.
func llama2cTokenizer(t testing.TB, path string, n int) (tokens []string, scores []float32, types []int32) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(b[4:])
	for id := range n {
		var h struct {
			Score float32
			Size  int32
		}
		if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, h.Size)
		if _, err := io.ReadFull(r, text); err != nil {
			t.Fatal(err)
		}
		const normal, unknown, control, byteToken = 1, 2, 3, 6
		typ := int32(normal)
		switch {
		case id == 0:
			typ = unknown
		case id <= 2:
			typ, text = control, bytes.TrimSpace(text)
		case id < 3+256:
			typ = byteToken
		}
		tokens = append(tokens, strings.ReplaceAll(string(text), " ", "▁"))
		scores, types = append(scores, h.Score), append(types, typ)
	}
	return tokens, scores, types
}

// The published greedy text of a real, trained model, to the character.
func TestStories260K(t *testing.T) {
	checkpoint := sharedFile(t, "stories260k", "stories260K.bin")
	b := storiesGGUF(t, checkpoint, sharedFile(t, "stories260k", "tok512.bin"))
	var want struct {
		BOS  tandem.Token
		IDs  []tandem.Token
		Text string
	}
	if raw, err := os.ReadFile(sharedFile(t, "stories260k", "derived-greedy-ids.json")); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(sharedFile(t, "stories260k", "expected-output-stories260K.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n"+want.Text+"\n") {
		t.Fatal("the ids' text is not the published one")
	}

	m, err := OpenBytes("stories260K", b, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ids := greedy(t, m, m.Tokenizer().Encode("", tokenizer.Options{AddSpecial: true}), len(want.IDs))
	if !slices.Equal(ids, want.IDs) {
		t.Errorf("ids %v, want %v", ids, want.IDs)
	}
	if text := m.Tokenizer().Decode(ids); text != want.Text {
		t.Errorf("text %q, want %q", text, want.Text)
	}
}

// greedy decodes n tokens after the prompt, always the most likely one.
func greedy(t testing.TB, m *Model, prompt []tandem.Token, n int) (ids []tandem.Token) {
	t.Helper()
	seq, next := m.NewSeq(), prompt
	for range n {
		logits, err := m.Forward(context.Background(), []Row{{Seq: seq, Tokens: next}})
		if err != nil {
			t.Fatal(err)
		}
		best, _ := top(logits[0])
		ids = append(ids, tandem.Token(best))
		next = ids[len(ids)-1:]
	}
	return ids
}
