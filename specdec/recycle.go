package specdec

import "tandem"

// Recycle drafts what the model itself said would follow the same tokens (Luo et al. 2024, Token Recycling). Every verified row
// says what is likeliest after it, rows of rejected drafts too. What was said last after the same two tokens counts, or else after
// the same one.
type Recycle struct {
	text []tandem.Token
	said map[[2]tandem.Token][]Likely // after two tokens, the first of which may be Separator for any
}

// recycled is how many tokens are kept after each.
const recycled = 4

// Committed implements Drafter.
func (r *Recycle) Committed(tokens []tandem.Token) { r.text = append(r.text, tokens...) }

// Rewind implements Drafter.
func (r *Recycle) Rewind(n int) { r.text = r.text[:min(n, len(r.text))] }

// Settle implements Drafter.
func (r *Recycle) Settle(v *Verdict) {
	if v.Next == nil || v.After < 2 || v.After > len(r.text) {
		return
	}
	if r.said == nil {
		r.said = map[[2]tandem.Token][]Likely{}
	}
	end := [2]tandem.Token(r.text[v.After-2:])
	r.learn(end, v.Next(-1, recycled))
	for _, i := range v.Verified {
		n := &v.Tree.Nodes[i]
		before := end[1]
		if n.Parent >= 0 {
			before = v.Tree.Nodes[n.Parent].Token
		}
		r.learn([2]tandem.Token{before, n.Token}, v.Next(i, recycled))
	}
}

func (r *Recycle) learn(after [2]tandem.Token, said []Likely) {
	r.said[after], r.said[[2]tandem.Token{Separator, after[1]}] = said, said
}

// Propose implements Drafter.
func (r *Recycle) Propose(t *Tree) {
	if len(r.text) < 2 || r.said == nil {
		return
	}
	end := [2]tandem.Token(r.text[len(r.text)-2:])
	grow(t, 48, -1, end, func(at [2]tandem.Token, emit func(tandem.Token, float64, Class, [2]tandem.Token)) {
		list, match := r.said[at], 2
		if list == nil {
			list, match = r.said[[2]tandem.Token{Separator, at[1]}], 1
		}
		for _, l := range list {
			if l.P >= leastRecycled {
				emit(l.Token, l.P, ClassOf(FromRecycled, match), [2]tandem.Token{at[1], l.Token})
			}
		}
	})
}

// leastRecycled is the probability below which a token is not worth drafting again.
const leastRecycled = 0.02
