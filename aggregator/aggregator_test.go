package aggregator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tandem"
)

// The runners of a draw begin with the draft, and each is what would be the draft without those before it.
func TestRunners(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 400 {
		r := Rule{Coupling: tandem.Coupling(i % len(couplings)), Seed: rng.Uint64(), Greedy: i%7 == 0}
		side, step, d := tandem.Side(i%2), tandem.Step(i), randomDist(rng, 1+rng.IntN(12), 40)
		n := 1 + rng.IntN(8)
		got := r.Runners(side, step, d, n)
		if want := min(n, len(d.IDs)); len(got) != want || got[0].Close != 1 {
			t.Fatalf("%d runners, the first at %v, want %d", len(got), got[0].Close, want)
		}
		for k, x := range got {
			if want := r.Draft(side, step, d); x.Token != want || x.Close <= 0 || k > 0 && x.Close > got[k-1].Close {
				t.Errorf("%v, greedy %v: runner %d is %+v after %+v, want %d", r.Coupling, r.Greedy, k, x, got[max(0, k-1)], want)
			}
			at := slices.Index(d.IDs, x.Token)
			d = tandem.Dist{IDs: slices.Delete(slices.Clone(d.IDs), at, at+1), Weights: slices.Delete(slices.Clone(d.Weights), at, at+1)}
		}
	}
}

// randomDist makes a distribution of n tokens out of the first vocab ids.
func randomDist(rng *rand.Rand, n, vocab int) tandem.Dist {
	p := make([]float64, vocab)
	for _, i := range rng.Perm(vocab)[:n] {
		p[i] = rng.ExpFloat64() + 0.02
	}
	sum := 0.0
	for _, x := range p {
		sum += x
	}
	for i := range p {
		p[i] /= sum
	}
	return Nucleus(p, 1, n)
}

// exact returns the target distribution η^l·p^l + η^r·p^r in floating point.
func exact(l, r Local) map[tandem.Token]float64 {
	eta := float64(Eta(l.H, r.H)) / tandem.Mass
	p := map[tandem.Token]float64{}
	for i, t := range l.Dist.IDs {
		p[t] += eta * float64(l.Dist.Weights[i]) / tandem.Mass
	}
	for i, t := range r.Dist.IDs {
		p[t] += (1 - eta) * float64(r.Dist.Weights[i]) / tandem.Mass
	}
	return p
}

// excess returns how many standard deviations the chi-square statistic of the counts lies above its mean,
// by the cube-root approximation. Tokens that are expected fewer than 5 times are put together.
func excess(counts map[tandem.Token]int, want map[tandem.Token]float64) float64 {
	n := 0
	for t, c := range counts {
		if want[t] == 0 {
			return math.Inf(1)
		}
		n += c
	}
	chi, cells, restSeen, restWant := 0.0, 0, 0.0, 0.0
	cell := func(seen, want float64) {
		chi += (seen - want) * (seen - want) / want
		cells++
	}
	for t, p := range want {
		if e := p * float64(n); e < 5 {
			restSeen, restWant = restSeen+float64(counts[t]), restWant+e
		} else {
			cell(float64(counts[t]), e)
		}
	}
	if restWant >= 5 {
		cell(restSeen, restWant)
	}
	if cells < 2 {
		return 0
	}
	df := float64(cells - 1)
	return (math.Cbrt(chi/df) - (1 - 2/(9*df))) / math.Sqrt(2/(9*df))
}

// tolerance in standard deviations: a false alarm once in 10^6 tests, were the seeds not fixed.
const tolerance = 4.8

func weights(d tandem.Dist) map[tandem.Token]float64 {
	return exact(Local{Dist: d}, Local{Dist: d})
}

// rules are the couplings under test, with several γ.
var rules = []Rule{
	{Coupling: tandem.CouplingShared},
	{Coupling: tandem.CouplingSpeculative, Gamma: tandem.Mass / 2},
	{Coupling: tandem.CouplingSpeculative, Gamma: 0},
	{Coupling: tandem.CouplingSpeculative, Gamma: tandem.Mass},
	{Coupling: tandem.CouplingSpeculative, Gamma: tandem.Mass / 5},
	{Coupling: tandem.CouplingLeader, Lead: tandem.Device},
	{Coupling: tandem.CouplingLeader, Lead: tandem.Cloud},
}

