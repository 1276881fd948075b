package tokenizer

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"tandem/internal/testfile"
	"tandem/model/gguf"
)

func readLines(t testing.TB, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n")
}

// byteLevel returns the byte-level spelling of bytes: a space becomes "Ġ".
func byteLevel(raw string) string {
	var runes [256]rune
	for r, b := range runeBytes {
		runes[b] = r
	}
	var out strings.Builder
	for i := range len(raw) {
		out.WriteRune(runes[raw[i]])
	}
	return out.String()
}

// bpeVocab is the small byte-level vocabulary of testdata: 256 bytes, the results of the merges, and four special
// tokens.
func bpeVocab(t testing.TB, pre string, extra ...gguf.KV) gguf.Meta {
	merges := readLines(t, "testdata/merges.txt")
	var tokens []string
	var types []int32
	for b := range 256 {
		tokens = append(tokens, byteLevel(string([]byte{byte(b)})))
	}
	seen := map[string]bool{}
	for _, m := range merges {
		if tok := strings.Replace(m, " ", "", 1); !seen[tok] {
			seen[tok] = true
			tokens = append(tokens, tok)
		}
	}
	for range tokens {
		types = append(types, int32(normal))
	}
	bos := len(tokens)
	for _, s := range []string{"<|bos|>", "<|im_start|>", "<|im_end|>"} {
		tokens, types = append(tokens, s), append(types, int32(control))
	}
	tokens, types = append(tokens, "<tool>"), append(types, int32(userDefined))
	return gguf.NewMeta(append([]gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "gpt2"},
		{Key: "tokenizer.ggml.pre", Value: pre},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: merges},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(bos)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(bos + 2)},
	}, extra...))
}

// spmVocab is the small SentencePiece vocabulary of testdata with <unk>, <s>, </s> and 256 byte tokens.
func spmVocab(t testing.TB, extra ...gguf.KV) gguf.Meta {
	tokens := []string{"<unk>", "<s>", "</s>"}
	types := []int32{int32(unknown), int32(control), int32(control)}
	scores := []float32{0, 0, 0}
	for b := range 256 {
		tokens, types = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(types, int32(byteToken))
		scores = append(scores, 0)
	}
	for i, p := range readLines(t, "testdata/pieces.txt") {
		tokens, types, scores = append(tokens, p), append(types, int32(normal)), append(scores, -float32(i))
	}
	return gguf.NewMeta(append([]gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "llama"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.scores", Value: scores},
	}, extra...))
}

func wordVocab(t testing.TB, extra ...gguf.KV) gguf.Meta {
	tokens := readLines(t, "testdata/wordpieces.txt")
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = int32(normal)
		if strings.HasPrefix(tokens[i], "[") {
			types[i] = int32(control)
		}
	}
	return gguf.NewMeta(append([]gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "bert"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(1)},
		{Key: "tokenizer.ggml.cls_token_id", Value: uint32(2)},
		{Key: "tokenizer.ggml.seperator_token_id", Value: uint32(3)},
	}, extra...))
}

func must(t testing.TB, m gguf.Meta) *Tokenizer {
	t.Helper()
	tok, err := FromMeta(m)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// fromJSON reads a vocabulary and merges from two files in the Hugging Face format.
func fromJSON(t testing.TB, pre, vocab, merges string, specials map[string]int) []gguf.KV {
	t.Helper()
	b, err := os.ReadFile(testfile.Shared(t, "data", "tokenizers", vocab))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	if err := json.Unmarshal(b, &ids); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range []map[string]int{ids, specials} {
		for _, id := range m {
			n = max(n, id+1)
		}
	}
	tokens, types := make([]string, n), make([]int32, n)
	for text, id := range ids {
		tokens[id], types[id] = text, int32(normal)
	}
	for text, id := range specials {
		tokens[id], types[id] = text, int32(control)
	}
	var lines []string
	for _, line := range readLines(t, testfile.Shared(t, "data", "tokenizers", merges)) {
		if line != "" && !strings.HasPrefix(line, "#version") {
			lines = append(lines, line)
		}
	}
	return []gguf.KV{
		{Key: "general.architecture", Value: "llama"},
		{Key: "tokenizer.ggml.model", Value: "gpt2"},
		{Key: "tokenizer.ggml.pre", Value: pre},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: lines},
	}
}

