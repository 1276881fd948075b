package aggregator

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"tandem"
)

// plainNucleus is the definition: sort everything, take until topP is reached.
func plainNucleus(p []float64, topP float64, limit int) map[tandem.Token]float64 {
	var ids []int
	for i, x := range p {
		if x > 0 && x <= 2 {
			ids = append(ids, i)
		}
	}
	sort.SliceStable(ids, func(a, b int) bool { return p[ids[a]] > p[ids[b]] })
	kept, sum := map[tandem.Token]float64{}, 0.0
	for _, i := range ids {
		if len(kept) == limit {
			break
		}
		kept[tandem.Token(i)] = p[i]
		if sum += p[i]; sum >= topP {
			break
		}
	}
	return kept
}

func randomP(rng *rand.Rand, n int, sharpness float64) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = math.Exp(sharpness * rng.NormFloat64())
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func TestNucleus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p := randomP(rng, rapid.IntRange(1, 3000).Draw(t, "vocab"), rapid.Float64Range(0, 12).Draw(t, "sharpness"))
		if rapid.Bool().Draw(t, "ties") {
			for i := range p {
				p[i] = math.Ldexp(1, max(-40, int(math.Log2(p[i]))))
			}
		}
		topP := rapid.SampledFrom([]float64{0, 0.1, 0.5, 0.8, 0.95, 0.999, 1, 2}).Draw(t, "top-p")
		limit := rapid.IntRange(1, tandem.MaxSupport).Draw(t, "limit")
		d := Nucleus(p, topP, limit)
		if err := d.Check(len(p)); err != nil {
			t.Fatal(err)
		}
		want := plainNucleus(p, topP, limit)
		if len(d.IDs) != len(want) {
			t.Fatalf("%d tokens, want %d", len(d.IDs), len(want))
		}
		mass := 0.0
		for _, x := range want {
			mass += x
		}
		for i, id := range d.IDs {
			x, ok := want[id]
			if !ok {
				t.Fatalf("token %d is not in the nucleus", id)
			}
			// Off by less than one unit, but for what the tokens below one unit take from the others.
			exact := x / mass * tandem.Mass
			if got := float64(d.Weights[i]); got < math.Floor(exact*(1-float64(len(want))/tandem.Mass))-1e-6 || got > exact+1+1e-6 {
				t.Fatalf("token %d weighs %v, exactly %v", id, got, exact)
			}
		}
	})
}

func TestNucleusOddities(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		p    []float64
		want []tandem.Token
	}{
		{nil, nil},
		{[]float64{0, 0}, nil},
		{[]float64{nan, -1, inf, 1e300}, nil},
		{[]float64{nan, 0.5, inf, -0.5, 0.5}, []tandem.Token{1, 4}},
		{[]float64{5e-324, 5e-324}, []tandem.Token{0, 1}},
		{[]float64{0.4, 0.4, 0.2}, []tandem.Token{0, 1}}, // exactly 0.8
		{[]float64{0.125, 0.125, 0.125, 0.75}, []tandem.Token{0, 3}},
	} {
		d := Nucleus(c.p, 0.8, 0)
		if c.want != nil {
			d = Nucleus(c.p, 0.8, 10)
		}
		if !slices.Equal(d.IDs, c.want) {
			t.Errorf("Nucleus(%v) keeps %v, want %v", c.p, d.IDs, c.want)
		}
		if c.want != nil && d.Check(len(c.p)) != nil {
			t.Errorf("Nucleus(%v): %v", c.p, d.Check(len(c.p)))
		}
	}
}

func BenchmarkNucleus(b *testing.B) {
	p := randomP(rand.New(rand.NewPCG(1, 2)), 151936, 4)
	b.ReportAllocs()
	for b.Loop() {
		Nucleus(p, 0.8, tandem.MaxSupport)
	}
}
