package aggregator

import (
	"math/bits"
	"slices"

	"tandem"
)

// race picks argmin E_t/w_t, where E_t is an exponential variable keyed by (seed, step, token, purpose).
// The winner is a sample of the normalised weights: of independent exponentials with rates w_t, the one of
// token t comes first with probability w_t/Σw. It is the Gumbel-max trick without a logarithm of w, so
// quotients compare exactly, as 128-bit products of integers.
//
// Two races that share their exponentials and have similar weights mostly have the same winner. The coupling shared uses
// that.
type race struct {
	seed    uint64
	step    tandem.Step
	purpose purpose

	winner tandem.Token
	e, w   uint64 // of the winner; w is 0 before the first entry
}

// enter adds token t with weight w ≤ 2^32 to the race. Tokens must come in ascending order, so that ties go to the lower
// id.
func (r *race) enter(t tandem.Token, w uint64) {
	if w == 0 {
		return
	}
	e := exponential(word(r.seed, r.step, t, r.purpose))
	if r.w == 0 || lessProduct(e, r.w, r.e, w) {
		r.winner, r.e, r.w = t, e, w
	}
}

// A Runner is a token that takes part in the draw of a draft.
type Runner struct {
	Token tandem.Token
	Close float64 // how close it came to being the draft: 1 for the draft itself, near 0 for tokens far behind
}

// runners returns the first n tokens of d by e/w, the winner first; a race is one in which e is exponential.
func runners(d tandem.Dist, n int, e func(tandem.Token) uint64) []Runner {
	type entry struct {
		token tandem.Token
		e, w  uint64
	}
	first := make([]entry, 0, n+1)
	for i, t := range d.IDs {
		x := entry{t, e(t), uint64(d.Weights[i])}
		at := len(first)
		for at > 0 && lessProduct(x.e, first[at-1].w, first[at-1].e, x.w) {
			at--
		}
		if at < n && x.w > 0 {
			first = slices.Insert(first, at, x)
			first = first[:min(n, len(first))]
		}
	}
	out, winner := make([]Runner, len(first)), 0.0
	for i, x := range first {
		quotient := float64(x.e) / float64(x.w)
		if i == 0 {
			winner = quotient
		}
		out[i] = Runner{x.token, winner / quotient}
	}
	return out
}

// lessProduct reports whether a·b < c·d.
func lessProduct(a, b, c, d uint64) bool {
	abHi, abLo := bits.Mul64(a, b)
	cdHi, cdLo := bits.Mul64(c, d)
	return abHi < cdHi || abHi == cdHi && abLo < cdLo
}

// raceRunners returns the first n tokens of the race that draw runs.
func raceRunners(seed uint64, step tandem.Step, p purpose, d tandem.Dist, n int) []Runner {
	return runners(d, n, func(t tandem.Token) uint64 { return exponential(word(seed, step, t, p)) })
}

// draw samples d by a race.
func draw(seed uint64, step tandem.Step, p purpose, d tandem.Dist) tandem.Token {
	r := race{seed: seed, step: step, purpose: p}
	for i, t := range d.IDs {
		r.enter(t, uint64(d.Weights[i]))
	}
	return r.winner
}
