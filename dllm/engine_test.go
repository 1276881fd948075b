package dllm

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
)

// peaked is a random model with confidences of all sizes.
func peaked(t testing.TB, arch string, threads int) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: arch, Seed: 3, Gain: 3, Context: 256}), native.New(threads))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func prompt(n int) (tokens []tandem.Token) {
	for i := range n {
		tokens = append(tokens, tandem.Token(i*37%200))
	}
	return tokens
}

func generate(t testing.TB, m *model.Model, prompt []tandem.Token, o Options) (text []tandem.Token, stats Stats) {
	t.Helper()
	o.Write = func(tokens []tandem.Token) error { text = append(text, tokens...); return nil }
	stats, err := Generate(t.Context(), m, prompt, o)
	if err != nil {
		t.Fatal(err)
	}
	return text, stats
}

// A scratch computes all that a row sees from nothing in every pass, without a cache.
type scratch struct {
	*engine
	rows map[int]Row // as computed last
}

func (s *scratch) Compute(ctx context.Context, rows []Row) ([]Guess, error) {
	for _, r := range rows {
		s.rows[r.Position] = r
	}
	var all []Row
	for p := range rows[len(rows)-1].Position + 1 {
		r := s.rows[p]
		r.Logits = p >= rows[0].Position && r.Logits
		all = append(all, r)
	}
	return s.pass(ctx, s.m, 0, s.m.NewSeq(), all)
}

