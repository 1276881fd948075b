package dllm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tandem"
	"tandem/model"
)

// Options say how Generate writes a text.
type Options struct {
	Method
	MaxTokens int  // positions of the answer; 0 for as many as the context holds
	IgnoreEnd bool // fill all positions, whatever the model says about the end
	Costs     []float64
	// At Temperature 0 a guess is the likeliest token. Otherwise it is drawn with one random number for each position, so
	// that a position keeps its token while its distribution does not change. The confidence of a guess is the token's
	// probability at temperature 1.
	Temperature float64
	Seed        uint64
	Limit       Limit // nil for none
	Observer
}

// A Limit restricts a text: it sets the logits of the tokens that may not follow answer to −Inf, and leaves at least one. With
// a Limit, the positions of a block are decided in the text's order, each as soon as its confidence under the Limit reaches
// Stable, and are never revised.
type Limit func(answer []tandem.Token, logits []float32)

// Generate denoises a continuation of a prompt with a diffusion model. Without IgnoreEnd the text ends before the first of
// the tokenizer's end tokens. The Stats are valid in every case.
func Generate(ctx context.Context, m *model.Model, prompt []tandem.Token, o Options) (Stats, error) {
	c := m.Config()
	if !c.Diffusion {
		return Stats{}, fmt.Errorf("denoise: the architecture %s is autoregressive", c.Arch)
	}
	room := c.Context - len(prompt)
	cfg := Config{Method: o.Method, Prompt: prompt, Length: o.MaxTokens, Mask: c.Mask, Shifted: c.Shifted, CausalPrompt: c.CausalPrompt, Costs: o.Costs}
	if cfg.Length == 0 {
		cfg.Length = room
	}
	if need := min(max(o.Block, 1), cfg.Length); room < need {
		return Stats{}, fmt.Errorf("denoise: the prompt of %d tokens leaves %d of the model's context of %d, less than a block of %d: shorten the prompt", len(prompt), max(room, 0), c.Context, need)
	}
	cfg.Length = min(cfg.Length, room)
	if !o.IgnoreEnd {
		cfg.Stop = m.Tokenizer().EOGs()
	}
	if o.Limit != nil {
		cfg.Ordered, cfg.Visible, cfg.Refresh = true, cfg.Stable, 0
	}
	e := newEngine(m, o.Temperature, o.Seed, cfg.Refresh > 0)
	if o.Limit == nil {
		return Run(ctx, cfg, e, o.Observer)
	}
	return Run(ctx, cfg, e, e.limitTo(cfg, o.Limit, o.Observer))
}

// An engine is a Denoiser on a model, for one generation. It keeps two caches: the dense path computes in the first; the
// second holds a copy of the prefix, in which the sparse path computes. Merge exchanges what changed. So neither path ever
// reads what the other writes. Where the device has a second group of threads, the sparse path computes there, with the same
// weights (llada.cpp §3.3).
type engine struct {
	m                   *model.Model
	sparse              *model.Model // computes the sparse path
	sparseErr           error        // why there is none
	denseSeq, sparseSeq *model.Seq
	refreshes           bool // the second cache is in use
	temperature         float64
	seed                uint64
	banned              []tandem.Token // that no position may have
	refreshed           []int          // positions that Refresh has computed since the last Merge
	rows                [2][]model.DenoiseRow
	logits              [2]model.Logits
	limiter             *limiter // nil without a limit
}

// limiter is what an engine needs to keep to a limit.
type limiter struct {
	Config
	limit  Limit
	answer []tandem.Token // decided
}

// limitTo makes the engine keep to a limit. It learns what is decided through the observer that it returns.
func (e *engine) limitTo(cfg Config, limit Limit, observer Observer) Observer {
	l := &limiter{Config: cfg, limit: limit}
	e.limiter = l
	write := observer.Write
	observer.Write = func(tokens []tandem.Token) error {
		l.answer = append(l.answer, tokens...)
		if write == nil {
			return nil
		}
		return write(tokens)
	}
	return observer
}

