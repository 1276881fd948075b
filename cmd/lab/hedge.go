package main

import (
	"errors"
	"fmt"
	"time"

	"tandem"

	"tandem/cmd/internal/cli"
	"tandem/lab"
)

type hedgeCmd struct {
	RTT      []time.Duration `name:"rtt" help:"Round-trip times." default:"0s,100ms,300ms"`
	Contexts []int           `help:"Contexts that a pass decodes; 1 is plain mirror." default:"1,2,4,8"`
	Guess    float64         `help:"How often a drafter's guess of a side's own next draft is right, in further rows of the table; 0 for no drafter." default:"0.7"`
	Decode   string          `help:"Time of a pass of device and cloud." default:"30ms/30ms"`
	Share    float64         `help:"Share of the mass that the two sides' distributions have in common." default:"0.8"`
	Tokens   int             `help:"Tokens of an answer." default:"100"`
	Answers  int             `help:"Answers that each figure is the mean of." default:"12"`
	Live     bool            `help:"Ask questions about the sample documents instead, of a device and a cloud in this process, over an emulated path and at a pace of --decode."`
	answerFlags
	File string `arg:"" optional:"" type:"path" help:"With --json: the file that the rows go to; without it, standard output."`
}

func (c *hedgeCmd) Help() string {
	return `Examples:
  lab hedge
  lab hedge --decode 150ms/30ms --guess 0
  lab hedge --rtt 300ms --contexts 1,2,3 --guess 0 --json rows.json
  lab hedge --live --contexts 1,4 --questions 10 --json live.json

Simulated: two sides in mirror (the machine of package pair in virtual time) whose passes decode several contexts. Beside the next draft, a pass takes what would follow the
runners-up of a side's own race (hedges), what follows the drafts that the other side has sent for the steps behind (checks: several steps in one pass), and with a drafter
what would follow tokens that it guesses. The text is the same in every row; passes are taken to last equally long whatever their rows, as on a device that waits for its memory.

Passes and contexts are the device's, for a token of the answer. Hedges, checks and guesses: the share of its tokens for which its own draft took no pass, by what its
context was decoded as. Cloud's: how many hedges of the cloud took the place of a draft that was still on its way.

Live: the same between real sides, whose profilers choose how many of --contexts a pass takes, guesses from their documents, and passes at the pace of --decode.`
}

func (c *hedgeCmd) Run(a *cli.App) error {
	decode, err := delays([]string{c.Decode})
	if err = errors.Join(err, trips(c.RTT), c.check(a)); err != nil {
		return err
	}
	if c.Live {
		return c.live(a, decode[0])
	}
	if min(decode[0][0], decode[0][1]) <= 0 {
		return fmt.Errorf("--decode %s: want two delays above 0, as in 150ms/30ms, or --live", c.Decode)
	}
	guesses := []float64{0}
	if c.Guess > 0 {
		guesses = append(guesses, c.Guess)
	}
	x := lab.HedgeSimulated{RTT: c.RTT, Contexts: c.Contexts, Guess: guesses, Decode: decode[0], Share: c.Share, Tokens: c.Tokens, Answers: c.Answers}
	rows, err := x.Run(a, progress(a, "hedge"))
	a.Clear()
	if done, err := c.save(a, rows, err); done || err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "simulated: %d tokens, %s a pass, %.0f %% of the mass shared, mirror\n\n%8s %6s %8s %8s %6s  %s\n",
		c.Tokens, c.Decode, 100*c.Share, "RTT", "rows", "drafter", "seconds", "ratio", besideHead)
	for _, r := range rows {
		drafter := "none"
		if r.Guess > 0 {
			drafter = fmt.Sprintf("%.0f %%", 100*r.Guess)
		}
		fmt.Fprintf(a.Out, "%5.0f ms %6d %8s %8.2f %6.2f  %s\n", r.RTT, r.Contexts, drafter, r.TokenMs*float64(c.Tokens)/1e3, r.Ratio, besideText(r))
	}
	return nil
}

// check refuses settings that make no sense.
func (c *hedgeCmd) check(a *cli.App) error {
	switch {
	case c.Answers < 1 || c.Tokens < 1 || c.Tokens > 10_000:
		return fmt.Errorf("--answers and --tokens (at most 10000) must be above 0")
	case !(c.Guess >= 0 && c.Guess <= 1) || !(c.Share >= 0 && c.Share <= 1):
		return fmt.Errorf("--guess and --share must be between 0 and 1")
	}
	for _, n := range c.Contexts {
		if n < 1 || n > tandem.MaxContexts {
			return fmt.Errorf("--contexts %d: want 1 to %d", n, tandem.MaxContexts)
		}
	}
	return a.CheckJSONFile(c.File)
}

// live measures with real sides.
func (c *hedgeCmd) live(a *cli.App, decode [2]time.Duration) (err error) {
	b, closing, err := c.answerFlags.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	b.Settings.Lookahead = tandem.MaxLookahead / 2
	rows, err := lab.Hedge{Setup: b, RTT: c.RTT, Contexts: c.Contexts, Decode: decode}.Run(a, progress(a, "hedge"))
	a.Clear()
	if done, err := c.save(a, rows, err); done || err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "live, mirror, paced: %s a pass, %d answers; the text is the same in every row\n\n%8s %6s %8s %10s %6s  %s %9s\n",
		c.Decode, len(b.Questions), "RTT", "rows", "tokens", "ms/token", "ratio", besideHead, "B/token")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%5.0f ms %6d %8d %10.1f %6.2f  %s %9.0f\n", r.RTT, r.Contexts, r.Tokens, r.TokenMs, r.Ratio, besideText(r), r.DraftBytes)
	}
	return nil
}

const besideHead = "passes contexts  hedges  checks guesses  cloud's"

// besideText is a row's part of the table under besideHead.
func besideText(r lab.HedgeResult) string {
	b := r.Beside
	return fmt.Sprintf("%6.2f %8.1f %5.0f %% %5.0f %% %5.0f %% %8d", b.Passes, b.Contexts, 100*b.Hedges, 100*b.Checks, 100*b.Guesses, r.Hedges)
}

// save writes the rows where they are wanted for programs, and reports whether they were.
func (c *hedgeCmd) save(a *cli.App, rows []lab.HedgeResult, err error) (done bool, _ error) {
	switch {
	case err != nil:
		return false, err
	case a.Globals.JSON:
		return true, a.JSONTo(c.File, map[string]any{"rows": rows})
	}
	return false, nil
}