// The cache of the prefix changes nothing: every method whose windows are whole blocks writes what it writes when
// everything is computed from nothing in every pass.
func TestPrefixReuseIsExact(t *testing.T) {
	for _, arch := range []string{"llada", "dream"} {
		m := peaked(t, arch, 1)
		for _, method := range []Method{{Block: 8, Visible: never, Stable: never}, {Block: 8, Visible: .6, Stable: .6}, {Block: 5, Visible: .4, Stable: .9, SkipLogits: true}, {Suffix: WholeSequence, Visible: never, Stable: never}} {
			want, _ := generate(t, m, prompt(19), Options{Method: method, MaxTokens: 30, IgnoreEnd: true})
			cfg := Config{Method: method, Prompt: prompt(19), Length: 30, Mask: m.Config().Mask, Shifted: m.Config().Shifted}
			var text []tandem.Token
			d := &scratch{newEngine(m, 0, 0, false), map[int]Row{}}
			if _, err := Run(t.Context(), cfg, d, Observer{Write: func(tokens []tandem.Token) error { text = append(text, tokens...); return nil }}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(text, want) || len(want) != 30 {
				t.Errorf("%s %+v: from nothing %d, with a cache %d", arch, method, text, want)
			}
			if slices.Contains(want, m.Config().Mask) {
				t.Errorf("%s: the mask is part of the text", arch)
			}
		}
	}
}

// Both paths at once, in either order, with one thread or two, on threads of their own or on the same: the same text.
// Refreshing does change it, or the test would show nothing.
func TestPathsOnAModel(t *testing.T) {
	for _, arch := range []string{"llada", "dream"} {
		method := Full()
		method.Block, method.Visible, method.Stable, method.Refresh = 8, .2, .95, 3
		costs := make([]float64, 64)
		for i := range costs {
			costs[i] = float64(i/16 + 1)
		}
		o := Options{Method: method, MaxTokens: 60, IgnoreEnd: true, Costs: costs}
		m := peaked(t, arch, 1)
		want, stats := generate(t, m, prompt(9), o)
		refreshed := 0
		for _, p := range stats.Passes {
			refreshed += p.SparseRows
		}
		if len(want) != 60 || refreshed == 0 {
			t.Fatalf("%s: %d tokens, %d rows refreshed", arch, len(want), refreshed)
		}
		for range 3 {
			if got, _ := generate(t, peaked(t, arch, 2), prompt(9), o); !slices.Equal(got, want) {
				t.Fatalf("%s: with two threads %d, want %d", arch, got, want)
			}
		}
		cfg := Config{Method: method, Prompt: prompt(9), Length: 60, Mask: m.Config().Mask, Shifted: m.Config().Shifted, Costs: costs}
		for i, sparseFirst := range []bool{false, true, false} {
			var text []tandem.Token
			d := &inTurn{engine: newEngine(m, 0, 0, true), first: sparseFirst}
			if d.sparse == m {
				t.Fatalf("%s: the second path has no threads of its own", arch)
			}
			if i == 2 { // both on the same
				d.sparse, d.sparseSeq = m, m.NewSeq()
			}
			machine, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if text = d.play(t, machine); !slices.Equal(text, want) {
				t.Errorf("%s, the second path first: %v: %d, want %d", arch, sparseFirst, text, want)
			}
		}
		o.Refresh = 0
		if without, _ := generate(t, m, prompt(9), o); slices.Equal(without, want) {
			t.Logf("%s: refreshing changes no token", arch)
		}
	}
}

// Under a limit no token follows one that it may not, whatever the method, and a limit that allows everything decides in the
// text's order as the machine does.
func TestLimit(t *testing.T) {
	may := func(answer []tandem.Token, next tandem.Token) bool {
		before := tandem.Token(len(answer))
		if len(answer) > 0 {
			before += answer[len(answer)-1]
		}
		return (before+next)%7 == 0
	}
	for _, arch := range []string{"llada", "dream"} {
		m := peaked(t, arch, 1)
		for _, method := range Methods {
			for _, temperature := range []float64{0, 1} {
				o := Options{Method: method.Method, MaxTokens: 70, IgnoreEnd: true, Temperature: temperature, Seed: 5}
				o.Visible, o.Stable, o.Costs = min(o.Visible, .3), min(o.Stable, .4), make([]float64, 64)
				o.Limit = func(answer []tandem.Token, logits []float32) {
					for i := range logits {
						if !may(answer, tandem.Token(i)) {
							logits[i] = float32(math.Inf(-1))
						}
					}
				}
				text, stats := generate(t, m, prompt(9), o)
				for i, next := range text {
					if !may(text[:i], next) {
						t.Fatalf("%s %s: token %d of %d may not follow", arch, method.Name, i, text)
					}
				}
				if len(text) != 70 || o.Suffix == NoSuffix && method.Name != "prefix-kv" && len(stats.Passes) >= 70 {
					t.Errorf("%s %s: %d tokens in %d passes", arch, method.Name, len(text), len(stats.Passes))
				}
			}
			o := Options{Method: method.Method, MaxTokens: 70, IgnoreEnd: true, Limit: func([]tandem.Token, []float32) {}}
			free, _ := generate(t, m, prompt(9), o)
			cfg := Config{Method: method.Method, Prompt: prompt(9), Length: 70, Mask: m.Config().Mask, Shifted: m.Config().Shifted, Ordered: true}
			cfg.Visible, cfg.Refresh = cfg.Stable, 0
			var want []tandem.Token
			if _, err := Run(t.Context(), cfg, newEngine(m, 0, 0, false), Observer{Write: func(tokens []tandem.Token) error { want = append(want, tokens...); return nil }}); err != nil || !slices.Equal(free, want) {
				t.Errorf("%s %s: %d with a limit that allows all, %d without: %v", arch, method.Name, free, want, err)
			}
		}
	}
}

// inTurn carries out the two paths one after the other.
type inTurn struct {
	*engine
	first bool // the second path comes first
}

func (d *inTurn) play(t *testing.T, m *Machine) (text []tandem.Token) {
	actions := m.Step(Begin{})
	for len(actions) > 0 {
		var dense, sparse []Row
		for _, a := range actions {
			switch a := a.(type) {
			case Compute:
				dense = a.Rows
			case Refresh:
				sparse = a.Rows
			case Merge:
				d.Merge(a.Settled, a.End)
			case Write:
				text = append(text, a.Tokens...)
			case Finish:
				return text
			}
		}
		var guesses, revised []Guess
		for i := range 2 {
			var err error
			if (i == 0) == d.first {
				if len(sparse) > 0 {
					revised, err = d.Refresh(t.Context(), sparse)
				}
			} else {
				guesses, err = d.Compute(t.Context(), dense)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		actions = nil
		if len(sparse) > 0 {
			actions = m.Step(Refreshed{revised})
		}
		actions = append(actions, m.Step(Computed{guesses})...)
	}
	return text
}

// A drawn token depends on seed and position alone, and tokens come as often as they are likely.
func TestTemperature(t *testing.T) {
	m := peaked(t, "llada", 1)
	o := Options{Method: Full(), MaxTokens: 24, IgnoreEnd: true, Temperature: 1, Seed: 5}
	a, _ := generate(t, m, prompt(5), o)
	b, _ := generate(t, m, prompt(5), o)
	o.Seed = 6
	c, _ := generate(t, m, prompt(5), o)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("seed 5: %d and %d, seed 6: %d", a, b, c)
	}
	e := newEngine(m, .5, 1, false)
	n := [3]int{}
	for position := range 4000 {
		logits := []float32{0, .5, float32(math.Inf(-1))}
		n[e.draw(logits, .5, position)]++
	}
	if want := 4000 / (1 + math.E); n[2] != 0 || math.Abs(float64(n[0])-want) > 120 {
		t.Errorf("drawn %v times, want %.0f of the first", n, want)
	}
}

func TestGenerateRefuses(t *testing.T) {
	m := peaked(t, "llada", 1)
	for _, c := range []struct {
		prompt int
		tokens int
		want   string
	}{{250, 32, "less than a block"}, {300, 4, "leaves 0"}, {0, 4, "no tokens"}} {
		if _, err := Generate(t.Context(), m, prompt(c.prompt), Options{Method: Full(), MaxTokens: c.tokens}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d tokens after %d: %v, want %q", c.tokens, c.prompt, err, c.want)
		}
	}
	auto, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer auto.Close()
	if _, err := Generate(t.Context(), auto, prompt(4), Options{Method: Full(), MaxTokens: 4}); err == nil || !strings.Contains(err.Error(), "autoregressive") {
		t.Errorf("an autoregressive model: %v", err)
	}
	// The answer fills the context and no more, and a text ends before an end token.
	text, stats := generate(t, m, prompt(200), Options{Method: Full()})
	if len(text) > 56 || stats.Ended == Complete && len(text) != 56 {
		t.Errorf("%d tokens after 200 of 256, %+v", len(text), stats.Ended)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Method: Full(), MaxTokens: 100, IgnoreEnd: true}
	o.Step = func(Pass, []Cell) { cancel() }
	if _, err := Generate(ctx, m, prompt(4), o); err == nil {
		t.Error("a cancelled generation succeeds")
	}
}

// stopping is an engine whose device fails after a number of passes.
type stopping struct {
	*engine
	left, end int // passes; of the prefix
}

func (s *stopping) Compute(ctx context.Context, rows []Row) ([]Guess, error) {
	if s.left == 0 {
		return nil, errBroken
	}
	s.left--
	return s.engine.Compute(ctx, rows)
}

func (s *stopping) Merge(settled, end int) error {
	s.end = end
	return s.engine.Merge(settled, end)
}

// After an interrupt the cache of the prefix is what its tokens give when they are computed from nothing: one can go on.
func TestInterruptLeavesTheCacheWhole(t *testing.T) {
	const block = 8
	for _, arch := range []string{"llada", "dream"} {
		m := peaked(t, arch, 1)
		cfg := Config{Method: Method{Block: block, Visible: .6, Stable: .6}, Prompt: prompt(19), Length: 5 * block, Mask: m.Config().Mask, Shifted: m.Config().Shifted}
		blocks := 0
		for passes := 1; passes < 10; passes++ {
			d := &stopping{engine: newEngine(m, 0, 0, false), left: passes}
			var answer []Cell
			if _, err := Run(t.Context(), cfg, d, Observer{Step: func(_ Pass, a []Cell) { answer = a }}); !errors.Is(err, errBroken) {
				t.Fatalf("%s: %v after %d passes", arch, err, passes)
			}
			// The answer's decided blocks from nothing, then a block of masks on both caches.
			done := (d.end + 1 - len(cfg.Prompt)) / block
			blocks = max(blocks, done)
			tokens := slices.Clone(cfg.Prompt)
			for _, c := range answer[:done*block] {
				tokens = append(tokens, c.Token)
			}
			var rows, next []Row
			for p, token := range tokens {
				end := len(cfg.Prompt)
				if p >= end {
					end += ((p-end)/block + 1) * block
				}
				rows = append(rows, Row{Position: p, Token: token, Sees: end})
			}
			total := len(tokens) + block
			for p := d.end; p < total; p++ {
				next = append(next, Row{Position: p, Token: cfg.Mask, Sees: total, Logits: true})
			}
			fresh := m.NewSeq()
			if _, err := d.pass(t.Context(), m, 1, fresh, rows); err != nil {
				t.Fatal(err)
			}
			fresh.Truncate(d.end)
			d.denseSeq.Truncate(d.end)
			want, err := d.pass(t.Context(), m, 1, fresh, next)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := d.pass(t.Context(), m, 0, d.denseSeq, next); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: after %d passes and %d blocks: %v, %v, want %v", arch, passes, done, got, err, want)
			}
		}
		if blocks == 0 {
			t.Errorf("%s: no interrupt came after a block", arch)
		}
	}
}
