package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
	"tandem/node"
)

// With a scorer the pair answers from the passages that the scorer chooses. Relevances do not depend on it: where both sides keep
// all that is found, the answer is the one without a scorer, weights included.
func TestScorer(t *testing.T) {
	h := newHome(t)
	for name, spec := range map[string]tinymodel.Spec{
		"encoder": {Arch: "bert", Layers: 1, Dim: 32}, "cross": {Arch: "modern-bert", Layers: 1, Dim: 32, Labels: []string{"relevant"}}, "decoder": {},
	} {
		clitest.Write(t, h.Dir, name+".gguf", string(tinymodel.GGUF(spec)))
	}
	b := h.ask("--seed", "1", "--documents", "64", question)
	for _, name := range []string{"encoder", "cross"} {
		a := h.ask("--seed", "1", "--documents", "64", "--scorer", name+".gguf", question)
		if a.Answer != b.Answer || !holds(a.Answer, deviceKnows, cloudKnows) || !slices.Equal(byWeight(a.Documents.Device), byWeight(b.Documents.Device)) || !slices.Equal(byWeight(a.Documents.Cloud), byWeight(b.Documents.Cloud)) {
			t.Errorf("%s: %q from %v, without a scorer %q from %v", name, a.Answer, a.Documents, b.Answer, b.Documents)
		}
	}
	one, other := h.ask("--documents", "1", question), h.ask("--documents", "1", "--scorer", "cross.gguf", question)
	if slices.Equal(one.Documents.Device, other.Documents.Device) {
		t.Errorf("a random scorer chose what the search would have: %v", one.Documents)
	}
	for scorer, want := range map[string]string{
		"decoder.gguf": "no encoder, but a model of architecture llama", "none.gguf": "no model", "tandem-span-reader": "points at words",
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

// byWeight returns sources in an order that does not depend on that of the passages, with rounded weights: sums over
// passages in another order differ in their last bits.
func byWeight(list []node.Source) []node.Source {
	for i := range list {
		list[i].Weight = math.Round(1e6*list[i].Weight) / 1e6
	}
	return slices.SortedFunc(slices.Values(list), func(a, b node.Source) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Title, b.Title))
	})
}
