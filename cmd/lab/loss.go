package main

import (
	"errors"
	"fmt"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/lab/report"
)

type lossCmd struct {
	Loss     []float64     `help:"Shares of packets lost." default:"0,0.01,0.02,0.05,0.1"`
	Decode   []string      `help:"Decoding delays of device and cloud, or native for this machine's; several with commas." default:"150ms/30ms,30ms/30ms"`
	RTT      time.Duration `name:"rtt" help:"Round-trip time." default:"100ms"`
	Simulate bool          `help:"Simulate the answers in virtual time instead of running both sides."`
	AtOnce   int           `help:"Live runs at the same time. Paced decoding leaves the processor time for several." default:"1"`
	experimentFlags
	outputFlags
}

func (c *lossCmd) Help() string {
	return `Examples:
  lab loss
  lab loss --simulate --loss 0,0.05 --decode 150ms/30ms
  lab loss --rtt 200ms --at-once 4

Datagrams repeat every draft that is not acknowledged yet; a stream resends a lost packet after a timeout. The report shows how much later the tokens arrive.`
}

func (c *lossCmd) Run(a *cli.App) error {
	d, err := parseDelays(c.Decode)
	if err = errors.Join(err, checkRTTs([]time.Duration{c.RTT}), c.check(a)); err != nil {
		return err
	}
	for _, l := range c.Loss {
		if !(l >= 0 && l <= 0.5) {
			return fmt.Errorf("--loss %v: want shares of 0 to 0.5", l)
		}
	}
	return c.runOnSamples(a, "loss", c.outputFlags, func(b lab.Setup, p report.Progress) (report.Report, error) {
		return lab.Loss{Setup: b, Delays: d, RTT: c.RTT, Losses: c.Loss, Simulated: c.Simulate, AtOnce: c.AtOnce}.Run(a, p)
	})
}
