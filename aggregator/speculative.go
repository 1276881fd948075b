package aggregator

import (
	"math/bits"

	"tandem"
)

// speculative is DRAGON's coupling (§4.2): each side's draft is a sample of its own distribution, kept or replaced.
type speculative struct{}

func (speculative) draft(r Rule, side tandem.Side, step tandem.Step, d tandem.Dist) tandem.Token {
	return draw(r.Seed, step, purposeDraft.forSide(side), d)
}

func (speculative) runners(r Rule, side tandem.Side, step tandem.Step, d tandem.Dist, n int) []Runner {
	return raceRunners(r.Seed, step, purposeDraft.forSide(side), d, n)
}

// target is DRAGON's Algorithm 1 with the weights that its proof (Appendix A.2) needs: each draft is
// tested against the other side's distribution, which makes two samples of the mixture, and γ picks one of
// them. The printed algorithm passes η of the draft's own side to Sample; that does not follow the mixture
// unless η = ½ (TestDRAGON_Algorithm1AsPrinted).
func (s speculative) target(r Rule, step tandem.Step, device, cloud Local) tandem.Token {
	side, own, other, eta := tandem.Cloud, cloud.Dist, device.Dist, Eta(device.H, cloud.H)
	// Both results are functions of the step, so only the one that γ picks is needed.
	if uint32(word(r.Seed, step, 0, purposeGamma)>>48) < r.Gamma {
		side, own, other, eta = tandem.Device, other, own, tandem.Mass-eta
	}
	return correct(r, side, s.draft(r, side, step, own), step, own, other, eta)
}

// correct is Algorithm 1's function Sample: it keeps side's draft x where p^s(x) ≤ p^o(x), else rejects it
// with probability eta·(1 − p^o(x)/p^s(x)) and draws from norm(max(0, p^o − p^s)). eta, out of Mass, is the
// other side's weight. If x is a sample of own, the result is one of (1−eta)·own + eta·other.
func correct(r Rule, side tandem.Side, x tandem.Token, step tandem.Step, own, other tandem.Dist, eta uint32) tandem.Token {
	ps, po := own.Weight(x), other.Weight(x)
	if ps <= po {
		return x
	}
	// u < eta·(ps−po)/(Mass·ps) with u = word/2^64, without a division.
	u := word(r.Seed, step, 0, purposeReject.forSide(side))
	if hi, _ := bits.Mul64(u, tandem.Mass*uint64(ps)); hi >= uint64(eta)*uint64(ps-po) {
		return x
	}
	rest := race{seed: r.Seed, step: step, purpose: purposeResidual.forSide(side)}
	merge(own, other, func(t tandem.Token, w, o uint32) {
		if o > w {
			rest.enter(t, uint64(o-w))
		}
	})
	return rest.winner
}

// acceptance is DRAGON's Eq. 5, with the second sum over p^l·p as in the proof of Theorem 4.2 (the equation as printed
// has p^l·p^r).
func (speculative) acceptance(r Rule, device, cloud Local) (a [2]float64) {
	etaD := float64(Eta(device.H, cloud.H)) / tandem.Mass
	eta := [2]float64{etaD, 1 - etaD}
	gamma := float64(min(r.Gamma, tandem.Mass)) / tandem.Mass
	weight := [2]float64{gamma, 1 - gamma}
	delta := 1.0 // divergence D_LK = 1 − Σ min(p^l, p^r)
	var match [2]float64
	merge(device.Dist, cloud.Dist, func(_ tandem.Token, d, c uint32) {
		p := [2]float64{float64(d) / tandem.Mass, float64(c) / tandem.Mass}
		delta -= min(p[0], p[1])
		mixed := eta[0]*p[0] + eta[1]*p[1]
		match[0] += p[0] * mixed
		match[1] += p[1] * mixed
	})
	for s := range a {
		a[s] = weight[s]*(1-eta[1-s]*delta) + weight[1-s]*match[s]
	}
	return a
}

// gamma puts all weight on the cloud's draft where both sides aggregate. Neither can choose alone there, and so one
// side's drafts nearly always flow on, and the other holds them when its own are rejected.
func (speculative) gamma(best uint32, both bool) uint32 {
	if both {
		return 0
	}
	return best
}
