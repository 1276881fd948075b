package node

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/decoder/extract"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/model/tokenizer"
	"tandem/models"
	"tandem/npu/native"
	"tandem/pair/pairtest"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// With the span reader, too, the same seed gives the same text in every placement, in both couplings and on any network.
func TestSameSeedSameSpans(t *testing.T) {
	const question = "When does the harbour museum open, and what is the wifi password?"
	for _, temperature := range []float64{0, 1} {
		sides, tok := spanSides(t, question, temperature)
		for seed := range uint64(4) {
			for _, coupling := range []tandem.Coupling{tandem.CouplingShared, tandem.CouplingSpeculative, tandem.CouplingLeader} {
				cfg := toyConfig(tandem.PlaceMirror, coupling, seed, temperature == 0)
				cfg.Stop, cfg.Vocab = tok.EOGs(), tok.Size()
				targets, err := decoder.Plain(t.Context(), sides[0], sides[1], cfg.Rule(), cfg.Stop, cfg.MaxTokens)
				if err != nil {
					t.Fatal(err)
				}
				want := pairtest.Tokens(targets)
				synctest.Test(t, func(t *testing.T) { // one bubble for all: see race_test.go
					for _, placement := range placements {
						cfg.Placement = placement
						for _, c := range []*cable{{}, {delay: 20 * time.Millisecond, jitter: 15 * time.Millisecond}, {delay: 150 * time.Millisecond, loss: .1}} {
							c.spans = sides
							if got, _ := converse(t, cfg, c, 0, nil); !slices.Equal(got, want) {
								t.Errorf("%v %v seed %d delay %v: %q, want %q", placement, coupling, seed, c.delay, tok.Decode(got), tok.Decode(want))
							}
						}
					}
				})
				if temperature == 0 && tok.Decode(want) != "9:40\nharbour-7421" {
					t.Errorf("the answer is %q", tok.Decode(want))
				}
			}
		}
	}
}

// spanSides returns the built-in span reader with a question over two sides' documents.
func spanSides(t *testing.T, question string, temperature float64) (sides [2]producer, tok *tokenizer.Tokenizer) {
	t.Helper()
	parse := func(b []byte) *gguf.File {
		f, err := gguf.Parse("built-in", b)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	r, err := span.New(parse(models.Span), native.New(0))
	if err != nil {
		t.Fatal(err)
	}
	if tok, err = tokenizer.New(parse(models.Reader)); err != nil {
		t.Fatal(err)
	}
	cfg := extract.Config{Reader: r, Tokenizer: tok, Scorer: search.Lexical(), Temperature: temperature}
	for side, text := range []string{
		"Lake cabin\nThe wifi password is harbour-7421. The key hangs behind the blue door.",
		"Harbour museum\nThe harbour museum opens at 9:40 on weekdays.",
	} {
		title, rest, _ := strings.Cut(text, "\n")
		d, err := extract.New(t.Context(), cfg, decoder.Request{Question: question, Passages: []passages.Passage{{Title: title, Text: rest}}})
		if err != nil {
			t.Fatal(err)
		}
		sides[side] = d
	}
	return sides, tok
}
