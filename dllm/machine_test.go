package dllm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tandem"
)

// cases calls f with random generations.
func cases(t *testing.T, n, size int, f func(t *testing.T, seed uint64, r *rand.Rand, cfg Config)) {
	t.Helper()
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 24))
		cfg := anyConfig(r, size)
		f(t, seed, r, cfg)
		if t.Failed() {
			t.Fatalf("case %d: %+v", seed, cfg)
		}
	}
}

// A position is decided only when all blocks before its own are: the order of block-wise decoding, whatever the
// confidences; in the text's order, when all positions before it are. What is decided stays decided, what is stable
// stays as it is, and the text is what the cells say.
func TestBlocksAreDecidedInOrder(t *testing.T) {
	cases(t, 2000, 24, func(t *testing.T, seed uint64, _ *rand.Rand, cfg Config) {
		var before []Cell
		w := newWorld(t, seed, cfg)
		text := w.play(cfg, nil, func(m *Machine) {
			if n := len(m.sparse); n > cfg.Refresh && !cfg.Shifted || n > 2*cfg.Refresh {
				t.Errorf("%d rows are refreshed at once, want at most %d", n, cfg.Refresh)
			}
			cells := m.Cells()
			open := len(cells)
			for i, c := range cells {
				if c.Status == Invisible {
					open = min(open, i)
				} else if b := m.cfg.Block; open/b < i/b || cfg.Ordered && open < i {
					t.Errorf("position %d is %v before position %d", i, c.Status, open)
				}
				if before != nil {
					if b := before[i]; c.Status < b.Status || b.Status == Stable && c.Token != b.Token {
						t.Errorf("position %d went from %v %d to %v %d", i, b.Status, b.Token, c.Status, c.Token)
					}
				}
			}
			before = cells
		})
		for i, tok := range text {
			if before[i].Token != tok || before[i].Status == Invisible {
				t.Errorf("token %d of the text is %d, the cell holds %+v", i, tok, before[i])
			}
		}
		if n := len(text); n < len(before) && before[n].Status != Stable {
			for i := n; i < len(before) && (cfg.Block == 0 || n/cfg.Block == i/cfg.Block); i++ {
				if before[i].Status == Invisible {
					t.Errorf("the text stops at a visible token %d, though token %d is undecided", n, i)
				}
			}
		}
		if n := len(text); cfg.Stop == nil && n != cfg.Length || n < cfg.Length && !slices.Contains(cfg.Stop, before[n].Token) {
			t.Errorf("%d tokens of %d", n, cfg.Length)
		}
	})
}

// llada.cpp §3.3: a guess is visible from the first threshold on and stable from the second on. If none reaches the first, the most
// confident one becomes visible, so that every step decides something. A visible token may change until it is stable.
func TestLLaDA_States(t *testing.T) {
	type step struct {
		confidences [4]float32
		want        [4]Status
	}
	for i, steps := range [][]step{
		{{[4]float32{.95, .9, .89, .3}, [4]Status{Stable, Stable, Visible, Invisible}}},
		{
			{[4]float32{.2, .69, .5, .1}, [4]Status{Invisible, Visible, Invisible, Invisible}},
			{[4]float32{.7, .95, .5, .1}, [4]Status{Visible, Stable, Invisible, Invisible}},
			{[4]float32{.3, .1, .5, .95}, [4]Status{Visible, Stable, Invisible, Stable}},
		},
	} {
		m, err := New(Config{Method: Method{Block: 4, Visible: DefaultVisible, Stable: DefaultStable}, Prompt: []tandem.Token{1}, Length: 4, Mask: 99})
		if err != nil {
			t.Fatal(err)
		}
		m.Step(Begin{})
		before := m.Cells()
		for n, s := range steps {
			guesses := make([]Guess, 4)
			for p := range guesses {
				guesses[p] = Guess{tandem.Token(10*n + p), s.confidences[p]}
			}
			m.Step(Computed{guesses})
			for p, c := range m.Cells() {
				token := guesses[p].Token
				if s.want[p] == Invisible {
					token = 99
				} else if before[p].Status == Stable || before[p].Status == Visible && s.confidences[p] < DefaultVisible {
					token = before[p].Token
				}
				if c.Status != s.want[p] || c.Token != token {
					t.Errorf("case %d, step %d, position %d: %v %d, want %v %d", i, n, p, c.Status, c.Token, s.want[p], token)
				}
			}
			before = m.Cells()
		}
	}
}

