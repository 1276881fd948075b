package specdec

import (
	"cmp"
	"slices"

	"tandem"
)

// Lookup is prompt lookup decoding (PLD, Saxena 2023). It searches the text for its own last Most tokens, then for
// fewer, and drafts what followed the latest occurrence. With Branches above 1, several occurrences become
// branches.
type Lookup struct {
	Most     int // tokens to search for; 0 means 3
	Length   int // of the draft; 0 means 10
	Branches int // 0 means 1
	text     []tandem.Token
}

// Committed implements Drafter.
func (l *Lookup) Committed(tokens []tandem.Token) { l.text = append(l.text, tokens...) }

// Rewind implements Drafter.
func (l *Lookup) Rewind(n int) { l.text = l.text[:min(n, len(l.text))] }

// Settle implements Drafter.
func (l *Lookup) Settle(*Verdict) {}

// Propose implements Drafter. It looks at each place of the text once.
func (l *Lookup) Propose(t *Tree) {
	most, length, branches := min(cmp.Or(l.Most, 3), len(l.text)-1), cmp.Or(l.Length, 10), cmp.Or(l.Branches, 1)
	if most <= 0 {
		return
	}
	found := make([][]int, most) // the latest places by the length of the match, less one
	last := l.text[len(l.text)-1]
	for end := len(l.text) - 1; end > 0 && len(found[most-1]) < branches; end-- {
		if l.text[end-1] != last {
			continue
		}
		n := 1
		for n < most && n < end && l.text[end-1-n] == l.text[len(l.text)-1-n] {
			n++
		}
		if len(found[n-1]) < branches {
			found[n-1] = append(found[n-1], end)
		}
	}
	for n := most; n > 0 && branches > 0; n-- {
		for _, end := range found[n-1][:min(branches, len(found[n-1]))] {
			after := l.text[end:min(end+length, len(l.text))]
			if i := slices.Index(after, Separator); i >= 0 {
				after = after[:i]
			}
			t.Chain(-1, after, FromPrompt, n)
			branches--
		}
	}
}

// Ngrams counts what follows each run of up to Most tokens of the text. It proposes a tree of the likeliest
// continuations and prefers those of longer runs.
type Ngrams struct {
	Most int // tokens of a run, at most 8; 0 means 4
	text []tandem.Token
	next map[uint64][]follower // by a hash of the run
	firm int                   // tokens of the prompt, which stay
	log  [][]counted           // what the counts of each later token replaced
}

// counted is what followed a run before.
type counted struct {
	run  uint64
	list []follower
}

type follower struct {
	token tandem.Token
	count int32
}

// followers is how many continuations of a run are kept. A new one replaces the rarest.
const followers = 8

// Committed implements Drafter.
func (g *Ngrams) Committed(tokens []tandem.Token) {
	if g.next == nil {
		g.next = map[uint64][]follower{}
	}
	first := len(g.text) == 0
	for _, token := range tokens {
		var old []counted
		h := uint64(0)
		for n := 1; n <= min(g.most(), len(g.text)); n++ {
			h = hash(h, g.text[len(g.text)-n])
			if token == Separator || g.text[len(g.text)-n] == Separator {
				break
			}
			list := g.next[h]
			if !first {
				old = append(old, counted{h, list})
				list = slices.Clone(list)
			}
			g.next[h] = count(list, token)
		}
		g.text = append(g.text, token)
		if !first {
			g.log = append(g.log, old)
		}
	}
	if first {
		g.firm = len(g.text)
	}
}

// Rewind implements Drafter.
func (g *Ngrams) Rewind(n int) {
	for n = max(n, g.firm); len(g.text) > n; g.text = g.text[:len(g.text)-1] {
		last := len(g.log) - 1
		for _, c := range slices.Backward(g.log[last]) {
			if g.next[c.run] = c.list; c.list == nil {
				delete(g.next, c.run)
			}
		}
		g.log = g.log[:last]
	}
}

func hash(h uint64, t tandem.Token) uint64 {
	h = (h ^ uint64(uint32(t)) ^ 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	return h ^ h>>29
}

func count(list []follower, t tandem.Token) []follower {
	for i := range list {
		if list[i].token == t {
			list[i].count++
			for ; i > 0 && list[i].count > list[i-1].count; i-- {
				list[i], list[i-1] = list[i-1], list[i]
			}
			return list
		}
	}
	if len(list) < followers {
		return append(list, follower{t, 1})
	}
	list[followers-1] = follower{t, 1}
	return list
}

// Settle implements Drafter.
func (g *Ngrams) Settle(*Verdict) {}

// pathEnd is the end of a path, the last token last.
type pathEnd struct {
	tokens [mostRun]tandem.Token
	n      int
}

// mostRun is the most tokens of a run of Ngrams.
const mostRun = 8

// Propose implements Drafter.
func (g *Ngrams) Propose(t *Tree) {
	var end pathEnd
	end.n = copy(end.tokens[:], tail(g.text, g.most()))
	grow(t, 48, -1, end, func(before pathEnd, emit func(tandem.Token, float64, Class, pathEnd)) {
		h, found, match := uint64(0), []follower(nil), 0
		for n := 1; n <= before.n; n++ {
			h = hash(h, before.tokens[before.n-n])
			list, ok := g.next[h]
			if !ok {
				break
			}
			found, match = list, n
		}
		sum := 0
		for _, f := range found {
			sum += int(f.count)
		}
		for _, f := range found[:min(3, len(found))] {
			after := before
			if after.n == g.most() {
				after.n = copy(after.tokens[:], before.tokens[1:before.n])
			}
			after.tokens[after.n] = f.token
			after.n++
			emit(f.token, float64(f.count)/float64(sum), ClassOf(FromNgrams, match), after)
		}
	})
}

// most returns the most tokens of a run.
func (g *Ngrams) most() int { return min(cmp.Or(g.Most, 4), mostRun) }

func tail[T any](s []T, n int) []T { return s[max(0, len(s)-n):] }

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
		if t.P(l.node) < max(t.Least, leastChance) {
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

// leastChance is the probability below which a path is not worth following.
const leastChance = 0.01
