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
	Records int             `help:"Acceptance records, each an answer." default:"50"`
	Replay  []string        `help:"Recordings of \"edge ask --record\" to take acceptances and delays from; several with commas." type:"existingfile" placeholder:"FILE,…"`
	Accept  string          `help:"Acceptance rates of the records: ${enum}. The paper's are 0.49 or 0.99 by side and answer; near ones 0.65 to 0.75." enum:"paper,near" default:"paper"`
	Decode  []string        `help:"Decoding delays of device and cloud; several with commas." default:"150ms/30ms,60ms/30ms,30ms/30ms"`
	RTT     []time.Duration `name:"rtt" help:"Round-trip times." default:"20ms,50ms,100ms,200ms,300ms"`
	Horizon int             `help:"Steps within which a hand-over of greedy must pay; 0 for as many as live pairs take." default:"0"`
	outputFlags
}

func (c *scheduleCmd) Run(a *cli.App) error {
	d, err := delays(c.Decode)
	if err = errors.Join(err, trips(c.RTT), c.check(a)); err != nil {
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
