package decoder

import (
	"context"
	"slices"

	"tandem"
	"tandem/aggregator"
)

// A Producer computes the distribution that follows an answer.
type Producer interface {
	// Next truncates the answer to keep tokens, appends app and returns the distribution after them. After an error, or
	// if ctx was cancelled, the answer is what it was before or a prefix of that, at least keep tokens long.
	Next(ctx context.Context, keep int, app []tandem.Token) (Output, error)
}

// LockStep answers with two decoders in lock step and without a network: both compute the distribution for a step, the rule turns
// the two into the target, and both append it (the vanilla distributed RAG of DRAGON §2.2). A pair must produce the same
// answer whatever its placement. With a nil cloud the device answers alone, and its drafts are the targets.
//
// The answer ends before a token in stop, or after limit tokens. With an error LockStep returns the answer so far.
func LockStep(ctx context.Context, device, cloud Producer, rule aggregator.Rule, stop []tandem.Token, limit int) ([]tandem.Target, error) {
	var answer []tandem.Target
	prefix := tandem.NoPrefix
	var last []tandem.Token // the target of the step before
	for len(answer) < limit {
		step := tandem.Step(len(answer))
		keep := len(answer) - len(last)
		own, err := device.Next(ctx, keep, last)
		if err != nil {
			return answer, err
		}
		t := tandem.Target{Step: step, Prefix: prefix, Token: rule.Draft(tandem.Device, step, own.Dist), By: tandem.ByDevice}
		if cloud != nil {
			other, err := cloud.Next(ctx, keep, last)
			if err != nil {
				return answer, err
			}
			drafts := [...]tandem.Token{t.Token, rule.Draft(tandem.Cloud, step, other.Dist)}
			t.Token = rule.Target(step, aggregator.Local{Dist: own.Dist, H: own.H}, aggregator.Local{Dist: other.Dist, H: other.H})
			t.By = tandem.ByNeither
			for side, draft := range drafts {
				if draft == t.Token {
					t.By = t.By.With(tandem.Side(side))
				}
			}
		}
		if slices.Contains(stop, t.Token) {
			break
		}
		answer = append(answer, t)
		prefix, rule.Lead = prefix.Then(t.Token), rule.LeadAfter(t.By)
		last = []tandem.Token{t.Token}
	}
	return answer, nil
}
