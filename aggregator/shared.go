package aggregator

import (
	"cmp"
	"slices"

	"tandem"
)

// shared is the coupling by shared randomness: drafts and target come from one race. A draft agrees with the target about
// as often as the two distributions overlap, and the target depends on nothing but the distributions and the seed.
type shared struct{}

func (shared) draft(r Rule, _ tandem.Side, step tandem.Step, d tandem.Dist) tandem.Token {
	return draw(r.Seed, step, purposeShared, d)
}

func (shared) runners(r Rule, _ tandem.Side, step tandem.Step, d tandem.Dist, n int) []Runner {
	return raceRunners(r.Seed, step, purposeShared, d, n)
}

func (shared) target(r Rule, step tandem.Step, device, cloud Local) tandem.Token {
	all := race{seed: r.Seed, step: step, purpose: purposeShared}
	mix(device, cloud, all.enter)
	return all.winner
}

func (shared) acceptance(_ Rule, device, cloud Local) [2]float64 {
	var p, q, mixed []float64
	etaD := float64(Eta(device.H, cloud.H)) / tandem.Mass
	merge(device.Dist, cloud.Dist, func(_ tandem.Token, d, c uint32) {
		x, y := float64(d)/tandem.Mass, float64(c)/tandem.Mass
		p, q, mixed = append(p, x), append(q, y), append(mixed, etaD*x+(1-etaD)*y)
	})
	return [2]float64{raceAgreement(p, mixed), raceAgreement(q, mixed)}
}

func (shared) gamma(uint32, bool) uint32 { return 0 } // the race knows no γ

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
