// Package sample generates text with a model: it turns logits into tokens (Params, Sampler) and runs the loop of
// autoregressive generation, with speculative drafts or without (Generate).
package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tandem"
	"tandem/model/grammar"
)

// Params says how the next token is chosen from logits. The zero value is greedy: it always takes the likeliest
// token. The steps apply in llama.cpp's order: repetition penalty, top-k, top-p, min-p, temperature.
type Params struct {
	tandem.Sampling
	Seed uint64 // of the random draws
	// Before holds tokens before the prompt, such as those that a sequence has already. Only the repetition penalty reads them.
	Before []tandem.Token
	// Replay holds tokens that the sampler returns first, whatever the logits, so that the model reads a given text as
	// its own answer.
	Replay []tandem.Token
	// Grammar limits the text of Generate to what it derives; nil for no limit. Where the limit of tokens or of the context ends the
	// text, it is the beginning of such a text.
	Grammar *grammar.Grammar
}

// DefaultRepeatLast is the default number of tokens that the repetition penalty looks at.
const DefaultRepeatLast = 64

// Validate returns an error for the first parameter that is out of range.
func (s Params) Validate() error {
	within := func(name string, v, low, high float64) error {
		if !(v >= low && v <= high) { // also refuses NaN
			return fmt.Errorf("%s is %v: it must be between %v and %v", name, v, low, high)
		}
		return nil
	}
	penalty := s.RepeatPenalty
	if penalty == 0 {
		penalty = 1 // none; values near 0 would make logits infinite
	}
	for _, err := range []error{
		within("temperature", s.Temperature, 0, 100),
		within("top-k", float64(s.TopK), 0, math.MaxInt32),
		within("top-p", s.TopP, 0, 1),
		within("min-p", s.MinP, 0, 1),
		within("repetition penalty", penalty, 0.01, 100),
		within("repetition window", float64(s.RepeatLast), -1, math.MaxInt32),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Probabilities returns the distribution that s makes of logits: one probability for each token of the vocabulary, 0
// for tokens cut off, with sum 1. Adding a constant to all logits does not change it, so log probabilities serve as
// well. Of tied tokens, the lower id counts as likelier. recent holds the preceding tokens, the latest last, for the
// repetition penalty. The result is in dst if that is large enough.
//
// A token with the logit NaN is impossible. If all tokens are impossible, token 0 has probability 1.
func (s Params) Probabilities(dst []float64, logits []float32, recent []tandem.Token) []float64 {
	return s.probabilities(dst, logits, recent, new(ranking))
}

// probabilities is Probabilities with r as scratch memory.
func (s Params) probabilities(dst []float64, logits []float32, recent []tandem.Token, r *ranking) []float64 {
	p := slices.Grow(dst[:0], len(logits))[:len(logits)]
	if len(p) == 0 {
		return p
	}
	for i, l := range logits {
		p[i] = number(l)
	}
	s.penalise(p, logits, recent)
	best := argmax(p)
	if s.Temperature == 0 || math.IsInf(p[best], -1) {
		clear(p)
		p[best] = 1
		return p
	}
	kept := s.cut(p, p[best], r)
	if kept == nil {
		s.softmax(p, p[best])
		return p
	}
	r.kept = r.kept[:0]
	for _, t := range kept {
		r.kept = append(r.kept, p[t])
	}
	s.softmax(r.kept, p[best])
	clear(p)
	for i, t := range kept {
		p[t] = r.kept[i]
	}
	return p
}

// softmax makes logits, of which top is the largest, probabilities at the temperature.
func (s Params) softmax(logits []float64, top float64) {
	sum := 0.0
	for i, l := range logits {
		logits[i] = math.Exp((l - top) / s.Temperature)
		sum += logits[i]
	}
	for i := range logits {
		logits[i] /= sum
	}
}

// LogProb returns log softmax(logits)[t], the natural logarithm of a token's probability at temperature 1. logits must not be
// empty; if one is NaN, the result is NaN.
func LogProb(logits []float32, t tandem.Token) float64 {
	top, sum := float64(slices.Max(logits)), 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	return float64(logits[t]) - top - math.Log(sum)
}

// number returns a logit to compute with: −Inf for NaN, the largest float32 for +Inf.
func number(logit float32) float64 {
	if logit != logit {
		return math.Inf(-1)
	}
	return min(float64(logit), math.MaxFloat32)
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

// penalises reports whether there is a repetition penalty.
func (s Params) penalises() bool { return s.RepeatPenalty != 0 && s.RepeatPenalty != 1 }

// penalise sets p[t] for each recent token t to its penalised logit. Each token is penalised once, however often it
// occurs (Keskar et al. 2019).
func (s Params) penalise(p []float64, logits []float32, recent []tandem.Token) {
	if !s.penalises() {
		return
	}
	last := s.RepeatLast
	if last == 0 {
		last = DefaultRepeatLast
	}
	if last > 0 && len(recent) > last {
		recent = recent[len(recent)-last:]
	}
	for _, t := range recent {
		if t < 0 || int(t) >= len(logits) {
			continue
		}
		if l := number(logits[t]); l > 0 {
			p[t] = l / s.RepeatPenalty
		} else {
			p[t] = l * s.RepeatPenalty
		}
	}
}

// cut returns the tokens that top-k, top-p and min-p keep, ascending, or nil if that is all. top is the largest logit.
func (s Params) cut(logits []float64, top float64, r *ranking) (kept []int32) {
	least := math.Inf(-1)
	if s.MinP > 0 {
		least = top + math.Log(s.MinP)
	}
	if s.TopK > 0 && s.TopK < len(logits) || s.TopP > 0 && s.TopP < 1 {
		kept = slices.DeleteFunc(s.nucleus(logits, top, r), func(t int32) bool { return logits[t] < least })
		return r.ascending(kept)
	}
	if s.MinP > 0 {
		r.ids = r.ids[:0]
		for i, l := range logits {
			if l >= least {
				r.ids = append(r.ids, int32(i))
			}
		}
		return r.ids
	}
	return nil
}

// nucleus returns the tokens that top-k and then top-p keep, the likeliest first. Top-p's share is of the mass that top-k keeps.
func (s Params) nucleus(logits []float64, top float64, r *ranking) []int32 {
	mass, all := 0.0, s.TopP == 0 || s.TopP == 1
	if s.TopK > 0 && s.TopK < len(logits) {
		r.rank(logits, top, s.TopK)
		for _, t := range r.ids {
			mass += math.Exp(logits[t] - top)
		}
	} else {
		for _, l := range logits {
			mass += math.Exp(l - top)
		}
		// Even if all tokens were below this logit, they would not have the mass that top-p cuts.
		r.deal(logits, top, top+math.Log((1-s.TopP)*mass/float64(len(logits))))
	}
	sum := 0.0
	for i := range r.ids {
		r.sort(i + 1)
		if sum += math.Exp(logits[r.ids[i]] - top); !all && sum >= s.TopP*mass {
			return r.ids[:i+1]
		}
	}
	return r.ids
}

// A ranking orders tokens by descending logit, ties by ascending id. It puts them into buckets by their distance from
// the top and sorts a bucket only when one of its tokens is needed, because sorting the whole vocabulary for the few
// tokens that are kept is slow.
type ranking struct {
	logits []float64
	top    float64
	ids    []int32               // the tokens, bucket by bucket
	ends   [rankingBuckets]int32 // of the buckets in ids
	bucket int                   // the first unsorted bucket
	sorted int                   // how many ids come before it
	kept   []float64             // the logits that cut keeps
}

// Each bucket spans 1/128 of a binade of distance, from 2⁻²⁰ to 2¹² nats, which suits flat and steep logits. The first
// and the last also hold nearer and farther tokens.
const (
	rankingBuckets = 32 << 7
	rankingShift   = 52 - 7
	rankingFirst   = (1023 - 20) << 7
)

func (r *ranking) bucketOf(logit float64) int {
	far := math.Abs(r.top - logit) // -0 − 0 is -0
	return min(max(int(math.Float64bits(far)>>rankingShift)-rankingFirst, 0), rankingBuckets-1)
}

// fewTokens is the largest number of tokens that are chosen by insertion and sorted.
const fewTokens = 256

// rank makes r.ids the n likeliest tokens in order, without those that are impossible.
func (r *ranking) rank(logits []float64, top float64, n int) {
	if n > fewTokens {
		r.deal(logits, top, -math.MaxFloat64)
		n = min(n, len(r.ids))
		r.sort(n)
		r.ids, r.sorted = r.ids[:n], n
		return
	}
	r.logits, r.ids = logits, r.ids[:0]
	least := math.Inf(-1)
	for i, l := range logits {
		if l <= least {
			continue
		}
		at := len(r.ids)
		r.ids = append(r.ids, int32(i))
		for ; at > 0 && l > logits[r.ids[at-1]]; at-- {
			r.ids[at] = r.ids[at-1]
		}
		r.ids[at] = int32(i)
		if r.ids = r.ids[:min(n, len(r.ids))]; len(r.ids) == n {
			least = logits[r.ids[n-1]]
		}
	}
	r.sorted = len(r.ids)
}

// ascending sorts the likeliest tokens, which are in order, by id.
func (r *ranking) ascending(likeliest []int32) []int32 {
	if len(likeliest) <= fewTokens {
		slices.Sort(likeliest)
		return likeliest
	}
	last := likeliest[len(likeliest)-1]
	least := r.logits[last]
	likeliest = likeliest[:0]
	for i, l := range r.logits {
		if l > least || l == least && int32(i) <= last {
			likeliest = append(likeliest, int32(i))
		}
	}
	return likeliest
}

// deal starts a ranking of the tokens whose logits are at least least. top is the largest logit.
func (r *ranking) deal(logits []float64, top, least float64) {
	r.logits, r.top, r.bucket, r.sorted = logits, top, 0, 0
	clear(r.ends[:])
	n := int32(0)
	for _, l := range logits {
		if l >= least {
			r.ends[r.bucketOf(l)]++
			n++
		}
	}
	r.ids = slices.Grow(r.ids[:0], int(n))[:n]
	at := int32(0)
	for b, count := range r.ends {
		r.ends[b] = at // the bucket's start, which moves to its end as it is filled
		at += count
	}
	for i, l := range logits {
		if l >= least {
			end := &r.ends[r.bucketOf(l)]
			r.ids[*end] = int32(i)
			*end++
		}
	}
}

// sort makes the first n of r.ids, or more, the likeliest tokens in order.
func (r *ranking) sort(n int) {
	for r.sorted < n {
		end := int(r.ends[r.bucket])
		slices.SortFunc(r.ids[r.sorted:end], r.order)
		r.sorted = end
		r.bucket++
	}
}

func (r *ranking) order(a, b int32) int {
	switch x, y := r.logits[a], r.logits[b]; {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return int(a) - int(b)
}

// A Sampler draws the tokens of one sequence. The same parameters, seed and logits give the same tokens on every
// machine.
type Sampler struct {
	s       Params
	said    int // tokens of Params.Replay
	rng     *rand.Rand
	recent  []tandem.Token // empty without a repetition penalty
	p       []float64
	ranking ranking
}

// New returns a sampler for the tokens after prompt.
func New(s Params, prompt []tandem.Token) (*Sampler, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	sampler := &Sampler{s: s, rng: rand.New(rand.NewPCG(s.Seed, 0x9e3779b97f4a7c15))}
	if s.penalises() {
		sampler.recent = slices.Concat(s.Before, prompt)
	}
	return sampler, nil
}

// Next draws a token and remembers it for the repetition penalty.
func (s *Sampler) Next(logits []float32) tandem.Token {
	var t tandem.Token
	if s.said < len(s.s.Replay) {
		t = s.s.Replay[s.said]
		s.said++
	} else {
		s.p = s.s.probabilities(s.p, logits, s.recent, &s.ranking)
		t = s.draw()
	}
	if s.s.penalises() {
		s.recent = append(s.recent, t)
	}
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
	return tandem.Token(last) // u was left over by rounding
}
