package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/decoder/kvstore"
	"tandem/examples"
	"tandem/lab"
	"tandem/pair"
)

// answerFlags say what is asked in experiments with real answers.
type answerFlags struct {
	cli.ModelFlags
	Questions   int     `help:"How many questions about the sample documents, those first that need both sides." default:"5"`
	Seed        uint64  `help:"Seed of the first answer; each next one has the next." default:"1"`
	Temperature float64 `help:"0 for the likeliest token, 1 for the model's own distribution." default:"1"`
	MaxTokens   int     `help:"Most tokens of an answer." default:"64"`
}

// open prepares what answers are made of. The caller closes it.
func (f answerFlags) open(a *cli.App) (b lab.Setup, closing func() error, err error) {
	closing = func() error { return nil }
	weights, err := decoder.ParseWeights("reader")
	if err != nil {
		return b, closing, err
	}
	b.Settings = tandem.Settings{
		Gamma: tandem.HalfGamma, Nucleus: decoder.DefaultTopP, Support: decoder.DefaultMaxSupport, Lookahead: pair.DefaultLookahead,
		Seed: f.Seed, Sampling: tandem.Sampling{Temperature: f.Temperature, TopP: 1, RepeatPenalty: 1},
		MaxTokens: f.MaxTokens, Documents: 4, Weights: weights.String(),
	}
	if err := b.Settings.Check(); err != nil {
		return b, closing, err
	}
	if b.Questions, err = twoSided(f.Questions); err != nil {
		return b, closing, err
	}
	if b.Model, err = f.Open(a); err != nil {
		return b, closing, err
	}
	closing = b.Model.Close
	for side := range b.Documents {
		corpus := examples.Notes
		if tandem.Side(side) == tandem.Cloud {
			corpus = examples.Public
		}
		x, err := cli.Sample(a, corpus, cli.PassageFlags{})
		if err != nil {
			return b, closing, errors.Join(err, closing())
		}
		b.Documents[side] = x
		rest := closing
		closing = func() error { return errors.Join(x.Close(), rest()) }
		dir, err := os.MkdirTemp("", "tandem-lab-*")
		if err != nil {
			return b, closing, errors.Join(err, closing())
		}
		if b.KV[side], err = kvstore.Open(dir, 256<<20); err != nil {
			return b, closing, errors.Join(err, closing())
		}
		before := closing
		closing = func() error { return errors.Join(before(), os.RemoveAll(dir)) }
	}
	return b, closing, nil
}

// twoSided returns n of the sample questions, those first that need documents of both sides.
func twoSided(n int) ([]string, error) {
	var both, rest []string
	lines := bufio.NewScanner(bytes.NewReader(examples.Questions))
	for lines.Scan() {
		var q struct {
			Question      string
			Device, Cloud bool
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("sample questions: %w", err)
		}
		if q.Device && q.Cloud {
			both = append(both, q.Question)
		} else {
			rest = append(rest, q.Question)
		}
	}
	all := append(both, rest...)
	if n < 1 || n > len(all) {
		return nil, fmt.Errorf("--questions %d: want 1 to %d", n, len(all))
	}
	return all[:n], lines.Err()
}

// with runs an experiment with real answers.
func (f answerFlags) with(a *cli.App, name string, out outputFlags, run func(lab.Setup, lab.Progress) (lab.Report, error)) (err error) {
	b, closing, err := f.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	r, err := run(b, progress(a, name))
	if err != nil {
		return err
	}
	return out.finish(a, r)
}
