package tokenizer

import (
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
			peer := peerOf(t, lib, meta)
			sameIDs(t, tok, peer, append(oracleTexts(400), "someCamelCase HTTPServer ABC's ÉCOLEs d'Ünlü://x/y\n/z", "e\u0301A ÀB aÀ", "x/\n//\r\n/a  \n",
				"  我。 我's 想's\u3000想 \u3000。x\u3000 12  \n ＡＢ！ ʔა Aǅ \u3000", "I'LL 我've Z's!'s 々〇 𠀀"))
		})
	}
}
