package decoder

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem"
	"tandem/model"
)

// Answers that share passages in memory say what they say alone, at the same time or one after the other, and compute each
// passage once. What does not fit is dropped, the longest unused first.
func TestShared(t *testing.T) {
	cfg := toyConfig(openToy(t, 3, 512), "static")
	req := Request{Question: bothQuestion, Passages: samplePassages}
	plain := newDecoder(t, cfg, req)
	want := []Output{next(t, plain, 0), next(t, plain, 0, 7, 8)}
	all := NewShared(1 << 20)
	cfg.Shared = all
	newDecoder(t, cfg, req)
	var answers sync.WaitGroup
	for range 4 {
		answers.Go(func() {
			d := newDecoder(t, cfg, req)
			if p := d.Prefill(); p.Cached != len(req.Passages) {
				t.Errorf("%d of %d passages from memory", p.Cached, len(req.Passages))
			}
			if !equal(next(t, d, 0), want[0]) || !equal(next(t, d, 0, 7, 8), want[1]) {
				t.Error("another distribution than alone")
			}
		})
	}
	answers.Wait()

	two := all.held[storeKeyOf(t, cfg, req, 3)].Value.(sharedPrefix).seq.Bytes() + all.held[storeKeyOf(t, cfg, req, 4)].Value.(sharedPrefix).seq.Bytes()
	small := NewShared(two)
	cfg.Shared = small
	newDecoder(t, cfg, req)
	if small.bytes != two || len(small.held) != 2 || small.held[storeKeyOf(t, cfg, req, 4)] == nil {
		t.Errorf("%d bytes of %d passages are held: want the last two, %d bytes", small.bytes, len(small.held), two)
	}
}

// storeKeyOf returns the key of passage i.
func storeKeyOf(t *testing.T, cfg Config, req Request, i int) [32]byte {
	t.Helper()
	prompts, _, err := writePrompts(cfg, req, false)
	if err != nil {
		t.Fatal(err)
	}
	return storeKey(cfg.Model, cfg.Adapter, prompts[i].prefix)
}

// Of answers that need a passage at the same time, one computes it: in any order of their passages, and where one of them ends
// before it has. Nobody waits for ever, and each says what it says alone.
func TestSharedComputesOnce(t *testing.T) {
	cfg := toyConfig(openToy(t, 3, 512), "static")
	req := Request{Question: bothQuestion, Passages: samplePassages}
	turned := Request{Question: bothQuestion, Passages: slices.Clone(samplePassages)}
	slices.Reverse(turned.Passages)
	twice := Request{Question: bothQuestion, Passages: append(slices.Clone(samplePassages), samplePassages[0])}
	plain := newDecoder(t, cfg, req)
	want := next(t, plain, 0, 7, 8)
	alone := plain.Prefill().Tokens
	for round := range 20 {
		shared := cfg
		shared.Shared = NewShared(1 << 20)
		gate := &gated{Passes: cfg.Model, open: make(chan struct{})}
		shared.Passes = gate
		var answers sync.WaitGroup
		var tokens atomic.Int64
		for i := range 6 {
			answers.Go(func() {
				d, err := New(t.Context(), shared, []Request{req, turned, twice}[i%3])
				if err != nil {
					t.Error(err)
					return
				}
				defer d.Close()
				tokens.Add(int64(d.Prefill().Tokens))
				if i%3 == 0 && !equal(next(t, d, 0, 7, 8), want) {
					t.Error("another distribution than alone")
				}
			})
		}
		answers.Go(func() { // perhaps the one for whom the others wait
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Duration(round)*50*time.Microsecond, cancel)
			if d, err := New(ctx, shared, req); err == nil {
				tokens.Add(int64(d.Prefill().Tokens))
				d.Close()
			}
		})
		time.AfterFunc(2*time.Millisecond, func() { close(gate.open) })
		answers.Wait()
		// Each answer computes the question in each context; the passages count once, and again where an answer gave them up.
		if most := int64(7*len(twice.Passages)*questionTokens(t, cfg, req) + 2*alone); tokens.Load() > most {
			t.Errorf("round %d: %d tokens of prompts, want at most %d", round, tokens.Load(), most)
		}
		if len(shared.Shared.doing) > 0 {
			t.Errorf("%d passages are still being computed", len(shared.Shared.doing))
		}
	}
}

// gated is Passes that begin when it opens.
type gated struct {
	Passes
	open chan struct{}
}

func (g *gated) Prefill(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	select {
	case <-g.open:
		return g.Passes.Prefill(ctx, inputs, into)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// questionTokens returns how many tokens come after the passage in a context.
func questionTokens(t *testing.T, cfg Config, req Request) int {
	t.Helper()
	prompts, _, err := writePrompts(cfg, req, false)
	if err != nil {
		t.Fatal(err)
	}
	return len(prompts[0].rest)
}

// Where others share the passes, the decoder reports what its own rows cost there, in all of its contexts.
func TestSharedPassesHavePrices(t *testing.T) {
	cfg := toyConfig(openToy(t, 3, 512), "static")
	req := Request{Question: bothQuestion, Passages: samplePassages}
	if costs := costsOf(t, newDecoder(t, cfg, req)); costs != nil {
		t.Errorf("costs %v of passes that nobody shares", costs)
	}
	cfg.Passes = priced{cfg.Model}
	d := newDecoder(t, cfg, req)
	if costs := costsOf(t, d); !slices.Equal(costs[:3], []float64{float64(len(d.contexts)), 2 * float64(len(d.contexts)), 3 * float64(len(d.contexts))}) {
		t.Errorf("costs %v in %d contexts", costs[:3], len(d.contexts))
	}
}

// costsOf decodes a token, and returns what passes cost.
func costsOf(t *testing.T, d *Decoder) []float64 {
	t.Helper()
	out, _, _, err := d.NextAhead(t.Context(), tandem.Pass{Append: []tandem.Token{7}, Guess: 2})
	if err != nil {
		t.Fatal(err)
	}
	return out.Costs
}

// priced is Passes in which each row costs a second.
type priced struct{ Passes }

func (priced) Costs(contexts, n int) (costs []float64) {
	for i := range n {
		costs = append(costs, float64((i+1)*contexts))
	}
	return costs
}
