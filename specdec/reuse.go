package specdec

import (
	"cmp"
	"slices"

	"tandem"
)

// Reuse proposes tokens again that were rejected too early (CoordGen §3.4, sd.npu §4.4). Of a rejected draft x it
// keeps the longest segment with x_i = y_i, where y_i is the model's likeliest token at i (sd.npu Eq. 3). It
// proposes the segment after the text and, while the likeliest draft is shorter than Limit, after that draft. A
// segment lives for Life steps, whatever the model generates in them. At most four segments live; a new one replaces
// the oldest.
type Reuse struct {
	Limit int // tokens of a draft; 0 means 32
	Life  int // steps; 0 means 4

	segments []segment
	text     []tandem.Token
	rejected []rejection
	cases    Cases
}

// Cases counts rejections by what the model generated in the 16 tokens after them (sd.npu Table 2).
type Cases struct {
	Missing   int `json:"missing"`   // the rejected token followed later
	Synonym   int `json:"synonym"`   // only tokens after it followed
	Redundant int `json:"redundant"` // nothing of the draft followed
}

type segment struct {
	tokens []tandem.Token
	left   int // steps to live
}

type rejection struct {
	draft []tandem.Token
	after []tandem.Token // what the model generated since
}

// window is how many tokens decide the case of a rejection.
const window = 16

// Cases returns the counts so far.
func (r *Reuse) Cases() Cases { return r.cases }

// Committed implements Drafter.
func (r *Reuse) Committed(tokens []tandem.Token) {
	if len(tokens) == 0 {
		return
	}
	r.text = append(r.text, tokens...)
	for i := range r.rejected {
		r.rejected[i].after = append(r.rejected[i].after, tokens...)
	}
	for len(r.rejected) > 0 && len(r.rejected[0].after) >= window {
		r.classify(r.rejected[0])
		r.rejected = r.rejected[1:]
	}
}

// Rewind implements Drafter. Rejections whose case is not known yet are not counted.
func (r *Reuse) Rewind(n int) {
	if n < len(r.text) {
		r.text, r.rejected = r.text[:n], nil
	}
}

// classify counts a rejection, by the pairs of its tokens that followed.
func (r *Reuse) classify(x rejection) {
	after := x.after[:min(window, len(x.after))]
	holds := func(part []tandem.Token) bool {
		for i := 0; i+len(part) <= len(after); i++ {
			if slices.Equal(after[i:i+len(part)], part) {
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

// Propose implements Drafter. It must come after the other drafters: it extends what they proposed.
func (r *Reuse) Propose(t *Tree) {
	if len(r.segments) == 0 {
		return
	}
	// Find the end of the likeliest draft without reuse.
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
		rest, i := s.tokens, -1
		if len(r.text) > 0 {
			i = slices.Index(s.tokens, r.text[len(r.text)-1])
		}
		if i >= 0 {
			rest = s.tokens[i+1:] // the text has reached the segment
			t.Chain(-1, rest, FromReuse, 2+i)
			continue
		}
		t.Chain(-1, rest, FromReuse, 1)
		if limit := cmp.Or(r.Limit, 32); end >= 0 && length < limit {
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
	// sd.npu Eq. 3: the longest run of agreement.
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
		r.segments = append(r.segments, segment{slices.Clone(x[from:to]), cmp.Or(r.Life, 4)})
		r.segments = tail(r.segments, 4)
	}
}

// rejectedDraft returns the likeliest path below the last right node, and the model's likeliest token at each of
// its places.
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
