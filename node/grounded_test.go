package node

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/model"
	"tandem/model/sample"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// Under grounding, where a side has no say within the other side's words, the same seed gives the same text in every
// placement, in both couplings and on any network.
func TestSameSeedSameGrounded(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	tok := m.Tokenizer()
	for _, coupling := range []tandem.Coupling{tandem.CouplingShared, tandem.CouplingSpeculative, tandem.CouplingLeader} {
		sides := groundedSides(t, m)
		cfg := toyConfig(tandem.PlaceMirror, coupling, 3, false)
		cfg.Stop, cfg.Vocab, cfg.MaxTokens = tok.EOGs(), tok.Size(), groundedTokens
		targets, err := decoder.LockStep(t.Context(), sides[0], sides[1], cfg.Rule(), cfg.Stop, cfg.MaxTokens)
		if err != nil {
			t.Fatal(err)
		}
		var want []tandem.Token
		for _, x := range targets {
			want = append(want, x.Token)
		}
		if len(want) < 8 {
			t.Errorf("the answer is %q", tok.Decode(want))
		}
		for _, placement := range placements {
			cfg.Placement = placement
			for _, c := range []*cable{{delay: 20 * time.Millisecond, jitter: 15 * time.Millisecond}, {delay: 150 * time.Millisecond, loss: .1}} {
				c.spans = groundedSides(t, m)
				synctest.Test(t, func(t *testing.T) {
					if got, _ := converse(t, cfg, c, 0, nil); !slices.Equal(got, want) {
						t.Errorf("%v %v delay %v: %q, want %q", placement, coupling, c.delay, tok.Decode(got), tok.Decode(want))
					}
				})
			}
		}
	}
}

const groundedTokens = 48

// groundedSides returns decoders with the built-in decoder for a question over two sides' documents.
func groundedSides(t *testing.T, m *model.Model) (sides [2]producer) {
	t.Helper()
	cfg := decoder.Config{
		Model: m, Scorer: search.Lexical(), Weights: decoder.Supported, Grounded: true, TopP: 1, MaxTokens: groundedTokens,
		Sampling: sample.Params{Sampling: tandem.Sampling{Temperature: 1.5}},
	}
	for side, p := range []passages.Passage{
		{Title: "Lake cabin", Text: "The wifi password of the lake cabin is harbour-7421. Jürgen Müller has the key."},
		{Title: "Harbour museum", Text: "The harbour museum opens at 9:40 on weekdays."},
	} {
		d, err := decoder.New(t.Context(), cfg, decoder.Request{
			Question: "When does the harbour museum open, and what is the wifi password of the lake cabin?", Passages: []passages.Passage{p},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		sides[side] = d
	}
	return sides
}
