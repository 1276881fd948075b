package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/lab/report"
	"tandem/node"
)

type pipelineCmd struct {
	Method string        `help:"Method and placement of the answer." default:"dragon/greedy"`
	Decode string        `help:"Decoding delays of device and cloud, or native for this machine's." default:"60ms/30ms"`
	RTT    time.Duration `name:"rtt" help:"Round-trip time." default:"200ms"`
	Replay string        `help:"Draw this recording of \"edge ask --record\" instead." type:"existingfile" placeholder:"FILE"`
	experimentFlags
	outputFlags
}

func (c *pipelineCmd) Help() string {
	return `Examples:
  lab pipeline
  lab pipeline --method tandem/mirror --rtt 300ms --decode 150ms/30ms
  edge ask --record answer.jsonl "Who owns the marina?" && lab pipeline --replay answer.jsonl`
}

func (c *pipelineCmd) Run(a *cli.App) error {
	if c.Replay != "" {
		if err := c.check(a); err != nil {
			return err
		}
		lines, err := readRecord(c.Replay)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(lines, func(l node.Line) bool { return l.Event == "target" }) {
			return fmt.Errorf("%s: the recording holds no token: record an answer with edge ask --record", c.Replay)
		}
		return c.finish(a, lab.Replay(lines))
	}
	d, err := parseDelays([]string{c.Decode})
	methods, methodErr := lab.Methods([]string{c.Method})
	if err = errors.Join(err, methodErr, checkRTTs([]time.Duration{c.RTT}), c.check(a)); err != nil {
		return err
	}
	if len(methods) != 1 || !methods[0].Pairs() {
		return fmt.Errorf("--method %s: want one method and placement of two sides, such as dragon/greedy or tandem/mirror", c.Method)
	}
	return c.runOnSamples(a, "pipeline", c.outputFlags, func(b lab.Setup, _ report.Progress) (report.Report, error) {
		return lab.Pipeline{Setup: b, Strategy: methods[0], Pace: d[0], RTT: c.RTT}.Run(a)
	})
}
