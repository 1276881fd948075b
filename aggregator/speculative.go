package aggregator

import (
	"math/bits"

	"tandem"
)

// speculate is DRAGON's Algorithm 1 with the weights that its proof (Appendix A.2) needs: each draft is
// tested against the other side's distribution, which makes two samples of the mixture, and γ picks one of
// them. The printed algorithm passes η of the draft's own side to Sample; that does not follow the mixture
// unless η = ½ (TestDRAGON_Algorithm1AsPrinted).
func (r Rule) speculate(step tandem.Step, device, cloud Local) tandem.Token {
	etaD := Eta(device.H, cloud.H)
	// Both results are functions of the step, so only the one that γ picks is needed.
	if uint32(word(r.Seed, step, 0, purposeGamma)>>48) < r.Gamma {
		return r.correct(tandem.Device, step, device.Dist, cloud.Dist, tandem.Mass-etaD)
	}
	return r.correct(tandem.Cloud, step, cloud.Dist, device.Dist, etaD)
}

// correct is Algorithm 1's function Sample: it keeps side's draft x where p^s(x) ≤ p^o(x), else rejects it
// with probability eta·(1 − p^o(x)/p^s(x)) and draws from norm(max(0, p^o − p^s)). eta, out of Mass, is the
// other side's weight. The result is a sample of (1−eta)·own + eta·other.
func (r Rule) correct(side tandem.Side, step tandem.Step, own, other tandem.Dist, eta uint32) tandem.Token {
	x := r.Draft(side, step, own)
	ps, po := own.Weight(x), other.Weight(x)
	if ps <= po {
		return x
	}
	// u < eta·(ps−po)/(Mass·ps) with u = word/2^64, without a division.
	u := word(r.Seed, step, 0, purposeReject.of(side))
	if hi, _ := bits.Mul64(u, tandem.Mass*uint64(ps)); hi >= uint64(eta)*uint64(ps-po) {
		return x
	}
	rest := race{seed: r.Seed, step: step, purpose: purposeResidual.of(side)}
	merge(own, other, func(t tandem.Token, s, o uint32) {
		if o > s {
			rest.enter(t, uint64(o-s))
		}
	})
	return rest.winner
}
