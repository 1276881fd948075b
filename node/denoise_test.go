package node

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu/native"
	"tandem/pair/pairtest"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/transport"
)

// A side whose model is a diffusion model answers in a pair like any other, with one of its kind or of the other: the same seed
// gives the same text in every placement, in all couplings and on any network.
func TestSameSeedSameTextWithDiffusion(t *testing.T) {
	for _, archs := range [][2]string{{"llada", "llama"}, {"qwen2", "dream"}, {"dream", "llada"}} {
		sides, stop, vocab := diffusionSides(t, archs)
		for seed, coupling := range []tandem.Coupling{tandem.CouplingShared, tandem.CouplingSpeculative, tandem.CouplingLeader} {
			cfg := toyConfig(tandem.PlaceMirror, coupling, uint64(seed), false)
			cfg.Stop, cfg.Vocab, cfg.MaxTokens = stop, vocab, 36 // beyond the first block
			targets, err := decoder.LockStep(t.Context(), sides[0], sides[1], cfg.Rule(), cfg.Stop, cfg.MaxTokens)
			if err != nil {
				t.Fatal(err)
			}
			want := pairtest.Tokens(targets)
			synctest.Test(t, func(t *testing.T) { // one bubble for all: see race_test.go
				for _, placement := range placements {
					cfg.Placement = placement
					for _, c := range []*cable{{}, {delay: 150 * time.Millisecond, jitter: 15 * time.Millisecond, loss: .1}} {
						c.spans = sides
						if got, _ := converse(t, cfg, c, 0, nil); !slices.Equal(got, want) {
							t.Errorf("%v %v %v seed %d delay %v: %v, want %v", archs, placement, coupling, seed, c.delay, got, want)
						}
					}
				}
			})
		}
	}
}

// diffusionSides returns decoders of random models of one vocabulary over two sides' documents.
func diffusionSides(t *testing.T, archs [2]string) (sides [2]producer, stop []tandem.Token, vocab int) {
	t.Helper()
	var hello transport.Hello
	for side, arch := range archs {
		m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: arch, Seed: uint64(side), Gain: 2, Dim: 32, FF: 48, Context: 256, Words: []string{"it"}}), native.New(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		cfg := decoder.Config{Model: m, Scorer: search.Lexical(), MaxTokens: 48, TopP: .9, Sampling: sample.Params{Sampling: tandem.Sampling{Temperature: 1}}}
		d, err := decoder.New(t.Context(), cfg, decoder.Request{Question: "When does it open?", Passages: []passages.Passage{
			{Title: "Museum", Text: "It opens at 9:40."}, {Title: "Cabin", Text: "The key hangs behind the door."},
		}[side : side+1]})
		if err != nil {
			t.Fatal(err)
		}
		sides[side] = d
		own := Local{Model: m, Scorer: search.Lexical()}.Hello(tandem.Side(side), "", "")
		if side == 0 {
			hello = own
		} else if own.Vocab != hello.Vocab || own.VocabSize != hello.VocabSize {
			t.Fatalf("%v: vocabularies of %d and %d tokens", archs, hello.VocabSize, own.VocabSize)
		}
		stop = m.Tokenizer().EOGs()
	}
	return sides, stop, hello.VocabSize
}
