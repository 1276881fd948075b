package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tandem/internal/cli"
	"tandem/lab"
	"tandem/lab/sim"
	"tandem/pair"
)

type labHedge struct {
	RTT     []time.Duration `name:"rtt" help:"Round-trip times." default:"0s,100ms,300ms"`
	Rows    []int           `help:"Contexts that a pass decodes; 1 is plain mirror." default:"1,2,4,8"`
	Guess   float64         `help:"How often a drafter's guess of a side's own next draft is right, in further rows of the table; 0 for no drafter." default:"0.7"`
	Decode  time.Duration   `help:"Time of a pass on either side." default:"30ms"`
	Share   float64         `help:"Share of the mass that the two sides' distributions have in common." default:"0.8"`
	Tokens  int             `help:"Tokens of an answer." default:"100"`
	Answers int             `help:"Answers that each figure is the mean of." default:"12"`
	Live    bool            `help:"Ask questions about the sample documents instead, of a device and a cloud in this process, over an emulated path and at a pace of --decode."`
	labAnswers
	File string `arg:"" optional:"" type:"path" help:"With --json: the file that the rows go to; without it, standard output."`
}

func (c *labHedge) Help() string {
	return `Examples:
  edge lab hedge
  edge lab hedge --rtt 300ms --rows 1,2,3 --guess 0 --json rows.json
  edge lab hedge --live --rows 1,4 --questions 10 --json live.json

Simulated: two sides in mirror whose passes decode several contexts. Beside the next draft, a pass takes what would follow the runner-up of a side's own race, and so on,
the likeliest first (hedges); with a drafter also what would follow tokens that it guesses (several steps in one pass). The text is the same in every row; passes are
taken to last equally long whatever their rows, as on a device that waits for its memory. Contexts: how many each side decodes and sends for a token of the answer.

Live: the same between real sides, whose profilers choose how many of --rows contexts a pass takes, guesses from their documents, and passes at the pace of --decode.`
}

// hedgeRow is one line of the table.
type hedgeRow struct {
	RTT       float64 `json:"rtt_ms"`
	Rows      int     `json:"rows"`
	Guess     float64 `json:"guess"`
	Seconds   float64 `json:"seconds"`
	Contexts  float64 `json:"contexts_per_token"`
	Simulated bool    `json:"simulated"`
}

func (c *labHedge) Run(a *cli.App) error {
	switch {
	case c.Answers < 1 || c.Tokens < 1 || c.Tokens > 10_000 || c.Decode <= 0:
		return fmt.Errorf("--answers, --tokens (at most 10000) and --decode must be above 0")
	case !(c.Guess >= 0 && c.Guess <= 1) || !(c.Share >= 0 && c.Share <= 1):
		return fmt.Errorf("--guess and --share must be between 0 and 1")
	case c.File != "" && !a.Globals.JSON:
		return fmt.Errorf("%s: a file for the rows needs --json before it", c.File)
	}
	if c.Live {
		return c.live(a)
	}
	guesses := []float64{0}
	if c.Guess > 0 {
		guesses = append(guesses, c.Guess)
	}
	var rows []hedgeRow
	for _, rtt := range c.RTT {
		for _, guess := range guesses {
			for _, n := range c.Rows {
				if n < 1 || n > 64 {
					return fmt.Errorf("--rows %d: want 1 to 64", n)
				}
				if guess > 0 && n == 1 {
					continue // no row to spare
				}
				a.Progress("RTT %v, %d rows", rtt, n)
				row := hedgeRow{RTT: ms(rtt), Rows: n, Guess: guess, Simulated: true}
				for seed := range uint64(c.Answers) {
					o, err := sim.Hedging{Source: sim.Sharing(seed, c.Share), Seed: seed, Tokens: c.Tokens, Decode: [2]time.Duration{c.Decode, c.Decode},
						RTT: rtt, Rows: n, Guess: guess}.Play(a)
					if err != nil {
						return err
					}
					row.Seconds += o.Took.Seconds() / float64(c.Answers)
					row.Contexts += float64(o.Decoded[0]+o.Decoded[1]) / 2 / float64(c.Tokens*c.Answers)
				}
				rows = append(rows, row)
			}
		}
	}
	a.Clear()
	switch {
	case c.File != "":
		data, err := json.MarshalIndent(map[string]any{"rows": rows}, "", "  ")
		if err != nil {
			return err
		}
		return cli.WriteFile(c.File, append(data, '\n'))
	case a.Globals.JSON:
		return a.JSON(map[string]any{"rows": rows})
	}
	fmt.Fprintf(a.Out, "simulated: %d tokens, %v a pass on both sides, %.0f %% of the mass shared, mirror\n\n%8s %6s %8s %10s %18s\n", c.Tokens, c.Decode, 100*c.Share, "RTT", "rows", "drafter", "seconds", "contexts a token")
	for _, r := range rows {
		drafter := "none"
		if r.Guess > 0 {
			drafter = fmt.Sprintf("%.0f %%", 100*r.Guess)
		}
		fmt.Fprintf(a.Out, "%5.0f ms %6d %8s %10.2f %18.1f\n", r.RTT, r.Rows, drafter, r.Seconds, r.Contexts)
	}
	return nil
}

// live measures with real sides.
func (c *labHedge) live(a *cli.App) (err error) {
	b, closing, err := c.labAnswers.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	for _, n := range c.Rows {
		if n < 1 || n > pair.MaxContexts {
			return fmt.Errorf("--rows %d: want 1 to %d with --live", n, pair.MaxContexts)
		}
	}
	b.Settings.Lookahead = pair.MaxLookahead / 2
	rows, err := lab.Hedge{Bench: b, RTT: c.RTT, Contexts: c.Rows, Decode: c.Decode}.Run(a, func(done, total int) { a.Progress("%d of %d rows", done, total) })
	if err != nil {
		return err
	}
	a.Clear()
	switch {
	case c.File != "":
		data, err := json.MarshalIndent(map[string]any{"rows": rows}, "", "  ")
		if err != nil {
			return err
		}
		return cli.WriteFile(c.File, append(data, '\n'))
	case a.Globals.JSON:
		return a.JSON(map[string]any{"rows": rows})
	}
	fmt.Fprintf(a.Out, "live, mirror, paced: %v a pass on both sides, %d answers; the text is the same in every row\n\n%8s %8s %8s %10s %6s %8s %8s %14s\n",
		c.Decode, len(b.Questions), "RTT", "contexts", "tokens", "ms/token", "ratio", "ahead", "hedges", "draft B/token")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%5.0f ms %8d %8d %10.1f %6.2f %6.0f %% %8d %14.0f\n", r.RTT, r.Contexts, r.Tokens, r.TokenMs, r.Ratio, 100*r.Ahead, r.Hedges, r.DraftBytes)
	}
	return nil
}
