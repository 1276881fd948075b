package model

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
	"tandem/npu"
	"tandem/npu/native"
)

var pairs = [][2]string{
	{"when does it open?", "The museum opens at nine."}, {"", "x"}, {"a b", ""}, {"Übung", "macht den Meister 123"},
	{"what is it", strings.Repeat("the key is under the mat, and ", 12)},
}

// wordPieces replaces the vocabulary of a tiny model by one of WordPiece, as BERT's files have it. closed says whether a file
// has the key that says that texts end with [SEP], as converters write it today.
func wordPieces(meta []gguf.KV, closed bool) []gguf.KV {
	i := slices.IndexFunc(meta, func(kv gguf.KV) bool { return kv.Key == "tokenizer.ggml.tokens" })
	n := len(meta[i].Value.([]string))
	tokens, types := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁.", "▁,", "▁?"}, make([]int32, n)
	for c := 'a'; c <= 'z'; c++ {
		tokens = append(tokens, string(c), "▁"+string(c))
	}
	for j := 0; len(tokens) < n; j++ {
		tokens = append(tokens, fmt.Sprintf("▁%c%c", 'a'+j%26, 'a'+j/26))
	}
	for j := range types {
		types[j] = 1
		if j < 4 {
			types[j] = 3
		}
	}
	types[1] = 2
	meta = slices.DeleteFunc(meta, func(kv gguf.KV) bool { return strings.HasPrefix(kv.Key, "tokenizer.") })
	meta = append(meta, gguf.KV{Key: "tokenizer.ggml.model", Value: "bert"}, gguf.KV{Key: "tokenizer.ggml.tokens", Value: tokens},
		gguf.KV{Key: "tokenizer.ggml.token_type", Value: types}, gguf.KV{Key: "tokenizer.ggml.token_type_count", Value: uint32(2)})
	for key, id := range map[string]uint32{"unknown": 1, "bos": 2, "cls": 2, "seperator": 3, "padding": 0} {
		meta = append(meta, gguf.KV{Key: "tokenizer.ggml." + key + "_token_id", Value: id})
	}
	if closed {
		meta = append(meta, gguf.KV{Key: "tokenizer.ggml.add_eos_token", Value: true}, gguf.KV{Key: "tokenizer.ggml.add_sep_token", Value: false})
	}
	return meta
}

// Pairs have the tokens that llama.cpp's server gives them, and the score that the library computes.
func TestScoresAgreeWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	bounds := map[npu.DType]float64{npu.F32: 2e-3, npu.Q8_0: 0.03, npu.Q4_K: 0.08}
	for i, spec := range []tinymodel.Spec{
		{Type: npu.F32, Dim: 96, Heads: 3, FF: 160, Layers: 3}, {Type: npu.Q8_0, Dim: 160, Heads: 5, FF: 96}, {Type: npu.Q4_K, Dim: 256, Heads: 8, FF: 768, Layers: 5},
	} {
		for _, arch := range []string{"bert", "bert/wordpiece", "bert/wordpiece closed", "bert/unigrams", "modern-bert"} {
			t.Run(fmt.Sprintf("%s/%v", arch, spec.Type), func(t *testing.T) {
				spec := spec
				spec.Arch, _, _ = strings.Cut(arch, "/")
				spec.Seed, spec.Labels = uint64(i), []string{"yes", "no"}[:1+i%2]
				spec.Unigrams = strings.HasSuffix(arch, "unigrams")
				meta, tensors := tinymodel.Parts(spec)
				if strings.Contains(arch, "wordpiece") {
					meta = wordPieces(meta, strings.HasSuffix(arch, "closed"))
				}
				path := filepath.Join(t.TempDir(), "m.gguf")
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := gguf.Write(f, meta, tensors); err != nil {
					t.Fatal(err)
				}
				f.Close()
				theirs, err := lib.Open(path, false)
				if err != nil {
					t.Fatal(err)
				}
				defer theirs.Close()
				m, err := Open(path, native.New(1))
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				for _, p := range pairs {
					ids, err := theirs.Pair(p[0], p[1])
					if err != nil {
						t.Fatal(err)
					}
					if tokens := m.tokenizer.Pair(p[0], p[1], m.config.Context); !slices.EqualFunc(tokens, ids, func(a tandem.Token, b int32) bool { return int32(a) == b }) {
						t.Fatalf("%q: tokens %v, want %v", p, tokens, ids)
					}
					want, err := theirs.Embedding(ids, len(spec.Labels))
					if err != nil {
						t.Fatal(err)
					}
					got, err := m.Score(context.Background(), p[0], p[1])
					if err != nil {
						t.Fatal(err)
					}
					if off := math.Abs(got - float64(want[0])); !(off < bounds[spec.Type]) {
						t.Errorf("%q: score %g, want %g", p, got, want[0])
					}
				}
			})
		}
	}
}

