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
	"tandem/model/convert"
	"tandem/model/tokenizer"
	"tandem/npu/native"
)

// sharedFile returns a path in the shared data folder, or skips the test.
func sharedFile(t testing.TB, path ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("no go.mod above the test")
		}
		dir = up
	}
	file := filepath.Join(append([]string{dir, "..", "shared", "data"}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("no data set: %v", err)
	}
	return file
}

// storiesGGUF converts llama2.c's checkpoint and tokenizer to a GGUF file.
func storiesGGUF(t testing.TB) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "stories260K.gguf")
	if _, err := convert.Llama2C(context.Background(), sharedFile(t, "stories260k", "stories260K.bin"), sharedFile(t, "stories260k", "tok512.bin"), out, convert.Options{}); err != nil {
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
	if raw, err := os.ReadFile(sharedFile(t, "stories260k", "derived-greedy-ids.json")); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(sharedFile(t, "stories260k", "expected-output-stories260K.md"))
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