// guesses guesses the next undecided positions one after the other, each limited by the ones before it, as long as they can
// be decided. Its guesses for other positions are drafts or unused.
func (l *limiter) guesses(e *engine, rows []Row, logits [][]float32) []Guess {
	out := make([]Guess, 0, len(logits))
	text, going := slices.Clone(l.answer), true
	for _, r := range rows {
		if !r.Logits {
			continue
		}
		at := r.Position - len(l.Prompt)
		if l.Shifted {
			at++
		}
		next := going && at == len(text)
		if next {
			e.ban(logits[len(out)])
			l.limit(text, logits[len(out)])
		}
		g := e.guess(logits[len(out)], r.Position)
		if out = append(out, g); next {
			text = append(text, g.Token)
			going = (g.Confidence >= l.Stable || len(text)-len(l.answer) < l.AtLeast) && !slices.Contains(l.Stop, g.Token)
		}
	}
	return out
}

// newEngine returns an engine. Without refresh it has one cache.
func newEngine(m *model.Model, temperature float64, seed uint64, refresh bool) *engine {
	e := &engine{m: m, sparse: m, denseSeq: m.NewSeq(), refreshes: refresh, temperature: temperature, seed: seed, banned: []tandem.Token{m.Config().Mask}}
	if t, ok := m.Tokenizer().Unsupported(); ok {
		e.banned = append(e.banned, t)
	}
	if refresh {
		if e.sparse, e.sparseErr = m.Second(); e.sparseErr != nil {
			e.sparse = m
		}
	}
	e.sparseSeq = e.sparse.NewSeq()
	return e
}

// Compute implements Denoiser.
func (e *engine) Compute(ctx context.Context, rows []Row) ([]Guess, error) {
	return e.pass(ctx, e.m, 0, e.denseSeq, rows)
}

// Refresh implements Denoiser.
func (e *engine) Refresh(ctx context.Context, rows []Row) ([]Guess, error) {
	if !e.refreshes {
		return nil, fmt.Errorf("denoise: the engine was made without refresh")
	}
	if e.sparseErr != nil {
		return nil, fmt.Errorf("denoise: second path: %w", e.sparseErr)
	}
	for _, r := range rows {
		e.refreshed = append(e.refreshed, r.Position)
	}
	return e.pass(ctx, e.sparse, 1, e.sparseSeq, rows)
}

// Merge implements Denoiser.
func (e *engine) Merge(settled, end int) error {
	for _, p := range e.refreshed {
		e.denseSeq.CopyFrom(e.sparseSeq, p, p+1)
	}
	e.refreshed = e.refreshed[:0]
	if e.refreshes && end > settled {
		e.sparseSeq.Grow(end)
		e.sparseSeq.CopyFrom(e.denseSeq, settled, end)
	}
	e.sparse.SyncClocks()
	return nil
}

// pass computes rows in a cache of a model.
func (e *engine) pass(ctx context.Context, m *model.Model, path int, seq *model.Seq, rows []Row) ([]Guess, error) {
	live := e.rows[path][:0]
	for _, r := range rows {
		live = append(live, model.DenoiseRow(r))
	}
	e.rows[path] = live
	logits, err := m.Denoise(ctx, seq, live, &e.logits[path])
	if err != nil {
		return nil, fmt.Errorf("denoise: %w", err)
	}
	if e.limiter != nil {
		return e.limiter.guesses(e, rows, logits), nil
	}
	guesses := make([]Guess, 0, len(logits))
	for _, r := range rows {
		if r.Logits {
			guesses = append(guesses, e.guess(logits[len(guesses)], r.Position))
		}
	}
	return guesses, nil
}

// ban sets the logits of the tokens that no position may have to −Inf.
func (e *engine) ban(logits []float32) {
	for _, t := range e.banned {
		logits[t] = float32(math.Inf(-1))
	}
}

// guess makes a guess of a row's logits, which it changes.
func (e *engine) guess(logits []float32, position int) Guess {
	e.ban(logits)
	best := 0
	for i, l := range logits {
		if l > logits[best] {
			best = i
		}
	}
	top, sum := float64(logits[best]), 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	if e.temperature > 0 {
		best = e.draw(logits, top, position)
	}
	return Guess{Token: tandem.Token(best), Confidence: float32(math.Exp(float64(logits[best])-top) / sum)}
}

// draw draws a token from logits whose largest is top.
func (e *engine) draw(logits []float32, top float64, position int) int {
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp((float64(l) - top) / e.temperature)
	}
	left := rand.New(rand.NewPCG(e.seed, uint64(position))).Float64() * sum
	last := 0
	for i, l := range logits {
		p := math.Exp((float64(l) - top) / e.temperature)
		if p > 0 {
			last = i
		}
		if left -= p; left < 0 {
			return i
		}
	}
	return last
}
