package spec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/model"
	"tandem/model/sample"
	"tandem/specdec"
)

// Input is a prompt.
type Input struct {
	Tokens []tandem.Token
	Cut    bool           // it was longer than the context allows
	Said   []tandem.Token // the answer, if its words are not the model's own (see Words)
}

// Experiment measures ways of drafting on the inputs of a task.
type Experiment struct {
	Model           *model.Model
	Name            string         // of the model, for the results
	Costs           specdec.Costs  // of a pass, in seconds
	CostsOf         string         // the model that they were measured with
	Own             specdec.Costs  // of the model's own passes, where Costs are another's; nil for none
	Eagle           float64        // what a pass of the simulated EAGLE's drafter takes, as a share of a pass of one row (EagleShare)
	Forecast        [][]float32    // embeddings, for ForecastMethods
	ForecastAdapter *model.Adapter // of their rows
	Denoiser        *model.Model   // a diffusion model of the same vocabulary, for Blocks; nil for none
	History         string         // folder for histories of earlier answers, which "auto+history" and "all+history" use
	MaxTokens       int
	Rows            int // of a pass [32]
	Sampling        sample.Params
	Words           Words // of the answers; a reference must be there
}

// Replayed returns the inputs with the answers that Words asks for, and the share of the references' tokens for which the model
// would have chosen another token.
func (s Experiment) Replayed(ctx context.Context, inputs []Input) (out []Input, share report.Number, err error) {
	others, all := 0, 0
	for i, in := range inputs {
		in.Said = in.Said[:min(len(in.Said), s.MaxTokens)]
		if s.Words.Reference && len(in.Said) == 0 {
			continue // nobody wrote one
		}
		in, n, err := s.Words.replay(ctx, s.Model, in, uint64(i))
		if err != nil {
			return nil, share, err
		}
		out, others, all = append(out, in), others+n, all+len(in.Said)
	}
	if len(out) == 0 {
		return nil, share, errors.New("no input has a reference: leave out --words")
	}
	if s.Words.Reference {
		share = report.Is(float64(others) / float64(all))
	}
	return out, share, nil
}

// checkDenoiser reports whether the denoiser's blocks can be drafts.
func (s Experiment) checkDenoiser() error {
	switch d := s.Denoiser; {
	case d == nil:
		return fmt.Errorf("method %s: no diffusion model is given", Blocks)
	case !d.Config().Diffusion:
		return fmt.Errorf("method %s: %s is not a diffusion model", Blocks, d.Config().Name)
	case d.Tokenizer().Fingerprint() != s.Model.Tokenizer().Fingerprint():
		return fmt.Errorf("method %s: %s has another vocabulary than %s", Blocks, d.Config().Name, s.Model.Config().Name)
	}
	return nil
}

// Run measures the methods on the inputs, one after the other. It compares every answer with plain decoding's: a
// difference is an error.
func (s Experiment) Run(ctx context.Context, task string, inputs []Input, methods []string, progress report.Progress) ([]Result, error) {
	if slices.Contains(methods, Blocks) {
		if err := s.checkDenoiser(); err != nil {
			return nil, err
		}
	}
	runs := make([]*methodRun, len(methods))
	for i, name := range methods {
		r, err := s.newRun(task, name)
		if err != nil {
			return nil, err
		}
		runs[i] = r
	}
	inputs, others, err := s.Replayed(ctx, inputs)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // for threadTime
	defer runtime.UnlockOSThread()
	var plainPrefill time.Duration
	tokens := 0
	for i, in := range inputs {
		// Once to warm up, twice for the prefill's time.
		want, stats, err := s.generate(ctx, in, nil)
		if err != nil {
			return nil, err
		}
		_, again, err := s.generate(ctx, in, nil)
		if err != nil {
			return nil, err
		}
		plainPrefill += min(stats.Prefill, again.Prefill)
		tokens += len(want)
		for j, r := range runs {
			if err := r.measure(ctx, s, in, want); err != nil {
				return nil, fmt.Errorf("%s, input %d, %s: %w", task, i+1, r.name, err)
			}
			if progress != nil {
				progress(i*len(runs)+j+1, len(inputs)*len(runs))
			}
		}
	}
	all := Result{Task: task, Model: s.Name, Words: s.Words.String(), Others: others, Inputs: len(inputs), Tokens: tokens, CostsOf: s.CostsOf}
	var results []Result
	for _, r := range runs {
		results = append(results, r.result(all, plainPrefill))
	}
	return results, nil
}

func (s Experiment) generate(ctx context.Context, in Input, spec sample.Speculator) (out []tandem.Token, stats sample.Stats, err error) {
	params, most := s.Sampling, s.MaxTokens
	if len(in.Said) > 0 {
		params.Replay, most = in.Said, min(most, len(in.Said))
	}
	stats, err = sample.GenerateWith(ctx, s.Model, in.Tokens, params, most, spec, func(t tandem.Token) error {
		out = append(out, t)
		return nil
	})
	return out, stats, err
}
