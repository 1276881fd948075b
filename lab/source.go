package lab

import (
	"context"
	"errors"
	"sync"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder"
	"tandem/lab/report"
)

// answerSource is the Source of a question in simulations: the distributions of both sides' real decoders. It computes each once
// and remembers it, since a distribution depends only on the tokens before it.
type answerSource struct {
	ctx   context.Context
	mu    sync.Mutex
	sides [2]cachedDecoder
}

// cachedDecoder is a decoder with a cache of the distributions that it has computed.
type cachedDecoder struct {
	decoder   *decoder.Decoder
	inDecoder []tandem.Token // that the decoder holds
	cache     map[string]aggregator.Local
}

// source prepares both sides for a question. The caller must close it.
func (x Setup) source(ctx context.Context, question string) (*answerSource, error) {
	a := &answerSource{ctx: ctx}
	for side := range a.sides {
		d, err := x.newDecoder(ctx, tandem.Side(side), question, x.Settings.Contexts)
		if err != nil {
			return nil, errors.Join(err, a.Close())
		}
		a.sides[side] = cachedDecoder{decoder: d, cache: map[string]aggregator.Local{}}
	}
	return a, nil
}

// Close frees the decoders.
func (a *answerSource) Close() error {
	var errs []error
	for _, s := range a.sides {
		if s.decoder != nil {
			errs = append(errs, s.decoder.Close())
		}
	}
	return errors.Join(errs...)
}

// After implements sim.Source.
func (a *answerSource) After(side tandem.Side, answer []tandem.Token) (aggregator.Local, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.sides[side]
	key := string(appendTokens(nil, answer))
	if l, ok := s.cache[key]; ok {
		return l, nil
	}
	keep := 0
	for keep < min(len(s.inDecoder), len(answer)) && s.inDecoder[keep] == answer[keep] {
		keep++
	}
	if keep == len(answer) && keep > 0 {
		keep-- // the decoder needs a token to compute a distribution
	}
	out, err := s.decoder.Next(a.ctx, keep, answer[keep:])
	if err != nil {
		s.inDecoder = s.inDecoder[:0]
		return aggregator.Local{}, err
	}
	s.inDecoder = append(s.inDecoder[:keep], answer[keep:]...)
	l := aggregator.Local{Dist: out.Dist, H: out.H}
	s.cache[key] = l
	return l, nil
}

// sources prepares all questions. The caller must close them.
func (x Setup) sources(ctx context.Context, progress report.Progress) ([]*answerSource, error) {
	out := make([]*answerSource, len(x.Questions))
	for i, q := range x.Questions {
		a, err := x.source(ctx, q)
		if err != nil {
			return nil, errors.Join(err, closeAll(out))
		}
		out[i] = a
		if progress != nil {
			progress(i+1, len(x.Questions))
		}
	}
	return out, nil
}

func closeAll(sources []*answerSource) error {
	var errs []error
	for _, a := range sources {
		if a != nil {
			errs = append(errs, a.Close())
		}
	}
	return errors.Join(errs...)
}
