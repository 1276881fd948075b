package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder"
	"tandem/decoder/kvstore"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/model"
	"tandem/node"
	"tandem/pair"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/specdec"
)

// Setup is what experiments with real answers need: a model, documents on both sides, questions, and settings.
type Setup struct {
	Model     *model.Model
	Documents [2]node.Searcher // indexed by tandem.Side
	Questions []string
	Settings  tandem.Settings   // the strategy replaces placement and coupling
	KV        [2]*kvstore.Store // keep the caches of passages between answers; nil for none
	Read      [2]time.Duration  // least time to read a token of a prompt
	Draft     specdec.Set       // what both sides guess with
	Rows      int               // most rows of a pass; 0 for tandem.MaxRows
}

// reader returns what a side reads its documents with, at most one token in each pace.
func (b Setup) reader(side tandem.Side, pace time.Duration) node.Local {
	r := node.Local{Model: b.Model, Scorer: search.Lexical(), Documents: b.Documents[side], KV: b.KV[side], Pace: pace, Read: b.Read[side], Draft: b.Draft, Rows: b.Rows}
	if b.Rows == 0 || b.Rows > tandem.MaxPassPlaces { // chains begin each answer without knowing anything
		r.Past = new(node.Past)
	}
	return r
}

// decode prepares a side's decoder for a question.
func (b Setup) decode(ctx context.Context, side tandem.Side, question string, rows int) (*decoder.Decoder, error) {
	found, err := b.Documents[side].Search(ctx, passages.Query{Text: question}, b.Settings.Documents)
	if err != nil {
		return nil, fmt.Errorf("search the %v's documents: %w", side, err)
	}
	settings := b.Settings
	settings.Contexts = rows
	cfg, err := node.Local{Model: b.Model, Scorer: search.Lexical()}.DecoderConfig(settings)
	if err != nil {
		return nil, err
	}
	return decoder.New(ctx, cfg, decoder.Request{Question: question, Passages: found})
}

// answers is the Source of a question in simulations: the distributions of both sides' real decoders. It computes each once
// and remembers it, since a distribution depends only on the tokens before it.
type answers struct {
	ctx   context.Context
	mu    sync.Mutex
	sides [2]remembering
}

// remembering is a decoder with a cache of the distributions that it has computed.
type remembering struct {
	decoder *decoder.Decoder
	held    []tandem.Token // that the decoder holds
	known   map[string]aggregator.Local
}

// source prepares both sides for a question. The caller must close it.
func (b Setup) source(ctx context.Context, question string) (*answers, error) {
	a := &answers{ctx: ctx}
	for side := range a.sides {
		d, err := b.decode(ctx, tandem.Side(side), question, b.Settings.Contexts)
		if err != nil {
			return nil, errors.Join(err, a.Close())
		}
		a.sides[side] = remembering{decoder: d, known: map[string]aggregator.Local{}}
	}
	return a, nil
}

// Close frees the decoders.
func (a *answers) Close() error {
	var errs []error
	for _, s := range a.sides {
		if s.decoder != nil {
			errs = append(errs, s.decoder.Close())
		}
	}
	return errors.Join(errs...)
}

// After implements sim.Source.
func (a *answers) After(side tandem.Side, answer []tandem.Token) (aggregator.Local, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.sides[side]
	key := string(appendTokens(nil, answer))
	if l, ok := s.known[key]; ok {
		return l, nil
	}
	keep := 0
	for keep < min(len(s.held), len(answer)) && s.held[keep] == answer[keep] {
		keep++
	}
	if keep == len(answer) && keep > 0 {
		keep-- // the decoder needs a token to compute a distribution
	}
	out, err := s.decoder.Next(a.ctx, keep, answer[keep:])
	if err != nil {
		s.held = s.held[:0]
		return aggregator.Local{}, err
	}
	s.held = append(s.held[:keep], answer[keep:]...)
	l := aggregator.Local{Dist: out.Dist, H: out.H}
	s.known[key] = l
	return l, nil
}

// machine returns the settings of both machines for a simulated answer.
func (b Setup) machine(s Strategy, lookahead int) pair.Config {
	cfg := s.config()
	cfg.Seed, cfg.Sampling = b.Settings.Seed, b.Settings.Sampling
	cfg.MaxTokens, cfg.Stop, cfg.Vocab = b.Settings.MaxTokens, b.Model.Tokenizer().EOGs(), b.Model.Tokenizer().Size()
	cfg.Lookahead = lookahead
	return cfg
}

// sources prepares all questions. The caller must close them.
func (b Setup) sources(ctx context.Context, progress report.Progress) ([]*answers, error) {
	out := make([]*answers, len(b.Questions))
	for i, q := range b.Questions {
		a, err := b.source(ctx, q)
		if err != nil {
			return nil, errors.Join(err, closeAll(out))
		}
		out[i] = a
		if progress != nil {
			progress(i+1, len(b.Questions))
		}
	}
	return out, nil
}

func closeAll(sources []*answers) error {
	var errs []error
	for _, a := range sources {
		if a != nil {
			errs = append(errs, a.Close())
		}
	}
	return errors.Join(errs...)
}

// lookahead is how many steps a side must draft ahead so that it need not wait for a round trip, with a few to spare.
func lookahead(rtt time.Duration, decode [2]time.Duration) int {
	step := max(decode[0], decode[1])
	if step <= 0 {
		return tandem.MaxLookahead
	}
	return int(min(max(int64(rtt/step)+4, pair.DefaultLookahead), tandem.MaxLookahead))
}

// play simulates all questions with a strategy.
func (b Setup) play(ctx context.Context, sources []*answers, set sim.Setting) ([]sim.Outcome, error) {
	out := make([]sim.Outcome, len(sources))
	seed := set.Pair.Seed
	for i, a := range sources {
		set.Source = a
		set.Pair.Seed = seed + uint64(i)
		for s := range set.Link {
			set.Link[s].Seed = uint64(2*i + s)
		}
		var err error
		if out[i], err = sim.Run(ctx, set); err != nil {
			return nil, fmt.Errorf("question %q: %w", b.Questions[i], err)
		}
	}
	return out, nil
}
