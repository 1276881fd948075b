package queue

import "tandem"

// Hedges keeps one side's drafts for other ways in which the answer may continue (tandem.AnyVersion), by their prefix.
type Hedges struct {
	limit  int
	drafts map[tandem.Prefix]tandem.Draft
}

// NewHedges returns a holder of at most limit drafts.
func NewHedges(limit int) *Hedges {
	return &Hedges{limit: limit, drafts: map[tandem.Prefix]tandem.Draft{}}
}

// Put keeps d. It is Full if there is no room: a missing hedge only costs time.
func (h *Hedges) Put(d tandem.Draft) Verdict {
	switch _, ok := h.drafts[d.Prefix]; {
	case ok:
		return Duplicate
	case len(h.drafts) >= h.limit:
		return Full
	}
	h.drafts[d.Prefix] = d
	return Queued
}

// Get returns the draft for step s after the tokens with prefix p.
func (h *Hedges) Get(s tandem.Step, p tandem.Prefix) (tandem.Draft, bool) {
	d, ok := h.drafts[p]
	return d, ok && d.Step == s
}

// Len returns the number of drafts.
func (h *Hedges) Len() int { return len(h.drafts) }

// Advance forgets the drafts of steps before front.
func (h *Hedges) Advance(front tandem.Step) {
	for p, d := range h.drafts {
		if d.Step < front {
			delete(h.drafts, p)
		}
	}
}
