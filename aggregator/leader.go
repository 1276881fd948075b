package aggregator

import (
	"cmp"
	"math"
	"slices"

	"tandem"
)

// leader favours one side's draft (Rule.Lead) as much as sampling allows. Drafts are those of the coupling shared. The
// leader's draft x, a sample of p^f, is kept with probability min(1, p(x)/p^f(x)), else the target is drawn from
// norm(max(0, p − p^f)), where p is the pair's distribution. That is speculative sampling of p (Leviathan et al. 2023,
// §2.3): the target follows p, and x is kept with probability 1 − TV(p^f, p), which no coupling exceeds. A race between p^f
// and p keeps it with probability (1 − TV)/(1 + TV) at worst.
//
// After a rejection, the side whose drafts are void loses the time until it learns of the rejection. So the pair lets the
// other side lead from there on (pair.Machine), since that side has already drafted on from the target. Who leads is a
// function of the targets and drafts so far, so one seed still gives one text.
type leader struct{ shared }

func (l leader) target(r Rule, step tandem.Step, device, cloud Local) tandem.Token {
	own, other, etaOther := device.Dist, cloud.Dist, tandem.Mass-Eta(device.H, cloud.H)
	if r.Lead == tandem.Cloud {
		own, other, etaOther = other, own, tandem.Mass-etaOther
	}
	return correct(r, r.Lead, l.draft(r, r.Lead, step, own), step, own, other, etaOther)
}

func (leader) acceptance(r Rule, device, cloud Local) (a [2]float64) {
	own, other := device.Dist, cloud.Dist
	etaOther := 1 - float64(Eta(device.H, cloud.H))/tandem.Mass
	if r.Lead == tandem.Cloud {
		own, other, etaOther = other, own, 1-etaOther
	}
	var p, q []float64
	merge(own, other, func(_ tandem.Token, w, o uint32) {
		p, q = append(p, float64(w)/tandem.Mass), append(q, float64(o)/tandem.Mass)
	})
	a[r.Lead], a[r.Lead.Other()] = leaderAgreement(p, q, etaOther)
	return a
}

// leaderAgreement returns the probabilities that the target equals the leader's draft, drawn from p, and that it equals
// the other side's draft, drawn from q. eta is the other side's aggregation weight.
//
// Let M(v) = Σ_k max(p_k, q_k·v). Both races pick token i with probability p_i/M(p_i/q_i). The race over p picks i and the
// race over q picks another token j with probability p_i·q_j·∫dv/M(v)², v from p_j/q_j to p_i/q_i (integrate over the
// exponentials E_i = p_i·s and E_j = q_j·s·v). Given these drafts, the target is i with probability 1 − eta·(1 − q_i/p_i),
// and j with the remaining probability times (q_j − p_j)/TV, where the differences are positive.
func leaderAgreement(p, q []float64, eta float64) (lead, other float64) {
	order, tv := make([]int, len(p)), 0.0
	for i := range p {
		order[i], tv = i, tv+max(0, p[i]-q[i])
	}
	if tv == 0 {
		return 1, 1
	}
	quotient := func(i int) float64 { return p[i] / q[i] } // infinite where q is 0
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(quotient(i), quotient(j)) })
	above, below, from, integral := 1.0, 0.0, 0.0, 0.0 // M(v) = above + below·v from there on; of 1/M² up to there
	var lost, gained, gainable float64                 // Σ (p−q)⁺·integral, Σ q·(q−p)⁺·integral, Σ q·(q−p)⁺
	for _, i := range order {
		v, value := quotient(i), 0.0 // M(v) of the token
		if m := above + below*from; math.IsInf(v, 1) {
			value = math.Inf(1)
			if !math.IsInf(from, 1) {
				integral += 1 / (below * m)
			}
		} else {
			value = above + below*v
			integral += (v - from) / (m * value)
		}
		from = v
		above, below = above-p[i], below+q[i]
		if p[i] > 0 {
			other += p[i] / value * (1 - eta*max(0, 1-q[i]/p[i]))
		}
		lost += max(0, p[i]-q[i]) * integral
		gained += q[i] * max(0, q[i]-p[i]) * integral
		gainable += q[i] * max(0, q[i]-p[i])
	}
	return 1 - eta*tv, other + eta*(gainable*lost/tv-gained)
}
