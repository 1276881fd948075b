package decoder

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tandem/retrieval/passages"
)

// Base is what a passage's relevance is measured against.
type Base uint8

// The bases of Weights.
const (
	// BaseSentence scores the part of the question that is being answered together with the sentence that
	// is being written, at every token.
	BaseSentence Base = iota
	// BaseStatic scores the question once.
	BaseStatic
	// BaseRescore scores question and answer so far every few tokens, with momentum (DRAGON §4.1,
	// "Dynamic weights").
	BaseRescore
)

// Weights says how the relevance R_t(d) of the passages follows the answer. The zero value is sentence
// weights; the programs' default is Reader.
type Weights struct {
	Base     Base
	Every    int     // rescore: tokens between two scores, 1 or more
	Momentum float64 // rescore: share of the old relevance that stays, in [0, 1)

	// Likelihood adds Σ λ^(t−1−i) log p(x_i|d, x_<i) over the answer so far: what the passage itself made of
	// the agreed tokens. With λ = 1 over a static base it is the exact posterior p(d|x_<t) of DRAGON Eq. 1.
	Likelihood bool
	Lambda     float64 // λ in (0, 1]
	Reset      bool    // the sum begins anew with every sentence

	// Reader adds what the model itself makes of each passage, and a document that holds nothing (Support).
	// It takes a model that was trained for it; with others it changes nothing.
	Reader  bool
	Support Support
}

// Support are the constants of the reader weights. Where a sentence begins, a model that can
// (tokenizer.Unsupported) says with P(s|d) whether its passage supports that sentence. That changes the
// relevance to
//
//	R_t(d) = Lexical · R_t(d) + Reader · logit P(s|d)
//
// and a context without a document joins, with the relevance
//
//	R_t(∅) = Nothing + Echo · R_t(the question itself)
//
// where the last is what a passage would have that says all that is asked. It answers that it does not know,
// and outweighs the passages of both sides when none of them supports the sentence.
type Support struct{ Lexical, Reader, Nothing, Echo float64 }

// The weights that have names of their own. Reader is the programs' default.
var (
	Sentence           = Weights{}
	Static             = Weights{Base: BaseStatic}
	Rescore            = Weights{Base: BaseRescore, Every: 8, Momentum: 0.5}
	Likelihood         = Weights{Base: BaseStatic, Likelihood: true, Lambda: 1, Reset: true}
	SentenceLikelihood = Weights{Likelihood: true, Lambda: 0.5, Reset: true}
	Reader             = Weights{Reader: true, Support: Support{Lexical: 0.5, Reader: 1, Nothing: -3, Echo: 0.34}}
)

const weightsUsage = "use reader[:LEXICAL,READER,NOTHING,ECHO], static, rescore[:TOKENS[,MOMENTUM]], sentence, likelihood[:LAMBDA[,keep]] or sentence+likelihood[:LAMBDA[,keep]]"

// ParseWeights reads weights by name: "reader", "static", "rescore", "sentence", "likelihood" or
// "sentence+likelihood". A colon gives parameters: "rescore:4,0.7" scores every 4 tokens with momentum 0.7;
// "likelihood:0.5" forgets with λ = 0.5, and "likelihood:1,keep" does not begin anew at a sentence.
func ParseWeights(s string) (Weights, error) {
	name, args, parameters := strings.Cut(strings.ToLower(strings.TrimSpace(s)), ":")
	bad := func(err error) (Weights, error) {
		return Weights{}, fmt.Errorf("weights %q: %w: %s", s, err, weightsUsage)
	}
	var w Weights
	switch name {
	case "", "sentence":
		w = Sentence
	case "static":
		w = Static
	case "rescore":
		w = Rescore
	case "likelihood":
		w = Likelihood
	case "sentence+likelihood":
		w = SentenceLikelihood
	case "reader":
		w = Reader
	default:
		return bad(fmt.Errorf("unknown name %q", name))
	}
	if !parameters {
		return w, nil
	}
	first, second, two := strings.Cut(args, ",")
	var err error
	switch {
	case w.Reader:
		if w.Support, err = parseSupport(args); err != nil {
			return bad(err)
		}
	case w.Base == BaseRescore:
		if w.Every, err = strconv.Atoi(first); err != nil {
			return bad(fmt.Errorf("%q is not a number of tokens", first))
		}
		if two {
			if w.Momentum, err = strconv.ParseFloat(second, 64); err != nil {
				return bad(fmt.Errorf("%q is not a momentum", second))
			}
		}
	case w.Likelihood:
		if w.Lambda, err = strconv.ParseFloat(first, 64); err != nil {
			return bad(fmt.Errorf("%q is not a λ", first))
		}
		if two && second != "keep" {
			return bad(fmt.Errorf("unknown parameter %q", second))
		}
		w.Reset = !two
	default:
		return bad(fmt.Errorf("%s takes no parameters", name))
	}
	if err := w.check(); err != nil {
		return bad(err)
	}
	return w, nil
}

// String returns the name that ParseWeights reads back.
func (w Weights) String() string {
	var likelihood string
	if w.Likelihood {
		likelihood = "likelihood:" + strconv.FormatFloat(w.Lambda, 'g', -1, 64)
		if !w.Reset {
			likelihood += ",keep"
		}
	}
	switch {
	case w.Reader:
		return fmt.Sprintf("reader:%g,%g,%g,%g", w.Support.Lexical, w.Support.Reader, w.Support.Nothing, w.Support.Echo)
	case w.Base == BaseRescore:
		return fmt.Sprintf("rescore:%d,%s", w.Every, strconv.FormatFloat(w.Momentum, 'g', -1, 64))
	case w.Base == BaseSentence && w.Likelihood:
		return "sentence+" + likelihood
	case w.Base == BaseSentence:
		return "sentence"
	case w.Likelihood:
		return likelihood
	}
	return "static"
}

