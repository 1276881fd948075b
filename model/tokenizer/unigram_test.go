package tokenizer

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/internal/scripts"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
)

// set returns metadata with some keys set or, for nil, removed.
func set(meta []gguf.KV, kvs ...gguf.KV) []gguf.KV {
	for _, kv := range kvs {
		meta = slices.DeleteFunc(slices.Clone(meta), func(old gguf.KV) bool { return old.Key == kv.Key })
		if kv.Value != nil {
			meta = append(meta, kv)
		}
	}
	return meta
}

// The ids of 500 random texts, and of those on which tokenizers differ, are llama.cpp's, with each of the switches that files
// have, with and without a map of characters.
func TestUnigramMatchesLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	const p = "tokenizer.ggml."
	texts := oracleTexts(400)
	r := rand.New(rand.NewPCG(29, 1))
	for range 500 {
		texts = append(texts, scripts.Text(r))
	}
	texts = append(texts, "ﬁ①ｆｕｌｌ  e\u0301A\u0308\u00ad\u200b x\u00a0y", "a\x00b", "<tool><mask> <unk></s>")
	for name, meta := range map[string][]gguf.KV{
		"XLM-R":        tinymodel.Unigram(5000, 1),
		"few tokens":   tinymodel.Unigram(300, 2),
		"spaces kept":  set(tinymodel.Unigram(2000, 3), gguf.KV{Key: p + "remove_extra_whitespaces", Value: false}),
		"no prefix":    set(tinymodel.Unigram(2000, 4), gguf.KV{Key: p + "remove_extra_whitespaces"}, gguf.KV{Key: p + "add_space_prefix"}),
		"no map":       set(tinymodel.Unigram(2000, 5), gguf.KV{Key: p + "precompiled_charsmap"}),
		"no switches":  set(tinymodel.Unigram(2000, 6), gguf.KV{Key: p + "add_bos_token"}, gguf.KV{Key: p + "add_eos_token"}, gguf.KV{Key: p + "add_sep_token"}),
		"T5's ids":     set(tinymodel.Unigram(2000, 7), gguf.KV{Key: p + "eos_token_id"}, gguf.KV{Key: p + "add_eos_token"}, gguf.KV{Key: p + "bos_token_id"}, gguf.KV{Key: p + "add_bos_token"}),
		"merged alone": set(tinymodel.Unigram(2000, 8), gguf.KV{Key: p + "add_space_prefix", Value: false}),
	} {
		t.Run(name, func(t *testing.T) {
			tok := must(t, gguf.NewMeta(meta))
			peer := peerOf(t, lib, meta)
			sameIDs(t, tok, peer, texts)
			for _, text := range texts {
				want, err := peer.Pair(text, "the key")
				if got := tok.Pair(text, "the key", 1<<20); err != nil || !slices.EqualFunc(got, want, sameID) {
					t.Fatalf("the pair of %q gives %d, llama.cpp %d, %v", text, got, want, err)
				}
			}
			for id := range int32(tok.Size()) {
				if want, err := peer.Piece(id); id != 6 && (err != nil || !bytes.Equal(want, tok.Piece(tandem.Token(id)))) { // 6 is unused
					t.Fatalf("token %d is %q, llama.cpp has %q (%v)", id, tok.Piece(tandem.Token(id)), want, err)
				}
			}
		})
	}
}

