package specdec

import (
	"cmp"
	"math"

	"tandem"
)

// Calibration is in-context distribution calibration (CoordGen §3.3, sd.npu §4.3). For every place in the prompt,
// the prefill shows which tokens of the prompt the model expects next. A draft starts at the places most similar
// to the end of the text. It takes the tokens that follow them and those that the model expected there,
// continues from where these tokens occur in the prompt, and so on, the likeliest path first. So it drafts the
// prompt's own words and, at each of them, what the model would say instead. Acceptance is measured
// separately for words that the model expected too, words that it did not, and its alternatives.
//
// Only tokens of the prompt, and a few that may end a path, are scored: no other token can be looked up. That
// takes an output matrix of a few hundred rows instead of the whole vocabulary. For each place, the Top likeliest
// tokens are kept, at 8 bytes each.
type Calibration struct {
	Top int // tokens kept for each place; 0 means 8

	text         []tandem.Token
	scored       []tandem.Token
	places       map[tandem.Token][]int32 // where each token occurs in the prompt
	expectations []expectation            // [prompt × Top], the likeliest first
	promptLen    int
	list         []candidate // the buffer of candidates
}

type expectation struct {
	token tandem.Token
	p     float32
}

// Begin starts a prompt and returns the tokens to score along it: its own and the others, each once.
func (c *Calibration) Begin(prompt []tandem.Token, others ...tandem.Token) []tandem.Token {
	c.Top = cmp.Or(c.Top, 8)
	c.text, c.scored, c.places = nil, nil, make(map[tandem.Token][]int32)
	for i, t := range prompt {
		if t == Separator {
			continue
		}
		if c.places[t] == nil {
			c.scored = append(c.scored, t)
		}
		c.places[t] = append(c.places[t], int32(i))
	}
	for _, t := range others {
		if c.places[t] == nil {
			c.scored = append(c.scored, t)
		}
	}
	c.promptLen, c.expectations = len(prompt), make([]expectation, len(prompt)*c.Top)
	for i := range c.expectations {
		c.expectations[i].token = Separator // until Observe
	}
	return c.scored
}

// Observe takes the scores after token i of the prompt: the logits of the tokens that Begin returned.
func (c *Calibration) Observe(i int, scores []float32) {
	top := c.expectations[i*c.Top:][:c.Top]
	for j := range top {
		top[j] = expectation{Separator, float32(math.Inf(-1))}
	}
	least := &top[len(top)-1].p
	for j, s := range scores {
		if s <= *least {
			continue
		}
		for k := range top {
			if s > top[k].p {
				copy(top[k+1:], top[k:])
				top[k] = expectation{c.scored[j], s}
				break
			}
		}
	}
	// Scores far below the best do not change the sum.
	best, sum := top[0].p, float32(0)
	for _, s := range scores {
		if s > best-6 {
			sum += roughExp(s - best)
		}
	}
	for k := range top {
		top[k].p = float32(math.Exp(float64(top[k].p-best))) / sum
	}
}

// roughExp is e^x for −6 < x ≤ 0, within 2 %: (1 + x/1024)^1024. Each place of a prompt needs hundreds.
func roughExp(x float32) float32 {
	y := 1 + x/1024
	for range 10 {
		y *= y
	}
	return y
}

// Committed implements Drafter.
func (c *Calibration) Committed(tokens []tandem.Token) { c.text = append(c.text, tokens...) }

// Rewind implements Drafter.
func (c *Calibration) Rewind(n int) { c.text = c.text[:min(n, len(c.text))] }

// Settle implements Drafter.
func (c *Calibration) Settle(*Verdict) {}

// spots are the places in the prompt that are similar to the end of a path, with weights.
type spots struct {
	at     [4]int32
	weight [4]float32
	n      int
	match  int // they share at least this many tokens with the path
}