func qwenMeta(t testing.TB) []gguf.KV {
	t.Helper()
	b, err := os.ReadFile(testfile.Shared(t, "data", "tokenizers", "qwen2.5-special-tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	specials := map[string]int{}
	if err := json.Unmarshal(b, &specials); err != nil {
		t.Fatal(err)
	}
	return append(fromJSON(t, "qwen2", "qwen2.5-vocab.json", "qwen2.5-merges.txt", specials),
		gguf.KV{Key: "tokenizer.ggml.bos_token_id", Value: uint32(specials["<|endoftext|>"])},
		gguf.KV{Key: "tokenizer.ggml.eos_token_id", Value: uint32(specials["<|im_end|>"])},
		gguf.KV{Key: "tokenizer.ggml.add_bos_token", Value: false})
}

func llama3Meta(t testing.TB) []gguf.KV {
	t.Helper()
	specials := map[string]int{"<|begin_of_text|>": 128000, "<|end_of_text|>": 128001,
		"<|start_header_id|>": 128006, "<|end_header_id|>": 128007, "<|eom_id|>": 128008, "<|eot_id|>": 128009}
	for i := range 256 { // the rest of the range, under invented names
		if id := 128000 + i; i > 9 || i > 1 && i < 6 {
			specials[fmt.Sprintf("<|reserved_%d|>", i)] = id
		}
	}
	return append(fromJSON(t, "llama-bpe", "llama3.2-vocab.json", "llama3.2-merges.txt", specials),
		gguf.KV{Key: "tokenizer.ggml.bos_token_id", Value: uint32(128000)},
		gguf.KV{Key: "tokenizer.ggml.eos_token_id", Value: uint32(128009)})
}

// gpt2Meta, llama2Meta and bertMeta build the metadata from the files published with the models.
func gpt2Meta(t testing.TB) []gguf.KV {
	return append(fromJSON(t, "gpt-2", "gpt2-vocab.json", "gpt2-merges.txt", map[string]int{"<|endoftext|>": 50256}),
		gguf.KV{Key: "tokenizer.ggml.bos_token_id", Value: uint32(50256)},
		gguf.KV{Key: "tokenizer.ggml.eos_token_id", Value: uint32(50256)})
}

func bertMeta(t testing.TB) []gguf.KV {
	tokens := readLines(t, testfile.Shared(t, "data", "tokenizers", "bert-base-uncased-vocab.txt"))
	types := make([]int32, len(tokens))
	for i, text := range tokens {
		types[i] = int32(normal)
		if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") && len(text) > 2 {
			types[i] = int32(control)
			if text == "[UNK]" {
				types[i] = int32(unknown)
			}
		} else if rest, ok := strings.CutPrefix(text, "##"); ok {
			tokens[i] = rest
		} else {
			tokens[i] = spaceMark + text
		}
	}
	return []gguf.KV{
		{Key: "general.architecture", Value: "llama"},
		{Key: "tokenizer.ggml.model", Value: "bert"},
		{Key: "tokenizer.ggml.pre", Value: "jina-v2-en"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(101)},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(100)},
		{Key: "tokenizer.ggml.seperator_token_id", Value: uint32(102)},
		{Key: "tokenizer.ggml.padding_token_id", Value: uint32(0)},
		{Key: "tokenizer.ggml.mask_token_id", Value: uint32(103)},
	}
}

