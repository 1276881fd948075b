package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem"
)

// plainProbabilities computes Params.Probabilities in the simplest way: sort everything, cut, scale.
func plainProbabilities(s Params, logits []float32, recent []tandem.Token) []float64 {
	type cand struct {
		id    int
		logit float64
	}
	var list []cand
	window := recent
	if s.RepeatLast == 0 {
		window = recent[max(0, len(recent)-64):]
	} else if s.RepeatLast > 0 {
		window = recent[max(0, len(recent)-s.RepeatLast):]
	}
	for id, l := range logits {
		c := cand{id, float64(l)}
		if s.RepeatPenalty != 0 && slices.Contains(window, tandem.Token(id)) {
			if c.logit > 0 {
				c.logit /= s.RepeatPenalty
			} else {
				c.logit *= s.RepeatPenalty
			}
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b cand) int {
		if a.logit > b.logit {
			return -1
		} else if a.logit < b.logit {
			return 1
		}
		return 0
	})
	softmax := func(temperature float64) []float64 {
		p, sum := make([]float64, len(list)), 0.0
		for i, c := range list {
			p[i] = math.Exp((c.logit - list[0].logit) / temperature)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	out := make([]float64, len(logits))
	if s.Temperature == 0 {
		out[list[0].id] = 1
		return out
	}
	if s.TopK > 0 {
		list = list[:min(s.TopK, len(list))]
	}
	if s.TopP > 0 {
		p, sum := softmax(1), 0.0
		for i := range p {
			if sum += p[i]; sum >= s.TopP {
				list = list[:i+1]
				break
			}
		}
	}
	p, kept := softmax(1), 0
	for kept < len(p) && p[kept] >= s.MinP*p[0] {
		kept++
	}
	list = list[:kept]
	for i, p := range softmax(s.Temperature) {
		out[list[i].id] = p
	}
	return out
}

func drawParams(t *rapid.T) Params {
	return Params{Sampling: tandem.Sampling{
		Temperature:   rapid.SampledFrom([]float64{0, 0.3, 0.7, 1, 1.5}).Draw(t, "temperature"),
		TopK:          rapid.SampledFrom([]int{0, 1, 3, 10, 100, 600}).Draw(t, "k"),
		TopP:          rapid.SampledFrom([]float64{0, 0.1, 0.5, 0.8, 0.95, 1}).Draw(t, "p"),
		MinP:          rapid.SampledFrom([]float64{0, 0.01, 0.1, 0.5, 1}).Draw(t, "minp"),
		RepeatPenalty: rapid.SampledFrom([]float64{0, 1, 1.1, 2, 0.5}).Draw(t, "penalty"),
		RepeatLast:    rapid.SampledFrom([]int{0, -1, 2, 100}).Draw(t, "window"),
	}}
}

func TestProbabilitiesEqualPlainOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawParams(t)
		// Quarters make ties, and sums exact enough for both to cut at the same token.
		logits := rapid.SliceOfN(rapid.Map(rapid.IntRange(-20, 20), func(i int) float32 { return float32(i) / 4 }), 1, 40).Draw(t, "logits")
		recent := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, len(logits)-1), func(i int) tandem.Token { return tandem.Token(i) }), 0, 80).Draw(t, "recent")
		want := plainProbabilities(s, logits, recent)
		got := s.Probabilities(nil, logits, recent)
		sum := 0.0
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Fatalf("%+v: token %d has %v, want %v", s, i, got[i], want[i])
			}
			sum += got[i]
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("the sum is %v", sum)
		}
	})
}

func TestProbabilitiesOfStrangeLogits(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		logits []float32
		want   []float64
	}{
		{[]float32{nan, 0, 0}, []float64{0, .5, .5}},
		{[]float32{-inf, 1, -inf}, []float64{0, 1, 0}},
		{[]float32{inf, 1, inf}, []float64{.5, 0, .5}},
		{[]float32{-inf, -inf}, []float64{1, 0}},
		{[]float32{nan, nan}, []float64{1, 0}},
		{nil, nil},
	} {
		for _, s := range []Params{{Sampling: tandem.Sampling{Temperature: 1}}, {Sampling: tandem.Sampling{Temperature: 1, TopP: .99, TopK: 3}}, {Sampling: tandem.Sampling{Temperature: 1, MinP: .5, RepeatPenalty: 1.1}}} {
			if got := s.Probabilities(nil, c.logits, nil); !slices.Equal(got, c.want) {
				t.Errorf("%v by %+v gives %v, want %v", c.logits, s, got, c.want)
			}
		}
	}
	if got := (Params{}).Probabilities(nil, []float32{1, 3, 3, 2}, nil); !slices.Equal(got, []float64{0, 1, 0, 0}) {
		t.Errorf("greedy gives %v: the lower id of a tie must win", got)
	}
}

