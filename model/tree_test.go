package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/npu"
)

// Every node of a draft tree has the same logits as plain decoding of its path, to the bit. After Keep, the sequence
// continues as after plain decoding. Neither depends on the spans of its cache or on other inputs of the call.
func TestTreesEqualPlainDecoding(t *testing.T) {
	spec := tinymodel.Spec{Type: npu.Q8_0, Layers: 2, Dim: 64, FF: 96, Heads: 4, KVHeads: 2, HeadDim: 32}
	t.Run("f16", func(t *testing.T) {
		treesEqualPlain(t, tinymodel.GGUF(spec))
	})
	t.Run("convolutions", func(t *testing.T) {
		spec := tinymodel.Spec{Type: npu.Q8_0, Layers: 3, Dim: 64, FF: 96, Arch: "lfm2"}
		treesEqualPlain(t, tinymodel.GGUF(spec))
	})
	t.Run("q8_0", func(t *testing.T) {
		treesEqualPlain(t, tinymodel.GGUF(spec), KVCache(npu.CacheQ8_0))
	})
}

func treesEqualPlain(t *testing.T, file []byte, more ...Option) {
	plain := opened(t, file, 1, []int{1}, more...)
	models := []*Model{opened(t, file, 1, []int{8}, more...), opened(t, file, 2, chunkSizes, more...)}
	rapid.Check(t, func(t *rapid.T) {
		m := models[rapid.IntRange(0, 1).Draw(t, "model")]
		token := rapid.Map(rapid.IntRange(0, 250), func(i int) tandem.Token { return tandem.Token(i) })
		text := rapid.SliceOfN(token, 0, 70).Draw(t, "text")
		seq := m.NewSeq()
		if len(text) > 0 {
			if _, err := m.Forward(t.Context(), []Input{{Seq: seq, Tokens: text}}); err != nil {
				t.Fatal(err)
			}
		}
		if rapid.Bool().Draw(t, "fork") {
			other := seq.Fork()
			if _, err := m.Forward(t.Context(), []Input{{Seq: other, Tokens: pattern(3)}}); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			n := rapid.IntRange(1, 20).Draw(t, "nodes")
			if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
				n = npu.MaxTree
			}
			row := Input{Seq: seq, All: true}
			paths := make([][]tandem.Token, n)
			for i := range n {
				parent := rapid.IntRange(-1, i-1).Draw(t, "parent")
				before := text
				if parent >= 0 {
					before = paths[parent]
				}
				row.Tokens, row.Parents = append(row.Tokens, token.Draw(t, "node")), append(row.Parents, parent)
				paths[i] = append(slices.Clone(before), row.Tokens[i])
			}
			rows := []Input{row}
			if rapid.Bool().Draw(t, "company") {
				rows = []Input{{Seq: m.NewSeq(), Tokens: pattern(rapid.IntRange(1, 9).Draw(t, "before"))}, row}
			}
			logits, err := m.Forward(t.Context(), rows)
			if err != nil {
				t.Fatal(err)
			}
			logits = logits[len(logits)-n:]
			if seq.Len() != len(text) {
				t.Fatalf("a tree changed the length from %d to %d", len(text), seq.Len())
			}
			at := rapid.IntRange(-1, n-1).Draw(t, "kept")
			if want := after(t, plain, paths[max(at, 0)]); !bitEqual(logits[max(at, 0)], want) {
				t.Fatalf("node %d of %d: %v…, want %v…", max(at, 0), row.Parents, logits[max(at, 0)][:3], want[:3])
			}
			var path []int
			for i := at; i >= 0; i = row.Parents[i] {
				path = append(path, i)
			}
			slices.Reverse(path)
			if err := seq.Keep(path...); err != nil {
				t.Fatal(err)
			}
			if at >= 0 {
				text = paths[at]
			}
			if seq.Len() != len(text) {
				t.Fatalf("%d positions for %d tokens", seq.Len(), len(text))
			}
		}
		got, err := m.Forward(t.Context(), []Input{{Seq: seq, Tokens: pattern(2)}})
		if err != nil {
			t.Fatal(err)
		}
		if !bitEqual(got[0], after(t, plain, append(slices.Clone(text), pattern(2)...))) {
			t.Fatal("after Keep the sequence differs from plain decoding")
		}
	})
}

