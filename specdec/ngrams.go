package specdec

import (
	"cmp"
	"slices"

	"tandem"
)

// Ngrams counts what follows each run of up to MaxNgram tokens of the text. It proposes a tree of the likeliest
// continuations and prefers those of longer runs.
type Ngrams struct {
	MaxNgram  int // tokens of a run, at most 8; 0 means 4
	text      []tandem.Token
	where     table // of each run in runs, by a hash of it
	runs      []ngram
	rest      [][followers - 1]follower
	promptLen int        // tokens of the prompt, which stay
	undo      []savedRun // what later tokens changed
	marks     []int      // the length of undo before each of them
}

// ngram says what follows a run of tokens, the most frequent first. Most runs have one continuation.
type ngram struct {
	first follower
	n     int32 // continuations
	rest  int32 // where the others are in Ngrams.rest, plus one; 0 if there were never any
}

type follower struct {
	token tandem.Token
	count int32
}

// savedRun is a run before a token changed it.
type savedRun struct {
	at   int32
	run  ngram
	rest [followers - 1]follower
}

// followers is how many continuations of a run are kept. A new one replaces the rarest.
const followers = 8

// Committed implements Drafter.
func (g *Ngrams) Committed(tokens []tandem.Token) {
	first := len(g.text) == 0
	if first {
		g.where.room(g.maxNgram() * len(tokens))
		g.runs = slices.Grow(g.runs, g.maxNgram()*len(tokens))
		g.text = slices.Grow(g.text, len(tokens))
	}
	for _, token := range tokens {
		if !first {
			g.marks = append(g.marks, len(g.undo))
		}
		h := uint64(0)
		for n := 1; n <= min(g.maxNgram(), len(g.text)); n++ {
			h = hash(h, g.text[len(g.text)-n])
			if token == Separator || g.text[len(g.text)-n] == Separator {
				break
			}
			at := g.runOf(h)
			if !first {
				g.saveRun(at)
			}
			g.count(&g.runs[at], token)
		}
		g.text = append(g.text, token)
	}
	if first {
		g.promptLen = len(g.text)
	}
}

// runOf returns the index of a run, which may be new.
func (g *Ngrams) runOf(h uint64) int32 {
	at := g.where.get(h)
	if at < 0 {
		at = int32(len(g.runs))
		g.runs = append(g.runs, ngram{})
		g.where.set(h, at)
	}
	return at
}

// saveRun keeps the value of a run that will change.
func (g *Ngrams) saveRun(at int32) {
	c := savedRun{at: at, run: g.runs[at]}
	if c.run.rest > 0 {
		c.rest = g.rest[c.run.rest-1]
	}
	g.undo = append(g.undo, c)
}

// Rewind implements Drafter.
func (g *Ngrams) Rewind(n int) {
	n = max(n, g.promptLen)
	if n >= len(g.text) {
		return
	}
	mark := g.marks[n-g.promptLen]
	for _, c := range slices.Backward(g.undo[mark:]) {
		r := &g.runs[c.at]
		switch {
		case c.run.rest > 0:
			g.rest[c.run.rest-1] = c.rest
		case r.rest > 0: // the last that was added
			g.rest = g.rest[:r.rest-1]
		}
		*r = c.run
	}
	g.text, g.undo, g.marks = g.text[:n], g.undo[:mark], g.marks[:n-g.promptLen]
}

// list returns the continuations of a run, in memory of the caller's.
func (g *Ngrams) list(r ngram, memory *[followers]follower) []follower {
	memory[0] = r.first
	if r.rest > 0 {
		copy(memory[1:], g.rest[r.rest-1][:])
	}
	return memory[:r.n]
}

// count counts a token after a run.
func (g *Ngrams) count(r *ngram, t tandem.Token) {
	switch {
	case r.n > 0 && r.first.token == t:
		r.first.count++
		return
	case r.n == 0:
		r.first, r.n = follower{t, 1}, 1
		return
	}
	var memory [followers]follower
	list := count(g.list(*r, &memory), t)
	if r.rest == 0 {
		g.rest = append(g.rest, [followers - 1]follower{})
		r.rest = int32(len(g.rest))
	}
	r.first, r.n = list[0], int32(len(list))
	copy(g.rest[r.rest-1][:], list[1:])
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
	tokens [maxRun]tandem.Token
	n      int
}

// maxRun is the largest MaxNgram of Ngrams.
const maxRun = 8

// Propose implements Drafter.
func (g *Ngrams) Propose(t *Tree) {
	var end pathEnd
	end.n = copy(end.tokens[:], tail(g.text, g.maxNgram()))
	grow(t, 48, -1, end, func(before pathEnd, emit func(tandem.Token, float64, Class, pathEnd)) {
		h, last, match := uint64(0), int32(-1), 0
		for n := 1; n <= before.n; n++ {
			h = hash(h, before.tokens[before.n-n])
			at := g.where.get(h)
			if at < 0 || g.runs[at].n == 0 {
				break
			}
			last, match = at, n
		}
		if last < 0 {
			return
		}
		var memory [followers]follower
		found, sum := g.list(g.runs[last], &memory), 0
		for _, f := range found {
			sum += int(f.count)
		}
		for _, f := range found[:min(3, len(found))] {
			after := before
			if after.n == g.maxNgram() {
				after.n = copy(after.tokens[:], before.tokens[1:before.n])
			}
			after.tokens[after.n] = f.token
			after.n++
			emit(f.token, float64(f.count)/float64(sum), ClassOf(FromNgrams, match), after)
		}
	})
}

// maxNgram returns MaxNgram or its default, at most maxRun.
func (g *Ngrams) maxNgram() int { return min(cmp.Or(g.MaxNgram, 4), maxRun) }

func tail[T any](s []T, n int) []T { return s[max(0, len(s)-n):] }
