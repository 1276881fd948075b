package specdec

import "tandem"

// Eagle simulates a draft model such as EAGLE-2, which this project does not include. It knows the answer, and makes as
// many errors as it takes for passes to give a chosen number of tokens. CoordGen §4.1 estimates EAGLE-2 in a similar way,
// with the 5.5 tokens per pass from its paper, at the cost of one layer and the head. A chain of tokens favours it: EAGLE-2 needs
// a tree of dozens for as many right ones.
type Eagle struct {
	truth []tandem.Token
	began bool
	at    int
	start int // tokens of the prompt
	right float64
	depth int
}

// NewEagle returns a drafter for the answer truth that drafts depth tokens, each by a pass of the draft model, so that the
// model's passes give accept tokens on average, at most depth+1.
func NewEagle(truth []tandem.Token, accept float64, depth int) *Eagle {
	e := &Eagle{truth: truth, depth: depth}
	for low, high := 0.0, 1.0; high-low > 1e-6; { // 1 + p + p² + … + p^depth = accept
		p := (low + high) / 2
		sum, power := 1.0, 1.0
		for range e.depth {
			power *= p
			sum += power
		}
		if e.right = p; sum < accept {
			low = p
		} else {
			high = p
		}
	}
	return e
}

// Committed implements Drafter: the first call is the prompt.
func (e *Eagle) Committed(tokens []tandem.Token) {
	if !e.began {
		e.began, e.start = true, len(tokens)
		return
	}
	e.at += len(tokens)
}

// Rewind implements Drafter.
func (e *Eagle) Rewind(n int) { e.at = max(0, n-e.start) }

// Settle implements Drafter.
func (e *Eagle) Settle(*Verdict) {}

// wrong returns another token of the same vocabulary.
func wrong(token tandem.Token) tandem.Token {
	if token == 0 {
		return 1
	}
	return token - 1
}

// Propose implements Drafter.
func (e *Eagle) Propose(t *Tree) {
	parent := -1
	for d := range e.depth {
		if e.at+d >= len(e.truth) {
			return
		}
		token := e.truth[e.at+d]
		if h := hash(uint64(e.at+d)<<8, tandem.Token(e.at)); float64(h>>11)/(1<<53) > e.right {
			token = wrong(token)
		}
		if parent = t.Add(parent, token, e.right, Class{Source: Simulated}); parent < 0 {
			return
		}
	}
}