// llada.cpp §3.2: the window looks ahead once no more positions than the trigger are open in the block.
func TestLLaDA_Lookahead(t *testing.T) {
	for open, end := range map[int]int{DefaultTrigger + 1: 1 + 8, DefaultTrigger: 1 + 24} {
		m, err := New(Config{Method: Method{Block: 8, Visible: .9, Stable: .9, Trigger: DefaultTrigger}, Prompt: []tandem.Token{1}, Length: 24, Mask: 99,
			Costs: slices.Repeat([]float64{1}, 64)})
		if err != nil {
			t.Fatal(err)
		}
		m.Step(Begin{})
		guesses := slices.Repeat([]Guess{{Token: 5, Confidence: .1}}, open)
		m.Step(Computed{append(guesses, slices.Repeat([]Guess{{Token: 6, Confidence: .95}}, 8-open)...)})
		if got := m.dense[len(m.dense)-1].Position + 1; got != end {
			t.Errorf("with %d open positions the window ends at %d, want %d", open, got, end)
		}
	}
}

// blockwise is block-wise decoding as simply as it can be written: in every step, all of prompt, decided blocks and the
// current block are computed from nothing.
func blockwise(t *testing.T, seed uint64, cfg Config) (text []tandem.Token) {
	tokens := slices.Clone(cfg.Prompt)
	block, ends := cfg.Block, []int{len(cfg.Prompt)}
	if block == 0 {
		block = cfg.Length
	}
	for left := cfg.Length; left > 0; left -= block {
		from := len(tokens)
		for range min(block, left) {
			tokens = append(tokens, cfg.Mask)
		}
		ends = append(ends, len(tokens))
		open := len(tokens) - from
		for open > 0 {
			w := newWorld(t, seed, cfg)
			var rows []Row
			for p, tok := range tokens {
				end := *first(ends, func(e int) bool { return p < e })
				if cfg.CausalPrompt && p < len(cfg.Prompt) {
					end = p + 1
				}
				rows = append(rows, Row{Position: p, Token: tok, Sees: end, Logits: p >= from})
			}
			guesses, _ := w.Compute(t.Context(), rows)
			var order []int
			for i := range guesses {
				if tokens[from+i] == cfg.Mask {
					order = append(order, i)
				}
			}
			slices.SortStableFunc(order, func(a, b int) int {
				if cfg.Ordered {
					return a - b
				}
				return -int(math.Copysign(1, float64(guesses[a].Confidence-guesses[b].Confidence))) * min(1, int(1e9*math.Abs(float64(guesses[a].Confidence-guesses[b].Confidence))))
			})
			for k, i := range order {
				if k < max(1, cfg.AtLeast) || guesses[i].Confidence >= cfg.Stable {
					tokens[from+i] = guesses[i].Token
					open--
				}
				if cfg.Ordered && k+1 >= cfg.AtLeast && guesses[i].Confidence < cfg.Stable {
					break
				}
			}
		}
	}
	return tokens[len(cfg.Prompt):]
}

func first[T any](s []T, f func(T) bool) *T { return &s[slices.IndexFunc(s, f)] }

