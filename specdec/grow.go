package specdec

import "tandem"

// grow adds about budget nodes to a tree. It always expands the likeliest leaf: expand emits the tokens that may
// follow a state, each with the state after it.
func grow[S any](t *Tree, budget, parent int, from S, expand func(s S, emit func(tandem.Token, float64, Class, S))) {
	type leaf struct {
		node  int
		state S
	}
	front := []leaf{{parent, from}}
	for budget > 0 && len(front) > 0 && !t.Full() {
		best := 0
		for i := range front {
			if t.P(front[i].node) > t.P(front[best].node) {
				best = i
			}
		}
		l := front[best]
		front[best] = front[len(front)-1]
		front = front[:len(front)-1]
		if t.P(l.node) < max(t.Least, minChance) {
			return
		}
		expand(l.state, func(token tandem.Token, share float64, c Class, after S) {
			if node := t.Add(l.node, token, share, c); node >= 0 {
				front = append(front, leaf{node, after})
				budget--
			}
		})
	}
}

// minChance is the probability below which a path is not worth following.
const minChance = 0.01
