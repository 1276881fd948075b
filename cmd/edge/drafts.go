package main

import (
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/model"
	"tandem/model/span"
	"tandem/specdec"
)

// guessFlags are modelcmd.DraftFlags of commands whose help leaves them out.
type guessFlags struct {
	Draft    string `help:"What guesses the next tokens, so that one pass decodes several; the text is the same. auto (the drafters that cost nothing before the answer), off, all (also calibration on the prompts), or some of pld, sam, ngrams, recycle, calibration, reuse, history (answers given before, which are then kept: see history list) and forecast, separated by commas: auto,history. Measured costs of passes limit the guesses." default:"auto" placeholder:"DRAFTERS" hidden:""`
	Forecast string `help:"Also draft with forecast embeddings, which train.forecast makes for a model: a name or path as with --lora." placeholder:"NAME" hidden:""`
}

func (f guessFlags) drafts() modelcmd.DraftFlags {
	return modelcmd.DraftFlags{Draft: f.Draft, ForecastFlags: modelcmd.ForecastFlags{Forecast: f.Forecast}}
}

// drafting returns the drafters of flags with what they need, for a model that decodes, or for reader if it is not nil. If they
// read a history, it is opened.
func drafting(a *cli.App, m *model.Model, reader *span.Reader, f modelcmd.DraftFlags) (s specdec.Set, r specdec.Resources, err error) {
	if s, err = f.DraftersFor(reader); err != nil {
		return s, r, err
	}
	if r, err = f.Resources(a, m); err == nil && s.Has(specdec.WithHistory) {
		r.History, err = openHistory(a, m)
	}
	return s, r, err
}

// guess makes the device guess as the flags say.
func (s *session) guess(f guessFlags) (err error) {
	r := &s.device.Local
	r.Draft, r.Resources, err = drafting(s.app, s.model, s.reader, f.drafts())
	return err
}

// speculator returns what drafts as --draft says; nil means ordinary decoding.
func (c *runCmd) speculator(a *cli.App, m *model.Model) (s *specdec.Speculator, err error) {
	set, resources, err := drafting(a, m, nil, c.DraftFlags)
	if err != nil || set.None() {
		return nil, err
	}
	c.history = resources.History
	s = &specdec.Speculator{Chooser: &specdec.Chooser{Learn: true}, Acceptance: &specdec.Acceptance{}}
	s.Drafters, s.Calibration, s.Forecast = set.Drafters(resources)
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