// Without a window that moves, the text is that of block-wise decoding, computed from nothing in every step. So it is
// with lookahead whose drafts are never confident: rows of future blocks cannot change the current one.
func TestWithoutLookaheadItIsBlockwise(t *testing.T) {
	cases(t, 500, 16, func(t *testing.T, seed uint64, r *rand.Rand, cfg Config) {
		cfg.Suffix, cfg.Sliding, cfg.Refresh, cfg.Stop, cfg.Shifted = NoSuffix, false, 0, nil, false
		cfg.Stable = cfg.Visible
		cfg.Trigger, cfg.Costs = 0, nil
		want := blockwise(t, seed, cfg)
		w := newWorld(t, seed, cfg)
		if got := w.play(cfg, nil, nil); !slices.Equal(got, want) {
			t.Errorf("plain: %d, want %d", got, want)
		}
		plain := w.passes
		cfg.Trigger = 1 + r.IntN(20)
		if w = newWorld(t, seed, cfg); !slices.Equal(w.play(cfg, nil, nil), want) || w.passes != plain {
			t.Errorf("lookahead without measured times changes the text or the passes")
		}
		cfg.Costs = make([]float64, 64) // growing costs nothing
		cfg.Visible, cfg.Stable = never, never
		want = blockwise(t, seed, cfg)
		if w = newWorld(t, seed, cfg); !slices.Equal(w.play(cfg, nil, nil), want) {
			t.Errorf("future rows change the current block")
		}
	})
}

// Vanilla decoding computes everything in every step, in one block or several.
func TestVanilla(t *testing.T) {
	cases(t, 200, 12, func(t *testing.T, seed uint64, _ *rand.Rand, cfg Config) {
		cfg.Suffix, cfg.Sliding, cfg.Refresh, cfg.Trigger, cfg.Stop, cfg.Shifted = WholeSequence, false, 0, 0, nil, false
		cfg.Block, cfg.Visible, cfg.Stable, cfg.Ordered = 0, never, never, false
		w := newWorld(t, seed, cfg)
		got := w.play(cfg, nil, nil)
		// One block that sees itself and the prompt: block-wise decoding whose prompt sees the block too.
		tokens := slices.Clone(cfg.Prompt)
		for range cfg.Length {
			tokens = append(tokens, cfg.Mask)
		}
		for slices.Contains(tokens, cfg.Mask) {
			var rows []Row
			for p, tok := range tokens {
				rows = append(rows, Row{Position: p, Token: tok, Sees: len(tokens), Logits: true})
				if cfg.CausalPrompt && p < len(cfg.Prompt) {
					rows[p].Sees = p + 1
				}
			}
			guesses, _ := newWorld(t, seed, cfg).Compute(t.Context(), rows)
			for range max(1, cfg.AtLeast) {
				best := -1
				for p, tok := range tokens {
					if tok == cfg.Mask && (best < 0 || guesses[p].Confidence > guesses[best].Confidence) {
						best = p
					}
				}
				if best >= 0 {
					tokens[best] = guesses[best].Token
				}
			}
		}
		if !slices.Equal(got, tokens[len(cfg.Prompt):]) {
			t.Errorf("%d, want %d", got, tokens[len(cfg.Prompt):])
		}
	})
}

// The two paths may run in any order, operation by operation: the text is the same in 10,000 random cases.
func TestPathsInAnyOrder(t *testing.T) {
	n := 10000
	if testing.Short() {
		n = 500
	}
	refreshed := 0
	cases(t, n, 12, func(t *testing.T, seed uint64, r *rand.Rand, cfg Config) {
		cfg.Suffix, cfg.Refresh, cfg.Stop = NoSuffix, 1+r.IntN(4), nil
		cfg.Stable, cfg.Ordered = max(cfg.Stable, .9), false // so that tokens stay visible
		cfg.Block = 1 + r.IntN(4)
		w := newWorld(t, seed, cfg)
		want := w.play(cfg, nil, func(m *Machine) { refreshed += len(m.sparse) })
		if got := newWorld(t, seed, cfg).play(cfg, r, nil); !slices.Equal(got, want) {
			t.Errorf("%d, want %d", got, want)
		}
	})
	if refreshed < n {
		t.Errorf("only %d rows were refreshed in %d cases", refreshed, n)
	}
}

