package decoder

import (
	"tandem"
	"tandem/decoder/ground"
	"tandem/model/tokenizer"
	"tandem/model/vocabulary"
)

// grounds returns what each context may write, given its prompt.
func grounds(tok *tokenizer.Tokenizer, prompts []prompt) []*ground.Context {
	q := ground.NewQuestion(vocabulary.Of(tok), prompts[0].said...)
	out := make([]*ground.Context, len(prompts))
	for i, p := range prompts {
		out[i] = q.Context(p.passages...)
	}
	return out
}

// first returns the state before the first token of an answer.
func (d *Decoder) first() state {
	s := d.rel.first(len(d.contexts), func() []float64 { return d.verdicts(d.prompt) })
	s.left = d.cfg.MaxTokens
	for _, c := range d.grounds {
		s.grounds = append(s.grounds, c.Start())
	}
	if d.form != nil {
		s.form = d.form.Start()
	}
	return s
}

// following returns the state after one more token, with the arguments of relevance.next.
func (d *Decoder) following(s state, text []byte, t int, logp []float64, verdicts func() []float64) state {
	n := d.rel.next(s, text, t, logp, verdicts)
	if d.form != nil {
		n.form = d.form.Next(s.form, text[s.end:])
		n.muted = n.form.Lost()
	}
	if d.grounds == nil {
		return n
	}
	n.muted = true
	if n.left = max(0, d.cfg.MaxTokens-t); ground.Loops(text) {
		n.left = 0
	}
	for i, c := range d.grounds {
		g := c.Next(s.grounds[i], text[s.end:])
		n.grounds = append(n.grounds, g)
		n.muted = n.muted && g.Lost()
	}
	return n
}

// excludes reports whether a context has no say because it could not have written the end of the answer.
func (s state) excludes(context int) bool {
	return s.grounds != nil && !s.muted && s.grounds[context].Lost()
}

// muted is the output where no context of this side could have written the end of the answer: the other side has written a
// word that no passage here holds. This side has no say then. If it must continue alone, it ends the answer.
func (d *Decoder) muted() Output {
	return Output{Dist: tandem.Dist{IDs: d.ends[:1], Weights: []uint32{tandem.Mass}}, H: tandem.FixedOf(Mute)}
}
