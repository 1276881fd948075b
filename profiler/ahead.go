package profiler

import "time"

// MaxContexts bounds the contexts of a decoding pass.
const MaxContexts = 8

// Ranks is how many places of a side's own race are hedged: its draft, the runner-up, the third.
const Ranks = 3

// Ahead decides how many contexts a side decodes in one pass beside the one that is wanted: hedges, behind the
// runners-up of its own race, and guesses, behind what it will probably draft next. It weighs what a context
// costs in time, as measured, against the time that it saves if it turns out to be wanted. The zero value has
// seen nothing and begins by trying.
type Ahead struct {
	passes [MaxContexts + 1]Average // seconds, by contexts
	ranks  [Ranks + 1]Average       // share of targets that were the draft, the runner-up, the third, none of these
	guess  Average                  // share of guesses that were right
}

const aheadWindow = 32

// ranksPrior and guessPrior are worth 8 observations.
var (
	ranksPrior = [Ranks + 1]float64{0.8, 0.1, 0.04, 0.06}
	guessPrior = 0.5
)

// Passed takes the time of a pass that computed one token in so many contexts.
func (a *Ahead) Passed(contexts int, took time.Duration) {
	if contexts >= 1 && contexts <= MaxContexts && took > 0 {
		a.passes[contexts].Observe(took.Seconds(), aheadWindow)
	}
}

// Target takes the place that a target had in this side's race, Ranks for none of the first.
func (a *Ahead) Target(rank int) {
	for i := range a.ranks {
		if a.ranks[i].Count == 0 {
			a.ranks[i] = Average{Value: ranksPrior[i], Count: 8}
		}
		x := 0.0
		if i == rank {
			x = 1
		}
		a.ranks[i].Observe(x, aheadWindow)
	}
}

// Guessed takes whether the first guess of a pass was right.
func (a *Ahead) Guessed(right bool) {
	if a.guess.Count == 0 {
		a.guess = Average{Value: guessPrior, Count: 8}
	}
	x := 0.0
	if right {
		x = 1
	}
	a.guess.Observe(x, aheadWindow)
}

// pass is the time of a pass of n contexts: of the most that are known to be no more than n.
func (a *Ahead) pass(n int) float64 {
	most := 0.0
	for i := 1; i <= n; i++ {
		if a.passes[i].Seen() {
			most = max(most, a.passes[i].Value)
		}
	}
	return most
}

// Choose returns how many hedges and guesses a pass of at most contexts takes. A hedge that is wanted saves a
// pass of this side and a round trip of both, for neither has to wait for its new draft; a guess saves a pass.
func (a *Ahead) Choose(contexts int, rtt time.Duration, mayHedge, mayGuess bool) (hedges, guesses int) {
	one, guess := a.pass(1), guessPrior
	if a.guess.Seen() {
		guess = a.guess.Value
	}
	chance := guess
	for n := 1; n < min(contexts, MaxContexts); n++ {
		hedge, further := 0.0, 0.0
		if mayHedge && hedges+1 < Ranks {
			p := ranksPrior[hedges+1]
			if a.ranks[0].Seen() {
				p = a.ranks[hedges+1].Value
			}
			hedge = p * (one + rtt.Seconds())
		}
		if mayGuess {
			further = chance * one
		}
		if max(hedge, further) <= a.pass(n+1)-a.pass(n) {
			break
		}
		if hedge >= further {
			hedges++
		} else {
			guesses, chance = guesses+1, chance*guess
		}
	}
	return hedges, guesses
}