// llama2Meta reads a SentencePiece model: a protocol buffer whose field 1 repeats {1: piece, 2: score
// (float), 3: type}, with the same type numbers as GGUF.
func llama2Meta(t testing.TB) []gguf.KV {
	b, err := os.ReadFile(testfile.Shared(t, "data", "tokenizers", "llama2-tokenizer.model"))
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	var scores []float32
	var types []int32
	for len(b) > 0 {
		field, body, rest := protoField(t, b)
		b = rest
		if field != 1 {
			continue
		}
		text, score, ty := "", float32(0), int32(normal)
		for len(body) > 0 {
			field, value, rest := protoField(t, body)
			body = rest
			switch field {
			case 1:
				text = string(value)
			case 2:
				score = math.Float32frombits(binary.LittleEndian.Uint32(value))
			case 3:
				ty = int32(value[0])
			}
		}
		tokens, scores, types = append(tokens, text), append(scores, score), append(types, ty)
	}
	return []gguf.KV{
		{Key: "general.architecture", Value: "llama"},
		{Key: "tokenizer.ggml.model", Value: "llama"},
		{Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.scores", Value: scores},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(1)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(2)},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(0)},
	}
}

// protoField returns the number and the bytes of the first field, and the rest.
func protoField(t testing.TB, b []byte) (field int, value, rest []byte) {
	tag, n := binary.Uvarint(b)
	b = b[n:]
	switch tag & 7 {
	case 0:
		_, n := binary.Uvarint(b)
		return int(tag >> 3), b[:n], b[n:]
	case 2:
		size, n := binary.Uvarint(b)
		return int(tag >> 3), b[n : n+int(size)], b[n+int(size):]
	case 5:
		return int(tag >> 3), b[:4], b[4:]
	}
	t.Fatalf("wire type %d", tag&7)
	return
}

var publishedMetas = map[string]func(testing.TB) []gguf.KV{
	"gpt-2": gpt2Meta, "qwen2": qwenMeta, "llama-bpe": llama3Meta, "llama-spm": llama2Meta, "bert-bge": bertMeta,
}

// published returns one of the five published tokenizers.
func published(t testing.TB, name string) *Tokenizer {
	t.Helper()
	return must(t, gguf.NewMeta(publishedMetas[name](t)))
}

var publishedNames = []string{"gpt-2", "qwen2", "llama-bpe", "llama-spm", "bert-bge"}

// phi3Vocab is the small SentencePiece vocabulary with Phi-3's special tokens, of a file with that name.
func phi3Vocab(t testing.TB, name string) []gguf.KV {
	m := spmVocab(t)
	tokens, _ := m.Strings("tokenizer.ggml.tokens")
	types, _ := m.Value("tokenizer.ggml.token_type")
	scores, _ := m.Floats("tokenizer.ggml.scores")
	typed := slices.Clone(types.([]int32))
	for _, special := range []string{"<|endoftext|>", "<|assistant|>", "<|system|>", "<|end|>", "<|user|>"} {
		tokens, typed, scores = append(tokens, special), append(typed, int32(control)), append(scores, -1000)
	}
	tokens, typed, scores = append(tokens, "<tag>"), append(typed, int32(userDefined)), append(scores, -1000)
	return []gguf.KV{
		{Key: "general.architecture", Value: "llama"}, {Key: "general.name", Value: name},
		{Key: "tokenizer.ggml.model", Value: "llama"}, {Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.tokens", Value: tokens}, {Key: "tokenizer.ggml.token_type", Value: typed},
		{Key: "tokenizer.ggml.scores", Value: scores},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(1)}, {Key: "tokenizer.ggml.eos_token_id", Value: uint32(2)},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(0)},
	}
}

var phi3Texts = []string{
	"<|user|>\nthe cat<|end|>\n<|assistant|>\n", "<|system|> \t\n\v\f\r the<|end|>\n\n<|user|>\u00a0x", "<s> the", "<unk> the", "</s> the </s>\n</s>",
	"<|endoftext|> the<|endoftext|>\n<|user|> \n", "a <tag> b", "<|user|><|user|> <|end|> ", " ", "<|end|>   ",
}
