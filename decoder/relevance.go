package decoder

import (
	"math"

	"tandem/decoder/ground"
	"tandem/model/grammar"
	"tandem/retrieval/passages"
)

// relevance computes R_t(d). It keeps nothing about the answer; a state does.
type relevance struct {
	weights   Weights
	question  question
	topic     string                                      // the question after the one before it in the conversation
	scores    func(dst []float64, query string) []float64 // appends the scorer's relevance of each passage
	contextOf []int                                       // the context of each passage
	// judges reports whether each context gives a verdict on the sentence. The last context is then the one without a
	// passage.
	judges bool
}

// state holds what R_t depends on, apart from the question and the passages. There is one state for every position of
// the answer, so a rollback is a truncation.
type state struct {
	end  int       // bytes of answer text before this position
	base []float64 // relevance of each passage without likelihood, then of the question itself if contexts judge
	like []float64 // Σ λ^… log p for each context since from; nil without Likelihood
	from int       // offset in the answer's text where that sum begins

	begun    int       // offset in the answer's text where the current sentence begins
	verdicts []float64 // log-odds that each context supports the current sentence; nil if contexts do not judge

	grounds []ground.State // of each context; nil without grounding
	left    int            // how many tokens the answer may still have; 0 also if it loops
	form    grammar.State  // of Config.Form
	muted   bool           // no context could have written the end of the answer
}

// first returns the state before the first token of an answer. verdicts returns the contexts' verdicts there.
func (r *relevance) first(contexts int, verdicts func() []float64) state {
	s := state{}
	if r.judges {
		s.verdicts = verdicts()
	}
	if r.weights.Likelihood {
		s.like = make([]float64, contexts)
	}
	if r.weights.Base == BaseSentence {
		s.base = r.sentence(nil)
	} else {
		s.base = r.scores(nil, r.topic)
	}
	return s
}

// next returns the state after one more token. text is the answer's text and t its number of tokens, both with that token.
// logp is the token's log-probability in each context; it may be nil unless the weights need it. verdicts returns the
// contexts' verdicts before the token.
func (r *relevance) next(s state, text []byte, t int, logp []float64, verdicts func() []float64) state {
	n := state{end: len(text), base: s.base, from: s.from, begun: sentenceStart(text), verdicts: s.verdicts}
	if r.judges && n.begun != s.begun {
		n.verdicts = verdicts()
	}
	switch r.weights.Base {
	case BaseSentence:
		n.base = r.sentence(text)
	case BaseRescore:
		if t%r.weights.Every == 0 {
			mu := r.weights.Momentum
			n.base = r.scores(nil, join(r.topic, string(text)))
			for d := range n.base {
				n.base[d] = mu*s.base[d] + (1-mu)*n.base[d]
			}
		}
	}
	if r.weights.Likelihood {
		n.like = make([]float64, len(s.like))
		keep := r.weights.Lambda
		if r.weights.Reset && n.begun != s.from {
			n.from, keep = n.begun, 0
		}
		for i := range n.like {
			n.like[i] = keep*s.like[i] + max(logp[i], likelihoodFloor)
		}
	}
	return n
}

// sentence scores the passages against the clause that the current sentence answers and against the whole topic, each
// followed by that sentence.
func (r *relevance) sentence(answer []byte) []float64 {
	i, current := r.question.focus(answer)
	clause := r.question.part(i)
	out := r.scores(nil, join(clause, current))
	if clause != r.topic {
		whole := r.scores(nil, join(r.topic, current))
		for d := range out {
			out[d] = (1-topicShare)*out[d] + topicShare*whole[d]
		}
	}
	if r.judges {
		n := len(r.contextOf)
		out[n] = out[n+i]
		out = out[:n+1]
	}
	return out
}

// echoes returns a passage for each clause of the question and one for the whole. Their scores show what a passage that says
// all that is asked would get.
func (q question) echoes() []passages.Passage {
	var out []passages.Passage
	for i := range len(q.clauses) + 1 {
		out = append(out, passages.Passage{Text: q.part(i)})
	}
	return out
}

// at returns R_t of each passage, then that of the context without a passage if there is one. It is −Inf if the context could
// not have written the end of the answer, unless none could.
func (r *relevance) at(s state) []float64 {
	out := append(make([]float64, 0, len(s.base)+1), s.base...)
	for d, context := range r.contextOf {
		if s.like != nil {
			out[d] += s.like[context]
		}
		if r.judges {
			out[d] = r.weights.Constants.Lexical*out[d] + r.weights.Constants.Support*s.verdicts[context]
		}
		if s.excludes(context) {
			out[d] = math.Inf(-1)
		}
	}
	if r.judges {
		echo := &out[len(r.contextOf)]
		*echo = r.weights.Constants.Nothing + r.weights.Constants.Echo**echo
		if s.excludes(len(s.grounds) - 1) {
			*echo = math.Inf(-1)
		}
	}
	return out
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + " " + b
}

// topicShare is the share of the whole topic in a sentence relevance. It breaks ties between passages that fit the clause
// equally well: "what is the wifi password, and the door code, of the lake cabin?" names the cabin in one clause only, and
// the follow-up "and the door code?" does not name it at all.
const topicShare = 0.25

// likelihoodFloor limits what one token can cost a passage. A passage that makes one word impossible may still hold the next
// fact.
const likelihoodFloor = -20.0
