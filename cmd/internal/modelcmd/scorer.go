package modelcmd

import (
	"context"
	"errors"
	"fmt"

	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// ScorerFlag names a model that orders what one side's retrieval finds.
type ScorerFlag struct {
	Scorer string `help:"Let this encoder or cross-encoder (a GGUF of bert, nomic-bert or modern-bert, or its name in the models folder) choose among the passages found." placeholder:"FILE" hidden:""`
}

// OpenScorer opens the model that the flag names, on the device that compute names. It returns nil without the flag. The
// returned function closes the model.
func (f ScorerFlag) OpenScorer(a *cli.App, compute ModelFlags) (by search.Rerank, done func() error, err error) {
	if f.Scorer == "" {
		return nil, func() error { return nil }, nil
	}
	m, err := ModelFlags{Model: f.Scorer, Compute: compute.Compute, Threads: compute.Threads, Verify: compute.Verify}.Open(a)
	if err != nil {
		return nil, nil, fmt.Errorf("--scorer: %w", err)
	}
	r, err := model.NewRanker(m)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--scorer %s: %w", f.Scorer, err), m.Close())
	}
	return func(ctx context.Context, question string, found []passages.Passage) ([]float64, error) {
		texts := make([]string, len(found))
		for i, p := range found {
			texts[i] = p.Title + "\n" + p.Text
		}
		return r.Rank(ctx, question, texts)
	}, m.Close, nil
}
