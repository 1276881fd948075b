package main

import (
	"errors"
	"fmt"
	"os"

	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/lab/report"
)

type tracesCmd struct {
	Trace    string   `help:"A trace, or a folder of them: ping logs (*.txt), Mahimahi packet traces (*.up, *.down), tables (*.csv)." type:"path" required:"" placeholder:"FILE"`
	Windows  int      `help:"Places of each trace to replay, in addition to the worst." default:"2"`
	Method   []string `help:"Methods, with or without a placement." default:"device-alone,drdg-tw,dragon/greedy,tandem/mirror"`
	Decode   string   `help:"Decoding delays of device and cloud, or native for this machine's." default:"60ms/30ms"`
	Simulate bool     `help:"Simulate the answers in virtual time instead of running both sides."`
	experimentFlags
	outputFlags
}

func (c *tracesCmd) Help() string {
	return `Examples:
  lab traces --trace ping.txt
  lab traces --trace recorded-networks --windows 5 --simulate --json rows.json`
}

func (c *tracesCmd) Run(a *cli.App) error {
	d, err := parseDelays([]string{c.Decode})
	methods, methodErr := lab.Methods(c.Method)
	if err = errors.Join(err, methodErr, c.check(a)); err != nil {
		return err
	}
	if c.Windows < 0 || c.Windows > 1000 {
		return fmt.Errorf("--windows %d: want 0 to 1000", c.Windows)
	}
	files := []string{c.Trace}
	if info, err := os.Stat(c.Trace); err != nil {
		return fmt.Errorf("--trace: %w", err)
	} else if info.IsDir() {
		if files, err = lab.TraceFiles(c.Trace); err != nil {
			return err
		}
	}
	return c.runOnSamples(a, "traces", c.outputFlags, func(b lab.Setup, p report.Progress) (report.Report, error) {
		return lab.Traces{Setup: b, Files: files, Windows: c.Windows, Delays: d[0], Methods: methods, Simulated: c.Simulate}.Run(a, p)
	})
}
