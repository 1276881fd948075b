// Package aggregator turns two next-token distributions into one token (output aggregation, DRAGON §2 and §4.2).
//
// A side cuts its distribution to integers that sum to tandem.Mass (Nucleus), draws its draft from them and sends them.
// After that everything here is integer arithmetic on what both sides hold, and all randomness comes from a counter-based
// generator keyed by the answer's seed. So a draft is a function of (seed, step, distribution), and a target is a function of
// (seed, step, both distributions). Both are the same, bit for bit, on every processor, whenever and wherever they are computed.
//
// A coupling says how the two drafts of a step come to agree. Each has a file: shared.go draws drafts and target from one
// race, leader.go favours one side's draft, and speculative.go is the paper's. At temperature 0, each of them becomes
// likeliest.go.
//
// The package keeps no state, reads no clock and does no I/O.
package aggregator

import "tandem"

// Local is one side's contribution to a step: its distribution p^s and its aggregation weight h^s.
type Local struct {
	Dist tandem.Dist // well formed (tandem.Dist.Check)
	H    tandem.Fixed
}

// Rule says how drafts are drawn and how two of them become a target. Both sides must hold the same Rule.
type Rule struct {
	Coupling tandem.Coupling
	Seed     uint64
	Greedy   bool        // temperature 0: drafts and targets are the likeliest token, ties to the lower id
	Gamma    uint32      // speculative coupling: probability, out of tandem.Mass, of taking the device's result
	Lead     tandem.Side // leader coupling: whose draft is favoured
}

// coupling is a way to draw drafts and to make a target of two of them. Its draws are functions of their arguments.
type coupling interface {
	draft(r Rule, side tandem.Side, step tandem.Step, d tandem.Dist) tandem.Token
	target(r Rule, step tandem.Step, device, cloud Local) tandem.Token
	// runners are the first n of the tokens that draft chooses among, the draft first.
	runners(r Rule, side tandem.Side, step tandem.Step, d tandem.Dist, n int) []Runner

	// acceptance is the probability that each side's draft equals the target, indexed by tandem.Side.
	acceptance(r Rule, device, cloud Local) [2]float64

	// gamma is the γ to aggregate with if it is not fixed. best is the γ that suits the side that aggregates. both
	// reports whether the other side aggregates too and so must choose the same γ.
	gamma(best uint32, both bool) uint32
}

// couplings are the couplings of tandem.Coupling.
var couplings = [...]coupling{
	tandem.CouplingShared:      shared{},
	tandem.CouplingSpeculative: speculative{},
	tandem.CouplingLeader:      leader{},
}

func (r Rule) coupling() coupling {
	if r.Greedy {
		return likeliest{}
	}
	return couplings[r.Coupling]
}

// Draft draws the token that side proposes for step from d. The result is a sample of d: P(t) = w(t)/Mass
// over the seeds.
func (r Rule) Draft(side tandem.Side, step tandem.Step, d tandem.Dist) tandem.Token {
	return r.coupling().draft(r, side, step, d)
}

// Runners returns the first n tokens of the draw that Draft makes, the draft first.
func (r Rule) Runners(side tandem.Side, step tandem.Step, d tandem.Dist, n int) []Runner {
	return r.coupling().runners(r, side, step, d, n)
}

// Target draws the token that the pair agrees on for step. The result is a sample of
// η^device·p^device + η^cloud·p^cloud, with η from Eta, whichever the coupling.
func (r Rule) Target(step tandem.Step, device, cloud Local) tandem.Token {
	return r.coupling().target(r, step, device, cloud)
}

// LeadAfter returns the side that leads (Rule.Lead) at the step after a target of this origin. The same side leads
// until its draft is rejected; then the other side, which has already drafted on from the target, takes over.
func (r Rule) LeadAfter(by tandem.By) tandem.Side {
	if by.Has(r.Lead) {
		return r.Lead
	}
	return r.Lead.Other()
}

// Acceptance returns the probability that each side's draft equals the target, indexed by tandem.Side,
// over the randomness of the drafts and the target. It is an estimate in floating point for scheduling and
// reports; nothing that both sides must agree on may depend on it.
func (r Rule) Acceptance(device, cloud Local) [2]float64 {
	return r.coupling().acceptance(r, device, cloud)
}

// ChooseGamma returns the γ to aggregate with if it is not fixed, out of tandem.Mass. best is the γ that suits the side
// that aggregates. both reports whether the other side aggregates too, so that both must choose the same γ without
// asking each other.
func (r Rule) ChooseGamma(best uint32, both bool) uint32 { return r.coupling().gamma(best, both) }

// mix calls f for each token of the target distribution in ascending order, with its weight
// η^device·w^device + η^cloud·w^cloud. The weights sum to Mass².
func mix(device, cloud Local, f func(tandem.Token, uint64)) {
	etaD := uint64(Eta(device.H, cloud.H))
	etaC := tandem.Mass - etaD
	merge(device.Dist, cloud.Dist, func(t tandem.Token, d, c uint32) {
		f(t, etaD*uint64(d)+etaC*uint64(c))
	})
}

// Mixture returns the pair's distribution η^l·p^l + η^r·p^r, tokens ascending: what targets follow (DRAGON §4.1, Eq. 4).
func Mixture(device, cloud Local) (tokens []tandem.Token, p []float64) {
	mix(device, cloud, func(t tandem.Token, w uint64) {
		tokens, p = append(tokens, t), append(p, float64(w)/tandem.Mass/tandem.Mass)
	})
	return tokens, p
}

// merge calls f for each token of either distribution in ascending order, with both weights.
func merge(a, b tandem.Dist, f func(t tandem.Token, wa, wb uint32)) {
	i, j := 0, 0
	for i < len(a.IDs) || j < len(b.IDs) {
		switch {
		case j == len(b.IDs) || i < len(a.IDs) && a.IDs[i] < b.IDs[j]:
			f(a.IDs[i], a.Weights[i], 0)
			i++
		case i == len(a.IDs) || b.IDs[j] < a.IDs[i]:
			f(b.IDs[j], 0, b.Weights[j])
			j++
		default:
			f(a.IDs[i], a.Weights[i], b.Weights[j])
			i, j = i+1, j+1
		}
	}
}
