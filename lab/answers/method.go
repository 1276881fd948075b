package answers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder"
	"tandem/decoder/extract"
	"tandem/internal/refusal"
	"tandem/retrieval/passages"
)

// Method is a way to answer questions from a world's documents.
type Method struct {
	Name   string
	Answer func(ctx context.Context, l *Library, q Question) (Answer, error)
}

// Methods returns the ways that the product answers, and Quote.
func (p Product) Methods() []Method {
	return []Method{
		{"pair", func(ctx context.Context, l *Library, q Question) (Answer, error) {
			return p.answer(ctx, q, p.Documents, l.Device, l.Cloud)
		}},
		{"device", func(ctx context.Context, l *Library, q Question) (Answer, error) {
			return p.answer(ctx, q, p.Documents, l.Device)
		}},
		{"cloud", func(ctx context.Context, l *Library, q Question) (Answer, error) {
			return p.answer(ctx, q, p.Documents, l.Cloud)
		}},
		{"one-side", func(ctx context.Context, l *Library, q Question) (Answer, error) {
			return p.answer(ctx, q, 2*p.Documents, l.All)
		}},
		{"quote", Quote},
	}
}

// Quote answers with BM25's best sentence of all documents. No model takes part, and it says that it does not know only
// if no sentence has a word of the question.
func Quote(_ context.Context, l *Library, q Question) (Answer, error) {
	begun := time.Now()
	query := q.node().Query()
	best := l.Sentences.Best(query.Before+" "+query.Text, 1)
	a := Answer{Unknown: len(best) == 0, Shown: best, First: best, Read: best, Took: time.Since(begun)}
	if len(best) > 0 {
		a.Text = best[0]
	}
	return a, nil
}

// Product answers as the programs do: retrieval from each side's index, a decoder for each side, and the token that both
// distributions give. It takes the likeliest token, as by default. The text does not depend on the placement, the
// coupling or the network, so the sides run in lock step here.
type Product struct {
	Config    decoder.Config
	Extract   *extract.Config // the span reader that answers; nil for the decoder
	Documents int             // passages that each side retrieves
}

// side is one side's part in an answer.
type side struct {
	sideDecoder
	passages []passages.Passage
}

// sideDecoder is a *decoder.Decoder or an *extract.Decoder.
type sideDecoder interface {
	decoder.Producer
	Parts() []decoder.Part
	Close() error
}

// newDecoder prepares what computes a side's distributions.
func (p Product) newDecoder(ctx context.Context, req decoder.Request) (sideDecoder, error) {
	if p.Extract != nil {
		return extract.New(ctx, *p.Extract, req)
	}
	return decoder.New(ctx, p.Config, req)
}

// answer answers with one side or two, each from its own index.
func (p Product) answer(ctx context.Context, q Question, documents int, from ...Index) (a Answer, err error) {
	begun := time.Now()
	var sides []side
	var ds [2]decoder.Producer
	for i, x := range from {
		found, err := q.search(ctx, x, documents)
		if err != nil {
			return a, err
		}
		d, err := p.newDecoder(ctx, decoder.Request{Question: q.Text, History: q.node().History, Passages: found})
		if err != nil {
			return a, err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		ds[i] = d
		sides = append(sides, side{d, found})
		a.Read = append(a.Read, textsWithTitles(found)...)
	}
	tok := p.Config.Model.Tokenizer()
	targets, err := decoder.LockStep(ctx, ds[0], ds[1], aggregator.Rule{Greedy: true}, tok.EOGs(), p.Config.MaxTokens)
	if err != nil {
		return a, fmt.Errorf("answer %q: %w", q.Text, err)
	}
	var ids []tandem.Token
	for _, t := range targets {
		ids = append(ids, t.Token)
	}
	a.Text = strings.TrimSpace(tok.Decode(ids))
	a.Took = time.Since(begun)
	a.addCitations(sides, tok.Decode, ids)
	a.Unknown = a.Unknown || refusal.In(a.Text)
	if a.Unknown || p.Extract == nil {
		a.Confidence = 0
	}
	return a, nil
}