// Logits of stable positions do not matter.
func TestSkippingLogitsChangesNothing(t *testing.T) {
	saved := 0
	cases(t, 500, 24, func(t *testing.T, seed uint64, _ *rand.Rand, cfg Config) {
		play := func(skip bool) (text []tandem.Token, logits int) {
			cfg.SkipLogits = skip
			text = newWorld(t, seed, cfg).play(cfg, nil, func(m *Machine) { logits += logitRows(m.dense) + logitRows(m.sparse) })
			return text, logits
		}
		all, many := play(false)
		some, few := play(true)
		if !slices.Equal(all, some) || few > many {
			t.Errorf("with %d logits %d, with %d %d", many, all, few, some)
		}
		saved += many - few
	})
	if saved == 0 {
		t.Error("no logits were skipped")
	}
}

// A writer is a denoiser that knows its text. It is the surer of a token the fewer tokens before it are undecided, as a
// model that writes from left to right.
type writer struct {
	mu     sync.Mutex // the two paths run at once
	seed   uint64
	tokens map[int]tandem.Token // of the slots
	passes int
}

func (w *writer) Compute(ctx context.Context, rows []Row) ([]Guess, error) {
	w.mu.Lock()
	w.passes++
	for _, r := range rows {
		w.tokens[r.Position] = r.Token
	}
	w.mu.Unlock()
	return w.Refresh(ctx, rows)
}

func (w *writer) Refresh(_ context.Context, rows []Row) (guesses []Guess, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range rows {
		if !r.Logits {
			continue
		}
		open := 0
		for p := range r.Position {
			if w.tokens[p] == 99 {
				open++
			}
		}
		h := mix(w.seed ^ uint64(r.Position))
		guesses = append(guesses, Guess{tandem.Token(h % 50), 1 - float32(open)*float32(h>>8%100)/1000})
	}
	return guesses, nil
}

func (*writer) Merge(int, int) error { return nil }

// The techniques do what they are for: the text is the same, in fewer passes than the baselines'.
func TestTechniquesSavePasses(t *testing.T) {
	passes := map[string]int{}
	for seed := range uint64(20) {
		var want []tandem.Token
		for _, m := range Methods {
			cfg := Config{Method: m.Method, Prompt: []tandem.Token{1, 2, 3}, Length: 128, Mask: 99}
			for i := range 256 {
				cfg.Costs = append(cfg.Costs, float64(i/64+1))
			}
			w := &writer{seed: seed, tokens: map[int]tandem.Token{}}
			var text []tandem.Token
			if _, err := Run(t.Context(), cfg, w, Observer{Write: func(tokens []tandem.Token) error { text = append(text, tokens...); return nil }}); err != nil {
				t.Fatal(err)
			}
			passes[m.Name] += w.passes
			if want == nil {
				want = text
			}
			if !slices.Equal(text, want) {
				t.Errorf("%s writes %d, want %d", m.Name, text, want)
			}
		}
	}
	if passes["vanilla"] != 20*128 || passes["prefix-kv"] != 20*128 {
		t.Errorf("one token a step: %v", passes)
	}
	if !(passes["parallel"] < passes["prefix-kv"] && passes["+mbsd"] < passes["parallel"] && passes["+sts"] < passes["+mbsd"] && passes["+sls"] == passes["+sts"]) {
		t.Errorf("passes: %v", passes)
	}
}

// hostile guesses anything.
type hostile struct{ r *rand.Rand }

