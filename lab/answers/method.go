package answers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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

// open opens what computes a side's distributions.
func (p Product) open(ctx context.Context, req decoder.Request) (sideDecoder, error) {
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
		d, err := p.open(ctx, decoder.Request{Question: q.Text, History: q.node().History, Passages: found})
		if err != nil {
			return a, err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		ds[i] = d
		sides = append(sides, side{d, found})
		a.Read = append(a.Read, readTexts(found)...)
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
	var unknown bool
	a.Shown, a.First, a.Other, a.Sure, unknown = cited(sides, tok.Decode, ids)
	if a.Unknown = unknown || refusal.In(a.Text); a.Unknown || p.Extract == nil {
		a.Sure = 0
	}
	return a, nil
}

// cited returns what the programs show below an answer: the texts cited, the first of them for each part of the answer, and the
// sentences shown as contradicting it. It also returns the span reader's confidence in the answer's weakest part, and whether
// no document supports any sentence of the answer.
func cited(sides []side, decode func([]tandem.Token) string, ids []tandem.Token) (texts, first, others []string, sure float64, unknown bool) {
	unknown, sure = len(ids) > 0, 1
	for _, lead := range sides[0].Parts() {
		shares, other, nothing := sharesAt(sides, lead.From)
		if len(shares) > 0 {
			sure = min(sure, extract.Confidence(shares[0].relevance, other.Relevance))
		}
		best := math.Inf(-1)
		for _, s := range shares {
			best = max(best, s.relevance)
		}
		for _, s := range shares[:min(decoder.MaxQuotes, len(shares))] {
			if decoder.WorthShowing(s.weight, s.relevance, best) {
				texts = append(texts, s.text)
			}
		}
		if other.Text != "" && !slices.ContainsFunc(shares, func(s quoteShare) bool { return s.weight >= decoder.MinShare && s.text == other.Text }) {
			others = append(others, other.Text)
		}
		from := min(lead.From, len(ids))
		sentence := strings.TrimSpace(decode(ids[from:max(from, min(lead.To, len(ids)))]))
		refused := sentence == "" || refusal.Unknown(sentence, nothing)
		unknown = unknown && refused
		if len(shares) > 0 && refused && shares[0].points != "" {
			first = append(first, shares[0].points)
		} else if len(shares) > 0 {
			first = append(first, shares[0].text)
		}
	}
	return texts, first, others, sure, unknown
}

// quoteShare is a quote with its share of an answer's part.
type quoteShare struct {
	text, points      string // the whole quote, and the words of it that answer
	weight, relevance float64
}

// sharesAt returns the quotes of both sides for the part of an answer that begins at a token, by weight, the sentence that
// contradicts them with the highest relevance, and the share of the contexts without a document.
func sharesAt(sides []side, from int) (shares []quoteShare, other decoder.Quote, nothing float64) {
	other.Relevance = math.Inf(-1)
	total := math.Inf(-1)
	for _, s := range sides {
		if part := partAt(s.Parts(), from); part != nil {
			total = decoder.LogSumExp([]float64{total, part.H})
		}
	}
	for _, s := range sides {
		part := partAt(s.Parts(), from)
		if part == nil {
			continue
		}
		eta := math.Exp(part.H - total)
		nothing += eta * part.Nothing
		for _, q := range part.Quotes {
			shares = append(shares, quoteShare{q.Text, q.Text[q.From:q.To], eta * q.Weight, q.Relevance})
		}
		for _, q := range part.Otherwise {
			if q.Relevance > other.Relevance {
				other = q
			}
		}
	}
	slices.SortStableFunc(shares, func(x, y quoteShare) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(y.relevance, x.relevance))
	})
	return shares, other, nothing
}

func partAt(parts []decoder.Part, from int) *decoder.Part {
	for i := range parts {
		if parts[i].From == from {
			return &parts[i]
		}
	}
	return nil
}