func TestTopPKeepsTheTokenThatCrosses(t *testing.T) {
	logits := []float32{float32(math.Log(.2)), float32(math.Log(.5)), float32(math.Log(.3))}
	for topP, kept := range map[float64]int{0.1: 1, 0.499: 1, 0.501: 2, 0.799: 2, 0.801: 3, 0.999: 3} {
		n := 0
		for _, p := range (Params{Sampling: tandem.Sampling{Temperature: 1, TopP: topP}}).Probabilities(nil, logits, nil) {
			if p > 0 {
				n++
			}
		}
		if n != kept {
			t.Errorf("top-p %v keeps %d tokens of .5, .3 and .2, want %d", topP, n, kept)
		}
	}
}

// 20,000 draws follow the distribution, by a chi-square test.
func TestSamplerFollowsItsDistribution(t *testing.T) {
	logits := []float32{2, 1.5, 1, 0.2, 0, -1, 0.9, -4, -30}
	for _, s := range []Params{{Sampling: tandem.Sampling{Temperature: 1}}, {Sampling: tandem.Sampling{Temperature: 0.6, TopP: 0.9}}, {Sampling: tandem.Sampling{Temperature: 1.4, TopK: 4}, Seed: 7}, {Sampling: tandem.Sampling{Temperature: 1, MinP: 0.2}, Seed: 9}} {
		const n = 20000
		want := s.Probabilities(nil, logits, nil)
		sampler, err := New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]float64, len(logits))
		for range n {
			counts[sampler.Next(logits)]++
		}
		chi, freedom := 0.0, -1.0
		for i, p := range want {
			if p*n < 1e-3 {
				if counts[i] > 0 {
					t.Errorf("%+v: token %d has probability %v and was drawn", s, i, p)
				}
				continue
			}
			chi += (counts[i] - n*p) * (counts[i] - n*p) / (n * p)
			freedom++
		}
		// Five standard deviations above the mean of a chi-square distribution.
		if limit := freedom + 5*math.Sqrt(2*freedom); chi > limit {
			t.Errorf("%+v: chi-square %.1f with %v degrees of freedom", s, chi, freedom)
		}
	}
}

func TestSamplerRepeatsItself(t *testing.T) {
	logits := make([]float32, 50)
	draw := func(seed uint64) []tandem.Token {
		s, err := New(Params{Sampling: tandem.Sampling{Temperature: 1}, Seed: seed}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []tandem.Token
		for range 30 {
			out = append(out, s.Next(logits))
		}
		return out
	}
	if !slices.Equal(draw(3), draw(3)) || slices.Equal(draw(3), draw(4)) {
		t.Error("a seed must always give the same sequence, and another seed another one")
	}
}

// sortedProbabilities is plainProbabilities, except that it adds in the same order as Probabilities: by id, but
// from the likeliest down for top-k's tokens and for the mass of top-p.
func sortedProbabilities(s Params, logits []float32, recent []tandem.Token) []float64 {
	if s.RepeatLast >= 0 {
		window := s.RepeatLast
		if window == 0 {
			window = DefaultRepeatLast
		}
		recent = recent[max(0, len(recent)-window):]
	}
	l, ids := make([]float64, len(logits)), make([]int, len(logits))
	for i := range l {
		l[i], ids[i] = float64(logits[i]), i
		if s.RepeatPenalty != 0 && slices.Contains(recent, tandem.Token(i)) {
			if l[i] > 0 {
				l[i] /= s.RepeatPenalty
			} else {
				l[i] *= s.RepeatPenalty
			}
		}
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		if l[a] > l[b] {
			return -1
		} else if l[a] < l[b] {
			return 1
		}
		return 0
	})
	p, top := make([]float64, len(l)), l[ids[0]]
	if s.Temperature == 0 {
		p[ids[0]] = 1
		return p
	}
	mass := func(ids []int) (sum float64) {
		for _, i := range ids {
			sum += math.Exp(l[i] - top)
		}
		return sum
	}
	all := make([]int, len(l))
	for i := range all {
		all[i] = i
	}
	if s.TopK > 0 && s.TopK < len(ids) {
		ids = ids[:s.TopK]
		all = ids
	}
	if s.TopP > 0 && s.TopP < 1 {
		n, sum, share := 0, 0.0, s.TopP*mass(all)
		for n < len(ids) && sum < share {
			sum += math.Exp(l[ids[n]] - top)
			n++
		}
		ids = ids[:n]
	}
	ids = slices.DeleteFunc(ids, func(i int) bool { return s.MinP > 0 && l[i] < top+math.Log(s.MinP) })
	slices.Sort(ids)
	sum := 0.0
	for _, i := range ids {
		p[i] = math.Exp((l[i] - top) / s.Temperature)
		sum += p[i]
	}
	for _, i := range ids {
		p[i] /= sum
	}
	return p
}

