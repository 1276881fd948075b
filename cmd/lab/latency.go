package main

import (
	"errors"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/lab/report"
)

type latencyCmd struct {
	Method   []string        `help:"Methods, with or without a placement: tandem, tandem/mirror, dragon, drdg-tw, drdg-sw-fast, drdg-sw-full, crcg, device-alone. Default: all." placeholder:"NAME,…"`
	Decode   []string        `help:"Decoding delays of device and cloud, or native for this machine's; several with commas." default:"150ms/30ms,30ms/30ms"`
	RTT      []time.Duration `name:"rtt" help:"Round-trip times." default:"0ms,50ms,100ms,150ms,200ms,250ms,300ms"`
	Simulate bool            `help:"Simulate the answers in virtual time instead of running both sides."`
	AtOnce   int             `help:"Live runs at the same time. Paced decoding leaves the processor time for several." default:"1"`
	experimentFlags
	outputFlags
}

func (c *latencyCmd) Help() string {
	return `Examples:
  lab latency
  lab latency --simulate --json rows.json
  lab latency --rtt 300ms --decode 150ms/30ms --method tandem/mirror,drdg-tw

By default a device and a cloud in this process answer over an emulated network, decoding at the pace of --decode. With --simulate they run in virtual time, which takes seconds.`
}

func (c *latencyCmd) Run(a *cli.App) error {
	d, err := parseDelays(c.Decode)
	methods, methodErr := lab.Methods(c.Method)
	if err = errors.Join(err, methodErr, checkRTTs(c.RTT), c.check(a)); err != nil {
		return err
	}
	for _, pace := range d {
		if c.Simulate && pace == ([2]time.Duration{}) {
			return errors.New("--decode native needs live runs: leave --simulate out")
		}
	}
	return c.runOnSamples(a, "latency", c.outputFlags, func(b lab.Setup, p report.Progress) (report.Report, error) {
		return lab.Latency{Setup: b, Methods: methods, Delays: d, RTTs: c.RTT, Simulated: c.Simulate, AtOnce: c.AtOnce}.Run(a, p)
	})
}
