package main

import (
	"errors"
	"fmt"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/scheduler"
)

type scheduleCmd struct {
	Tokens  int             `help:"Tokens of an answer." default:"100"`
	Records int             `help:"Simulated answers, each with its own acceptance rates." default:"50"`
	Replay  []string        `help:"Take acceptances and delays from recordings of \"edge ask --record\"; several with commas." type:"existingfile" placeholder:"FILE,…"`
	Accept  string          `help:"Acceptance rates: ${enum}. paper: 0.49 or 0.99, by side and answer. near: 0.65 to 0.75." enum:"paper,near" default:"paper"`
	Decode  []string        `help:"Decoding delays of device and cloud; several with commas." default:"150ms/30ms,60ms/30ms,30ms/30ms"`
	RTT     []time.Duration `name:"rtt" help:"Round-trip times." default:"20ms,50ms,100ms,200ms,300ms"`
	Horizon int             `help:"Steps within which a hand-over of greedy must pay off; 0 for the value of live pairs." default:"0"`
	outputFlags
}

func (c *scheduleCmd) Help() string {
	return `Examples:
  lab schedule
  lab schedule --decode 60ms/30ms --rtt 300ms --records 200
  edge ask --record answer.jsonl "Who owns the marina?" && lab schedule --replay answer.jsonl

Everything is simulated. It compares where aggregation can run: fixed on one side, on the side that is faster at the time (greedy), or on both (mirror).`
}

func (c *scheduleCmd) Run(a *cli.App) error {
	d, err := parseDelays(c.Decode)
	if err = errors.Join(err, checkRTTs(c.RTT), c.check(a)); err != nil {
		return err
	}
	if c.Tokens < 2 || c.Tokens > 100_000 || c.Records < 1 || c.Records > 100_000 || c.Horizon < 0 {
		return fmt.Errorf("want 2 to 100000 --tokens, 1 to 100000 --records and no negative --horizon")
	}
	if c.Horizon == 0 {
		c.Horizon = scheduler.DefaultHorizon
	}
	x := lab.Schedule{Tokens: c.Tokens, Records: c.Records, Delays: d, RTTs: c.RTT, Horizon: c.Horizon, Near: c.Accept == "near"}
	for _, file := range c.Replay {
		lines, err := readRecord(file)
		if err != nil {
			return err
		}
		recorded, err := lab.ReadRecorded(lines)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		x.Recorded = append(x.Recorded, recorded)
	}
	r, err := x.Run(a, progress(a, "schedule"))
	if err != nil {
		return err
	}
	return c.finish(a, r)
}
