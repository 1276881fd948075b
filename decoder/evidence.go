package decoder

// Evidence holds the parts of a passage's relevance for the token after the answer so far.
type Evidence struct {
	Lexical float64 // the scorer's relevance
	Verdict float64 // log-odds of P(s|d); 0 if the model gives none (see SupportConstants)
}

// Evidence returns the evidence of each passage of the request, and the scorer's relevance of the question itself. The
// constants of Supported are fitted to it.
func (d *Decoder) Evidence() (passages []Evidence, echo float64) {
	s := d.states[len(d.states)-1]
	if d.rel.judges {
		echo = s.base[len(d.rel.contextOf)]
	}
	out := make([]Evidence, len(d.rel.contextOf))
	for i, context := range d.rel.contextOf {
		out[i].Lexical = s.base[i]
		if d.rel.judges {
			out[i].Verdict = s.verdicts[context]
		}
	}
	return out, echo
}
