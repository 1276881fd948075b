package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/scheduler"
)

// Speedup compares answers with the theory (DRAGON §6, Theorem 6.2, Figure 4): simulated answers with given acceptance rates,
// and live answers with the rates that they turn out to have.
type Speedup struct {
	Setup
	Tokens int // of a simulated answer
	Cloud  time.Duration
	RTT    time.Duration
	Accept []float64 // α^r, of the cloud's drafts
	Device []time.Duration
	Live   []time.Duration // decoding delays of the device in live answers
}

// deviceAcceptance is α^l, which the theorem does not depend on (Corollary 6.5).
const deviceAcceptance = 0.7

// speedupPoint is two answers under the same conditions: one in lock step, one with drafts ahead.
type speedupPoint struct{ sync, ahead sim.Outcome }

// Run plays the two answers of every point.
func (x Speedup) Run(ctx context.Context, progress report.Progress) (report.Report, error) {
	points := make([]speedupPoint, len(x.Accept)*len(x.Device))
	err := inParallel(ctx, len(points), progress, func(ctx context.Context, i int) (err error) {
		record := x.record(i / len(x.Device))
		for _, p := range []struct {
			place tandem.Placement
			to    *sim.Outcome
		}{{tandem.PlaceSync, &points[i].sync}, {tandem.PlaceDevice, &points[i].ahead}} {
			if *p.to, err = x.play(ctx, p.place, record, x.Device[i%len(x.Device)]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return report.Report{}, err
	}
	r := report.Report{
		Name: "speedup", Title: "Speedup of drafting ahead over lock step", Simulated: true,
		About: fmt.Sprintf("Lines: Theorem 6.2 of the paper, aggregation on the device. Points: answers of %d tokens played in virtual time, time between tokens in lock step over that with drafts ahead, each side's drafts accepted at random with the given rate (the device's %.1f). Where the device is the slower side, drafts that wait in a queue hide part of a round trip, so that points may lie above the line.", x.Tokens, deviceAcceptance),
	}
	plot := chart.Plot{
		Title: fmt.Sprintf("Cloud decoding %v, round trip %v (points simulated)", x.Cloud, x.RTT),
		X:     "device decoding (ms)", Y: "speedup over lock step",
	}
	for ai := range x.Accept {
		x.draw(&r, &plot, ai, points[ai*len(x.Device):][:len(x.Device)])
	}
	if len(x.Live) > 0 {
		if err := x.measure(ctx, &r, &plot); err != nil {
			return r, err
		}
	}
	r.Figures = []report.Figure{{Name: "speedup", SVG: plot.SVG()}}
	return r, nil
}

// draw adds the results, the lines and the finding for acceptance rate i of the cloud. points has a point for each of Device.
func (x Speedup) draw(r *report.Report, plot *chart.Plot, i int, points []speedupPoint) {
	record := x.record(i)
	theory := chart.Line{Name: fmt.Sprintf("α of the cloud %.2f: theory", x.Accept[i]), Color: i}
	for k := range 201 {
		d := x.Device[0] + (x.Device[len(x.Device)-1]-x.Device[0])*time.Duration(k)/200
		theory.Points = append(theory.Points, chart.Point{X: d.Seconds() * 1000, Y: x.theory(d, record)})
	}
	played := chart.Line{Name: "played", Color: i, Dots: true}
	for j, d := range x.Device {
		p := points[j]
		for _, o := range []struct {
			sim.Outcome
			method, placement string
		}{{p.sync, "drdg-tw", "sync"}, {p.ahead, "dragon", "device"}} {
			result := summarize([]sim.Outcome{o.Outcome})
			result.Experiment, result.Method, result.Placement = "speedup", o.method, o.placement
			result.Device, result.Cloud, result.RTT = report.Ms(d), report.Ms(x.Cloud), report.Ms(x.RTT)
			result.Text = "" // of acceptances, not of answers
			r.Results = append(r.Results, result)
		}
		speed := period(p.sync) / period(p.ahead)
		played.Points = append(played.Points, chart.Point{X: d.Seconds() * 1000, Y: speed})
		if j == 0 {
			r.Findings = append(r.Findings, fmt.Sprintf("α of the cloud %.2f, decoding %v / %v, round trip %v: %.2f times as fast as lock step; the theorem says %.2f.", record.Rate(tandem.Cloud), d, x.Cloud, x.RTT, speed, x.theory(d, record)))
		}
	}
	plot.Lines = append(plot.Lines, theory, played)
}

// liveCouplings are the couplings of the live answers, which aggregate on the device.
var liveCouplings = []Strategy{
	{Method: "tandem", Placement: "device", Label: "shared randomness", Place: tandem.PlaceDevice, Color: 2},
	{Method: "dragon", Placement: "device", Label: "the paper's coupling", Place: tandem.PlaceDevice, Coupling: tandem.CouplingSpeculative, Gamma: tandem.HalfGamma, Color: 7},
}

// measure adds live points, over a path without jitter: the time between tokens in lock step divided by that with drafts
// ahead. It also adds the theorem's curve for the acceptance rates of these answers.
func (x Speedup) measure(ctx context.Context, r *report.Report, plot *chart.Plot) error {
	r.Simulated = false
	r.About += fmt.Sprintf(" Measured: live answers to %d questions about the sample documents, over QUIC and an emulated path without jitter, with decoding paced; the broken line is the theorem's for the acceptance rates that they had.", len(x.Questions))
	lockStep := Strategy{Method: "drdg-tw", Placement: "sync", Label: "DRDG/TW", Place: tandem.PlaceSync}
	l := Latency{Setup: x.Setup, Methods: append([]Strategy{lockStep}, liveCouplings...)}
	var path Path
	for i := range path.Link {
		path.Link[i].Delay = x.RTT / 2
	}
	results := make([][]report.Result, len(x.Live))
	err := atOnce(ctx, len(x.Live), len(x.Live), nil, func(ctx context.Context, i int) error {
		d := [2]time.Duration{x.Live[i], x.Cloud}
		cells, err := l.measure(ctx, path, x.RTT, d, func() {})
		for m, c := range cells {
			results[i] = append(results[i], label(c.result(), "speedup", l.Methods[m], x.RTT, d))
		}
		return err
	})
	if err != nil {
		return err
	}
	for m, s := range liveCouplings {
		points := chart.Line{Name: "measured, " + s.Label, Color: s.Color, Dots: true}
		alpha := [2]float64{}
		for i, device := range x.Live {
			sync, ahead := results[i][0], results[i][m+1]
			speed := sync.PerToken.Value / ahead.PerToken.Value
			points.Points = append(points.Points, chart.Point{X: device.Seconds() * 1000, Y: speed})
			alpha = [2]float64{ahead.AcceptDevice.Value, ahead.AcceptCloud.Value}
			r.Findings = append(r.Findings, fmt.Sprintf("Measured, %s, α of the cloud %.2f, decoding %v / %v, round trip %v: %.2f times as fast as lock step; the theorem says %.2f.",
				s.Label, alpha[1], device, x.Cloud, x.RTT, speed, x.speedup(device, alpha)))
		}
		theory := chart.Line{Name: fmt.Sprintf("α %.2f: theory", alpha[1]), Color: s.Color, Dashed: true}
		for i := range 201 {
			d := x.Device[0] + (x.Device[len(x.Device)-1]-x.Device[0])*time.Duration(i)/200
			theory.Points = append(theory.Points, chart.Point{X: d.Seconds() * 1000, Y: x.speedup(d, alpha)})
		}
		plot.Lines = append(plot.Lines, theory, points)
	}
	plot.Title = fmt.Sprintf("Cloud decoding %v, round trip %v (played points simulated)", x.Cloud, x.RTT)
	r.Results = append(r.Results, slices.Concat(results...)...)
	return nil
}

func (x Speedup) record(i int) pairtest.Record {
	return sim.RandomRecord(uint64(i), x.Tokens, deviceAcceptance, x.Accept[i])
}

func (x Speedup) theory(device time.Duration, record pairtest.Record) float64 {
	return x.speedup(device, [2]float64{record.Rate(tandem.Device), record.Rate(tandem.Cloud)})
}

func (x Speedup) speedup(device time.Duration, accept [2]float64) float64 {
	return scheduler.Speedup(tandem.Device, scheduler.Estimate{Decode: [2]time.Duration{device, x.Cloud}, RTT: x.RTT, Accept: accept})
}

func (x Speedup) play(ctx context.Context, p tandem.Placement, record pairtest.Record, device time.Duration) (sim.Outcome, error) {
	set := sim.Setting{
		Pair:   pair.Config{Settings: tandem.Settings{Placement: p, MaxTokens: x.Tokens, Lookahead: tandem.MaxLookahead}},
		Source: record, Warm: true,
		Decode: [2]sim.Delay{sim.Every(device), sim.Every(x.Cloud)},
	}
	for i := range set.Link {
		set.Link[i].Delay = x.RTT / 2
	}
	return sim.Run(ctx, set)
}

// period is the mean time between tokens, in seconds.
func period(o sim.Outcome) float64 {
	n := len(o.Tokens)
	return (o.Tokens[n-1].At - o.Tokens[0].At).Seconds() / float64(n-1)
}