func (r Rule) name() string { return fmt.Sprintf("%v/gamma=%d/lead=%v", r.Coupling, r.Gamma, r.Lead) }

// DRAGON Appendix A.2: whatever the coupling and γ, the target follows η^l·p^l + η^r·p^r, and drafts
// follow p^s. Also checks Acceptance (Eq. 5) against the drafts counted.
func TestDRAGON_A2_TargetFollowsMixture(t *testing.T) {
	const draws = 10000
	for _, rule := range rules {
		t.Run(rule.name(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 12))
			for pair := range 8 {
				l := Local{randomDist(rng, 2+rng.IntN(9), 14), tandem.FixedOf(rng.NormFloat64())}
				r := Local{randomDist(rng, 2+rng.IntN(9), 14), tandem.FixedOf(rng.NormFloat64())}
				target, drafts := map[tandem.Token]int{}, [2]map[tandem.Token]int{{}, {}}
				var accepted [2]int
				for i := range draws {
					rule.Seed = rng.Uint64()
					step := tandem.Step(i)
					x := rule.Target(step, l, r)
					target[x]++
					for s, d := range []tandem.Dist{l.Dist, r.Dist} {
						y := rule.Draft(tandem.Side(s), step, d)
						drafts[s][y]++
						if x == y {
							accepted[s]++
						}
					}
				}
				if z := excess(target, exact(l, r)); z > tolerance {
					t.Errorf("pair %d: targets do not follow the mixture: %.1f standard deviations", pair, z)
				}
				want := rule.Acceptance(l, r)
				for s, d := range []tandem.Dist{l.Dist, r.Dist} {
					if z := excess(drafts[s], weights(d)); z > tolerance {
						t.Errorf("pair %d: drafts of %v do not follow their distribution: %.1f", pair, tandem.Side(s), z)
					}
					got, a := float64(accepted[s])/draws, want[s]
					if sd := math.Sqrt(a*(1-a)/draws) + 1e-9; math.Abs(got-a) > tolerance*sd {
						t.Errorf("pair %d: %v accepted at %.4f, Acceptance says %.4f", pair, tandem.Side(s), got, a)
					}
				}
			}
		})
	}
}

// Algorithm 1 as printed passes the η of the draft's own side to Sample. The same chi-square test must reject it.
func TestDRAGON_Algorithm1AsPrinted(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	rule := Rule{Coupling: tandem.CouplingSpeculative}
	for pair := range 8 {
		l := Local{randomDist(rng, 2+rng.IntN(9), 14), tandem.FixedOf(1)}
		r := Local{randomDist(rng, 2+rng.IntN(9), 14), 0}
		eta := Eta(l.H, r.H)
		corrected, printed := map[tandem.Token]int{}, map[tandem.Token]int{}
		for i := range 20000 {
			rule.Seed = rng.Uint64()
			x := rule.Draft(tandem.Device, tandem.Step(i), l.Dist)
			corrected[correct(rule, tandem.Device, x, tandem.Step(i), l.Dist, r.Dist, tandem.Mass-eta)]++
			printed[correct(rule, tandem.Device, x, tandem.Step(i), l.Dist, r.Dist, eta)]++
		}
		if z := excess(corrected, exact(l, r)); z > tolerance {
			t.Errorf("pair %d: the corrected algorithm fails: %.1f", pair, z)
		}
		if z := excess(printed, exact(l, r)); z < tolerance {
			t.Errorf("pair %d: the printed algorithm passes: %.1f", pair, z)
		}
	}
}

