package decoder

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Base is the text that a passage's relevance is measured against.
type Base uint8

// The bases of Weights.
const (
	// BaseSentence scores, at every token, the part of the question that is being answered together with the sentence
	// that is being written.
	BaseSentence Base = iota
	// BaseStatic scores the question once.
	BaseStatic
	// BaseRescore scores the question and the answer so far every few tokens, with momentum (DRAGON §4.1, "Dynamic
	// weights").
	BaseRescore
)

// Weights determine how the relevance R_t(d) of the passages changes with the answer. The zero value is Sentence; the
// programs' default is Supported.
type Weights struct {
	Base     Base
	Every    int     // for BaseRescore: tokens between scores, at least 1
	Momentum float64 // for BaseRescore: share of the old relevance that is kept, in [0, 1)

	// Likelihood adds Σ λ^(t−1−i) log p(x_i|d, x_<i) over the answer so far, the log-likelihood of the agreed tokens given
	// the passage. With λ = 1 and a static base it is the exact posterior p(d|x_<t) of DRAGON Eq. 1.
	Likelihood bool
	Lambda     float64 // λ in (0, 1]
	Reset      bool    // the sum restarts with every sentence

	// Support adds the model's own verdict on each passage, and a context without a passage (SupportConstants). It needs a
	// model trained for it; with others it has no effect.
	Support   bool
	Constants SupportConstants
}

// SupportConstants are the constants of Supported. Where a sentence begins, a model with a token for it (tokenizer.Unsupported)
// gives the probability P(s|d) that its passage supports the sentence. That changes the relevance to
//
//	R_t(d) = Lexical · R_t(d) + Support · logit P(s|d)
//
// and adds a context without a passage, with the relevance
//
//	R_t(∅) = Nothing + Echo · R_t(the question itself)
//
// where the last term is the relevance of a passage that says all that is asked. That context answers that it does not know.
// It outweighs the passages of both sides if none of them supports the sentence.
type SupportConstants struct{ Lexical, Support, Nothing, Echo float64 }

// Weights with names.
var (
	Sentence           = Weights{}
	Static             = Weights{Base: BaseStatic}
	Rescore            = Weights{Base: BaseRescore, Every: 8, Momentum: 0.5}
	Likelihood         = Weights{Base: BaseStatic, Likelihood: true, Lambda: 1, Reset: true}
	SentenceLikelihood = Weights{Likelihood: true, Lambda: 0.5, Reset: true}
	Supported          = Weights{Support: true, Constants: SupportConstants{Lexical: 0.5, Support: 1, Nothing: -3, Echo: 0.34}}
)

const weightsUsage = "use reader[:LEXICAL,READER,NOTHING,ECHO], static, rescore[:TOKENS[,MOMENTUM]], sentence, likelihood[:LAMBDA[,keep]] or sentence+likelihood[:LAMBDA[,keep]]"

// ParseWeights reads weights by name: "reader" (Supported), "static", "rescore", "sentence", "likelihood" or
// "sentence+likelihood". A colon gives parameters: "rescore:4,0.7" scores every 4 tokens with momentum 0.7;
// "likelihood:0.5" sets λ = 0.5, and "likelihood:1,keep" does not restart at a sentence.
func ParseWeights(s string) (Weights, error) {
	name, args, parameters := strings.Cut(strings.ToLower(strings.TrimSpace(s)), ":")
	bad := func(err error) (Weights, error) {
		return Weights{}, fmt.Errorf("weights %q: %w: %s", s, err, weightsUsage)
	}
	w, ok := named[name]
	if !ok {
		return bad(fmt.Errorf("unknown name %q", name))
	}
	if !parameters {
		return w, nil
	}
	if err := w.set(name, args); err != nil {
		return bad(err)
	}
	if err := w.check(); err != nil {
		return bad(err)
	}
	return w, nil
}

// named are the weights by name.
var named = map[string]Weights{
	"": Sentence, "sentence": Sentence, "static": Static, "rescore": Rescore, "likelihood": Likelihood,
	"sentence+likelihood": SentenceLikelihood, "reader": Supported,
}

// set sets the parameters of the weights with the given name.
func (w *Weights) set(name, args string) (err error) {
	first, second, two := strings.Cut(args, ",")
	switch {
	case w.Support:
		w.Constants, err = parseConstants(args)
		return err
	case w.Base == BaseRescore:
		if w.Every, err = strconv.Atoi(first); err != nil {
			return fmt.Errorf("%q is not a number of tokens", first)
		}
		if two {
			if w.Momentum, err = strconv.ParseFloat(second, 64); err != nil {
				return fmt.Errorf("%q is not a momentum", second)
			}
		}
	case w.Likelihood:
		if w.Lambda, err = strconv.ParseFloat(first, 64); err != nil {
			return fmt.Errorf("%q is not a λ", first)
		}
		if two && second != "keep" {
			return fmt.Errorf("unknown parameter %q", second)
		}
		w.Reset = !two
	default:
		return fmt.Errorf("%s takes no parameters", name)
	}
	return nil
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
	case w.Support:
		return fmt.Sprintf("reader:%g,%g,%g,%g", w.Constants.Lexical, w.Constants.Support, w.Constants.Nothing, w.Constants.Echo)
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

// check returns an error if a parameter is out of range.
func (w Weights) check() error {
	switch {
	case w.Base > BaseRescore:
		return fmt.Errorf("unknown base %d", w.Base)
	case w.Base == BaseRescore && w.Every < 1:
		return fmt.Errorf("rescoring every %d tokens: want 1 or more", w.Every)
	case w.Base == BaseRescore && !(w.Momentum >= 0 && w.Momentum < 1):
		return fmt.Errorf("momentum %v: want 0 or more and less than 1", w.Momentum)
	case w.Support && (w.Base != BaseSentence || w.Likelihood):
		return fmt.Errorf("reader weights need sentence weights without likelihood")
	case w.Support && !w.Constants.sane():
		return fmt.Errorf("constants %v of the reader weights: want all from 0 to 100, but the third from -100", w.Constants)
	case w.Likelihood && !(w.Lambda > 0 && w.Lambda <= 1):
		return fmt.Errorf("λ = %v: want more than 0 and at most 1", w.Lambda)
	}
	return nil
}

func parseConstants(args string) (s SupportConstants, err error) {
	parts := strings.Split(args, ",")
	if len(parts) != 4 {
		return s, fmt.Errorf("%q: want four numbers", args)
	}
	for i, v := range []*float64{&s.Lexical, &s.Support, &s.Nothing, &s.Echo} {
		if *v, err = strconv.ParseFloat(parts[i], 64); err != nil {
			return s, fmt.Errorf("%q is not a number", parts[i])
		}
	}
	return s, nil
}

func (s SupportConstants) sane() bool {
	const most = 100
	return s.Lexical >= 0 && s.Lexical <= most && s.Support >= 0 && s.Support <= most && s.Echo >= 0 && s.Echo <= most && math.Abs(s.Nothing) <= most
}
