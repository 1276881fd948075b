package aggregator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tandem"
)

// sharingPair makes two random distributions of n tokens each that have the given share of their mass in
// common: the rest of each lies on tokens that the other lacks.
func sharingPair(rng *rand.Rand, n int, share float64) (l, r Local) {
	common, own := n-n/2, n/2
	vocab := common + 2*own
	p, q := make([]float64, vocab), make([]float64, vocab)
	fill := func(dst []float64, mass float64) {
		sum := 0.0
		for i := range dst {
			dst[i] = rng.ExpFloat64()
			sum += dst[i]
		}
		for i := range dst {
			dst[i] *= mass / sum
		}
	}
	fill(p[:common], share)
	copy(q, p[:common])
	fill(p[common:common+own], 1-share)
	fill(q[common+own:], 1-share)
	return Local{Dist: Nucleus(p, 1, n)}, Local{Dist: Nucleus(q, 1, n)}
}

// acceptances measures, over random pairs of distributions: each coupling's acceptance per side, and how
// often neither side's draft is the target.
func acceptances(rule Rule, n int, share float64, pairs int) (device, cloud, neither float64) {
	rng := rand.New(rand.NewPCG(uint64(n), 77))
	for i := range pairs {
		rule.Seed = rng.Uint64()
		l, r := sharingPair(rng, n, share)
		step := tandem.Step(i)
		x := rule.Target(step, l, r)
		a, b := rule.Draft(tandem.Device, step, l.Dist) == x, rule.Draft(tandem.Cloud, step, r.Dist) == x
		if a {
			device++
		}
		if b {
			cloud++
		}
		if !a && !b {
			neither++
		}
	}
	k := float64(pairs)
	return device / k, cloud / k, neither / k
}

// Acceptance on random pairs of distributions: the paper's coupling, the paper's with all weight on the remote draft, and
// the race, for supports of 4 to 16 tokens.
func TestAcceptanceFigures(t *testing.T) {
	paper := Rule{Coupling: tandem.CouplingSpeculative, Gamma: tandem.Mass / 2}
	remote := Rule{Coupling: tandem.CouplingSpeculative, Gamma: 0}
	shared := Rule{Coupling: tandem.CouplingShared}
	for _, c := range []struct {
		share                    float64
		paperMin, paperMax       float64
		remote, race, atMostNone float64
	}{
		{0.95, 0.55, 0.82, 0.97, 0.95, 0.01},
		{0.80, 0.48, 0.70, 0.89, 0.82, 0.02},
		{0.50, 0.38, 0.58, 0.74, 0.63, 0.05},
	} {
		for _, n := range []int{4, 8, 16} {
			pd, pc, _ := acceptances(paper, n, c.share, 4000)
			_, rc, _ := acceptances(remote, n, c.share, 4000)
			sd, sc, none := acceptances(shared, n, c.share, 4000)
			t.Logf("share %.2f, support %2d: paper %.2f %.2f, remote %.2f, race %.2f %.2f (neither %.3f)", c.share, n, pd, pc, rc, sd, sc, none)
			for _, p := range []float64{pd, pc} {
				if p < c.paperMin || p > c.paperMax {
					t.Errorf("share %v, support %d: the paper's coupling accepts %.3f, want %v to %v", c.share, n, p, c.paperMin, c.paperMax)
				}
			}
			if rc < c.remote-0.03 || rc > c.remote+0.06 {
				t.Errorf("share %v, support %d: the remote draft is accepted at %.3f, want about %v", c.share, n, rc, c.remote)
			}
			for _, s := range []float64{sd, sc} {
				if s < c.race-0.05 || s > c.race+0.09 {
					t.Errorf("share %v, support %d: the race accepts %.3f, want about %v", c.share, n, s, c.race)
				}
			}
			if none > c.atMostNone {
				t.Errorf("share %v, support %d: neither accepted in %.3f of steps", c.share, n, none)
			}
		}
	}
}

// ExampleRule_Acceptance prints what each coupling makes of one pair of distributions.
func ExampleRule_Acceptance() {
	l := Local{Dist: tandem.Dist{IDs: []tandem.Token{3, 7, 9}, Weights: []uint32{40000, 20000, 5536}}}
	r := Local{Dist: tandem.Dist{IDs: []tandem.Token{3, 5, 7}, Weights: []uint32{45000, 5536, 15000}}}
	for _, rule := range []Rule{
		{Coupling: tandem.CouplingShared},
		{Coupling: tandem.CouplingSpeculative, Gamma: tandem.Mass / 2},
		{Coupling: tandem.CouplingSpeculative, Gamma: 0},
		{Greedy: true},
	} {
		a := rule.Acceptance(l, r)
		fmt.Printf("%v, gamma %d, greedy %v: device %.2f, cloud %.2f\n", rule.Coupling, rule.Gamma, rule.Greedy, a[0], a[1])
	}
	// Output:
	// shared, gamma 0, greedy false: device 0.89, cloud 0.89
	// speculative, gamma 32768, greedy false: device 0.70, cloud 0.71
	// speculative, gamma 0, greedy false: device 0.48, cloud 0.92
	// shared, gamma 0, greedy true: device 1.00, cloud 1.00
}