// check reports parameters that make no sense.
func (w Weights) check() error {
	switch {
	case w.Base > BaseRescore:
		return fmt.Errorf("unknown base %d", w.Base)
	case w.Base == BaseRescore && w.Every < 1:
		return fmt.Errorf("rescoring every %d tokens: want 1 or more", w.Every)
	case w.Base == BaseRescore && !(w.Momentum >= 0 && w.Momentum < 1):
		return fmt.Errorf("momentum %v: want 0 or more and less than 1", w.Momentum)
	case w.Reader && (w.Base != BaseSentence || w.Likelihood):
		return fmt.Errorf("reader weights go with sentence weights only")
	case w.Reader && !w.Support.sane():
		return fmt.Errorf("constants %v of the reader weights: want all from 0 to 100, but the third from -100", w.Support)
	case w.Likelihood && !(w.Lambda > 0 && w.Lambda <= 1):
		return fmt.Errorf("λ = %v: want more than 0 and at most 1", w.Lambda)
	}
	return nil
}

// topicShare is the share of the whole question, and of the one before it, in a sentence relevance. It
// breaks ties between passages that fit the clause alike: "what is the wifi password, and the door code, of
// the lake cabin?" names the cabin in one clause only, and "and the door code?" in none.
const topicShare = 0.25

// likelihoodFloor bounds what one token can cost a passage. A passage that finds one word impossible may
// still hold the next fact.
const likelihoodFloor = -20.0

// relevance computes R_t(d). It keeps nothing about the answer; a moment does.
type relevance struct {
	weights  Weights
	question question
	topic    string                                      // the question, after the one before it in the conversation
	scores   func(dst []float64, query string) []float64 // appends the scorer's relevance of each passage
	rows     []int                                       // row of each passage
	// speaks reports that each row says whether it supports the sentence; the last row is then the one
	// without a document
	speaks bool
}

// moment is what R_t depends on besides the question and the passages: one for every position of the
// answer, so that a rollback is a truncation.
type moment struct {
	end  int       // bytes of answer text before this position
	base []float64 // relevance of each passage without likelihood; and last of the echo, when rows speak
	like []float64 // Σ λ^… log p per row since `from`; nil without Likelihood
	from int       // where in the answer text the sum began

	begun   int       // where in the answer text the current sentence begins
	support []float64 // log-odds that each row supports the current sentence; nil when rows do not say
}

// first returns the moment before the first token of an answer, in so many rows. support reads what the
// rows say there.
func (r *relevance) first(rows int, support func() []float64) moment {
	m := moment{}
	if r.speaks {
		m.support = support()
	}
	if r.weights.Likelihood {
		m.like = make([]float64, rows)
	}
	if r.weights.Base == BaseSentence {
		m.base = r.sentence(nil)
	} else {
		m.base = r.scores(nil, r.topic)
	}
	return m
}

// next returns the moment after one more token. text is the answer's text with that token, t the number of
// answer tokens with it, and logp the token's log-probability in each row; logp may be nil unless the
// weights need it. support reads what the rows said before that token.
func (r *relevance) next(m moment, text []byte, t int, logp []float64, support func() []float64) moment {
	n := moment{end: len(text), base: m.base, from: m.from, begun: sentenceStart(text), support: m.support}
	if r.speaks && n.begun != m.begun {
		n.support = support()
	}
	switch r.weights.Base {
	case BaseSentence:
		n.base = r.sentence(text)
	case BaseRescore:
		if t%r.weights.Every == 0 {
			mu := r.weights.Momentum
			n.base = r.scores(nil, join(r.topic, string(text)))
			for d := range n.base {
				n.base[d] = mu*m.base[d] + (1-mu)*n.base[d]
			}
		}
	}
	if r.weights.Likelihood {
		n.like = make([]float64, len(m.like))
		keep := r.weights.Lambda
		if r.weights.Reset && n.begun != m.from {
			n.from, keep = n.begun, 0
		}
		for i := range n.like {
			n.like[i] = keep*m.like[i] + max(logp[i], likelihoodFloor)
		}
	}
	return n
}

// sentence scores the passages against the clause that the current sentence answers, and against the whole
// topic, each joined with that sentence.
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
	if r.speaks {
		n := len(r.rows)
		out[n] = out[n+i]
		out = out[:n+1]
	}
	return out
}

// echoes are passages that say no more than a clause of the question, and last the whole: what a passage
// about it would be scored with at best.
func (q question) echoes() []passages.Passage {
	var out []passages.Passage
	for i := range len(q.clauses) + 1 {
		out = append(out, passages.Passage{Text: q.part(i)})
	}
	return out
}

// at returns R_t of each passage, and last that of the row without a document where there is one.
func (r *relevance) at(m moment) []float64 {
	out := append(make([]float64, 0, len(m.base)+1), m.base...)
	for d, row := range r.rows {
		if m.like != nil {
			out[d] += m.like[row]
		}
		if r.speaks {
			out[d] = r.weights.Support.Lexical*out[d] + r.weights.Support.Reader*m.support[row]
		}
	}
	if r.speaks {
		echo := &out[len(r.rows)]
		*echo = r.weights.Support.Nothing + r.weights.Support.Echo**echo
	}
	return out
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + " " + b
}

// logSumExp returns log Σ exp x, −Inf for no x.
func logSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// softmax returns exp(x − logsumexp x).
func softmax(x []float64) []float64 {
	out, z := make([]float64, len(x)), logSumExp(x)
	for i, v := range x {
		out[i] = math.Exp(v - z)
	}
	return out
}
