package main

import (
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/node"
	"tandem/specdec"
)

// guessFlags choose what guesses the next tokens of an answer.
type guessFlags struct {
	Draft        string `help:"What guesses the next tokens, so that one pass decodes several; the text is the same. auto (the drafters that cost nothing before the answer), off, all (also calibration on the prompts), or some of pld, sam, ngrams, calibration and reuse, separated by commas. Measured costs of passes limit the guesses." default:"auto" placeholder:"DRAFTERS" hidden:""`
	DraftHistory bool   `help:"Keep the answers on this machine, and guess from those kept before (see history list)." hidden:""`
}

// guess makes the device guess as the flags say.
func (s *session) guess(f guessFlags) (err error) {
	r := &s.device.Local
	if r.Draft, err = specdec.ParseSet(f.Draft); err != nil {
		return fmt.Errorf("--draft: %w", err)
	}
	switch {
	case !f.DraftHistory:
	case !r.Draft.Has(specdec.WithSAM):
		return fmt.Errorf("--draft-history: drafters %s do not read it: add sam", f.Draft)
	default:
		r.History, err = openHistory(s.app, s.model)
	}
	return err
}

// remember adds an answer to the history, if one is open.
func (s *session) remember(answer node.Answer) error {
	h := s.device.Local.History
	if h == nil || len(answer.Tokens) == 0 {
		return nil
	}
	var tokens []tandem.Token
	for _, t := range answer.Tokens {
		tokens = append(tokens, t.ID)
	}
	return h.Add("answer", tokens, time.Now())
}

// speculator returns what drafts as --draft says; nil means ordinary decoding.
func (c *runCmd) speculator(a *cli.App, m *model.Model) (*specdec.Speculator, error) {
	set, err := specdec.ParseSet(c.Draft)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--draft: %w", err)
	case set.None() && c.History:
		return nil, errors.New("--history is for drafting: leave out --draft off")
	case c.History && !set.Has(specdec.WithSAM):
		return nil, fmt.Errorf("--history: drafters %s do not read it: use --draft sam or all", c.Draft)
	case set.None() && c.Forecast != "":
		return nil, errors.New("--forecast is for drafting: leave out --draft off")
	case set.None():
		return nil, nil
	}
	if c.History {
		h, err := openHistory(a, m)
		if err != nil {
			return nil, err
		}
		c.history = h
	}
	s := &specdec.Speculator{Chooser: &specdec.Chooser{Learn: true}, Acceptance: &specdec.Acceptance{}}
	s.Drafters, s.Calibration = set.Drafters(c.history)
	rows, adapter, err := c.Embeddings(a, m)
	if err == nil && rows != nil {
		s.Forecast = &specdec.Forecast{Embeddings: rows, Adapter: adapter}
		s.Drafters = append([]specdec.Drafter{s.Forecast}, s.Drafters...)
	}
	return s, err
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
