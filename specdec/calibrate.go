package specdec

import (
	"math"

	"tandem"
)

// Calibration is in-context distribution calibration (sd.npu §4.3): the prefill says, for every place of the
// prompt, which tokens of the prompt the model expects next. A draft begins at the places that are most like
// the end of the text, takes what stands behind them and what the model expected there, goes on from where
// those tokens stand in the prompt, and so on, the likeliest path first. So it drafts the prompt's own words,
// and at each of them what the model would rather say. How often each kind is right is measured apart:
// words that the model expected as well, those that it did not, and what it expected instead.
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
	list   []candidate // memory of candidates
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
	least := &top[len(top)-1].p
	for j, s := range scores {
		if s <= *least {
			continue
		}
		for k := range top {
			if s > top[k].p {
				copy(top[k+1:], top[k:])
				top[k] = expected{c.among[j], s}
				break
			}
		}
	}
	// Far below the best, nothing adds to the sum that shows.
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

// roughExp is e^x for −6 < x ≤ 0, within 2 %: (1 + x/1024)^1024. Every place of a prompt wants hundreds.
func roughExp(x float32) float32 {
	y := 1 + x/1024
	for range 10 {
		y *= y
	}
	return y
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
	grow(t, treeBudget, -1, from, func(s spots, emit func(tandem.Token, float64, Class, spots)) {
		list, total := c.candidates(&s)
		for range min(branches, len(list)) {
			best := 0
			for i := range list {
				if list[i].said+list[i].guessed > list[best].said+list[best].guessed {
					best = i
				}
			}
			e := list[best]
			list[best] = candidate{said: -1}
			source, share := FromCalibration, e.guessed/total
			if e.said > 0 {
				share = e.said / total
				if source = FromPlaces; e.guessed > agreed*total {
					source = FromAgreed
				}
			}
			if share > leastChance {
				emit(e.token, float64(share), ClassOf(source, s.match), c.behind(&s, e.token))
			}
		}
	})
}

const (
	treeBudget = 128  // nodes of a calibrated tree
	branches   = 5    // behind a node
	agreed     = 0.15 // from this chance on the model is said to have expected a token
)

// candidate is a token that may follow some spots, and the weights that speak for it: of the spots that it
// follows, and what the model expected at them.
type candidate struct {
	token         tandem.Token
	said, guessed float32
}

// candidates lists what may follow the spots, until the next call; total is their weight.
func (c *Calibration) candidates(s *spots) (list []candidate, total float32) {
	of := func(token tandem.Token) *candidate {
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
		if at+1 < len(c.text) {
			of(c.text[at+1]).said += weight
		}
		for _, e := range c.guess[at*c.Top:][:min(c.Top, 8)] {
			if e.token != separator {
				of(e.token).guessed += e.p * weight
			}
		}
	}
	c.list = list
	return list, total
}
