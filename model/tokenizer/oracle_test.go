package tokenizer

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/model/gguf"
)

// oracleTexts makes texts on which tokenizers differ: words, contractions, numbers, scripts, white space and the names
// of special tokens.
func oracleTexts(n int) []string {
	parts := []string{" ", "  ", "\n", "\n\n", "\r\n", "\t", " \n ", "the", "The", " harbour", "museum", "it's", "'LL", "'Ve",
		" don't", "4471", "12", "3.14", "é", "e\u0301", "Übermut", "ß", "我想在", "こんにちは", "🦙", "👩‍🚀", "\u00a0", "!!!", "...", "_", "--",
		"#include <x>", "a=b;", "½", "٣", "ก็", "naïve", "reading", " discards", "Ζεύς", "Привет", "ﬁ", "x²", "<|im_end|>", "</s>", "<0x0A>", "▁", "\"", "`", "$5", "Ǆ"}
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", " ", "a", strings.Repeat("ab", 300), strings.Repeat(" ", 40) + "x", strings.Repeat("=", 100)}
	for len(texts) < n {
		var b strings.Builder
		for range 1 + r.IntN(10) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		texts = append(texts, b.String())
	}
	return texts
}

// aroundVocabulary is what the library needs of a model around a vocabulary.
var aroundVocabulary = []gguf.KV{
	{Key: "llama.context_length", Value: uint32(64)}, {Key: "llama.embedding_length", Value: uint32(64)},
	{Key: "llama.block_count", Value: uint32(1)}, {Key: "llama.feed_forward_length", Value: uint32(64)},
	{Key: "llama.attention.head_count", Value: uint32(1)}, {Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
}

// peerOf returns llama.cpp's model of a vocabulary alone.
func peerOf(t *testing.T, lib *llamacpp.Lib, vocabulary []gguf.KV) *llamacpp.Model {
	t.Helper()
	meta := slices.Concat(vocabulary, aroundVocabulary)
	if !slices.ContainsFunc(vocabulary, func(kv gguf.KV) bool { return kv.Key == "general.architecture" }) {
		meta = append(meta, gguf.KV{Key: "general.architecture", Value: "llama"})
	}
	var buf bytes.Buffer
	if err := gguf.Write(&buf, meta, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "v.gguf")
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	peer, err := lib.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	return peer
}

// The ids, pieces and end tokens of all five published tokenizers match libllama's, for a few hundred texts.
func TestTokensMatchLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	for _, name := range publishedNames {
		t.Run(name, func(t *testing.T) {
			meta := publishedMetas[name](t)
			tok := must(t, gguf.NewMeta(meta))
			peer := peerOf(t, lib, meta)
			if peer.Size() != tok.Size() {
				t.Fatalf("llama.cpp counts %d tokens, this package %d", peer.Size(), tok.Size())
			}
			sameIDs(t, tok, peer, oracleTexts(400))
			for id := range int32(tok.Size()) {
				if peer.IsEOG(id) != tok.EOG(tandem.Token(id)) {
					t.Errorf("token %d %q: llama.cpp says end of generation %v", id, tok.Text(tandem.Token(id)), peer.IsEOG(id))
				}
				if id%37 != 0 {
					continue
				}
				if want, err := peer.Piece(id); err != nil || !bytes.Equal(want, tok.Piece(tandem.Token(id))) {
					t.Errorf("token %d is %q, llama.cpp has %q (%v)", id, tok.Piece(tandem.Token(id)), want, err)
				}
			}
		})
	}
}

// In files whose name says Phi-3, white space after a special token is dropped, as libllama does.
func TestPhi3MatchesLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	for _, name := range []string{"Phi3", "Phi-3-mini-4k-instruct", "PHI-3", "Phi 3.5 mini", "tiny"} {
		t.Run(name, func(t *testing.T) {
			meta := phi3Vocab(t, name)
			sameIDs(t, must(t, gguf.NewMeta(meta)), peerOf(t, lib, meta), phi3Texts)
		})
	}
}
