package specdec

import (
	"math"

	"tandem"
)

// Calibration is in-context distribution calibration (sd.npu §4.3): the prefill says, for every place of the
// prompt, which tokens of the prompt the model expects next. A draft begins at the places that are most like
// the end of the text, takes what the model expected there, looks for that token in the prompt, goes on from
// where it stands, and so on, the likeliest path first. So it drafts what the model would say where the
// prompt's own words go on otherwise.
//
// Only tokens of the prompt are scored, since no other can be looked up, and a few that end a path: a head of some
// hundred rows instead of the vocabulary's. Kept are Top tokens for each place, 8 bytes each.
type Calibration struct {
	Top int // expected tokens kept for each place [8]

	text   []tandem.Token
	among  []tandem.Token
	places map[tandem.Token][]int32 // where each token stands in the prompt
	guess  []expected               // [prompt × Top], the likeliest first
	prompt int
}

type expected struct {
	token tandem.Token
	p     float32
}

// Among returns the tokens to score along a prompt: its own and some others, each once.
func (c *Calibration) Among(prompt []tandem.Token, others ...tandem.Token) []tandem.Token {
	c.Top = or(c.Top, 8)
	c.text, c.among, c.places = nil, nil, make(map[tandem.Token][]int32)
	for i, t := range prompt {
		if c.places[t] == nil {
			c.among = append(c.among, t)
		}
		c.places[t] = append(c.places[t], int32(i))
	}
	for _, t := range others {
		if c.places[t] == nil {
			c.among = append(c.among, t)
		}
	}
	c.prompt, c.guess = len(prompt), make([]expected, len(prompt)*c.Top)
	return c.among
}

// See takes the scores (logits of Among's tokens) behind token i of the prompt.
func (c *Calibration) See(i int, scores []float32) {
	top := c.guess[i*c.Top:][:c.Top]
	for j := range top {
		top[j] = expected{separator, float32(math.Inf(-1))}
	}
	for j, s := range scores {
		for k := range top {
			if s > top[k].p {
				copy(top[k+1:], top[k:])
				top[k] = expected{c.among[j], s}
				break
			}
		}
	}
	// Far below the best, nothing adds to the sum that shows.
	best, sum := top[0].p, 0.0
	for _, s := range scores {
		if s > best-9 {
			sum += math.Exp(float64(s - best))
		}
	}
	for k := range top {
		top[k].p = float32(math.Exp(float64(top[k].p-best)) / sum)
	}
}

// Committed implements Drafter.
func (c *Calibration) Committed(tokens []tandem.Token) { c.text = append(c.text, tokens...) }

// Settle implements Drafter.
func (c *Calibration) Settle(*Verdict) {}

// spots are places of the prompt that are like where a draft has come to, with weights.
type spots struct {
	at     [4]int32
	weight [4]float32
	n      int
	match  int // tokens that they share with the path, at least
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

// likeEnd finds the places most like the end of the text: of the longest common endings, the latest.
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

// behind returns the places to go on from when token follows the spots: the next place where the prompt says
// it too, else where it stands behind the same token, else where it stands at all.
func (c *Calibration) behind(s *spots, token tandem.Token) (next spots) {
	for i := range s.n {
		if at := s.at[i] + 1; int(at) < c.prompt && c.text[at] == token {
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
	if c.prompt == 0 || len(c.text) < c.prompt {
		return
	}
	from := c.likeEnd()
	if from.n == 0 {
		return
	}
	grow(t, 96, -1, from, func(s spots, emit func(tandem.Token, float64, Class, spots)) {
		// What the model expected at the spots, together.
		var mixed [32]expected
		n, sum := 0, float32(0)
		for i := range s.n {
			sum += s.weight[i]
			for _, e := range c.guess[int(s.at[i])*c.Top:][:min(c.Top, 8)] {
				if e.token == separator {
					continue
				}
				j := 0
				for j < n && mixed[j].token != e.token {
					j++
				}
				if j == n {
					mixed[j] = expected{token: e.token}
					n++
				}
				mixed[j].p += e.p * s.weight[i]
			}
		}
		for range min(5, n) {
			best := 0
			for j := range mixed[:n] {
				if mixed[j].p > mixed[best].p {
					best = j
				}
			}
			e := mixed[best]
			mixed[best].p = -1
			if share := e.p / sum; share > 0.01 {
				emit(e.token, float64(share), ClassOf(FromCalibration, s.match), c.behind(&s, e.token))
			}
		}
	})
}
