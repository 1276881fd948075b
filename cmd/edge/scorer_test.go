package main

import (
	"slices"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/decoder/extract"
	"tandem/internal/tinymodel"
	"tandem/node"
)

// With a scorer the pair answers from the passages that the scorer chooses. Where both sides keep all that is found,
// the documents read are those without a scorer, though it has random weights. The reader trusts the first passages
// more, so in such an order it may not know, but it says nothing else.
func TestScorer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, spec := range map[string]tinymodel.Spec{
		"encoder": {Arch: "bert", Layers: 1, Dim: 32}, "cross": {Arch: "modern-bert", Layers: 1, Dim: 32, Labels: []string{"relevant"}},
		"unigrams": {Arch: "bert", Layers: 1, Dim: 32, Labels: []string{"relevant"}, Unigrams: true}, "decoder": {},
	} {
		clitest.Write(t, h.Dir, name+".gguf", string(tinymodel.GGUF(spec)))
	}
	b := h.ask("--seed", "1", "--documents", "64", question)
	for _, name := range []string{"encoder", "cross", "unigrams"} {
		a := h.ask("--seed", "1", "--documents", "64", "--scorer", name+".gguf", question)
		if !holds(b.Answer, deviceKnows, cloudKnows) || !knowsOrNot(a.Answer) || !slices.Equal(titles(a.Documents.Device), titles(b.Documents.Device)) || !slices.Equal(titles(a.Documents.Cloud), titles(b.Documents.Cloud)) {
			t.Errorf("%s: %q from %v, without a scorer from %v", name, a.Answer, a.Documents, b.Documents)
		}
	}
	one, other := h.ask("--documents", "1", question), h.ask("--documents", "1", "--scorer", "cross.gguf", question)
	if slices.Equal(one.Documents.Device, other.Documents.Device) {
		t.Errorf("a random scorer chose what the search would have: %v", one.Documents)
	}
	for scorer, want := range map[string]string{
		"decoder.gguf": "not an encoder but a model of architecture llama", "none.gguf": "no model", "tandem-span-reader": "points at words",
	} {
		if _, stderr, err := h.Run("ask", "--scorer", scorer, question); err == nil || !strings.Contains(stderr, "--scorer") || !strings.Contains(stderr, want) {
			t.Errorf("--scorer %s: %v, %s", scorer, err, stderr)
		}
	}
	out, stderr, err := h.Run("models", "show", "cross.gguf")
	if err != nil || !strings.Contains(out, "cross-encoder") {
		t.Errorf("models show: %s%s, %v", out, stderr, err)
	}
	if _, stderr, err := h.Run("serve", "--http", "127.0.0.1:0", "--encoder", "cross.gguf"); err == nil || !strings.Contains(stderr, "use it with --scorer") {
		t.Errorf("a cross-encoder for vectors: %v, %s", err, stderr)
	}
}

// knowsOrNot reports whether each line of an answer is right, or says that nobody knows.
func knowsOrNot(answer string) bool {
	for line := range strings.Lines(answer) {
		if !holds(line, deviceKnows) && !holds(line, cloudKnows) && strings.TrimSpace(line) != extract.Unknown {
			return false
		}
	}
	return answer != ""
}

func titles(of []node.Source) (out []string) {
	for _, s := range of {
		out = append(out, s.Title)
	}
	slices.Sort(out)
	return out
}
