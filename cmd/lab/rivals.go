package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/lab"
)

type rivalsCmd struct {
	World   []string        `help:"Where sides differ: own (tokens that the other side does not know) or common (other masses over the same tokens)." default:"own,common"`
	Decode  []string        `help:"Times of a pass on device and cloud." default:"30ms/30ms,60ms/30ms,150ms/30ms,30ms/150ms"`
	RTT     []time.Duration `name:"rtt" help:"Round-trip times." default:"0s,50ms,100ms,300ms"`
	Rows    []int           `help:"Maximum number of rows in mirror's passes; 1 for a token a pass." default:"1,4,8,32"`
	Share   float64         `help:"Share of the probability that the two sides' distributions have in common." default:"0.8"`
	Tokens  int             `help:"Tokens of an answer." default:"100"`
	Answers int             `help:"Answers per figure." default:"20"`
	File    string          `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *rivalsCmd) Help() string {
	return `Examples:
  lab rivals
  lab rivals --world common --decode 30ms/30ms --rtt 300ms --rows 1,2,3,4 --answers 100

Simulated, in virtual time: seconds of an answer. The sides' distributions are random. Nobody guesses from documents, so besides the next draft, a side's passes hold only branches behind runners-up of its own races (hedges) and drafts of the other side (checks). A pass takes the same time with any number of rows.

floor: a pass for each token on the slower side. half: the paper's coupling with γ = 1/2, greedy placement by the paper's rule. fixed: all weight on the cloud's drafts, targets on the device. chosen: γ chosen by its Theorem 4.2, greedy by its rule; paying: the same with our rule for switching, which counts what a switch costs. Then follow mirror by coupling and rows, and the best of them divided by the paper's best without our rule and with it. Mirror gives the same text with any number of rows.`
}

func (c *rivalsCmd) Run(a *cli.App) error {
	decode, err := parseDelays(c.Decode)
	if err != nil {
		return err
	}
	if err := checkRTTs(c.RTT); err != nil {
		return err
	}
	if err := c.check(a, decode); err != nil {
		return err
	}
	var rows []lab.RivalsResult
	for _, w := range c.World {
		x := lab.Rivals{World: w, Decode: decode, RTT: c.RTT, Rows: c.Rows, Share: c.Share, Tokens: c.Tokens, Answers: c.Answers}
		got, err := x.Run(a, progress(a, "rivals, "+w))
		if err != nil {
			return err
		}
		rows = append(rows, got...)
	}
	a.Clear()
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"rows": rows})
	}
	c.print(a, rows)
	return nil
}

func (c *rivalsCmd) check(a *cli.App, decode [][2]time.Duration) error {
	for _, w := range c.World {
		if !slices.Contains(lab.RivalWorlds, w) {
			return fmt.Errorf("--world %s: unknown, use one or more of %s", w, strings.Join(lab.RivalWorlds, ", "))
		}
	}
	for _, d := range decode {
		if min(d[0], d[1]) <= 0 {
			return fmt.Errorf("--decode %v/%v: want two delays above 0", d[0], d[1])
		}
	}
	for _, n := range c.Rows {
		if n < 1 || n > tandem.MaxRows {
			return fmt.Errorf("--rows %d: want 1 to %d", n, tandem.MaxRows)
		}
	}
	switch {
	case c.Answers < 1 || c.Tokens < 1 || c.Tokens > 10_000:
		return fmt.Errorf("--answers and --tokens (at most 10000) must be above 0")
	case !(c.Share >= 0 && c.Share <= 1):
		return fmt.Errorf("--share must be between 0 and 1")
	}
	return a.CheckJSONFile(c.File)
}

func (c *rivalsCmd) print(a *cli.App, rows []lab.RivalsResult) {
	fmt.Fprintf(a.Out, "simulated: seconds of %d tokens, means of %d answers, %.0f %% of the probability shared\n\n%-7s %9s %5s %6s %6s %6s %6s %6s ",
		c.Tokens, c.Answers, 100*c.Share, "world", "decode", "RTT", "floor", "half", "fixed", "chosen", "paying")
	if len(rows) == 0 {
		return
	}
	for _, m := range rows[0].Mirror {
		fmt.Fprintf(a.Out, " %9s", fmt.Sprintf("%s %d", m.Coupling, m.Rows))
	}
	fmt.Fprintln(a.Out, "   best/paper, by rows")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%-7s %9s %5.0f %6.2f %6.2f %6.2f %6.2f %6.2f ", r.World, fmt.Sprintf("%.0f/%.0f", r.Device, r.Cloud), r.RTT, r.Floor, r.Half, r.Fixed, r.Chosen, r.Paying)
		for _, m := range r.Mirror {
			fmt.Fprintf(a.Out, " %9.2f", m.Seconds)
		}
		fmt.Fprint(a.Out, "  ")
		for _, n := range c.Rows {
			fmt.Fprintf(a.Out, " %.2f (%.2f)", r.Best(n).Seconds/r.Paper(), r.Best(n).Seconds/min(r.Paper(), r.Paying))
		}
		fmt.Fprintln(a.Out)
	}
	fmt.Fprintln(a.Out)
	for _, f := range lab.RivalFindings(rows, c.Rows) {
		fmt.Fprintln(a.Out, f)
	}
}