// Steps and seeds must not be correlated: one seed, many steps, consecutive tokens.
func TestDrawsOverSteps(t *testing.T) {
	d := randomDist(rand.New(rand.NewPCG(5, 6)), 10, 10)
	for _, rule := range rules[:2] {
		rule.Seed = 42
		counts, pairs := map[tandem.Token]int{}, map[tandem.Token]int{}
		wantPairs := map[tandem.Token]float64{}
		for i, a := range d.IDs {
			for j, b := range d.IDs {
				wantPairs[a*100+b] = float64(d.Weights[i]) * float64(d.Weights[j]) / tandem.Mass / tandem.Mass
			}
		}
		last := rule.Draft(tandem.Device, 0, d)
		for step := tandem.Step(1); step < 50000; step++ {
			x := rule.Draft(tandem.Device, step, d)
			counts[x]++
			if step%2 == 1 {
				pairs[last*100+x]++
			}
			last = x
		}
		if z := excess(counts, weights(d)); z > tolerance {
			t.Errorf("%s: single draws: %.1f", rule.name(), z)
		}
		if z := excess(pairs, wantPairs); z > tolerance {
			t.Errorf("%s: successive draws depend on each other: %.1f", rule.name(), z)
		}
	}
}

func TestGreedy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, rule := range rules {
		rule.Greedy = true
		for range 500 {
			l := Local{randomDist(rng, 1+rng.IntN(6), 8), tandem.FixedOf(rng.NormFloat64())}
			r := Local{randomDist(rng, 1+rng.IntN(6), 8), tandem.FixedOf(rng.NormFloat64())}
			best, most := tandem.Token(-1), -1.0
			for id := range tandem.Token(8) {
				if p := exact(l, r)[id]; p > most {
					best, most = id, p
				}
			}
			if got := rule.Target(3, l, r); got != best {
				t.Fatalf("%s: target %d, want %d", rule.name(), got, best)
			}
			if got := rule.Target(3, r, l); got != best {
				t.Fatalf("%s: target %d with the sides exchanged, want %d", rule.name(), got, best)
			}
		}
	}
	tie := tandem.Dist{IDs: []tandem.Token{2, 5, 9}, Weights: []uint32{10000, 27768, 27768}}
	if got := (Rule{Greedy: true}).Draft(tandem.Cloud, 0, tie); got != 5 {
		t.Errorf("tie went to %d, want 5", got)
	}
}

// A side without weight has no say, and equal distributions are never rejected by the shared coupling.
func TestSharedCouplingExtremes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	rule := Rule{Coupling: tandem.CouplingShared}
	for range 2000 {
		rule.Seed = rng.Uint64()
		l, r := randomDist(rng, 5, 12), randomDist(rng, 5, 12)
		if got, want := rule.Target(1, Local{l, 20 * tandem.Mass}, Local{r, 0}), rule.Draft(tandem.Device, 1, l); got != want {
			t.Fatalf("target %d, want the device's %d", got, want)
		}
		if got, want := rule.Target(1, Local{l, 7}, Local{l, -9000}), rule.Draft(tandem.Cloud, 1, l); got != want {
			t.Fatalf("target %d of equal distributions, draft %d", got, want)
		}
	}
}

// DRAGON Theorem 4.2: each side's acceptance rises with its own γ and falls with the other's.
func TestDRAGON_Theorem4_2(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 300 {
		l := Local{randomDist(rng, 1+rng.IntN(8), 10), tandem.FixedOf(rng.NormFloat64())}
		r := Local{randomDist(rng, 1+rng.IntN(8), 10), tandem.FixedOf(rng.NormFloat64())}
		last := [2]float64{-1, 2}
		for gamma := uint32(0); gamma <= tandem.Mass; gamma += tandem.Mass / 8 {
			a := (Rule{Coupling: tandem.CouplingSpeculative, Gamma: gamma}).Acceptance(l, r)
			if a[0] < last[0]-1e-9 || a[1] > last[1]+1e-9 {
				t.Fatalf("γ = %d: acceptance %v after %v", gamma, a, last)
			}
			last = a
		}
	}
}

func BenchmarkTarget(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4, 16, 64, 1024} {
		l, r := Local{randomDist(rng, n, 2*n), 0}, Local{randomDist(rng, n, 2*n), 9}
		for _, rule := range rules[:2] {
			b.Run(fmt.Sprintf("%v/support=%d", rule.Coupling, n), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					rule.Target(tandem.Step(i), l, r)
				}
			})
		}
	}
}
