package main

import (
	"errors"
	"fmt"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/lab/report"
)

type speedupCmd struct {
	Tokens   int             `help:"Tokens of a simulated answer." default:"1000"`
	Cloud    time.Duration   `name:"cloud-delay" help:"Decoding delay of the cloud." default:"30ms"`
	RTT      time.Duration   `name:"rtt" help:"Round-trip time." default:"300ms"`
	Accept   []float64       `name:"rates" help:"Acceptance rates of the cloud's drafts in simulated answers." default:"0.3,0.6,0.9"`
	Device   []time.Duration `name:"delays" help:"Decoding delays of the device in live answers." default:"30ms,150ms,300ms"`
	Simulate bool            `help:"Simulated answers only."`
	experimentFlags
	outputFlags
}

func (c *speedupCmd) Help() string {
	return `Examples:
  lab speedup --simulate
  lab speedup --rtt 100ms --rates 0.5,0.9 --delays 30ms,60ms

The figure shows the speedup that Theorem 6.2 predicts over the device's decoding delay, with simulated and live answers as points.`
}

func (c *speedupCmd) Run(a *cli.App) error {
	if err := errors.Join(checkRTTs([]time.Duration{c.RTT}), c.check(a)); err != nil {
		return err
	}
	for _, d := range append([]time.Duration{c.Cloud}, c.Device...) {
		if d < 0 || d > time.Minute {
			return fmt.Errorf("--cloud-delay %v and --delays %v: want 0 to 1m", c.Cloud, c.Device)
		}
	}
	for _, alpha := range c.Accept {
		if !(alpha >= 0 && alpha <= 1) {
			return fmt.Errorf("--rates %v: want 0 to 1", alpha)
		}
	}
	if c.Tokens < 10 || c.Tokens > 100_000 {
		return fmt.Errorf("--tokens %d: want 10 to 100000", c.Tokens)
	}
	x := lab.Speedup{Tokens: c.Tokens, Cloud: c.Cloud, RTT: c.RTT, Accept: c.Accept}
	longest := c.Cloud + c.RTT + c.RTT/4
	for i := range 13 {
		x.Device = append(x.Device, max(longest*time.Duration(i)/12, time.Millisecond))
	}
	if c.Simulate {
		r, err := x.Run(a, progress(a, "speedup"))
		if err != nil {
			return err
		}
		return c.finish(a, r)
	}
	return c.runOnSamples(a, "speedup", c.outputFlags, func(b lab.Setup, p report.Progress) (report.Report, error) {
		x.Setup, x.Live = b, c.Device
		return x.Run(a, p)
	})
}
