package node

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/model"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// Two sides may carry different adapters, or one of them none: the same seed gives the same text in every placement, and not
// that of the base.
func TestSidesWithDifferentAdapters(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var deltas []model.Delta
	for i := range 2 {
		c := m.Config()
		d := model.Delta{Name: fmt.Sprint(i)}
		for layer := range c.Layers {
			x := model.Change{Weight: fmt.Sprintf("blk.%d.ffn_down.weight", layer), Rank: 1, A: make([]float32, c.FF), B: make([]float32, c.Dim)}
			for j := range x.A {
				x.A[j] = float32((j+i)%3 - 1)
			}
			for j := range x.B {
				x.B[j] = 0.3 * float32(j%5-2)
			}
			d.Changes = append(d.Changes, x)
		}
		deltas = append(deltas, d)
	}
	list, err := m.Mount(model.Inputs, deltas...)
	if err != nil {
		t.Fatal(err)
	}
	tok := m.Tokenizer()
	cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
	cfg.Stop, cfg.Vocab, cfg.MaxTokens = tok.EOGs(), tok.Size(), 20
	var texts [][]tandem.Token
	for _, adapters := range [][2]*model.Adapter{{}, {nil, list[0]}, {list[0], list[1]}} {
		sides := adaptedSides(t, m, adapters)
		targets, err := decoder.LockStep(t.Context(), sides[0], sides[1], cfg.Rule(), cfg.Stop, cfg.MaxTokens)
		if err != nil {
			t.Fatal(err)
		}
		var want []tandem.Token
		for _, x := range targets {
			want = append(want, x.Token)
		}
		for _, placement := range []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud} {
			cfg.Placement = placement
			c := &cable{delay: 20 * time.Millisecond, jitter: 15 * time.Millisecond, loss: .05, spans: adaptedSides(t, m, adapters)}
			synctest.Test(t, func(t *testing.T) {
				if got, _ := converse(t, cfg, c, 0, nil); !slices.Equal(got, want) {
					t.Errorf("%v: %q, want %q", placement, tok.Decode(got), tok.Decode(want))
				}
			})
		}
		for _, before := range texts {
			if slices.Equal(before, want) {
				t.Errorf("two pairs with different adapters both say %q", tok.Decode(want))
			}
		}
		texts = append(texts, want)
	}
}

// adaptedSides returns decoders with the built-in decoder and an adapter for each side.
func adaptedSides(t *testing.T, m *model.Model, adapters [2]*model.Adapter) (sides [2]producer) {
	t.Helper()
	for side, p := range []passages.Passage{
		{Title: "Lake cabin", Text: "The wifi password of the lake cabin is harbour-7421."},
		{Title: "Harbour museum", Text: "The harbour museum opens at 9:40 on weekdays."},
	} {
		local := Local{Model: m, Adapter: adapters[side], Scorer: search.Lexical()}
		cfg, err := local.DecoderConfig(tandem.Settings{Weights: decoder.Supported.String(), Nucleus: 1, MaxTokens: 20, Sampling: tandem.Sampling{Temperature: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if hello := local.Hello(tandem.Device, "", ""); (hello.Adapter == "") != (adapters[side] == nil) {
			t.Errorf("the hello names the adapter %q", hello.Adapter)
		}
		d, err := decoder.New(t.Context(), cfg, decoder.Request{Question: "When does the harbour museum open?", Passages: []passages.Passage{p}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		sides[side] = d
	}
	return sides
}
