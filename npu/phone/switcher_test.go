package phone

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu"
	"tandem/npu/phone/executor"
	"tandem/npu/phone/plan"
)

// With any plan, a prefill that switches graphs gives the same bits as a plain one, and leaves the
// same keys and values.
func TestSwitchingPrefillEqualsPlainPrefill(t *testing.T) {
	for _, spec := range []tinymodel.Spec{{Type: npu.Q8_0, Layers: 5, Dim: 64, FF: 96}, {Type: npu.F16, Layers: 3, Dim: 64, FF: 96, Arch: "qwen2"}} {
		m, d := openBytes(t, tinymodel.GGUF(spec), Options{Threads: 1})
		switchers := map[int]*Switcher{}
		for n := 1; n <= 3; n++ {
			s, err := NewSwitcher(d, m.Graphs(12), m.Graphs(5), n)
			if err != nil {
				t.Fatal(err)
			}
			switchers[n] = s
		}
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 3).Draw(t, "blocks")
			s := switchers[n]
			tokens := make([]tandem.Token, rapid.IntRange(1, 50).Draw(t, "tokens"))
			for i := range tokens {
				tokens[i] = tandem.Token(rapid.IntRange(0, 255).Draw(t, "token"))
			}
			runs := s.Runs(len(tokens))
			// Any durations make a plan, so these need not be the real ones.
			p := plan.Problem{Runs: runs}
			for range n {
				p.Blocks = append(p.Blocks, plan.Block{Load: time.Duration(rapid.IntRange(0, 50).Draw(t, "load")),
					Large: time.Duration(rapid.IntRange(1, 20).Draw(t, "large")), Small: time.Duration(rapid.IntRange(1, 10).Draw(t, "small"))})
			}
			pl := p.Plan(rapid.SampledFrom(plan.Strategies).Draw(t, "strategy"))
			a, b := s.NewCache(), m.NewSeq()
			got, line, err := s.Prefill(context.Background(), a, tokens, pl)
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.Forward(context.Background(), []model.Input{{Seq: b, Tokens: tokens}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want[0]) {
				t.Fatal("different logits")
			}
			if len(line.Spans) != n*len(runs)+len(pl.Loads) {
				t.Fatalf("%d spans", len(line.Spans))
			}
			more := []tandem.Token{7}
			p.Runs = s.Runs(1)
			got, _, err = s.Prefill(context.Background(), a, more, p.Plan(plan.Progressive))
			if err != nil || a.Len() != len(tokens)+1 {
				t.Fatalf("%v, %d tokens", err, a.Len())
			}
			want, err = m.Forward(context.Background(), []model.Input{{Seq: b, Tokens: more}})
			if err != nil || !slices.Equal(got, want[0]) {
				t.Fatalf("the caches differ: %v", err)
			}
		})
	}
}

func TestSwitcherRefuses(t *testing.T) {
	m, d := openBytes(t, tinymodel.GGUF(tinymodel.Spec{Layers: 2}), Options{Threads: 1})
	for _, bad := range [][3]int{{0, 8, 4}, {3, 8, 4}, {1, 4, 8}} {
		if _, err := NewSwitcher(d, m.Graphs(bad[1]), m.Graphs(bad[2]), bad[0]); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	s, err := NewSwitcher(d, m.Graphs(8), m.Graphs(4), 2)
	if err != nil {
		t.Fatal(err)
	}
	tokens := slices.Repeat([]tandem.Token{1}, 20)
	p, err := s.Problem(context.Background(), len(tokens))
	if err != nil || p.Check() != nil || len(p.Runs) != 3 || p.Runs[2] != 1 {
		t.Fatalf("%v, %+v", err, p)
	}
	cache := s.NewCache()
	if _, _, err := s.Prefill(context.Background(), cache, tokens, plan.Plan{}); err == nil {
		t.Error("an empty plan is accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := s.Prefill(ctx, cache, tokens, p.Plan(plan.Progressive)); !errors.Is(err, context.Canceled) || cache.Len() != 0 {
		t.Errorf("cancelled: %v, %d positions", err, cache.Len())
	}
	// A run on a graph that is not loaded fails: here G¹ after the switch.
	if _, _, err := s.Prefill(context.Background(), cache, tokens, p.Plan(plan.Asynchronous)); err != nil {
		t.Fatal(err)
	}
	if err := s.newPrefill(s.NewCache(), tokens).Compute(context.Background(), 1, 0, false); err != nil && !errors.Is(err, executor.ErrNotLoaded) {
		t.Errorf("error %v", err)
	}
	pass := s.newPrefill(cache, tokens)
	if err := pass.embedChunk(0); err != nil {
		t.Fatal(err)
	}
	if err := pass.Compute(context.Background(), 1, 0, false); !errors.Is(err, executor.ErrNotLoaded) {
		t.Errorf("error %v", err)
	}
}
