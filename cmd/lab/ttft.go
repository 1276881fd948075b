package main

import (
	"errors"
	"fmt"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/lab/report"
)

type ttftCmd struct {
	Decode   string          `help:"Decoding delays of device and cloud, or native for this machine's." default:"native"`
	RTT      []time.Duration `name:"rtt" help:"Round-trip times." default:"0ms,50ms,100ms,150ms,200ms,250ms,300ms"`
	Simulate bool            `help:"Simulate the answers in virtual time instead of running both sides."`
	Prefill  string          `help:"Time that device and cloud take per token of a prompt, as in 30ms/6ms. Default: this machine's own." placeholder:"TIME/TIME"`
	experimentFlags
	outputFlags
}

func (c *ttftCmd) Help() string {
	return `Examples:
  lab ttft
  lab ttft --decode 150ms/30ms --prefill 30ms/6ms
  lab ttft --simulate --rtt 100ms,300ms`
}

func (c *ttftCmd) Run(a *cli.App) error {
	d, err := parseDelays([]string{c.Decode})
	if err = errors.Join(err, checkRTTs(c.RTT), c.check(a)); err != nil {
		return err
	}
	x := lab.TTFT{Delays: d[0], RTTs: c.RTT, Simulated: c.Simulate}
	var read [2]time.Duration
	if c.Prefill != "" {
		p, err := parseDelays([]string{c.Prefill})
		if err != nil {
			return fmt.Errorf("--prefill %q: want two delays, as in 30ms/6ms", c.Prefill)
		}
		read = p[0]
	}
	return c.runOnSamples(a, "ttft", c.outputFlags, func(b lab.Setup, p report.Progress) (report.Report, error) {
		x.Setup = b
		x.Read = read
		return x.Run(a, p)
	})
}
