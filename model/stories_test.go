package model

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/testfile"
	"tandem/model/convert"
	"tandem/model/tokenizer"
	"tandem/npu/native"
)

// storiesGGUF converts llama2.c's checkpoint and tokenizer to a GGUF file.
func storiesGGUF(t testing.TB) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "stories260K.gguf")
	if _, err := convert.Llama2C(context.Background(), testfile.Shared(t, "data", "stories260k", "stories260K.bin"), testfile.Shared(t, "data", "stories260k", "tok512.bin"), out, convert.Options{}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Greedy decoding of a trained model gives the published text, to the character.
func TestStories260K(t *testing.T) {
	b := storiesGGUF(t)
	var want struct {
		BOS  tandem.Token
		IDs  []tandem.Token
		Text string
	}
	if raw, err := os.ReadFile(testfile.Shared(t, "data", "stories260k", "derived-greedy-ids.json")); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(testfile.Shared(t, "data", "stories260k", "expected-output-stories260K.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n"+want.Text+"\n") {
		t.Fatal("the expected text is not the published one")
	}

	m, err := OpenBytes("stories260K", b, native.New(1))
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

// greedy decodes n tokens after the prompt, each time the likeliest.
func greedy(t testing.TB, m *Model, prompt []tandem.Token, n int) (ids []tandem.Token) {
	t.Helper()
	seq, next := m.NewSeq(), prompt
	for range n {
		logits, err := m.Forward(context.Background(), []Input{{Seq: seq, Tokens: next}})
		if err != nil {
			t.Fatal(err)
		}
		best, _ := top(logits[0])
		ids = append(ids, tandem.Token(best))
		next = ids[len(ids)-1:]
	}
	return ids
}
