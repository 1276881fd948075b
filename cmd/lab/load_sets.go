package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/lab/answers"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// open opens the model, and the sample documents or those of the sets. The returned function closes them.
func (c *loadCmd) open(a *cli.App) (lab.Setup, func() error, error) {
	if len(c.Sets) == 0 {
		return c.experimentFlags.open(a)
	}
	documents, questions, err := c.readSets()
	if err != nil {
		return lab.Setup{}, nil, err
	}
	words := cmp.Or(c.PassageWords, passages.DefaultWords)
	if c.Model == "" {
		words = c.BySentence().PassageWords
	}
	return c.openOn(a, questions, func(side tandem.Side) (answers.Index, error) {
		o := answers.Options{Options: search.Options{Words: words}}
		if side == tandem.Device {
			return o.Index(a, nil)
		}
		return o.Index(a, documents)
	})
}

// readSets returns the documents of the sets and their questions, without those that follow up others.
func (c *loadCmd) readSets() (documents []answers.Document, questions []string, err error) {
	worlds := 0
	for _, name := range c.Sets {
		sets, err := setSource{data: c.Data, seed: c.Seed}.open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("--sets %s: %w (name the folder with --data)", name, err)
		}
		if err != nil {
			return nil, nil, err
		}
		for _, s := range sets {
			for _, w := range s.Sample(c.Questions, c.Seed).Worlds {
				for _, d := range slices.Concat(w.Sides[0], w.Sides[1]) { // worlds may have files of the same name
					documents = append(documents, answers.Document{Name: fmt.Sprintf("%d/%s", worlds, d.Name), Data: d.Data})
				}
				worlds++
				for _, q := range w.Questions {
					if len(q.Earlier) == 0 {
						questions = append(questions, q.Text)
					}
				}
			}
		}
	}
	if len(questions) == 0 {
		return nil, nil, fmt.Errorf("no question of the sets is asked without one before it: ask more with --questions")
	}
	return documents, questions, nil
}
