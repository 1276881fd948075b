package node

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/model"
	"tandem/model/grammar"
	"tandem/model/sample"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// Under grounding, where a side has no say within the other side's words, and in a form, the same seed gives the same text in
// every placement, in both couplings and on any network.
func TestSameSeedSameLimited(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	t.Run("grounded", func(t *testing.T) { sameSeedSameLimited(t, m, nil) })
	t.Run("form", func(t *testing.T) {
		g, err := grammar.Of(`{"properties": {"opens": {"type": "string", "maxLength": 20}, "wifi": {"type": "string", "maxLength": 20}, "open": {"type": "boolean"}}, "required": ["opens", "open"]}`)
		if err != nil {
			t.Fatal(err)
		}
		sameSeedSameLimited(t, m, g)
	})
}

func sameSeedSameLimited(t *testing.T, m *model.Model, form *grammar.Grammar) {
	tok := m.Tokenizer()
	for _, coupling := range []tandem.Coupling{tandem.CouplingShared, tandem.CouplingSpeculative, tandem.CouplingLeader} {
		sides := limitedSides(t, m, form)
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
		text := tok.Decode(want)
		if len(want) < 8 || form != nil && targets[len(targets)-1].Token == cfg.Stop[0] && !json.Valid([]byte(text)) {
			t.Errorf("the answer is %q", text)
		}
		for _, placement := range placements {
			cfg.Placement = placement
			for _, c := range []*cable{{delay: 20 * time.Millisecond, jitter: 15 * time.Millisecond}, {delay: 150 * time.Millisecond, loss: .1}} {
				c.spans = limitedSides(t, m, form)
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

// limitedSides returns decoders with the built-in decoder for a question over two sides' documents, with a form or grounded.
func limitedSides(t *testing.T, m *model.Model, form *grammar.Grammar) (sides [2]producer) {
	t.Helper()
	cfg := decoder.Config{
		Model: m, Scorer: search.Lexical(), Weights: decoder.Supported, Grounded: form == nil, Form: form, TopP: 1, MaxTokens: groundedTokens,
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