func (s *spots) add(at int32, weight float32) {
	for i := range s.n {
		if s.at[i] == at {
			s.weight[i] += weight
			return
		}
	}
	if s.n < len(s.at) {
		s.at[s.n], s.weight[s.n] = at, weight
		s.n++
		return
	}
	low := 0
	for i := range s.at {
		if s.weight[i] < s.weight[low] {
			low = i
		}
	}
	if weight > s.weight[low] {
		s.at[low], s.weight[low] = at, weight
	}
}

// likeEnd returns the places most similar to the end of the text: the latest of those with the longest common
// suffix.
func (c *Calibration) likeEnd() (s spots) {
	end := len(c.text)
	for i := len(c.places[c.text[end-1]]) - 1; i >= 0; i-- {
		at := int(c.places[c.text[end-1]][i])
		if at == end-1 {
			continue // the end itself
		}
		n := 1
		for n < 16 && n <= at && c.text[at-n] == c.text[end-1-n] {
			n++
		}
		s.add(int32(at), float32(math.Ldexp(1, n)))
		s.match = max(s.match, n)
	}
	return s
}

// after returns the places to continue from when token follows the spots: the places after them that hold the
// token; if there are none, places where it follows the same token; else any place that holds it.
func (c *Calibration) after(s *spots, token tandem.Token) (next spots) {
	for i := range s.n {
		if at := s.at[i] + 1; int(at) < c.promptLen && c.text[at] == token {
			next.add(at, s.weight[i])
		}
	}
	if next.n > 0 {
		next.match = s.match + 1
		return next
	}
	next.match = 1
	places := c.places[token]
	for i := len(places) - 1; i >= max(0, len(places)-64); i-- {
		at, weight := places[i], float32(1)
		for j := range s.n {
			if at > 0 && c.text[at-1] == c.text[s.at[j]] {
				weight, next.match = 8, 2
			}
		}
		next.add(at, weight)
	}
	return next
}

// Propose implements Drafter.
func (c *Calibration) Propose(t *Tree) {
	if c.promptLen == 0 || len(c.text) < c.promptLen {
		return
	}
	from := c.likeEnd()
	if from.n == 0 {
		return
	}
	grow(t, treeBudget, -1, from, func(s spots, emit func(tandem.Token, float64, Class, spots)) {
		list, total := c.candidates(&s)
		for range min(branches, len(list)) {
			best := 0
			for i := range list {
				if list[i].followWeight+list[i].expectedWeight > list[best].followWeight+list[best].expectedWeight {
					best = i
				}
			}
			e := list[best]
			list[best] = candidate{followWeight: -1}
			source, share := FromCalibration, e.expectedWeight/total
			if e.followWeight > 0 {
				share = e.followWeight / total
				if source = FromPlaces; e.expectedWeight > agreed*total {
					source = FromAgreed
				}
			}
			if share > minChance {
				emit(e.token, float64(share), ClassOf(source, s.match), c.after(&s, e.token))
			}
		}
	})
}

const (
	treeBudget = 128  // nodes of a calibrated tree
	branches   = 5    // children of a node
	agreed     = 0.15 // the least probability at which the model counts as having expected a token
)

// A candidate is a token that may follow some spots, with two weights: that of the spots that it follows in the
// prompt, and that of the model's expectations at all spots.
type candidate struct {
	token                        tandem.Token
	followWeight, expectedWeight float32
}

// candidates lists the tokens that may follow the spots. The list is valid until the next call; total is the
// weight of the spots.
func (c *Calibration) candidates(s *spots) (list []candidate, total float32) {
	candidateOf := func(token tandem.Token) *candidate {
		for i := range list {
			if list[i].token == token {
				return &list[i]
			}
		}
		list = append(list, candidate{token: token})
		return &list[len(list)-1]
	}
	list = c.list[:0]
	for i := range s.n {
		at, weight := int(s.at[i]), s.weight[i]
		total += weight
		if at+1 < len(c.text) && c.text[at+1] != Separator {
			candidateOf(c.text[at+1]).followWeight += weight
		}
		for _, e := range c.expectations[at*c.Top:][:min(c.Top, 8)] {
			if e.token != Separator {
				candidateOf(e.token).expectedWeight += e.p * weight
			}
		}
	}
	c.list = list
	return list, total
}
