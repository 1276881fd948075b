package tokenizer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/internal/scripts"
	"tandem/model/gguf"
)

// gemma4Vocab makes a vocabulary of the pairs that merging random texts leads to. Some characters are in none of its tokens.
func gemma4Vocab(seed uint64, merges int) []gguf.KV {
	r := rand.New(rand.NewPCG(seed, 4))
	tokens, types := []string{"<pad>", "<eos>", "<bos>", "<unk>", "<|turn>", "<tool>", "\n", "\n\n"}, []int32{3, 3, 3, 2, 3, 4, 1, 1}
	seen := map[string]bool{"\n": true, "\n\n": true}
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			tokens, types = append(tokens, text), append(types, 1)
		}
	}
	for b := range 256 {
		tokens, types = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(types, 6)
	}
	var texts [][]string
	for range 200 {
		texts = append(texts, strings.Split(strings.ReplaceAll(scripts.Text(r)+" the harbour museum opens", " ", spaceMark), ""))
	}
	for _, text := range texts[:150] {
		for _, c := range text {
			add(c)
		}
	}
	var lines []string
	known := map[string]bool{}
	for len(lines) < merges {
		text := &texts[r.IntN(len(texts))]
		if len(*text) < 2 {
			continue
		}
		i := r.IntN(len(*text) - 1)
		a, b := (*text)[i], (*text)[i+1]
		if line := a + " " + b; !known[line] {
			known[line] = true
			lines = append(lines, line)
			add(a + b)
		}
		*text = slices.Replace(*text, i, i+2, a+b)
		if r.IntN(8) == 0 { // begin again
			*text = strings.Split(strings.ReplaceAll(scripts.Text(r)+" the harbour museum opens", " ", spaceMark), "")
		}
	}
	return []gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "gemma4"}, {Key: "tokenizer.ggml.tokens", Value: tokens}, {Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: lines}, {Key: "tokenizer.ggml.bos_token_id", Value: uint32(2)}, {Key: "tokenizer.ggml.eos_token_id", Value: uint32(1)},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(3)},
	}
}

// The ids of 500 random texts, and of those on which tokenizers differ, are llama.cpp's.
func TestGemma4MatchesLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	texts := append(oracleTexts(400), "a\n\n\nb", "\n", " \n ", "<tool>x<bos>")
	r := rand.New(rand.NewPCG(29, 4))
	for range 500 {
		texts = append(texts, scripts.Text(r))
	}
	for i, merges := range []int{50, 3000} {
		meta := gemma4Vocab(uint64(i), merges)
		tok := must(t, gguf.NewMeta(meta))
		peer := peerOf(t, lib, meta)
		sameIDs(t, tok, peer, texts)
		for _, text := range texts {
			if back := tok.Decode(tok.Encode(text, Options{})); !strings.Contains(text, "▁") && back != text {
				t.Errorf("%q is decoded as %q", text, back)
			}
		}
		for id := range int32(tok.Size()) {
			if want, err := peer.Piece(id); err != nil || !bytes.Equal(want, tok.Piece(tandem.Token(id))) {
				t.Fatalf("token %d is %q, llama.cpp has %q (%v)", id, tok.Piece(tandem.Token(id)), want, err)
			}
		}
	}
}

func TestGemma4Refuses(t *testing.T) {
	const p = "tokenizer.ggml."
	whole := gemma4Vocab(1, 20)
	for want, meta := range map[string][]gguf.KV{
		"merges is missing": set(whole, gguf.KV{Key: p + "merges"}),
		"is not two parts":  set(whole, gguf.KV{Key: p + "merges", Value: []string{"ab"}}),
	} {
		if _, err := FromMeta(gguf.NewMeta(meta)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