func after(t *rapid.T, m *Model, text []tandem.Token) []float32 {
	logits, err := m.Forward(t.Context(), []Input{{Seq: m.NewSeq(), Tokens: text}})
	if err != nil {
		t.Fatal(err)
	}
	return logits[0]
}

// The next call discards what a tree left in the cache.
func TestTreesAreDiscarded(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	seq := m.NewSeq()
	forward(t, m, Input{Seq: seq, Tokens: pattern(5)})
	want := forward(t, m, Input{Seq: m.NewSeq(), Tokens: pattern(6)})[0]
	tree := func() { forward(t, m, Input{Seq: seq, Tokens: pattern(4), Parents: []int{-1, 0, -1, 2}, All: true}) }
	next := pattern(6)[5:]

	tree()
	if got := forward(t, m, Input{Seq: seq, Tokens: next})[0]; !bitEqual(got, want) || seq.Len() != 6 {
		t.Error("Forward after a tree differs")
	}
	seq.Truncate(5)
	tree()
	if got := forward(t, m, Input{Seq: seq.Fork(), Tokens: next})[0]; !bitEqual(got, want) {
		t.Error("a fork after a tree differs")
	}
	tree()
	seq.Truncate(9)
	if got := forward(t, m, Input{Seq: seq, Tokens: next})[0]; !bitEqual(got, want) || seq.Len() != 6 {
		t.Error("Truncate after a tree differs")
	}
}

func TestTreesRefuse(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	seq := m.NewSeq()
	for _, c := range []struct {
		in   Input
		want string
	}{
		{Input{Tokens: pattern(2), Parents: []int{-1}}, "2 tokens with 1 parents"},
		{Input{Tokens: pattern(2), Parents: []int{-1, 1}}, "parent of node 1 is 1"},
		{Input{Tokens: pattern(2), Parents: []int{-1, -2}}, "parent of node 1 is -2"},
		{Input{Tokens: pattern(65), Parents: make([]int, 65)}, "at most 64"},
		{Input{Tokens: pattern(2), OnScores: func(int, []float32) {}}, "go together"},
	} {
		c.in.Seq = seq
		if _, err := m.Forward(t.Context(), []Input{c.in}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	forward(t, m, Input{Seq: seq, Tokens: pattern(4), Parents: []int{-1, 0, 1, 0}})
	for _, path := range [][]int{{1}, {0, 2}, {4}, {-1}, {0, 0}} {
		if err := seq.Keep(path...); err == nil {
			t.Errorf("Keep accepted path %d", path)
		}
	}
	if err := seq.Keep(0, 3); err != nil || seq.Len() != 2 {
		t.Errorf("error %v, %d positions, want 2", err, seq.Len())
	}
	if err := seq.Keep(0); err == nil {
		t.Error("Keep succeeded twice for one tree")
	}
}

// The scores of a PartialHead are the logits of its tokens.
func TestPartialHead(t *testing.T) {
	m := variant(t, tinymodel.Spec{Type: npu.Q8_0}, 1, 1, 128)
	some := []tandem.Token{7, 200, 3}
	head, err := m.PartialHead(some)
	if err != nil {
		t.Fatal(err)
	}
	text, seen := pattern(150), 0
	want := forward(t, m, Input{Seq: m.NewSeq(), Tokens: text, All: true})
	got := forward(t, m, Input{Seq: m.NewSeq(), Tokens: pattern(3)}, Input{Seq: m.NewSeq(), Tokens: text, Head: head, OnScores: func(i int, scores []float32) {
		if i != seen {
			t.Errorf("scores of token %d after those of token %d", i, seen-1)
		}
		seen++
		for j, id := range some {
			if scores[j] != want[i][id] {
				t.Errorf("token %d: score %v, want %v", i, scores[j], want[i][id])
			}
		}
	}})
	if seen != len(text) || len(got) != 2 || !bitEqual(got[1], want[len(text)-1]) {
		t.Error(fmt.Sprint("scores after ", seen, " tokens; the last logits differ or are missing"))
	}
	if _, err := m.PartialHead([]tandem.Token{5000}); err == nil {
		t.Error("no error for a token outside the vocabulary")
	}
}
