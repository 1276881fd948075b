package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/decoder"
	"tandem/decoder/kvstore"
	"tandem/examples"
	"tandem/lab"
	"tandem/lab/answers"
	"tandem/lab/report"
	"tandem/pair"
)

// experimentFlags are the flags of experiments that ask questions about the sample documents.
type experimentFlags struct {
	Questions           int     `help:"Number of questions about the sample documents; those that need both sides come first." default:"5"`
	Seed                uint64  `help:"Seed of the first answer; each answer adds one." default:"1"`
	Temperature         float64 `help:"0 for the likeliest token, 1 for the model's own distribution." default:"1"`
	MaxTokens           int     `help:"Maximum number of tokens in an answer." default:"64"`
	modelcmd.ModelFlags `group:"Model:"`
}

// modelFile names the model in tables.
func (f experimentFlags) modelFile() string {
	if f.Model == "" {
		return "built-in decoder"
	}
	return filepath.Base(f.Model)
}

// open opens the model and the sample documents. The returned function closes them.
func (f experimentFlags) open(a *cli.App) (s lab.Setup, closeAll func() error, err error) {
	questions, err := sampleQuestions(f.Questions)
	if err != nil {
		return s, func() error { return nil }, err
	}
	return f.openOn(a, questions, func(side tandem.Side) (answers.Index, error) {
		corpus := [...]fs.FS{tandem.Device: examples.Notes, tandem.Cloud: examples.Public}
		return indexcmd.ReadSamples(a, corpus[side], indexcmd.PassageFlags{}.BySentence())
	})
}

// openOn opens the model, and the documents of each side with index. The returned function closes them.
func (f experimentFlags) openOn(a *cli.App, questions []string, index func(tandem.Side) (answers.Index, error)) (s lab.Setup, closeAll func() error, err error) {
	var closers []func() error
	closeAll = func() error {
		var errs []error
		for _, c := range slices.Backward(closers) {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	weights, err := decoder.ParseWeights("reader")
	if err != nil {
		return s, closeAll, err
	}
	s.Settings = tandem.Settings{
		Gamma: tandem.HalfGamma, Nucleus: decoder.DefaultTopP, Support: decoder.DefaultMaxSupport, Lookahead: pair.DefaultLookahead,
		Seed: f.Seed, Sampling: tandem.Sampling{Temperature: f.Temperature, TopP: 1, RepeatPenalty: 1},
		MaxTokens: f.MaxTokens, Documents: 4, Weights: weights.String(),
	}
	if err := s.Settings.Check(); err != nil {
		return s, closeAll, err
	}
	s.Questions = questions
	if s.Model, err = f.Open(a); err != nil {
		return s, closeAll, err
	}
	closers = append(closers, s.Model.Close)
	for side := range s.Documents {
		x, err := index(tandem.Side(side))
		if err != nil {
			return s, closeAll, err
		}
		closers = append(closers, x.Close)
		s.Documents[side] = x
		kv, remove, err := temporaryKV()
		if err != nil {
			return s, closeAll, err
		}
		closers = append(closers, remove)
		s.KV[side] = kv
	}
	return s, closeAll, nil
}

// temporaryKV opens a store of KV caches in a folder of its own. The returned function closes and removes it.
func temporaryKV() (kv *kvstore.Store, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "tandem-lab-*")
	if err != nil {
		return nil, nil, err
	}
	if kv, err = kvstore.Open(dir, 256<<20); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return kv, func() error { return errors.Join(kv.Close(), os.RemoveAll(dir)) }, nil
}

// sampleQuestions returns n of the sample questions. Those that need documents of both sides come first.
func sampleQuestions(n int) ([]string, error) {
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

// runOnSamples runs an experiment on the sample documents and finishes its report.
func (f experimentFlags) runOnSamples(a *cli.App, name string, out outputFlags, run func(lab.Setup, report.Progress) (report.Report, error)) (err error) {
	s, closeAll, err := f.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	r, err := run(s, progress(a, name))
	if err != nil {
		return err
	}
	return out.finish(a, r)
}
