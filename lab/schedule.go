package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/netem"
	"tandem/pair/pairtest"
	"tandem/scheduler"
)

// Schedule compares placements on acceptance records in virtual time (DRAGON §7.4, Figure 8).
type Schedule struct {
	Tokens  int
	Records int
	Delays  [][2]time.Duration // decoding, of device and cloud
	RTTs    []time.Duration
	Horizon int  // of the greedy placement
	Near    bool // acceptance rates of the two sides are close, instead of the paper's
	// Recorded, if any, replace the drawn records and the given delays.
	Recorded []Recorded
}

// record is the i-th acceptance record.
func (x Schedule) record(i int) pairtest.Record {
	switch {
	case len(x.Recorded) > 0:
		return x.Recorded[i].Accept
	case x.Near:
		return sim.NearRecord(uint64(i), x.Tokens)
	}
	return sim.PaperRecord(uint64(i), x.Tokens)
}

// decode is how long decoding takes in the i-th record: as recorded, else as given.
func (x Schedule) decode(i int, given [2]time.Duration) [2]sim.Delay {
	if len(x.Recorded) > 0 {
		return x.Recorded[i].delays()
	}
	return [2]sim.Delay{sim.Every(given[0]), sim.Every(given[1])}
}

// Run plays every record in every cell.
func (x Schedule) Run(ctx context.Context, progress report.Progress) (report.Report, error) {
	if n := len(x.Recorded); n > 0 {
		x.Records, x.Delays = n, [][2]time.Duration{meanDelays(x.Recorded)}
	}
	strategies := slices.Clone(scheduleStrategies)
	for i := range strategies {
		if strategies[i].Placement == "greedy" {
			strategies[i].Switch = scheduler.Policy{Horizon: x.Horizon}
		}
	}
	perDelay := len(x.RTTs) * len(strategies) * x.Records
	outcomes := make([]sim.Outcome, len(x.Delays)*perDelay)
	err := inParallel(ctx, len(outcomes), progress, func(ctx context.Context, i int) (err error) {
		record, cell := i%x.Records, i/x.Records
		s := strategies[cell%len(strategies)]
		rtt := x.RTTs[cell/len(strategies)%len(x.RTTs)]
		outcomes[i], err = x.play(ctx, s, rtt, x.Delays[i/perDelay], record)
		return err
	})
	if err != nil {
		return report.Report{}, err
	}
	r := x.describe()
	for i, delays := range x.Delays {
		x.draw(&r, strategies, delays, outcomes[i*perDelay:][:perDelay])
	}
	return r, nil
}

// play simulates the answer of one record.
func (x Schedule) play(ctx context.Context, s Strategy, rtt time.Duration, delays [2]time.Duration, record int) (sim.Outcome, error) {
	cfg := s.config()
	cfg.MaxTokens = x.Tokens
	if _, random := s.Switch.(coin); random {
		cfg.Switch = coin{seed: uint64(record)} // else all records share one series
	}
	path := sinePath(rtt, float64(record)/float64(x.Records))
	return sim.Run(ctx, sim.Setting{
		Pair: cfg, Source: x.record(record), Warm: true,
		Decode: x.decode(record, delays), Link: [2]netem.Config{path, path},
	})
}

// describe returns a report without results.
func (x Schedule) describe() report.Report {
	r := report.Report{
		Name: "schedule", Title: "Placement strategies over network latency", Simulated: true,
		About: fmt.Sprintf("Total time of %d tokens, averaged over %d acceptance records in which each side's drafts are accepted with a rate of 0.49 or 0.99, drawn for each answer; the round trip swings by a fifth. In virtual time, with the machines of the live pair (the paper's Figure 8). Records fix whose drafts are accepted, so couplings and γ make no difference here: lab latency compares those. random draws the aggregating side for each step (one of the paper's baselines).", x.Tokens, x.Records),
	}
	if len(x.Recorded) > 0 {
		r.Name, r.Title = "schedule-recorded", r.Title+", recorded answers"
		r.About = fmt.Sprintf("Total time of %d tokens with the acceptances and decoding delays of %d recorded live answers, repeated; the round trip swings by a fifth. In virtual time, with the machines of the live pair.", x.Tokens, x.Records)
	} else if x.Near {
		r.Name, r.Title = "schedule-near", r.Title+", near-equal acceptance"
		r.About = strings.Replace(r.About, "with a rate of 0.49 or 0.99", "with a rate of 0.65 to 0.75", 1)
	}
	return r
}

// draw adds the results and the figure of one pair of decoding delays.
func (x Schedule) draw(r *report.Report, strategies []Strategy, delays [2]time.Duration, outcomes []sim.Outcome) {
	plot := chart.Plot{
		Title: fmt.Sprintf("%d tokens, decoding %v on the device, %v in the cloud (simulated)", x.Tokens, delays[0], delays[1]),
		X:     "round-trip time (ms)", Y: "total time (s)",
	}
	total := map[string][]float64{}
	for si, s := range strategies {
		line := chart.Line{Name: s.Label, Color: s.Color, Dashed: s.Dashed}
		for ri, rtt := range x.RTTs {
			cell := outcomes[(ri*len(strategies)+si)*x.Records:][:x.Records]
			result := summarize(cell)
			result.Experiment, result.Method, result.Placement = "schedule", s.Method, s.Placement
			result.Device, result.Cloud, result.RTT = report.Ms(delays[0]), report.Ms(delays[1]), report.Ms(rtt)
			r.Results = append(r.Results, result)
			seconds := meanTook(cell)
			total[s.Placement] = append(total[s.Placement], seconds)
			line.Points = append(line.Points, chart.Point{X: rtt.Seconds() * 1000, Y: seconds})
		}
		plot.Lines = append(plot.Lines, line)
	}
	r.Figures = append(r.Figures, report.Figure{Name: fmt.Sprintf("%s-%d-%d", r.Name, delays[0].Milliseconds(), delays[1].Milliseconds()), SVG: plot.SVG()})
	for _, greedy := range []string{"greedy-plain", "greedy"} {
		best, worst := math.Inf(1), 0.0
		for i := range x.RTTs {
			ratio := total[greedy][i] / min(total["device"][i], total["cloud"][i])
			best, worst = min(best, ratio), max(worst, ratio)
		}
		r.Findings = append(r.Findings, fmt.Sprintf("Decoding %v / %v: %s takes %.3f to %.3f of the better fixed side's time.", delays[0], delays[1], greedy, best, worst))
	}
}

func meanTook(outcomes []sim.Outcome) float64 {
	var xs []float64
	for _, o := range outcomes {
		xs = append(xs, o.Took.Seconds())
	}
	return mean(xs)
}
