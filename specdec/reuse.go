package specdec

import (
	"slices"

	"tandem"
)

// Reuse keeps what was rejected too early (sd.npu §4.4): of a rejected draft x, the longest segment with
// x_i = y_i, where y_i is the model's own likeliest token there (Eq. 3), is proposed again, behind the text and
// behind the likeliest draft, while the draft is shorter than Limit. A segment lives for Life steps, at least one,
// whatever comes in them; of more than four the oldest goes.
type Reuse struct {
	Limit int // [32]
	Life  int // steps [4]

	segments []segment
	last     tandem.Token
	rejected []rejection
	cases    Cases
}

// Cases counts what rejections turned out to be, from what the model said in the next 16 tokens (sd.npu
// Table 2).
type Cases struct {
	Missing   int `json:"missing"`   // the rejected token came after others
	Synonym   int `json:"synonym"`   // tokens after it came
	Redundant int `json:"redundant"` // nothing of it came
}

type segment struct {
	tokens []tandem.Token
	left   int // steps to live
}

type rejection struct {
	draft []tandem.Token
	came  []tandem.Token
}

// window is how many tokens decide what a rejection was.
const window = 16

// Cases returns the counts so far.
func (r *Reuse) Cases() Cases { return r.cases }

// Committed implements Drafter.
func (r *Reuse) Committed(tokens []tandem.Token) {
	if len(tokens) == 0 {
		return
	}
	r.last = tokens[len(tokens)-1]
	for i := range r.rejected {
		r.rejected[i].came = append(r.rejected[i].came, tokens...)
	}
	for len(r.rejected) > 0 && len(r.rejected[0].came) >= window {
		r.classify(r.rejected[0])
		r.rejected = r.rejected[1:]
	}
}

// classify counts a rejection by the pairs of its tokens that came.
func (r *Reuse) classify(x rejection) {
	came := x.came[:min(window, len(x.came))]
	holds := func(part []tandem.Token) bool {
		for i := 0; i+len(part) <= len(came); i++ {
			if slices.Equal(came[i:i+len(part)], part) {
				return true
			}
		}
		return false
	}
	pair := min(2, len(x.draft))
	if holds(x.draft[:pair]) {
		r.cases.Missing++
		return
	}
	for i := 1; i+1 < len(x.draft); i++ {
		if holds(x.draft[i : i+2]) {
			r.cases.Synonym++
			return
		}
	}
	r.cases.Redundant++
}

// Propose implements Drafter. It comes last, when the others have proposed.
func (r *Reuse) Propose(t *Tree) {
	if len(r.segments) == 0 {
		return
	}
	// The likeliest draft without reuse: its end is where a segment is appended.
	end, length := -1, 0
	for {
		best := -1
		for i := t.firstChild(end); i > 0; i = t.Nodes[i-1].next {
			if best < 0 || t.Nodes[i-1].P > t.Nodes[best].P {
				best = i - 1
			}
		}
		if best < 0 {
			break
		}
		end, length = best, length+1
	}
	for _, s := range slices.Backward(r.segments) {
		rest := s.tokens
		if i := slices.Index(s.tokens, r.last); i >= 0 {
			rest = s.tokens[i+1:] // the text has come to it
			t.Chain(-1, rest, FromReuse, 2+i)
			continue
		}
		t.Chain(-1, rest, FromReuse, 1)
		if limit := or(r.Limit, 32); end >= 0 && length < limit {
			t.Chain(end, rest[:min(len(rest), limit-length)], FromReuse, 1)
		}
	}
}

// Settle implements Drafter.
func (r *Reuse) Settle(v *Verdict) {
	kept := r.segments[:0]
	for _, s := range r.segments {
		if s.left--; s.left > 0 {
			kept = append(kept, s)
		}
	}
	r.segments = kept
	x, y := rejectedDraft(v)
	if len(x) == 0 {
		return
	}
	if len(r.rejected) < 64 {
		r.rejected = append(r.rejected, rejection{draft: x})
	}
	// Eq. 3: the longest run of agreement.
	from, to, run := 0, 0, 0
	for i := range x {
		if x[i] != y[i] {
			run = i + 1
			continue
		}
		if i+1-run > to-from {
			from, to = run, i+1
		}
	}
	if to-from > 1 {
		r.segments = append(r.segments, segment{slices.Clone(x[from:to]), or(r.Life, 4)})
		r.segments = tail(r.segments, 4)
	}
}

// rejectedDraft is the likeliest draft behind the last right node, and what the model would have said in the
// place of each of its tokens.
func rejectedDraft(v *Verdict) (x, y []tandem.Token) {
	at := -1
	if len(v.Path) > 0 {
		at = v.Path[len(v.Path)-1]
	}
	for {
		best := -1
		for _, i := range v.Verified {
			if n := &v.Tree.Nodes[i]; n.Parent == at && (best < 0 || n.P > v.Tree.Nodes[best].P) {
				best = i
			}
		}
		if best < 0 {
			return x, y
		}
		x, y = append(x, v.Tree.Nodes[best].Token), append(y, v.Likeliest(at))
		at = best
	}
}

// Eagle stands in for a drafter model that this project does not have: it knows what will come and is right
// often enough to give the accept length that EAGLE is published with (5.5 tokens a pass). What it gives is
// simulated; its time is that of one layer and the head for each of its tokens.
type Eagle struct {
	truth []tandem.Token
	began bool
	at    int
	right float64
	depth int
}

// NewEagle returns a drafter of the text that follows the prompt.
func NewEagle(truth []tandem.Token, accept float64) *Eagle {
	e := &Eagle{truth: truth, depth: 10}
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
		e.began = true
		return
	}
	e.at += len(tokens)
}

// Settle implements Drafter.
func (e *Eagle) Settle(*Verdict) {}

// Propose implements Drafter.
func (e *Eagle) Propose(t *Tree) {
	parent := -1
	for d := range e.depth {
		if e.at+d >= len(e.truth) {
			return
		}
		token := e.truth[e.at+d]
		if h := hash(uint64(e.at+d)<<8, tandem.Token(e.at)); float64(h>>11)/(1<<53) > e.right {
			token++ // wrong on purpose
		}
		if parent = t.Add(parent, token, e.right, Class{Source: Simulated}); parent < 0 {
			return
		}
	}
}
