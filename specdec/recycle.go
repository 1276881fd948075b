package specdec

import "tandem"

// Recycle drafts the tokens that the model predicted earlier after the same tokens (Luo et al. 2024, Token Recycling). Every
// verified row gives the likeliest tokens after it, rows of rejected drafts included. Recycle uses the latest prediction after
// the same two tokens, or else after the same token.
type Recycle struct {
	text        []tandem.Token
	where       table // index in predictions, by two tokens before, the first of which may be Separator for any
	predictions []prediction
}

// prediction is what the model predicted: the likeliest next tokens, the likeliest first.
type prediction struct {
	likely [likelyKept]Likely
	n      int
}

// likelyKept is how many predicted tokens are kept for each context.
const likelyKept = 4

// Committed implements Drafter.
func (r *Recycle) Committed(tokens []tandem.Token) { r.text = append(r.text, tokens...) }

// Rewind implements Drafter.
func (r *Recycle) Rewind(n int) { r.text = r.text[:min(n, len(r.text))] }

// Settle implements Drafter.
func (r *Recycle) Settle(v *Verdict) {
	if v.Next == nil || v.After < 2 || v.After > len(r.text) {
		return
	}
	end := [2]tandem.Token(r.text[v.After-2:])
	r.learn(end, v.Next(-1, likelyKept))
	for _, i := range v.Verified {
		n := &v.Tree.Nodes[i]
		before := end[1]
		if n.Parent >= 0 {
			before = v.Tree.Nodes[n.Parent].Token
		}
		r.learn([2]tandem.Token{before, n.Token}, v.Next(i, likelyKept))
	}
}

func (r *Recycle) learn(after [2]tandem.Token, likely []Likely) {
	for _, first := range [...]tandem.Token{after[0], Separator} {
		k := key(int32(first), after[1])
		at := r.where.get(k)
		if at < 0 {
			at = int32(len(r.predictions))
			r.predictions = append(r.predictions, prediction{})
			r.where.set(k, at)
		}
		r.predictions[at].n = copy(r.predictions[at].likely[:], likely)
	}
}

// after returns the latest predictions after the two last tokens, or else after the last one, and how many tokens
// matched (2, 1 or, without predictions, 0).
func (r *Recycle) after(last [2]tandem.Token) (likely []Likely, match int) {
	at, match := r.where.get(key(int32(last[0]), last[1])), 2
	if at < 0 {
		at, match = r.where.get(key(int32(Separator), last[1])), 1
	}
	if at < 0 {
		return nil, 0
	}
	return r.predictions[at].likely[:r.predictions[at].n], match
}

// Propose implements Drafter.
func (r *Recycle) Propose(t *Tree) {
	if len(r.text) < 2 {
		return
	}
	end := [2]tandem.Token(r.text[len(r.text)-2:])
	grow(t, 48, -1, end, func(at [2]tandem.Token, emit func(tandem.Token, float64, Class, [2]tandem.Token)) {
		list, match := r.after(at)
		for _, l := range list {
			if l.P >= minRecycled {
				emit(l.Token, l.P, ClassOf(FromRecycled, match), [2]tandem.Token{at[1], l.Token})
			}
		}
	})
}

// minRecycled is the probability below which a token is not worth drafting again.
const minRecycled = 0.02
