package convert

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/testfile"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
)

func readShared(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(testfile.Shared(t, "data", "tokenizers", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkTexts compares the tokenizer's ids of texts with published ones.
func checkTexts(t *testing.T, meta []gguf.KV, name string) {
	t.Helper()
	tok, err := tokenizer.FromMeta(gguf.NewMeta(meta))
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(readShared(t, name+".inp"), "\n__ggml_vocab_test__\n")
	lines := strings.Split(readShared(t, name+".out"), "\n")
	for i, text := range texts {
		var want []tandem.Token
		for _, f := range strings.Fields(lines[i]) {
			id, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, tandem.Token(id))
		}
		if got := tok.Encode(text, tokenizer.Options{}); !slices.Equal(got, want) {
			t.Errorf("%q gives %d, want %d", text, got, want)
		}
	}
}

type object = map[string]any

// parts of published tokenizer.json files.
func splitAndBytes(pattern string) object {
	return object{"type": "Sequence", "pretokenizers": []any{
		object{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": "Isolated", "invert": false},
		object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}}}
}

func byteLevelJSON(t testing.TB, vocab, merges string, pre any, ignore bool, added ...object) object {
	var lines []any
	for i, line := range strings.Split(strings.TrimSpace(readShared(t, merges)), "\n") {
		if strings.HasPrefix(line, "#version") {
			continue
		}
		if i%2 == 0 { // both forms are in use
			lines = append(lines, line)
		} else {
			lines = append(lines, strings.Split(line, " "))
		}
	}
	return object{"added_tokens": added, "pre_tokenizer": pre, "normalizer": object{"type": "NFC"}, "decoder": object{"type": "ByteLevel"},
		"model": object{"type": "BPE", "vocab": json.RawMessage(readShared(t, vocab)), "merges": lines, "ignore_merges": ignore}}
}

func mustParse(t *testing.T, tokenizer object, config tokenizerConfig, size int) []gguf.KV {
	t.Helper()
	b, err := json.Marshal(tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	meta, _, err := parseTokenizer(b, config, size)
	if err != nil {
		t.Fatal(err)
	}
	return meta
}

func lookup(meta []gguf.KV, key string) any {
	v, _ := gguf.NewMeta(meta).Value(key)
	return v
}

func TestPublishedByteLevelTokenizers(t *testing.T) {
	t.Run("qwen2", func(t *testing.T) {
		var ids map[string]int
		if err := json.Unmarshal([]byte(readShared(t, "qwen2.5-special-tokens.json")), &ids); err != nil {
			t.Fatal(err)
		}
		var added []object
		for text, id := range ids {
			added = append(added, object{"id": id, "content": text, "special": true})
		}
		meta := mustParse(t, byteLevelJSON(t, "qwen2.5-vocab.json", "qwen2.5-merges.txt", splitAndBytes(qwenStages[3:]), false, added...), tokenizerConfig{}, 151936)
		if tokens := lookup(meta, "tokenizer.ggml.tokens").([]string); len(tokens) != 151936 || tokens[151935] != "[PAD151935]" {
			t.Errorf("got %d tokens, the last is %q", len(tokens), tokens[len(tokens)-1])
		}
		if lookup(meta, "tokenizer.ggml.pre") != "qwen2" || lookup(meta, "tokenizer.ggml.add_bos_token") != false {
			t.Errorf("pre-tokenizer %v", lookup(meta, "tokenizer.ggml.pre"))
		}
		checkTexts(t, meta, "qwen2")
	})
	t.Run("llama 3", func(t *testing.T) {
		j := byteLevelJSON(t, "llama3.2-vocab.json", "llama3.2-merges.txt", splitAndBytes(patterns[2].stages[3:]), true,
			object{"id": 128000, "content": "<|begin_of_text|>", "special": true}, object{"id": 128009, "content": "<|eot_id|>", "special": true})
		j["normalizer"] = nil
		j["post_processor"] = object{"type": "Sequence", "processors": []any{object{"type": "ByteLevel"},
			object{"type": "TemplateProcessing", "single": []any{object{"SpecialToken": object{"id": "<|begin_of_text|>", "type_id": 0}}, object{"Sequence": object{"id": "A"}}}}}}
		meta := mustParse(t, j, tokenizerConfig{BOS: "<|begin_of_text|>"}, 128256)
		if lookup(meta, "tokenizer.ggml.pre") != "llama-bpe" || lookup(meta, "tokenizer.ggml.add_bos_token") != true {
			t.Errorf("pre-tokenizer %v, BOS %v", lookup(meta, "tokenizer.ggml.pre"), lookup(meta, "tokenizer.ggml.add_bos_token"))
		}
		checkTexts(t, append(meta, gguf.KV{Key: "tokenizer.ggml.bos_token_id", Value: uint32(128000)}), "llama-bpe")
	})
	t.Run("gpt-2", func(t *testing.T) {
		j := byteLevelJSON(t, "gpt2-vocab.json", "gpt2-merges.txt", object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}, false)
		j["normalizer"] = nil
		checkTexts(t, mustParse(t, j, tokenizerConfig{}, 50257), "gpt-2")
	})
	t.Run("gpt-2 in two files", func(t *testing.T) { // as OPT's is
		dir := t.TempDir()
		for from, to := range map[string]string{"gpt2-vocab.json": "vocab.json", "gpt2-merges.txt": "merges.txt"} {
			if err := os.WriteFile(filepath.Join(dir, to), []byte(readShared(t, from)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"eos_token_id": [7, 8], "bos_token_id": 9}`), 0o644)
		meta, err := readTokenizer(dir, &hfConfig{family: families["opt"], Vocab: 50272})
		if err != nil {
			t.Fatal(err)
		}
		if lookup(meta, "tokenizer.ggml.eos_token_id") != uint32(7) || lookup(meta, "tokenizer.ggml.bos_token_id") != uint32(9) {
			t.Errorf("EOS %v", lookup(meta, "tokenizer.ggml.eos_token_id"))
		}
		checkTexts(t, meta, "gpt-2")
	})
}

// sentencePieceJSON converts a SentencePiece model to tokenizer.json as Hugging Face does: it lists, for every token, the
// merges that give it, in the order of the scores.
func sentencePieceJSON(t *testing.T) object {
	b := []byte(readShared(t, "llama2-tokenizer.model"))
	type piece struct {
		text  string
		score float32
		typ   byte
	}
	var pieces []piece
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		size, m := binary.Uvarint(b[n:])
		body := b[n+m:][:size]
		b = b[n+m+int(size):]
		if tag != 1<<3|2 {
			continue
		}
		p := piece{typ: 1}
		for len(body) > 0 {
			switch body[0] {
			case 1<<3 | 2:
				size, n := binary.Uvarint(body[1:])
				p.text, body = string(body[1+n:][:size]), body[1+n+int(size):]
			case 2<<3 | 5:
				p.score, body = math.Float32frombits(binary.LittleEndian.Uint32(body[1:])), body[5:]
			case 3 << 3:
				p.typ, body = body[1], body[2:]
			default:
				t.Fatalf("field %d", body[0])
			}
		}
		pieces = append(pieces, p)
	}
	vocab, normal := map[string]int{}, map[string]bool{}
	for i, p := range pieces {
		vocab[p.text], normal[p.text] = i, p.typ == 1
	}
	order := slices.Clone(pieces)
	slices.SortStableFunc(order, func(a, b piece) int { return int(b.score) - int(a.score) })
	var merges []string
	for _, p := range order {
		for i := range p.text {
			if l, r := p.text[:i], p.text[i:]; p.typ == 1 && normal[l] && normal[r] {
				merges = append(merges, l+" "+r)
			}
		}
	}
	replace := object{"type": "Replace", "pattern": object{"String": " "}, "content": "▁"}
	return object{
		"added_tokens": []object{{"id": 0, "content": "<unk>", "special": true}, {"id": 1, "content": "<s>", "special": true}, {"id": 2, "content": "</s>", "special": true}},
		"normalizer":   object{"type": "Sequence", "normalizers": []any{object{"type": "Prepend", "prepend": "▁"}, replace}},
		"post_processor": object{"type": "TemplateProcessing", "single": []any{object{"SpecialToken": object{"id": "<s>", "type_id": 0}},
			object{"Sequence": object{"id": "A", "type_id": 0}}}},
		"model": object{"type": "BPE", "unk_token": "<unk>", "byte_fallback": true, "vocab": vocab, "merges": merges},
	}
}

func TestPublishedSentencePieceTokenizer(t *testing.T) {
	j := sentencePieceJSON(t)
	meta := mustParse(t, j, tokenizerConfig{BOS: "<s>"}, 32000)
	if lookup(meta, "tokenizer.ggml.add_bos_token") != true || lookup(meta, "tokenizer.ggml.unknown_token_id") != uint32(0) {
		t.Errorf("BOS %v, unknown %v", lookup(meta, "tokenizer.ggml.add_bos_token"), lookup(meta, "tokenizer.ggml.unknown_token_id"))
	}
	checkTexts(t, append(meta, gguf.KV{Key: "tokenizer.ggml.bos_token_id", Value: uint32(1)}), "llama-spm")
	// The other form of the same tokenizer.
	j["normalizer"], j["pre_tokenizer"] = nil, object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false}
	checkTexts(t, mustParse(t, j, tokenizerConfig{}, 32000), "llama-spm")
}

// Gemma's tokenizer replaces spaces and then splits at spaces, of which there are none; no space is added before the text.
func TestTokenizerOfGemma(t *testing.T) {
	j := object{
		"added_tokens":  []object{{"id": 0, "content": "<unk>", "special": true}},
		"normalizer":    object{"type": "Replace", "pattern": object{"String": " "}, "content": "▁"},
		"pre_tokenizer": object{"type": "Split", "pattern": object{"String": " "}, "behavior": "MergedWithPrevious", "invert": false},
		"model": object{"type": "BPE", "unk_token": "<unk>", "byte_fallback": true, "merges": []string{"a b", "▁ ab"},
			"vocab": object{"a": 1, "b": 2, "ab": 3, "▁": 4, "▁ab": 5}},
	}
	tok, err := tokenizer.FromMeta(gguf.NewMeta(mustParse(t, j, tokenizerConfig{}, 6)))
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.Encode("ab ab b", tokenizer.Options{}); !slices.Equal(got, []tandem.Token{3, 5, 4, 2}) {
		t.Errorf("%v", got)
	}
	j["normalizer"] = nil
	b, _ := json.Marshal(j)
	if _, _, err := parseTokenizer(b, tokenizerConfig{}, 6); err == nil || !strings.Contains(err.Error(), `"Split" is not supported`) {
		t.Errorf("spaces that stay: %v", err)
	}
}

// Gemma lists runs of spaces as added tokens, spelled as in SentencePiece. They are text, in prompts and in answers.
func TestSpacesOfGemma(t *testing.T) {
	j := object{
		"added_tokens": []object{{"id": 0, "content": "<unk>", "special": true}, {"id": 6, "content": "▁▁"}, {"id": 7, "content": "▁▁▁"}, {"id": 8, "content": "\n"}},
		"normalizer":   object{"type": "Replace", "pattern": object{"String": " "}, "content": "▁"},
		"model": object{"type": "BPE", "unk_token": "<unk>", "byte_fallback": true, "merges": []string{"▁ ▁", "▁▁ ▁", "a b", "▁ ab"},
			"vocab": object{"a": 1, "b": 2, "ab": 3, "▁": 4, "▁ab": 5, "▁▁": 6, "▁▁▁": 7, "\n": 8, "<0xE2>": 9, "<0x96>": 10, "<0x81>": 11}},
	}
	tok, err := tokenizer.FromMeta(gguf.NewMeta(mustParse(t, j, tokenizerConfig{}, 12)))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]tandem.Token{"a  ab": {1, 6, 3}, "a\n   b": {1, 8, 7, 2}, "  ": {6}, "a b": {1, 4, 2}} {
		got := tok.Encode(text, tokenizer.Options{})
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %v, want %v", text, got, want)
		}
		if back := tok.Decode(got); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
}

// Some tokenizers list more added tokens than the model has embeddings: Gemma 3's small models have none for pictures.
func TestTokensWithoutEmbeddings(t *testing.T) {
	j := tinyTokenizer()
	j["added_tokens"] = append(j["added_tokens"].([]any), object{"id": tinyVocab, "content": "<image_soft_token>", "special": true})
	j["model"].(object)["vocab"].(map[string]int)["<image_soft_token>"] = tinyVocab
	meta := mustParse(t, j, tokenizerConfig{}, tinyVocab)
	if tokens := lookup(meta, "tokenizer.ggml.tokens").([]string); len(tokens) != tinyVocab || slices.Contains(tokens, "<image_soft_token>") {
		t.Errorf("%d tokens, want %d", len(tokens), tinyVocab)
	}
	for _, config := range []tokenizerConfig{{BOS: "<image_soft_token>"}, {EOS: "<image_soft_token>"}} { // which it needs
		b, _ := json.Marshal(j)
		if _, _, err := parseTokenizer(b, config, tinyVocab); err == nil || !strings.Contains(err.Error(), "ids up to 300, but the model has only 300") {
			t.Errorf("%+v: error %v", config, err)
		}
	}
}

// Added tokens whose names look special are no text, whatever tokenizer.json says of them: DeepSeek's marks of turns, and those
// for filling in the middle of code.
func TestAddedTokensThatLookSpecial(t *testing.T) {
	j := tinyTokenizer()
	added := j["added_tokens"].([]any)
	names := []string{"<｜User｜>", "<|fim_prefix|>", "<unused7>", "<pad>", "<tool_call>", "<|", "plain"}
	for i, name := range names {
		added = append(added, object{"id": 270 + i, "content": name, "special": false})
	}
	j["added_tokens"] = added
	types := lookup(mustParse(t, j, tokenizerConfig{}, tinyVocab), "tokenizer.ggml.token_type").([]int32)
	for i, want := range []int32{control, control, control, control, userDefined, userDefined, userDefined} {
		if types[270+i] != want {
			t.Errorf("%s has type %d, want %d", names[i], types[270+i], want)
		}
	}
}

// The pattern of GPT-4o, of gpt-oss and Phi-4-mini, as their tokenizer.json spells it.
func TestPatternOfGPT4o(t *testing.T) {
	const words = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
	const upper = `|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
	j := tinyTokenizer()
	j["pre_tokenizer"] = splitAndBytes(words + upper + `|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`)
	if got := lookup(mustParse(t, j, tokenizerConfig{}, tinyVocab), "tokenizer.ggml.pre"); got != "gpt-4o" {
		t.Errorf("%v", got)
	}
}

func TestTokenizersThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(object)
		want string
	}{
		{"unigram", func(j object) { j["model"].(object)["type"] = "Unigram" }, `"Unigram" is not supported: want BPE`},
		{"another pattern", func(j object) { j["pre_tokenizer"] = splitAndBytes(`\w+`) }, `the pattern "re:\\w+"`},
		{"merges ignored", func(j object) { j["model"].(object)["ignore_merges"] = true }, "ignore_merges true"},
		{"a leading space", func(j object) { j["pre_tokenizer"] = object{"type": "ByteLevel", "add_prefix_space": true} }, "add_prefix_space"},
		{"lower case", func(j object) { j["normalizer"] = object{"type": "Lowercase"} }, `"Lowercase" is not supported`},
		{"characters", func(j object) { j["pre_tokenizer"] = object{"type": "Whitespace"} }, "neither byte-level BPE nor BPE with byte fallback"},
		{"kept apart", func(j object) {
			j["pre_tokenizer"] = object{"type": "Sequence", "pretokenizers": []any{object{"type": "Split", "pattern": object{"String": " "}, "behavior": "Removed"}, object{"type": "ByteLevel"}}}
		}, `behavior "Removed"`},
		{"three parts", func(j object) { j["model"].(object)["merges"] = []any{[]string{"a", "b", "c"}, 1} }, "merge 1"},
		{"a huge id", func(j object) { j["added_tokens"] = []object{{"id": 1 << 40, "content": "x"}} }, "more than 4194304 tokens"},
		{"a negative id", func(j object) { j["added_tokens"] = []object{{"id": -1, "content": "x"}} }, "has the negative id -1"},
		{"an id twice", func(j object) { j["added_tokens"] = []object{{"id": 5, "content": "x"}} }, "have the same id 5"},
	} {
		j := tinyTokenizer()
		c.bend(j)
		b, _ := json.Marshal(j)
		if _, _, err := parseTokenizer(b, tokenizerConfig{}, tinyVocab); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestChatTemplates(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ config, file, want string }{
		{`{}`, "", ""}, {`{"chat_template": null}`, "", ""}, {`{"chat_template": "a"}`, "", "a"},
		{`{"chat_template": [{"name": "tool_use", "template": "b"}, {"name": "default", "template": "c"}]}`, "", "c"},
		{`{"chat_template": "a"}`, "from a file", "from a file"},
	} {
		os.Remove(filepath.Join(dir, "chat_template.jinja"))
		if c.file != "" {
			os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte(c.file), 0o644)
		}
		var config tokenizerConfig
		if err := json.Unmarshal([]byte(c.config), &config); err != nil {
			t.Fatal(err)
		}
		if got, err := chatTemplate(dir, config); got != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.config, got, err)
		}
	}
}

func FuzzTokenizer(f *testing.F) {
	tiny, _ := json.Marshal(tinyTokenizer())
	f.Add(tiny)
	f.Add([]byte(`{"normalizer":{"type":"Prepend","prepend":"▁"},"added_tokens":[{"id":0,"content":"<unk>","special":true}],"model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","vocab":{"a":1,"b":2,"ab":3,"<0x0A>":4},"merges":["a b"]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		meta, v, err := parseTokenizer(b, tokenizerConfig{BOS: "a"}, 300)
		if err != nil {
			return
		}
		if len(v.tokens) != 300 {
			t.Fatalf("%d tokens", len(v.tokens))
		}
		if tok, err := tokenizer.FromMeta(gguf.NewMeta(meta)); err == nil {
			tok.Encode("ab\nthe cat", tokenizer.Options{ParseSpecial: true})
		}
	})
}