func (h hostile) guesses(rows []Row) (g []Guess) {
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, -1, .5, .5, 1, 1e30, float32(h.r.Float64())}
	all := odd[h.r.IntN(len(odd))]
	for range logitRows(rows) {
		c := all
		if h.r.IntN(2) == 0 {
			c = odd[h.r.IntN(len(odd))]
		}
		g = append(g, Guess{tandem.Token(h.r.IntN(100)), c})
	}
	if n := len(g); h.r.IntN(50) == 0 {
		return g[:h.r.IntN(n+1)] // some are missing
	} else if h.r.IntN(50) == 0 {
		return append(g, Guess{7, 1}) // too many
	}
	return g
}

func (h hostile) Compute(_ context.Context, rows []Row) ([]Guess, error) { return h.guesses(rows), nil }
func (h hostile) Refresh(_ context.Context, rows []Row) ([]Guess, error) {
	return hostile{rand.New(rand.NewPCG(uint64(len(rows)), 1))}.guesses(rows), nil
}
func (hostile) Merge(int, int) error { return nil }

// Whatever the confidences are, a generation ends after at most one pass for each token.
func TestHostileConfidencesEnd(t *testing.T) {
	cases(t, 1000, 40, func(t *testing.T, seed uint64, r *rand.Rand, cfg Config) { checkEnds(t, r, cfg) })
}

func FuzzConfidences(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		checkEnds(t, r, anyConfig(r, 40))
	})
}

