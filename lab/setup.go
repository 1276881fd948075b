package lab

import (
	"context"
	"fmt"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/decoder/kvstore"
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

// local returns what a side reads its documents with, at most one token in each pace.
func (x Setup) local(side tandem.Side, pace time.Duration) node.Local {
	r := node.Local{Model: x.Model, Scorer: search.Lexical(), Documents: x.Documents[side], KV: x.KV[side], Pace: pace, ReadPace: x.Read[side], Draft: x.Draft, Rows: x.Rows}
	if x.Rows == 0 || x.Rows > tandem.MaxPassPlaces { // chains begin each answer without knowing anything
		r.Past = new(node.Past)
	}
	return r
}

// newDecoder prepares a side's decoder for a question.
func (x Setup) newDecoder(ctx context.Context, side tandem.Side, question string, contexts int) (*decoder.Decoder, error) {
	found, err := x.Documents[side].Search(ctx, passages.Query{Text: question}, x.Settings.Documents)
	if err != nil {
		return nil, fmt.Errorf("search the %v's documents: %w", side, err)
	}
	settings := x.Settings
	settings.Contexts = contexts
	cfg, err := node.Local{Model: x.Model, Scorer: search.Lexical()}.DecoderConfig(settings)
	if err != nil {
		return nil, err
	}
	return decoder.New(ctx, cfg, decoder.Request{Question: question, Passages: found})
}

// pairConfig returns the configuration of both sides' machines for a simulated answer.
func (x Setup) pairConfig(s Strategy, lookahead int) pair.Config {
	cfg := s.config()
	cfg.Seed, cfg.Sampling = x.Settings.Seed, x.Settings.Sampling
	cfg.MaxTokens, cfg.Stop, cfg.Vocab = x.Settings.MaxTokens, x.Model.Tokenizer().EOGs(), x.Model.Tokenizer().Size()
	cfg.Lookahead = lookahead
	return cfg
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
func (x Setup) play(ctx context.Context, sources []*answerSource, set sim.Setting) ([]sim.Outcome, error) {
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
			return nil, fmt.Errorf("question %q: %w", x.Questions[i], err)
		}
	}
	return out, nil
}
