package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tandem"
)

// Sampling says how the next token is chosen from logits. The zero value is greedy: always the most
// likely token. The steps apply in llama.cpp's order: repetition penalty, top-k, top-p, min-p,
// temperature.
type Sampling struct {
	Temperature   float64 // 0: greedy; 1: the model's own distribution
	TopK          int     // keep the k most likely tokens; 0: all
	TopP          float64 // keep the smallest set with this share of the mass; 0 or 1: all
	MinP          float64 // keep tokens at least this likely relative to the most likely; 0: all
	RepeatPenalty float64 // divide positive and multiply negative logits of recent tokens by it; 0 or 1: none
	RepeatLast    int     // how many recent tokens RepeatPenalty looks at; 0: 64; -1: all
	Seed          uint64  // of the random draws
}

// DefaultRepeatLast is how far back the repetition penalty looks unless told otherwise.
const DefaultRepeatLast = 64

// Validate reports the first setting that makes no sense.
func (s Sampling) Validate() error {
	within := func(name string, v, low, high float64) error {
		if !(v >= low && v <= high) { // also refuses NaN
			return fmt.Errorf("%s is %v: it must be between %v and %v", name, v, low, high)
		}
		return nil
	}
	for _, err := range []error{
		within("temperature", s.Temperature, 0, 100),
		within("top-k", float64(s.TopK), 0, math.MaxInt32),
		within("top-p", s.TopP, 0, 1),
		within("min-p", s.MinP, 0, 1),
		within("repetition penalty", s.RepeatPenalty, 0, 100),
		within("repetition window", float64(s.RepeatLast), -1, math.MaxInt32),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Greedy reports whether the most likely token is always chosen.
func (s Sampling) Greedy() bool { return s.Temperature == 0 }

// Probabilities returns the distribution that s makes of logits, one probability for each token of the
// vocabulary, 0 for those cut off, with sum 1. Any shift of all logits gives the same, so log
// probabilities serve as well. Ties are broken for the lower id. recent are the tokens before, the latest
// last, for the repetition penalty. dst is used if it is large enough.
//
// NaN counts as impossible. If nothing is possible, token 0 is certain.
func (s Sampling) Probabilities(dst []float64, logits []float32, recent []tandem.Token) []float64 {
	p := slices.Grow(dst[:0], len(logits))[:len(logits)]
	if len(p) == 0 {
		return p
	}
	for i, l := range logits {
		switch {
		case l != l:
			p[i] = math.Inf(-1)
		default:
			p[i] = min(float64(l), math.MaxFloat32)
		}
	}
	s.penalise(p, recent)
	best := argmax(p)
	if s.Temperature == 0 || math.IsInf(p[best], -1) {
		clear(p)
		p[best] = 1
		return p
	}
	s.cut(p, p[best])
	sum, top := 0.0, p[best]
	for i, l := range p {
		p[i] = math.Exp((l - top) / s.Temperature)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func argmax(v []float64) int {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best
}

// penalise applies the repetition penalty, once to each recent token (Keskar et al. 2019).
func (s Sampling) penalise(logits []float64, recent []tandem.Token) {
	if s.RepeatPenalty == 0 || s.RepeatPenalty == 1 {
		return
	}
	last := s.RepeatLast
	if last == 0 {
		last = DefaultRepeatLast
	}
	if last > 0 && len(recent) > last {
		recent = recent[len(recent)-last:]
	}
	done := make(map[tandem.Token]bool, len(recent))
	for _, t := range recent {
		if t < 0 || int(t) >= len(logits) || done[t] {
			continue
		}
		done[t] = true
		if logits[t] > 0 {
			logits[t] /= s.RepeatPenalty
		} else {
			logits[t] *= s.RepeatPenalty
		}
	}
}

// cut sets the logits that top-k, top-p and min-p leave out to -Inf; top is the largest logit.
func (s Sampling) cut(logits []float64, top float64) {
	n := len(logits)
	if s.TopK > 0 && s.TopK < n || s.TopP > 0 && s.TopP < 1 {
		kept := s.nucleus(logits, top)
		values := make([]float64, len(kept))
		for i, t := range kept {
			values[i] = logits[t]
		}
		for i := range logits {
			logits[i] = math.Inf(-1)
		}
		for i, t := range kept {
			logits[t] = values[i]
		}
	}
	if s.MinP > 0 {
		least := top + math.Log(s.MinP)
		for i, l := range logits {
			if l < least {
				logits[i] = math.Inf(-1)
			}
		}
	}
}

// nucleus returns the tokens that top-k and then top-p keep, the most likely first. Top-p's share is one
// of what top-k left.
func (s Sampling) nucleus(logits []float64, top float64) []int32 {
	h := newRanking(logits, top)
	limit := len(logits)
	if s.TopK > 0 {
		limit = min(limit, s.TopK)
	}
	if s.TopP == 0 || s.TopP == 1 {
		return h.take(limit)
	}
	var kept []int32
	mass := 0.0
	if limit < len(logits) {
		kept = h.take(limit)
		for _, t := range kept {
			mass += math.Exp(logits[t] - top)
		}
	} else {
		for _, l := range logits {
			mass += math.Exp(l - top)
		}
	}
	sum := 0.0
	for i := 0; i < limit; i++ {
		if i == len(kept) {
			kept = append(kept, h.take(1)...)
		}
		if sum += math.Exp(logits[kept[i]] - top); sum >= s.TopP*mass {
			return kept[:i+1]
		}
	}
	return kept
}

// A ranking gives tokens by falling logit, ties by rising id. It is a heap, and at first one of the tokens
// near the top only: the whole vocabulary need not be sorted for the few tokens that are wanted.
type ranking struct {
	logits []float64
	heap   []int32
	floor  float64 // tokens below it are not in the heap yet
}

// nearTop is how far below the largest logit a token may be to be ranked at once: 8 nats are a likelihood
// of 1 in 3,000.
const nearTop = 8

func newRanking(logits []float64, top float64) *ranking {
	r := &ranking{logits: logits, floor: top - nearTop}
	for i, l := range logits {
		if l >= r.floor {
			r.heap = append(r.heap, int32(i))
		}
	}
	r.order()
	return r
}

// rest puts the tokens below the floor into the heap, once it is empty.
func (r *ranking) rest() {
	for i, l := range r.logits {
		if l < r.floor {
			r.heap = append(r.heap, int32(i))
		}
	}
	r.floor = math.Inf(-1)
	r.order()
}

func (r *ranking) order() {
	for i := len(r.heap)/2 - 1; i >= 0; i-- {
		r.sink(i)
	}
}

func (r *ranking) before(a, b int32) bool {
	return r.logits[a] > r.logits[b] || r.logits[a] == r.logits[b] && a < b
}

func (r *ranking) sink(i int) {
	h := r.heap
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && r.before(h[child+1], h[child]) {
			child++
		}
		if !r.before(h[child], h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// take removes and returns the next n tokens.
func (r *ranking) take(n int) []int32 {
	out := make([]int32, 0, n)
	for len(out) < n {
		if len(r.heap) == 0 {
			if r.rest(); len(r.heap) == 0 {
				break
			}
		}
		out = append(out, r.heap[0])
		last := len(r.heap) - 1
		r.heap[0] = r.heap[last]
		r.heap = r.heap[:last]
		r.sink(0)
	}
	return out
}

// A Sampler draws the tokens of one sequence. The same settings, seed and logits give the same tokens on
// every machine with the same logits.
type Sampler struct {
	s      Sampling
	rng    *rand.Rand
	recent []tandem.Token
	p      []float64
}

// NewSampler starts a sequence after the tokens of prompt.
func NewSampler(s Sampling, prompt []tandem.Token) (*Sampler, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &Sampler{s: s, rng: rand.New(rand.NewPCG(s.Seed, 0x9e3779b97f4a7c15)), recent: slices.Clone(prompt)}, nil
}

// Next draws a token and remembers it for the repetition penalty.
func (s *Sampler) Next(logits []float32) tandem.Token {
	s.p = s.s.Probabilities(s.p, logits, s.recent)
	t := s.draw()
	s.recent = append(s.recent, t)
	return t
}

func (s *Sampler) draw() tandem.Token {
	if s.s.Greedy() {
		return tandem.Token(argmax(s.p))
	}
	u, last := s.rng.Float64(), 0
	for i, p := range s.p {
		if p == 0 {
			continue
		}
		if u -= p; u < 0 {
			return tandem.Token(i)
		}
		last = i
	}
	return tandem.Token(last) // rounding left a little of u
}
