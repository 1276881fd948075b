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
	Contexts []int           `help:"Maximum number of contexts in a pass; 1 is plain mirror." default:"1,2,4,8"`
	Guess    float64         `help:"Also simulate a drafter that guesses a side's own next draft right with this probability; 0 for no drafter." default:"0.7"`
	Decode   string          `help:"Time of a pass on device and cloud." default:"30ms/30ms"`
	Share    float64         `help:"Share of the probability that the two sides' distributions have in common." default:"0.8"`
	Tokens   int             `help:"Tokens of an answer." default:"100"`
	Answers  int             `help:"Answers per figure." default:"12"`
	Live     bool            `help:"Instead let a device and a cloud in this process answer questions about the sample documents, over an emulated network, at the pace of --decode."`
	experimentFlags
	File string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *hedgeCmd) Help() string {
	return `Examples:
  lab hedge
  lab hedge --decode 150ms/30ms --guess 0
  lab hedge --rtt 300ms --contexts 1,2,3 --guess 0 --json rows.json
  lab hedge --live --contexts 1,4 --questions 10 --json live.json

It simulates two sides in mirror (the machine of package pair in virtual time) whose passes decode several contexts. Besides the next draft, a pass decodes what would follow the runners-up of a side's own race (hedges), what follows drafts of the other side for earlier steps (checks: several steps in one pass), and, with a drafter, what would follow its guesses. The text is always the same. A pass is assumed to take the same time with any number of contexts, as on a device whose memory is the bottleneck.

Passes and contexts are the device's, per token of the answer. Hedges, checks and guesses: the share of tokens whose draft needed no pass on the device, by the kind of context that gave it. Cloud's: the number of hedges of the cloud that replaced a draft still on its way.

With --live, the same happens between real sides. Their profilers choose how many of the allowed contexts a pass takes, and guesses come from the documents.`
}

func (c *hedgeCmd) Run(a *cli.App) error {
	decode, err := parseDelays([]string{c.Decode})
	if err = errors.Join(err, checkRTTs(c.RTT), c.check(a)); err != nil {
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
	fmt.Fprintf(a.Out, "simulated: %d tokens, %s a pass, %.0f %% of the probability shared, mirror\n\n%8s %6s %8s %8s %6s  %s\n",
		c.Tokens, c.Decode, 100*c.Share, "RTT", "limit", "drafter", "seconds", "ratio", passHead)
	for _, r := range rows {
		drafter := "none"
		if r.Guess > 0 {
			drafter = fmt.Sprintf("%.0f %%", 100*r.Guess)
		}
		fmt.Fprintf(a.Out, "%5.0f ms %6d %8s %8.2f %6.2f  %s\n", r.RTT, r.Contexts, drafter, r.TokenMs*float64(c.Tokens)/1e3, r.Ratio, passColumns(r))
	}
	return nil
}

// check checks the flags.
func (c *hedgeCmd) check(a *cli.App) error {
	switch {
	case c.Answers < 1 || c.Tokens < 1 || c.Tokens > 10_000:
		return fmt.Errorf("--answers and --tokens (at most 10000) must be above 0")
	case !(c.Guess >= 0 && c.Guess <= 1) || !(c.Share >= 0 && c.Share <= 1):
		return fmt.Errorf("--guess and --share must be between 0 and 1")
	}
	for _, n := range c.Contexts {
		if n < 1 || n > tandem.MaxPassPlaces {
			return fmt.Errorf("--contexts %d: want 1 to %d", n, tandem.MaxPassPlaces)
		}
	}
	return a.CheckJSONFile(c.File)
}

// live measures real sides.
func (c *hedgeCmd) live(a *cli.App, decode [2]time.Duration) (err error) {
	b, closing, err := c.experimentFlags.open(a)
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
	fmt.Fprintf(a.Out, "live, mirror, paced: %s a pass, %d answers; the text is always the same\n\n%8s %6s %8s %10s %6s  %s %9s\n",
		c.Decode, len(b.Questions), "RTT", "limit", "tokens", "ms/token", "ratio", passHead, "B/token")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%5.0f ms %6d %8d %10.1f %6.2f  %s %9.0f\n", r.RTT, r.Contexts, r.Tokens, r.TokenMs, r.Ratio, passColumns(r), r.DraftBytes)
	}
	return nil
}

// passHead is the head of the columns that passColumns fills.
const passHead = "passes contexts  hedges  checks guesses  cloud's"

// passColumns returns the columns that say what passes decoded.
func passColumns(r lab.HedgeResult) string {
	b := r.Shares
	return fmt.Sprintf("%6.2f %8.1f %5.0f %% %5.0f %% %5.0f %% %8d", b.Passes, b.Contexts, 100*b.Hedges, 100*b.Checks, 100*b.Guesses, r.Hedges)
}

// save writes the results as JSON if --json asks for it, and reports whether it did.
func (c *hedgeCmd) save(a *cli.App, rows []lab.HedgeResult, err error) (done bool, _ error) {
	switch {
	case err != nil:
		return false, err
	case a.Globals.JSON:
		return true, a.JSONTo(c.File, map[string]any{"rows": rows})
	}
	return false, nil
}
