package tokenizer

import (
	"slices"

	"tandem"
)

// Pair returns the tokens of two texts as one sequence, for models that compare them, as llama.cpp's server frames them: BOS,
// first, EOS, SEP, second, EOS, each of them only where the vocabulary asks for it. If there are more than limit tokens, the
// texts are cut at their ends, the second one first.
func (t *Tokenizer) Pair(first, second string, limit int) []tandem.Token {
	s := &t.special
	a, b := t.Encode(first, Options{}), t.Encode(second, Options{})
	frame := func(a, b []tandem.Token) []tandem.Token {
		out := make([]tandem.Token, 0, len(a)+len(b)+4)
		if s.addBOS {
			out = append(out, s.bos)
		}
		out = s.close(append(out, a...))
		if s.parted {
			out = append(out, s.sep)
		}
		return s.close(append(out, b...))
	}
	room := max(0, limit-len(frame(nil, nil)))
	a = a[:min(len(a), room)]
	return frame(a, b[:min(len(b), room-len(a))])
}

// close appends what ends a text of a pair.
func (s *specials) close(ids []tandem.Token) []tandem.Token {
	switch {
	case !s.closed:
		return ids
	case s.eos != none:
		return append(ids, s.eos)
	}
	return append(ids, s.sep)
}

// Fit cuts tokens that Encode returned with AddSpecial to at most n and keeps EOS at their end.
func (t *Tokenizer) Fit(ids []tandem.Token, n int) []tandem.Token {
	if len(ids) <= n {
		return ids
	}
	ids = slices.Clone(ids[:n])
	if t.special.addEOS && n > 0 {
		ids[n-1] = t.special.eos
	}
	return ids
}
