package api

import (
	"cmp"
	"math"
	"slices"

	"tandem"
	"tandem/aggregator"
	"tandem/model/tokenizer"
	"tandem/node"
)

// noLogprob is what OpenAI's API gives for a token whose probability is not known. The device does not know it where the
// cloud decides tokens (placement cloud).
const noLogprob = -9999

// likelihoods finds the probability of each token in the mixture of both sides' distributions, from a recording.
type likelihoods struct {
	tokens *tokenizer.Tokenizer
	top    int // alternatives to list
	sides  map[tandem.Step]*[2]*aggregator.Local
	all    []logprob
}

// logprob is a token with its logarithmic probability.
type logprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Bytes   []int     `json:"bytes"`
	Top     []logprob `json:"top_logprobs,omitzero"` // empty, not missing, for a token without alternatives; those have none
}

// giveLogprobs makes a job give the probability of each token if a request wants that, with the given number of alternatives.
func (s *Server) giveLogprobs(j *job, wanted bool, top *integer) error {
	switch {
	case top != nil && (!wanted && *top != 0 || *top < 0 || *top > maxTop):
		return badRequest("top_logprobs", "top_logprobs: want 0 to %d, with logprobs", maxTop)
	case wanted && s.cfg.Tokens == nil:
		return badRequest("logprobs", "logprobs: this server does not know its tokens: leave it out")
	case wanted && s.cfg.Denoises:
		return badRequest("logprobs", "logprobs: this model fills its answers in blocks and gives no likelihood of each token: leave it out")
	}
	if j.logprobs = wanted; top != nil {
		j.top = int(*top)
	}
	return nil
}

func newLikelihoods(t *tokenizer.Tokenizer, top int) *likelihoods {
	return &likelihoods{tokens: t, top: top, sides: map[tandem.Step]*[2]*aggregator.Local{}}
}

// line takes a line of the recording.
func (l *likelihoods) line(r node.Line) {
	switch {
	case r.Event == "decode":
		l.at(r.Step)[tandem.Device] = &aggregator.Local{Dist: r.Dist(), H: r.H}
	case r.Event == "draft" && r.Side == tandem.Cloud.String() && len(r.IDs) > 0:
		l.at(r.Step)[tandem.Cloud] = &aggregator.Local{Dist: r.Dist(), H: r.H}
	case r.Event == "target":
		l.all = append(l.all, l.of(r))
		delete(l.sides, r.Step)
	}
}

func (l *likelihoods) at(step tandem.Step) *[2]*aggregator.Local {
	if l.sides[step] == nil {
		l.sides[step] = new([2]*aggregator.Local)
	}
	return l.sides[step]
}

// of returns the probability of a target.
func (l *likelihoods) of(r node.Line) logprob {
	out := l.named(r.Token, 0)
	out.Logprob, out.Top = noLogprob, []logprob{}
	device, cloud := l.at(r.Step)[tandem.Device], l.at(r.Step)[tandem.Cloud]
	var ids []tandem.Token
	var p []float64
	switch {
	case device != nil && cloud != nil && !r.Alone:
		ids, p = aggregator.Mixture(*device, *cloud)
	case device != nil && r.Alone:
		ids, p = aggregator.Mixture(*device, *device)
	}
	for i, t := range ids {
		if t == r.Token && p[i] > 0 {
			out.Logprob = math.Log(p[i])
		}
		out.Top = append(out.Top, l.named(t, p[i]))
	}
	slices.SortStableFunc(out.Top, func(a, b logprob) int { return cmp.Compare(b.Logprob, a.Logprob) })
	out.Top = out.Top[:min(l.top, len(out.Top))]
	return out
}

func (l *likelihoods) named(t tandem.Token, p float64) logprob {
	out := logprob{Logprob: math.Max(math.Log(p), noLogprob)}
	piece := l.tokens.Piece(t)
	for _, b := range piece {
		out.Bytes = append(out.Bytes, int(b))
	}
	out.Token = string([]rune(string(piece)))
	return out
}

// take returns the tokens since the last call: an empty list, not null, if there are none.
func (l *likelihoods) take() []logprob {
	out := append([]logprob{}, l.all...)
	l.all = nil
	return out
}
