package decoder

import "strings"

// Part is a sentence of the answer and the weights of its sources.
type Part struct {
	From, To int       // range of its tokens, half-open
	Weights  []float64 // mean ω̃ of each passage while it was written
	Nothing  float64   // mean share of the context without a document
	H        float64   // mean h

	Quotes []Quote // what the passages say, by weight, then by relevance

	// Otherwise has at most one sentence: the likeliest one that says something else, if it would have been the answer
	// without the sentences quoted. Only the span reader finds one.
	Otherwise []Quote
}

// Parts returns the sentences of the answer so far, in order.
func (d *Decoder) Parts() []Part {
	var out []Part
	cite := citer{d.rel.topic, d.passages, d.cfg.Scorer}
	begun := -1
	for i := 1; i < len(d.states); i++ {
		if m := d.states[i]; m.begun != begun {
			begun = m.begun
			out = append(out, Part{From: i - 1, Weights: make([]float64, len(d.rel.contextOf))})
		}
		s := &out[len(out)-1]
		s.To = i
		r := d.rel.at(d.states[i-1])
		for j, w := range softmax(r) {
			if j < len(s.Weights) {
				s.Weights[j] += w
			} else {
				s.Nothing += w
			}
		}
		s.H += d.weight(r)
	}
	for i := range out {
		s := &out[i]
		n := float64(s.To - s.From)
		s.Nothing, s.H = s.Nothing/n, s.H/n
		for j := range s.Weights {
			s.Weights[j] /= n
		}
		begins := d.states[s.From]
		said := d.text[begins.end:d.states[s.To].end]
		s.Quotes = cite.quotes(*s, strings.TrimSpace(string(said)), begins.base)
	}
	return out
}

// weight returns h for relevances r.
func (d *Decoder) weight(r []float64) float64 {
	if len(r) == 0 {
		return noDocument
	}
	return LogSumExp(r)
}
