package main

import (
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/specdec"
)

// speculator returns what drafts as --draft says; nil means ordinary decoding.
func (c *runCmd) speculator(a *cli.App, m *model.Model) (*specdec.Speculator, error) {
	switch {
	case c.Draft == "off" && c.History:
		return nil, errors.New("--history is for drafting: leave out --draft off")
	case c.Draft == "pld" && c.History:
		return nil, errors.New("--draft pld drafts from the prompt only: use --draft sam or all with --history")
	case c.Draft == "off":
		return nil, nil
	}
	s := &specdec.Speculator{Chooser: &specdec.Chooser{Learn: true}, Acceptance: &specdec.Acceptance{}}
	sam := &specdec.SAM{Tree: c.Draft == "all" || c.Draft == "auto"}
	if c.History {
		h, err := openHistory(a, m)
		if err != nil {
			return nil, err
		}
		c.history, sam.History = h, h
	}
	switch c.Draft {
	case "pld":
		s.Drafters = []specdec.Drafter{&specdec.Lookup{}}
	case "sam":
		s.Drafters = []specdec.Drafter{sam}
	case "auto":
		s.Drafters = []specdec.Drafter{&specdec.Lookup{Branches: 2}, sam, &specdec.Ngrams{}, &specdec.Reuse{}}
	case "all":
		s.Calibration = &specdec.Calibration{}
		s.Drafters = []specdec.Drafter{&specdec.Lookup{Branches: 2}, sam, &specdec.Ngrams{}, s.Calibration, &specdec.Reuse{}}
	}
	return s, nil
}

// remember adds the prompt and the answer to the history, if one is open.
func (c *runCmd) remember(prompt, answer []tandem.Token) error {
	if c.history == nil {
		return nil
	}
	now := time.Now()
	return errors.Join(c.history.Add("context", prompt, now), c.history.Add("answer", answer, now))
}

func printDrafts(a *cli.App, s specdec.Stats) {
	valid, wasted, underutilised := s.Shares()
	fmt.Fprintln(a.Aside, a.Faint(fmt.Sprintf("%d passes · %.2f tokens a pass · rows of a graph of 32: %.0f %% valid, %.0f %% wasted, %.0f %% underutilised · drafting %.2f ms a pass",
		s.Passes, s.AcceptLength(), 100*valid, 100*wasted, 100*underutilised, s.DraftingPerStep().Seconds()*1e3)))
	if n := s.Cases.Missing + s.Cases.Synonym + s.Cases.Redundant; n > 0 {
		fmt.Fprintln(a.Aside, a.Faint(fmt.Sprintf("%d rejections: %d missing, %d synonym, %d redundant", n, s.Cases.Missing, s.Cases.Synonym, s.Cases.Redundant)))
	}
}
