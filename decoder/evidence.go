package decoder

// Evidence is what the relevance of a passage is made of for the token after the answer so far.
type Evidence struct {
	Lexical float64 // the scorer's relevance, as Weights follow it
	Support float64 // log-odds of P(s|d); 0 where the model does not say (see Support)
}

// Evidence returns it for each passage of the request, and the scorer's relevance of the question itself. It
// is what the constants of Support are fitted on.
func (d *Decoder) Evidence() (passages []Evidence, echo float64) {
	m := d.moments[len(d.moments)-1]
	if d.rel.speaks {
		echo = m.base[len(d.rel.rows)]
	}
	out := make([]Evidence, len(d.rel.rows))
	for i, row := range d.rel.rows {
		out[i].Lexical = m.base[i]
		if d.rel.speaks {
			out[i].Support = m.support[row]
		}
	}
	return out, echo
}