// The probabilities, and so the tokens, equal those of a plain sort to the bit. The distances of the logits lie in one
// bucket of a ranking, in many, and beyond the last; there are ties, both zeros, and impossible tokens.
func TestSamplerEqualsPlainSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawParams(t)
		s.Seed = rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(s.Seed, 1))
		scale := rapid.SampledFrom([]float64{0, 1e-9, 1e-3, 0.1, 1, 4, 30, 1e4}).Draw(t, "scale")
		step := rapid.SampledFrom([]float64{0, 0.25}).Draw(t, "step")
		logits := make([]float32, rapid.SampledFrom([]int{1, 2, 50, 1500}).Draw(t, "tokens"))
		for i := range logits {
			x := scale * r.NormFloat64()
			if step > 0 {
				x = step * math.Round(x/step)
			}
			if logits[i] = float32(x); i > 0 && r.IntN(20) == 0 {
				logits[i] = float32(math.Inf(-1))
			}
		}
		recent := make([]tandem.Token, r.IntN(100))
		for i := range recent {
			recent[i] = tandem.Token(r.IntN(len(logits)))
		}
		sampler, err := New(s, recent)
		if err != nil {
			t.Fatal(err)
		}
		plain := Sampler{s: s, rng: rand.New(rand.NewPCG(s.Seed, 0x9e3779b97f4a7c15))}
		for range 3 {
			plain.p = sortedProbabilities(s, logits, recent)
			got, want := sampler.Next(logits), plain.draw()
			for i, p := range sampler.p {
				if math.Float64bits(p) != math.Float64bits(plain.p[i]) {
					t.Fatalf("%+v: token %d has %v, want %v", s, i, p, plain.p[i])
				}
			}
			if got != want {
				t.Fatalf("%+v: drew token %d, want %d", s, got, want)
			}
			recent = append(recent, got)
			logits[r.IntN(len(logits))] += 0.5
		}
	})
}

func TestSamplerPenalisesThePrompt(t *testing.T) {
	s, err := New(Params{Sampling: tandem.Sampling{RepeatPenalty: 2}}, []tandem.Token{1})
	if err != nil {
		t.Fatal(err)
	}
	logits := []float32{1, 1.5, 0.9}
	if a, b, c := s.Next(logits), s.Next(logits), s.Next(logits); a != 0 || b != 2 || c != 1 {
		t.Errorf("drew %d %d %d", a, b, c)
	}
}

func TestParamsValidate(t *testing.T) {
	for want, sampling := range map[string]tandem.Sampling{
		"temperature is -1": {Temperature: -1}, "temperature is NaN": {Temperature: math.NaN()}, "top-k is -1": {TopK: -1},
		"top-p is 1.5": {TopP: 1.5}, "min-p is -0.1": {MinP: -0.1}, "repetition penalty is -1": {RepeatPenalty: -1},
		"repetition penalty is 1e-320": {RepeatPenalty: 1e-320}, "repetition penalty is NaN": {RepeatPenalty: math.NaN()},
		"repetition penalty is +Inf": {RepeatPenalty: math.Inf(1)}, "repetition window is -2": {RepeatLast: -2},
	} {
		s := Params{Sampling: sampling}
		err := s.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "must be between") {
			t.Errorf("%+v: %v", s, err)
		}
		if _, err := New(s, nil); err == nil {
			t.Errorf("New accepts %+v", s)
		}
	}
	for _, penalty := range []float64{0, .01, 1.1, 100} {
		s := Params{Sampling: tandem.Sampling{Temperature: .7, TopK: 40, TopP: .9, MinP: .05, RepeatPenalty: penalty, RepeatLast: -1}}
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
		for i, p := range s.Probabilities(nil, []float32{math.MaxFloat32, -math.MaxFloat32, 1}, []tandem.Token{0, 1, 2}) {
			if !(p >= 0 && p <= 1) {
				t.Errorf("penalty %v: token %d has the probability %v", penalty, i, p)
			}
		}
	}
}

func BenchmarkProbabilities(b *testing.B) {
	logits, r := make([]float32, 151936), rand.New(rand.NewPCG(1, 2))
	for i := range logits {
		logits[i] = float32(5 * r.NormFloat64())
	}
	var p []float64
	for _, s := range []Params{{Sampling: tandem.Sampling{Temperature: .7}}, {Sampling: tandem.Sampling{Temperature: .7, TopP: .8}}, {Sampling: tandem.Sampling{Temperature: .7, TopK: 40, TopP: .9}}} {
		b.Run(fmt.Sprintf("topk=%d,topp=%v", s.TopK, s.TopP), func(b *testing.B) {
			for b.Loop() {
				p = s.Probabilities(p, logits, nil)
			}
		})
	}
}

// A replayed text is said whatever the logits, and what follows it is drawn from them.
func TestReplay(t *testing.T) {
	s, err := New(Params{Replay: []tandem.Token{3, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []tandem.Token{3, 1, 2} {
		if got := s.Next([]float32{0, 0, 5, 0}); got != want {
			t.Errorf("token %d is %d, want %d", i, got, want)
		}
	}
}