// A cross-encoder's score does not depend on threads or chunks, reads as much of a text as the context holds, and is refused
// to other models; so are embeddings to a cross-encoder.
func TestScore(t *testing.T) {
	spec := tinymodel.Spec{Arch: "bert", Type: npu.Q8_0, Labels: []string{"relevant"}, Context: 64}
	one, many := variant(t, spec, 1, 8), variant(t, spec, 3, 1, 32, 128)
	long := strings.Repeat("x y ", 100)
	var last float64
	for i, text := range []string{"a", "b", long, long + "z"} {
		a, err := one.Score(t.Context(), "what is it", text)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := many.Score(t.Context(), "what is it", text); a != b || err != nil {
			t.Errorf("%q: %g with one thread, %g with three, %v", text, a, b, err)
		}
		if same := a == last; same != (i == 3) {
			t.Errorf("%q: score %g, the text before it %g", text, a, last)
		}
		last = a
	}
	end, _ := one.tokenizer.EOS()
	if got := one.tokenizer.Pair(long, long, 64); len(got) != 64 || got[63] != end {
		t.Errorf("%d tokens of two long texts, the last %d, want 64 and %d", len(got), got[len(got)-1], end)
	}
	for n, want := range map[int]int{1: 1, 64: 64, 1000: 201} {
		ids := one.tokenizer.Encode(strings.Repeat("x", 200), tokenizer.Options{AddSpecial: true})
		if got := one.tokenizer.Fit(ids, n); len(got) != want || got[len(got)-1] != end {
			t.Errorf("cut to %d tokens: %d, the last %d, want %d and %d", n, len(got), got[len(got)-1], want, end)
		}
	}
	if _, err := one.Score(t.Context(), long, long); err != nil {
		t.Error(err)
	}
	if _, _, err := one.EmbedText(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "cross-encoder") {
		t.Errorf("embeddings of a cross-encoder: %v", err)
	}
	if _, err := variant(t, tinymodel.Spec{Arch: "bert"}, 1, 8).Score(t.Context(), "a", "b"); err == nil || !strings.Contains(err.Error(), "not a cross-encoder") {
		t.Errorf("a score of an encoder: %v", err)
	}
	for arch, want := range map[string]string{"nomic-bert": "classification heads", "bert": `"cls.output.weight"`} {
		meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: arch, Labels: []string{"relevant"}})
		tensors = slices.DeleteFunc(tensors, func(t npu.Tensor) bool { return strings.HasPrefix(t.Name, "cls.") })
		var b bytes.Buffer
		if err := gguf.Write(&b, meta, tensors); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenBytes("bad", b.Bytes(), native.New(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s without a head: %v, want %s", arch, err, want)
		}
	}
}

// A ranker of an encoder gives cosines, the same when asked again; one of a cross-encoder its scores. Long texts are cut.
func TestRanker(t *testing.T) {
	texts := []string{"the museum opens at nine", "tea", strings.Repeat("ferry times ", 100)}
	for _, labels := range [][]string{nil, {"relevant"}} {
		m := variant(t, tinymodel.Spec{Arch: "bert", Labels: labels, Context: 64}, 1, 8)
		r, err := NewRanker(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Rank(t.Context(), texts[0], texts)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.Rank(t.Context(), texts[0], texts); err != nil || !slices.Equal(got, again) {
			t.Errorf("%v, then %v, %v", got, again, err)
		}
		if labels == nil && (math.Abs(got[0]-1) > 1e-5 || got[1] > 0.9999) {
			t.Errorf("cosines of a text and itself, and of others: %v", got)
		}
		if score, err := m.Score(t.Context(), texts[0], texts[1]); labels != nil && (score != got[1] || err != nil) {
			t.Errorf("ranked by %g, want the score %g, %v", got[1], score, err)
		}
	}
	if _, err := NewRanker(variant(t, tinymodel.Spec{}, 1, 8)); err == nil || !strings.Contains(err.Error(), "architecture llama") {
		t.Errorf("a ranker of a decoder: %v", err)
	}
}

// A family of encoders may have members that want other words before a text than the rest.
func TestPrefixes(t *testing.T) {
	const english = "Represent this sentence for searching relevant passages: "
	for name, want := range map[string][2]string{
		"nomic-embed-text-v1.5":         {"search_query: ", "search_document: "},
		"modernbert-embed-base":         {"search_query: ", "search_document: "},
		"multilingual-e5-small":         {"query: ", "passage: "},
		"Bge Small En v1.5":             {english, ""},
		"bge-large-en-v1.5":             {english, ""},
		"bge-m3":                        {"", ""},
		"Bge M3":                        {"", ""},
		"bge-base-zh-v1.5":              {"为这个句子生成表示以用于检索相关文章：", ""},
		"mxbai-embed-large-v1":          {english, ""},
		"snowflake-arctic-embed-m-v1.5": {english, ""},
		"Snowflake Arctic Embed L v2.0": {"query: ", ""},
		"all-MiniLM-L6-v2":              {"", ""},
		"granite-embedding-30m-english": {"", ""},
		"gte-modernbert-base":           {"", ""},
	} {
		r, err := NewRanker(&Model{config: Config{Name: name, Pooling: MeanPooling}})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{r.question, r.texts}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
