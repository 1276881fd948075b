package model

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu/native"
)

// Of a remote model the vocabulary, the template and the context are here, whatever its architecture, and its sequences
// hold tokens.
func TestOpenVocabulary(t *testing.T) {
	file := tinymodel.GGUF(tinymodel.Spec{Context: 64})
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := OpenBytes("m", file, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	m, err := OpenVocabulary(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := m.Config()
	if m.Tokenizer().Fingerprint() != whole.Tokenizer().Fingerprint() || m.Template().Fingerprint() != whole.Template().Fingerprint() ||
		c.Context != 64 || c.Vocab != whole.Config().Vocab || !c.Remote || c.KVBytes() != 0 || !m.Processor() || m.Fingerprint() != whole.Fingerprint() {
		t.Errorf("%+v", c)
	}
	if m.LimitContext(1000); m.Config().Context != 64 {
		t.Error("a limit makes the context longer")
	}
	if m.LimitContext(10); m.Config().Context != 10 {
		t.Error("a limit is not kept")
	}
	s := m.NewSeq()
	s.Append(1, 2, 3, 4)
	fork := s.Fork()
	s.Truncate(2)
	s.Append(7)
	fork.Append(5)
	if !slices.Equal(s.Tokens(), []tandem.Token{1, 2, 7}) || !slices.Equal(fork.Tokens(), []tandem.Token{1, 2, 3, 4, 5}) || s.Len() != 3 || fork.Len() != 5 || s.Bytes() != 0 {
		t.Errorf("%v and %v", s.Tokens(), fork.Tokens())
	}
	var full *ContextError
	if err := m.CheckAppend(Input{Seq: fork, Tokens: make([]tandem.Token, 6)}); !errors.As(err, &full) {
		t.Errorf("too many tokens: %v", err)
	}
	if err := m.CheckAppend(Input{Seq: fork, Tokens: make([]tandem.Token, 5)}); err != nil {
		t.Error(err)
	}
	_, forward := m.Forward(t.Context(), []Input{{Seq: s, Tokens: []tandem.Token{1}}})
	_, mount := m.Mount(Inputs, Delta{Name: "x"})
	_, head := m.PartialHead([]tandem.Token{1})
	_, denoise := m.Denoise(t.Context(), s, []DenoiseRow{{Token: 1, Sees: 4, Position: 3, Logits: true}}, new(Logits))
	for _, err := range []error{forward, mount, head, denoise} {
		if err == nil {
			t.Error("a model that is not here computes")
		}
	}
}

// A file without tensors, of an architecture that is unknown here, is enough.
func TestVocabularyAlone(t *testing.T) {
	f, err := gguf.Parse("m", tinymodel.GGUF(tinymodel.Spec{}))
	if err != nil {
		t.Fatal(err)
	}
	kvs := f.KVs()
	for i := range kvs {
		if kvs[i].Key == "general.architecture" {
			kvs[i].Value = "unheard-of"
		}
	}
	path := filepath.Join(t.TempDir(), "v.gguf")
	w, err := os.Create(path)
	if err == nil {
		err = errors.Join(gguf.Write(w, kvs, nil), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := OpenVocabulary(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if c := m.Config(); c.Arch != "unheard-of" || c.Context != maxContext || c.Vocab < 256 {
		t.Errorf("%+v", c)
	}
	if _, err := OpenVocabulary(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there opens")
	}
}