func checkEnds(t *testing.T, r *rand.Rand, cfg Config) {
	written := 0
	stats, err := Run(t.Context(), cfg, hostile{r}, Observer{Write: func(tokens []tandem.Token) error { written += len(tokens); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if len(stats.Passes) > cfg.Length || written > cfg.Length || stats.Tokens != written {
		t.Errorf("%d passes and %d tokens for %d", len(stats.Passes), written, cfg.Length)
	}
	if stats.Ended == Complete && cfg.Stop == nil && written != cfg.Length {
		t.Errorf("%d of %d tokens", written, cfg.Length)
	}
}

// A guess without a number for its confidence counts less than any other.
func TestNaNIsNoConfidence(t *testing.T) {
	m, err := New(Config{Method: Method{Visible: .7, Stable: .9}, Prompt: []tandem.Token{1}, Length: 2, Mask: 99})
	if err != nil {
		t.Fatal(err)
	}
	m.Step(Begin{})
	m.Step(Computed{[]Guess{{3, float32(math.NaN())}, {4, 0}}})
	if c := m.Cells(); c[0].Status != Invisible || c[1].Status != Visible || c[1].Token != 4 {
		t.Errorf("%+v", c)
	}
}

// An interrupt, an error or a full pipe at any time leaves the tokens that are decided, in order, and a prefix of decided tokens.
func TestInterrupt(t *testing.T) {
	cases(t, 500, 24, func(t *testing.T, seed uint64, r *rand.Rand, cfg Config) {
		w := newWorld(t, seed, cfg)
		want := newWorld(t, seed, cfg).play(cfg, nil, nil)
		m, _ := New(cfg)
		w.machine = m
		actions, left := m.Step(Begin{}), r.IntN(cfg.Length+1)
		var text []tandem.Token
		for ; left > 0 && !m.done; left-- {
			var events []Event
			for _, a := range actions {
				switch a := a.(type) {
				case Compute:
					g, _ := w.Compute(t.Context(), a.Rows)
					events = append(events, Computed{g})
				case Refresh:
					g, _ := w.Refresh(t.Context(), a.Rows)
					events = append(events, Refreshed{g})
				case Merge:
					w.Merge(a.Settled, a.End)
				case Write:
					text = append(text, a.Tokens...)
				}
			}
			actions = nil
			for _, e := range events {
				actions = append(actions, m.Step(e)...)
			}
		}
		fixed := len(text)
		for _, a := range append(actions, m.Step(Interrupt{})...) {
			if w, ok := a.(Write); ok {
				text = append(text, w.Tokens...)
			}
		}
		if !slices.Equal(text[:fixed], want[:fixed]) {
			t.Errorf("%d was written before the interrupt, without one it is %d", text[:fixed], want)
		}
		for i, tok := range text {
			if c := m.Cells()[i]; c.Status == Invisible || c.Token != tok {
				t.Errorf("token %d is %d, the cell holds %+v", i, tok, c)
			}
		}
		for i := range m.settled {
			if m.cells[i].Status == Invisible {
				t.Errorf("row %d of the prefix is not decided", i)
			}
		}
		if a := m.Step(Computed{}); a != nil {
			t.Errorf("after the end: %v", a)
		}
	})
}

// failing fails at a pass.
type failing struct {
	*world
	at int
}

var errBroken = errors.New("the device is gone")

func (f failing) Compute(ctx context.Context, rows []Row) ([]Guess, error) {
	if f.passes == f.at {
		return nil, errBroken
	}
	return f.world.Compute(ctx, rows)
}

func TestRunReportsErrors(t *testing.T) {
	cfg := Config{Method: Full(), Prompt: []tandem.Token{1}, Length: 40, Mask: 99}
	var text []tandem.Token
	stats, err := Run(t.Context(), cfg, failing{newWorld(t, 1, cfg), 3}, Observer{Write: func(tokens []tandem.Token) error { text = append(text, tokens...); return nil }})
	if !errors.Is(err, errBroken) || stats.Ended != Interrupted || stats.Tokens != len(text) || len(stats.Passes) != 3 {
		t.Errorf("%v, %+v", err, stats)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, cfg, newWorld(t, 1, cfg), Observer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Run(t.Context(), cfg, newWorld(t, 1, cfg), Observer{Write: func([]tandem.Token) error { return errBroken }}); !errors.Is(err, errBroken) {
		t.Errorf("broken pipe: %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{Method: Full(), Prompt: []tandem.Token{1}, Length: 8, Mask: 9}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no prompt":     func(c *Config) { c.Prompt = nil },
		"no length":     func(c *Config) { c.Length = 0 },
		"length":        func(c *Config) { c.Length = 1 << 30 },
		"block":         func(c *Config) { c.Block = -1 },
		"thresholds":    func(c *Config) { c.Visible = .95 },
		"NaN":           func(c *Config) { c.Visible = float32(math.NaN()) },
		"zero":          func(c *Config) { c.Visible = 0 },
		"suffix":        func(c *Config) { c.Suffix = LiveSuffix },
		"refresh":       func(c *Config) { c.Refresh = -1 },
		"slack":         func(c *Config) { c.Slack = math.NaN() },
		"masked prompt": func(c *Config) { c.Prompt = []tandem.Token{9} },
	} {
		c := good
		if spoil(&c); c.check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := FindMethod("none"); err == nil {
		t.Error("an unknown method was found")
	}
	if m, err := FindMethod("full"); err != nil || m != Full() {
		t.Errorf("full is %+v, %v", m, err)
	}
}

func TestGrow(t *testing.T) {
	var stairs []float64 // 32 rows a step
	for i := range 128 {
		stairs = append(stairs, float64(10*(i/32+1)))
	}
	line := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		costs       []float64
		rows, limit int
		slack       float64
		want        int
	}{
		{stairs, 5, 1000, .1, 32}, {stairs, 32, 1000, .1, 32}, {stairs, 33, 1000, .1, 64}, {stairs, 33, 50, .1, 50},
		{stairs, 33, 20, .1, 33}, {stairs, 32, 1000, 1, 64}, {stairs, 100, 1000, .1, 128}, {stairs, 128, 1000, .1, 128}, {stairs, 200, 1000, .1, 200},
		{line, 4, 8, .1, 4}, {line, 4, 8, .5, 4}, {line, 4, 5, .5, 5}, {nil, 4, 8, .1, 4},
	} {
		if got := grow(c.costs, c.rows, c.limit, c.slack); got != c.want {
			t.Errorf("from %d rows, at most %d, slack %v: %d, want %d", c.rows, c.limit, c.slack, got, c.want)
		}
	}
}
