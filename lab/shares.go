package lab

import (
	"tandem/pair"
)

// Shares says what the device's passes decoded for each token of the answer. The shares are those of tokens whose own draft
// took no pass, because an earlier pass had decoded the context as a hedge, a check or a guess.
type Shares struct {
	Passes   float64 `json:"passes_per_token"`
	Contexts float64 `json:"contexts_per_token"`
	Hedges   float64 `json:"of_hedges"`
	Checks   float64 `json:"of_checks"`
	Guesses  float64 `json:"of_guesses"`
}

// sharesOf sums up the counts of several answers.
func sharesOf(answers []pair.Stats) (b Shares) {
	tokens := 0
	for _, s := range answers {
		tokens += s.Together + s.Alone
	}
	part := func(n int) float64 { return float64(n) / float64(max(1, tokens)) }
	for _, s := range answers {
		b.Passes, b.Contexts = b.Passes+part(s.Passes), b.Contexts+part(s.Places)
		b.Hedges, b.Checks, b.Guesses = b.Hedges+part(s.OfHedges), b.Checks+part(s.OfChecks), b.Guesses+part(s.OfGuesses)
	}
	return b
}
