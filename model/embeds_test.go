package model

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/npu"
)

// embeddingOf returns the row that the model looks up for a token.
func embeddingOf(t *testing.T, m *Model, token tandem.Token) []float32 {
	t.Helper()
	out := make([]float32, m.config.Dim)
	if err := m.base.programs[0].Embed.Run(npu.Args{Rows: 1, Tokens: []int32{int32(token)}, Positions: []int32{0}, Out: out}); err != nil {
		t.Fatal(err)
	}
	return out
}

// A node given as the embedding of a token has the logits of that token, and nodes that do not come below it are as without it,
// whatever it holds and whatever adapter it has.
func TestEmbeddingsAsRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, chunks := range [][]int{{1}, {4}, {1, 32}} {
		m := variant(t, tinymodel.Spec{Type: npu.Q8_0, Dim: 96, FF: 160}, 1, chunks...)
		list := mount(t, m, Inputs, someDelta(m, "own", 1, 4, allParts...), someDelta(m, "rows", 2, 9, allParts...))
		for range 30 {
			own := []*Adapter{nil, list[0]}[r.IntN(2)]
			n := r.IntN(12) + 2
			tokens, parents := make([]tandem.Token, n), make([]int, n)
			for i := range tokens {
				tokens[i], parents[i] = tandem.Token(r.IntN(256)), r.IntN(i+1)-1
			}
			run := func(tokens []tandem.Token, embeds [][]float32, rows *Adapter) [][]float32 {
				seq := m.NewSeqWith(own)
				if _, err := m.Forward(context.Background(), []Input{{Seq: seq, Tokens: []tandem.Token{1, 2, 3}}}); err != nil {
					t.Fatal(err)
				}
				out, err := m.Forward(context.Background(), []Input{{Seq: seq, Tokens: tokens, Parents: parents, All: true, Embeds: embeds, EmbedsAdapter: rows}})
				if err != nil {
					t.Fatal(err)
				}
				for i := range embeds {
					if embeds[i] != nil && seq.Keep(i) == nil {
						t.Fatal("an embedding can be kept")
					}
				}
				return out
			}
			want := run(tokens, nil, nil)
			which := r.IntN(n)
			given, embeds := append([]tandem.Token(nil), tokens...), make([][]float32, n)
			given[which], embeds[which] = NoToken, embeddingOf(t, m, tokens[which])
			for i, got := range run(given, embeds, nil) {
				if !bitEqual(got, want[i]) {
					t.Fatalf("node %d differs where node %d is given as its embedding", i, which)
				}
			}
			for i := range embeds[which] {
				embeds[which][i] = float32(r.NormFloat64())
			}
			below := make([]bool, n)
			for i, got := range run(given, embeds, list[1]) {
				below[i] = i == which || parents[i] >= 0 && below[parents[i]]
				if !below[i] && !bitEqual(got, want[i]) {
					t.Fatalf("node %d differs, and node %d, an embedding, is not above it", i, which)
				}
				if i == which && bitEqual(got, want[i]) {
					t.Fatal("the embedding changes nothing")
				}
			}
		}
	}
}

// Embeddings behind the tokens of a prompt have the logits that they have in a tree, and the sequence is as without them.
func TestEmbeddingsBehindAPrompt(t *testing.T) {
	for _, chunks := range [][]int{{1}, {4}, {1, 32}} {
		m := variant(t, tinymodel.Spec{Type: npu.Q8_0, Dim: 96, FF: 160}, 1, chunks...)
		list := mount(t, m, Inputs, someDelta(m, "own", 1, 4, allParts...), someDelta(m, "rows", 2, 9, allParts...))
		for _, own := range []*Adapter{nil, list[0]} {
			forward := func(seq *Seq, in Input) [][]float32 {
				t.Helper()
				in.Seq = seq
				out, err := m.Forward(context.Background(), []Input{in})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			rows := [][]float32{embeddingOf(t, m, 9), embeddingOf(t, m, 77)}
			tree, with := m.NewSeqWith(own), m.NewSeqWith(own)
			want := forward(tree, Input{Tokens: []tandem.Token{1, 2, 3}})
			want = append(want, forward(tree, Input{Tokens: []tandem.Token{NoToken, NoToken}, Parents: []int{-1, 0}, All: true, Embeds: rows, EmbedsAdapter: list[1]})...)
			got := forward(with, Input{Tokens: []tandem.Token{1, 2, 3, NoToken, NoToken}, Embeds: [][]float32{nil, nil, nil, rows[0], rows[1]}, EmbedsAdapter: list[1]})
			if len(got) != 3 || with.Len() != 3 {
				t.Fatalf("%d logits and %d tokens, want 3 of each", len(got), with.Len())
			}
			for i := range want {
				if !bitEqual(got[i], want[i]) {
					t.Errorf("chunks %d: logits %d differ", chunks, i)
				}
			}
			if !bitEqual(forward(with, Input{Tokens: []tandem.Token{5}})[0], forward(tree, Input{Tokens: []tandem.Token{5}})[0]) {
				t.Errorf("chunks %d: the next token's logits differ", chunks)
			}
		}
	}
}

func TestBadEmbeddings(t *testing.T) {
	m := variant(t, tinymodel.Spec{}, 1, 4)
	graph := mount(t, m, Graphs, someDelta(m, "graph", 1, 4, allParts...))[0]
	row := make([]float32, m.config.Dim)
	for name, in := range map[string]Input{
		"there must be a tree":  {Tokens: []tandem.Token{NoToken}, Embeds: [][]float32{row}},
		"only tokens before":    {Tokens: []tandem.Token{1, NoToken, 2}, Embeds: [][]float32{nil, row, nil}},
		"2 embeddings for 1":    {Tokens: []tandem.Token{NoToken}, Parents: []int{-1}, Embeds: [][]float32{row, row}},
		"want NoToken":          {Tokens: []tandem.Token{1}, Parents: []int{-1}, Embeds: [][]float32{row}},
		"embedding of 1 number": {Tokens: []tandem.Token{NoToken}, Parents: []int{-1}, Embeds: [][]float32{{1}}},
		"outside":               {Tokens: []tandem.Token{NoToken}, Parents: []int{-1}},
		"not mounted as inputs": {Tokens: []tandem.Token{NoToken}, Parents: []int{-1}, Embeds: [][]float32{row}, EmbedsAdapter: graph},
	} {
		in.Seq = m.NewSeq()
		if _, err := m.Forward(context.Background(), []Input{in}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
