package aggregator

import (
	"cmp"
	"slices"

	"tandem"
)

// Acceptance returns the probability that each side's draft equals the target, indexed by tandem.Side,
// over the randomness of the drafts and the target. It is an estimate in floating point for scheduling and
// reports; nothing that both sides must agree on may depend on it.
//
// For the speculative coupling it is DRAGON's Eq. 5, with the second sum over p^l·p as in the proof of
// Theorem 4.2 (the equation as printed has p^l·p^r). For the shared coupling, two races with weights p and
// q have the same winner i with probability 1/Σ_j max(p_j/p_i, q_j/q_i).
func (r Rule) Acceptance(device, cloud Local) [2]float64 {
	switch {
	case r.Greedy:
		return r.greedyAcceptance(device, cloud)
	case r.Coupling == tandem.CouplingSpeculative:
		return r.speculativeAcceptance(device, cloud)
	default:
		return sharedAcceptance(device, cloud)
	}
}

func (r Rule) greedyAcceptance(device, cloud Local) (a [2]float64) {
	t := likeliestOf(device, cloud)
	for s, d := range []tandem.Dist{device.Dist, cloud.Dist} {
		if likeliest(d) == t {
			a[s] = 1
		}
	}
	return a
}

func (r Rule) speculativeAcceptance(device, cloud Local) (a [2]float64) {
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

func sharedAcceptance(device, cloud Local) [2]float64 {
	var p, q, mixed []float64
	etaD := float64(Eta(device.H, cloud.H)) / tandem.Mass
	merge(device.Dist, cloud.Dist, func(_ tandem.Token, d, c uint32) {
		x, y := float64(d)/tandem.Mass, float64(c)/tandem.Mass
		p, q, mixed = append(p, x), append(q, y), append(mixed, etaD*x+(1-etaD)*y)
	})
	return [2]float64{raceAgreement(p, mixed), raceAgreement(q, mixed)}
}

// raceAgreement returns the probability that two races over the same exponentials, with weights p and q
// that each sum to 1, have the same winner: Σ_i 1/Σ_j max(p_j/p_i, q_j/q_i). Where p_j/q_j exceeds p_i/q_i
// the first is the larger, so sorting by that quotient leaves running sums.
func raceAgreement(p, q []float64) float64 {
	order := make([]int, 0, len(p))
	for i := range p {
		if p[i] > 0 || q[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[b]*q[a], p[a]*q[b]) }) // p/q falling
	agree, above, below := 0.0, 0.0, 0.0
	for _, i := range order {
		below += q[i]
	}
	for _, i := range order {
		above += p[i]
		below -= q[i]
		if p[i] > 0 && q[i] > 0 {
			agree += 1 / (above/p[i] + max(below, 0)/q[i])
		}
	}
	return agree
}