// sameIDs checks that texts have llama.cpp's ids, with special tokens and without.
func sameIDs(t *testing.T, tok *Tokenizer, peer *llamacpp.Model, texts []string) {
	t.Helper()
	differ := 0
	for _, text := range texts {
		for _, opt := range []Options{{}, {AddSpecial: true, ParseSpecial: true}} {
			want, err := peer.Tokenize(text, opt.AddSpecial, opt.ParseSpecial)
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.Encode(text, opt); !slices.EqualFunc(got, want, sameID) {
				if differ++; differ < 4 {
					t.Errorf("%q %+v gives %d, llama.cpp %d", text, opt, got, want)
				}
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d differ", differ, 2*len(texts))
	}
}

func sameID(a tandem.Token, b int32) bool { return int32(a) == b }

// A text is spelled by the tokens whose scores have the greatest sum, and decoding gives what its normal form is.
func TestUnigram(t *testing.T) {
	meta := func(more ...gguf.KV) gguf.Meta {
		return gguf.NewMeta(append([]gguf.KV{
			{Key: "tokenizer.ggml.model", Value: "t5"},
			{Key: "tokenizer.ggml.tokens", Value: []string{"<pad>", "</s>", "<unk>", "▁", "a", "b", "ab", "▁ab", "abc", "c", "é", "<tool>"}},
			{Key: "tokenizer.ggml.scores", Value: []float32{0, 0, 0, -2, -3, -3, -4, -5, -20, -3, -1, 0}},
			{Key: "tokenizer.ggml.token_type", Value: []int32{3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 4}},
			{Key: "tokenizer.ggml.add_space_prefix", Value: true},
		}, more...))
	}
	tok := must(t, meta(gguf.KV{Key: "tokenizer.ggml.precompiled_charsmap", Value: tinymodel.Charsmap(map[string]string{"e\u0301": "é", "A": "a", "-": ""})}))
	for text, want := range map[string][]tandem.Token{
		"": {}, "ab": {7}, "abc": {7, 9}, "ba": {3, 5, 4}, "Ab": {7}, "a-b": {7}, "e\u0301": {3, 10}, "xyz": {3, 2}, "xaxx": {3, 2, 4, 2}, "a<tool>b": {3, 4, 11, 3, 5},
		"a  b": {3, 4, 3, 3, 5}, "\xff": {3, 2},
	} {
		if got := tok.Encode(text, Options{}); !slices.Equal(got, want) {
			t.Errorf("%q gives %v, want %v", text, got, want)
		}
	}
	if got := tok.Encode("ab", Options{AddSpecial: true}); !slices.Equal(got, []tandem.Token{7, 1}) {
		t.Errorf("with special tokens %v", got)
	}
	if got := tok.Decode([]tandem.Token{7, 9, 3, 10, 1}); got != "abc é" {
		t.Errorf("decoded %q", got)
	}
	if a, b := tok.Fingerprint(), must(t, meta()).Fingerprint(); a == b {
		t.Error("the map of characters is not in the fingerprint")
	}
}

func TestUnigramRefuses(t *testing.T) {
	const p = "tokenizer.ggml."
	whole := tinymodel.Unigram(300, 1)
	long := slices.Clone(gguf.NewMeta(whole).KVs())
	tokens, _ := gguf.NewMeta(whole).Strings(p + "tokens")
	tokens = slices.Clone(tokens)
	tokens[40] = strings.Repeat("a", longestPiece+1)
	for want, meta := range map[string][]gguf.KV{
		"scores is missing":                       set(whole, gguf.KV{Key: p + "scores"}),
		"scores has 1 entries":                    set(whole, gguf.KV{Key: p + "scores", Value: []float32{1}}),
		"not an array of bytes":                   set(whole, gguf.KV{Key: p + "precompiled_charsmap", Value: "text"}),
		"do not hold the trie":                    set(whole, gguf.KV{Key: p + "precompiled_charsmap", Value: []uint8{255, 255, 0, 0, 1}}),
		"token 40 has 1025 bytes, more than 1024": set(long, gguf.KV{Key: p + "tokens", Value: tokens}),
		"no unknown token":                        {{Key: p + "model", Value: "t5"}, {Key: p + "tokens", Value: []string{"a"}}, {Key: p + "scores", Value: []float32{0}}},
	} {
		if _, err := FromMeta(gguf.NewMeta(meta)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzCharsmap reads arbitrary maps: no text makes them read outside of themselves.
func FuzzCharsmap(f *testing.F) {
	f.Add(tinymodel.Charsmap(map[string]string{"a": "b", "ab": "", "é": "e"}), "abcé")
	f.Add(binary.LittleEndian.AppendUint32([]byte{4, 0, 0, 0}, 1<<31-1), "x")
	f.Fuzz(func(t *testing.T, compiled []byte, text string) {
		c, err := readCharsmap(gguf.NewMeta([]gguf.KV{{Key: "tokenizer.ggml.precompiled_charsmap", Value: compiled}}))
		if err != nil {
			return
		}
		for text != "" {
			_, n := c.replace(text)
			if n < 1 || n > len(text) {
				t.Fatalf("%d of %d bytes", n, len(text))
			}
			text = text[n:]
		}
	})
}
