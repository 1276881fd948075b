package tokenizer

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem/internal/llamacpp"
	"tandem/model/gguf"
)

// Every pre-tokenizer splits text as llama.cpp's of the same name does. The vocabulary is always GPT-2's, whose tokens show
// where text is split.
func TestPreTokenizersMatchLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	base := publishedMetas["gpt-2"](t)
	for _, name := range []string{"default", "smollm", "qwen2", "dbrx", "falcon", "gpt-4o", "tekken", "deepseek-coder", "qwen35", "deepseek-v3", "bailingmoe", "llada-moe", "seed-coder", "modern-bert", "deepseek-llm", "kimi-k2"} {
		t.Run(name, func(t *testing.T) {
			meta := slices.Clone(base)
			for i := range meta {
				if meta[i].Key == "tokenizer.ggml.pre" {
					meta[i].Value = name
				}
			}
			tok := must(t, gguf.NewMeta(meta))
			meta = append(meta,
				gguf.KV{Key: "llama.context_length", Value: uint32(64)}, gguf.KV{Key: "llama.embedding_length", Value: uint32(64)},
				gguf.KV{Key: "llama.block_count", Value: uint32(1)}, gguf.KV{Key: "llama.feed_forward_length", Value: uint32(64)},
				gguf.KV{Key: "llama.attention.head_count", Value: uint32(1)}, gguf.KV{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)})
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
			defer peer.Close()
			wrong := 0
			for _, text := range append(oracleTexts(400), "someCamelCase HTTPServer ABC's ÉCOLEs d'Ünlü://x/y\n/z", "e\u0301A ÀB aÀ", "x/\n//\r\n/a  \n",
				"  我。 我's 想's\u3000想 \u3000。x\u3000 12  \n ＡＢ！ ʔა Aǅ \u3000", "I'LL 我've Z's!'s 々〇 𠀀") {
				want, err := peer.Tokenize(text, true, false)
				if err != nil {
					t.Fatal(err)
				}
				var got []int32
				for _, id := range tok.Encode(text, Options{AddSpecial: true}) {
					got = append(got, int32(id))
				}
				if !slices.Equal(got, want) {
					if wrong++; wrong < 5 {
						t.Errorf("%q gives %d, llama.cpp %d", text, got, want)
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d texts differ", wrong)
			}
		})
	}
}
