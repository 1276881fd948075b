package models_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/lora"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/tokenizer"
	"tandem/models"
	"tandem/npu/native"
)

// golden is one line of testdata/golden.jsonl: what the recipe's own code makes of the shipped file.
type golden struct {
	System    string         `json:"system"`
	Question  string         `json:"question"`
	Prompt    string         `json:"prompt"`
	IDs       []tandem.Token `json:"ids"`
	AnswerIDs []tandem.Token `json:"answer_ids"`
	Answer    string         `json:"answer"`
}

func readGolden(t *testing.T) []golden {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "golden.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []golden
	for s := bufio.NewScanner(f); s.Scan(); {
		var g golden
		if err := json.Unmarshal(s.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	if len(all) < 20 {
		t.Fatalf("only %d golden answers", len(all))
	}
	return all
}

func TestDecoderSize(t *testing.T) {
	if n := len(models.Decoder); n > 8_000_000 {
		t.Errorf("the built-in decoder has %d bytes, more than 8 MB", n)
	}
}

// The built-in adapters are small and fit the decoder, and adapt list knows what they are.
func TestAdapters(t *testing.T) {
	m := openDecoder(t)
	if len(models.Adapters()) == 0 {
		t.Fatal("no adapters")
	}
	for _, name := range models.Adapters() {
		b, ok := models.Adapter(name)
		if !ok || len(b) > 1_000_000 {
			t.Errorf("%s: %v, %d bytes, want at most 1 MB", name, ok, len(b))
		}
		a, err := lora.ReadGGUF(name, b)
		if err == nil {
			_, err = lora.Mount(m, model.Inputs, []lora.Scaled{{Adapter: a, Scale: 1}})
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := models.Adapter("../reader"); ok {
		t.Error("a path outside of the folder is an adapter")
	}
}

// TestDecoderPrompts compares chat template and tokenizer of the file with the prompts that the decoder was trained on.
func TestDecoderPrompts(t *testing.T) {
	m := openDecoder(t)
	for _, g := range readGolden(t) {
		text, err := m.Template().Render([]chat.Message{{Role: "system", Content: g.System}, {Role: "user", Content: g.Question}})
		if err != nil {
			t.Fatal(err)
		}
		if text != g.Prompt {
			t.Fatalf("template gives %q, want %q", text, g.Prompt)
		}
		if ids := m.Tokenizer().Encode(text, tokenizer.Options{AddSpecial: true}); !slices.Equal(ids, g.IDs) {
			t.Errorf("%q: ids %v, want %v", text, ids, g.IDs)
		}
	}
}

// TestDecoderConversation checks the template without a system message and with an earlier turn.
func TestDecoderConversation(t *testing.T) {
	m := openDecoder(t)
	text, err := m.Template().Render([]chat.Message{{Role: "user", Content: "A?"}, {Role: "assistant", Content: "B."}, {Role: "user", Content: "C?"}})
	if want := "Question: A?\nAnswer: B.\nQuestion: C?\nAnswer:"; err != nil || text != want {
		t.Errorf("template gives %q, %v; want %q", text, err, want)
	}
}

// TestDecoderAgainstLlamaCpp loads the file with llama.cpp: same tokens, same greedy answers as the recipe's own code.
func TestDecoderAgainstLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	path := filepath.Join(t.TempDir(), "reader.gguf")
	if err := os.WriteFile(path, models.Decoder, 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := lib.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, g := range readGolden(t)[:12] {
		ids, err := m.Tokenize(g.Prompt, true, false)
		if err != nil {
			t.Fatal(err)
		}
		want := int32s(g.IDs)
		if !slices.Equal(ids, want) {
			t.Errorf("%q: llama.cpp's ids %v, want %v", g.Prompt, ids, want)
			continue
		}
		logits, err := m.Logits(append(ids, int32s(g.AnswerIDs[:len(g.AnswerIDs)-1])...))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range g.AnswerIDs {
			if got := argmax(logits[len(ids)-1+i]); got != int(want) {
				t.Errorf("%q: token %d of the answer is %d, want %d", g.Question, i, got, want)
				break
			}
		}
	}
}

func openDecoder(t *testing.T) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("reader.gguf", models.Decoder, native.New(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func int32s(tokens []tandem.Token) []int32 {
	out := make([]int32, len(tokens))
	for i, t := range tokens {
		out[i] = int32(t)
	}
	return out
}

func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}
