package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/node"
)

// Traces replays answers over recorded networks.
type Traces struct {
	Setup
	Files     []string // as netem.LoadTrace reads them
	Windows   int      // evenly spread parts of each trace to replay, besides its worst one
	Delays    [2]time.Duration
	Methods   []Strategy
	Simulated bool
}

// TraceFiles lists the traces of a folder. The .up file stands for both files of a trace with two directions.
func TraceFiles(dir string) ([]string, error) {
	var files []string
	for _, pattern := range []string{"*.up", "*.csv", "*.txt"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("traces: %w", err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no traces (*.up with *.down, *.csv, ping logs as *.txt)", dir)
	}
	slices.Sort(files)
	return files, nil
}

// Run answers all questions in all windows.
func (x Traces) Run(ctx context.Context, progress report.Progress) (r report.Report, err error) {
	r = report.Report{
		Name: fileName("traces", x.Simulated), Title: "Answers over recorded networks", Simulated: x.Simulated,
		About: fmt.Sprintf("Parts of %v of recorded networks, decoding %v / %v.", windowLength, x.Delays[0], x.Delays[1]),
	}
	if x.Simulated {
		r.About += " Played in virtual time; during a stall the device goes on alone, by the rules of a live device; connections do not die."
	} else {
		r.About += " Live, over QUIC and the emulated path."
	}
	var sources []*answerSource
	lead := beforeWorst
	if x.Simulated {
		if sources, err = x.sources(ctx, nil); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, closeAll(sources)) }()
		if lead, err = x.halfway(ctx, sources); err != nil {
			return r, err
		}
	}
	windows, err := x.windows(lead)
	if err != nil {
		return r, err
	}
	bars := chart.Bars{Title: fmt.Sprintf("Time between tokens over recorded networks (%s)", liveOrSimulated(x.Simulated)), X: "ms a token"}
	for i, w := range windows {
		group := chart.Group{Name: w.name}
		cells, err := x.cells(ctx, sources, w)
		if err != nil {
			return r, fmt.Errorf("%s: %w", w.name, err)
		}
		for m, s := range x.Methods {
			result := x.addResult(&r, w, s, cells[m])
			group.Bars = append(group.Bars, chart.Bar{Name: s.Label, Value: result.PerToken.Value, Color: s.Color})
		}
		bars.Groups = append(bars.Groups, group)
		progress(i+1, len(windows))
	}
	r.Findings = append(r.Findings, report.SameTexts(r.Results))
	r.Figures = []report.Figure{{Name: r.Name, SVG: bars.SVG()}}
	return r, nil
}

// addResult adds the result of a method in a window, and the findings from it.
func (x Traces) addResult(r *report.Report, w window, s Strategy, c cell) report.Result {
	result := c.result()
	result.Experiment, result.Method, result.Placement, result.Trace, result.Simulated = "traces", s.Method, s.Placement, w.name, x.Simulated
	result.Device, result.Cloud = report.Ms(x.Delays[0]), report.Ms(x.Delays[1])
	if s.Pairs() && !x.Simulated && c.until < w.worst {
		r.Findings = append(r.Findings, fmt.Sprintf("%s, %s: the answers ended after %v, before the worst at %v: ask more questions.", w.name, s.Label, c.until.Round(time.Millisecond), w.worst))
	}
	if s.Pairs() && c.alone > 0 { // timing decided which
		result.Text = ""
		r.Findings = append(r.Findings, fmt.Sprintf("%s, %s: %d tokens alone while the cloud was out of reach; the texts are not compared.", w.name, s.Label, c.alone))
	}
	r.Results = append(r.Results, result)
	return result
}

// halfway is half of the time that the shortest answer of all takes both sides without a network, a token after the other.
func (x Traces) halfway(ctx context.Context, sources []*answerSource) (time.Duration, error) {
	alone, err := x.play(ctx, sources, sim.Setting{
		Pair: x.pairConfig(Strategy{}, 0), Alone: true, Decode: [2]sim.Delay{sim.Every(x.Delays[0]), sim.Every(x.Delays[1])},
	})
	if err != nil {
		return 0, err
	}
	shortest := beforeWorst * 2
	for _, o := range alone {
		shortest = min(shortest, time.Duration(len(o.IDs()))*x.Delays[0])
	}
	return shortest / 2, nil
}

// cells answers all questions with all methods in one window.
func (x Traces) cells(ctx context.Context, sources []*answerSource, w window) ([]cell, error) {
	cells := make([]cell, len(x.Methods))
	for m, s := range x.Methods {
		if !x.Simulated { // each method starts at the beginning of the window
			l := Latency{Setup: x.Setup, Methods: x.Methods[m : m+1]}
			one, err := l.measure(ctx, w.path, w.rtt, x.Delays, func() {})
			if err != nil {
				return nil, err
			}
			cells[m] = one[0]
			continue
		}
		outcomes, err := x.play(ctx, sources, sim.Setting{
			Pair: x.pairConfig(s, lookahead(w.rtt, x.Delays)), Link: w.path.Link, Alone: !s.Pairs(), Patience: node.DefaultPatience,
			Decode: [2]sim.Delay{sim.Every(x.Delays[0]), sim.Every(x.Delays[1])},
		})
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			cells[m].addSimulated(o)
		}
	}
	return cells, nil
}
