package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/netem"
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

// windowLength is the part of a trace that is repeated for one cell.
const windowLength = 30 * time.Second

// beforeWorst is how long before the worst moment of a trace its window begins, so that live answers have started by
// then. Simulated answers each begin at the start of the window, and meet the worst moment after half of their time.
const beforeWorst = 5 * time.Second

// window is a part of a trace.
type window struct {
	name  string
	path  Path
	rtt   time.Duration // the least
	worst time.Duration // when the trace is at its worst, from the window's beginning; 0 if that is elsewhere
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
	var sources []*answers
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
	bars := chart.Bars{Title: fmt.Sprintf("Time between tokens over recorded networks (%s)", howTaken(x.Simulated)), X: "ms a token"}
	for i, w := range windows {
		group := chart.Group{Name: w.name}
		cells, err := x.cells(ctx, sources, w)
		if err != nil {
			return r, fmt.Errorf("%s: %w", w.name, err)
		}
		for m, s := range x.Methods {
			result := cells[m].result()
			result.Experiment, result.Method, result.Placement, result.Trace, result.Simulated = "traces", s.Method, s.Placement, w.name, x.Simulated
			result.Device, result.Cloud = report.Ms(x.Delays[0]), report.Ms(x.Delays[1])
			r.Results = append(r.Results, result)
			group.Bars = append(group.Bars, chart.Bar{Name: s.Label, Value: result.PerToken.Value, Color: s.Color})
			if !s.Pairs() {
				continue
			}
			if !x.Simulated && cells[m].until < w.worst {
				r.Findings = append(r.Findings, fmt.Sprintf("%s, %s: the answers ended after %v, before the worst at %v: ask more questions.", w.name, s.Label, cells[m].until.Round(time.Millisecond), w.worst))
			}
			if cells[m].alone > 0 { // timing decided which
				r.Results[len(r.Results)-1].Text = ""
				r.Findings = append(r.Findings, fmt.Sprintf("%s, %s: %d tokens alone while the cloud was out of reach; the texts are not compared.", w.name, s.Label, cells[m].alone))
			}
		}
		bars.Groups = append(bars.Groups, group)
		progress(i+1, len(windows))
	}
	r.Findings = append(r.Findings, report.SameTexts(r.Results))
	r.Figures = []report.Figure{{Name: r.Name, SVG: bars.SVG()}}
	return r, nil
}

// halfway is half of the time that the shortest answer of all takes both sides without a network, a token after the other.
func (x Traces) halfway(ctx context.Context, sources []*answers) (time.Duration, error) {
	alone, err := x.play(ctx, sources, sim.Setting{
		Pair: x.machine(Strategy{}, 0), Alone: true, Decode: [2]sim.Delay{sim.Every(x.Delays[0]), sim.Every(x.Delays[1])},
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

// windows cuts the traces into windows. That of the worst begins a lead before it.
func (x Traces) windows(lead time.Duration) (out []window, err error) {
	for _, file := range x.Files {
		up, err := netem.LoadTrace(file, netem.Up)
		if err != nil {
			return nil, err
		}
		down, err := netem.LoadTrace(file, netem.Down)
		if err != nil {
			return nil, err
		}
		var starts []time.Duration
		for i := range x.Windows {
			starts = append(starts, up.Period*time.Duration(i)/time.Duration(x.Windows))
		}
		worst, ok := worstOf(up, down)
		if ok {
			starts = append(starts, max(worst-lead, 0))
		}
		for i, at := range starts {
			w := window{name: fmt.Sprintf("%s@%.0fs", strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), at.Seconds())}
			if i == x.Windows {
				w.worst = worst - at
			}
			for i, t := range []*netem.Trace{up, down} {
				part := cut(t, at, windowLength)
				w.path.Link[i] = netem.Config{Trace: part, Seed: uint64(i)}
				if len(part.Points) == 0 {
					w.path.Link[i].Delay = 20 * time.Millisecond // a packet trace has no delays
				}
			}
			w.rtt = minDelay(w.path.Link[0]) + minDelay(w.path.Link[1])
			out = append(out, w)
		}
	}
	return out, nil
}

// worstOf finds when a trace's two directions are at their worst: where the longest delay, or the longest time without
// an opportunity to send, begins.
func worstOf(directions ...*netem.Trace) (at time.Duration, ok bool) {
	worst := time.Duration(0)
	for _, t := range directions {
		for _, p := range t.Points {
			if p.Delay > worst {
				at, worst, ok = p.At, p.Delay, true
			}
		}
		before := time.Duration(0)
		for _, p := range append(slices.Clone(t.Packets), t.Period) {
			if gap := p - before; len(t.Packets) > 0 && gap > worst {
				at, worst, ok = before, gap, true
			}
			before = p
		}
	}
	return at, ok
}

// minDelay is the shortest delay of a direction.
func minDelay(c netem.Config) time.Duration {
	least := c.Delay
	for i, q := range c.Trace.Points {
		if i == 0 || q.Delay < least {
			least = q.Delay
		}
	}
	return least
}

// cut returns a part of a trace as a trace. Where the part passes the trace's end it continues at its beginning.
func cut(t *netem.Trace, from, length time.Duration) *netem.Trace {
	out := &netem.Trace{Period: length}
	for round := time.Duration(0); round <= from+length; round += t.Period {
		for i, p := range t.Points {
			end := t.Period
			if i+1 < len(t.Points) {
				end = t.Points[i+1].At
			}
			if round+end <= from || round+p.At >= from+length {
				continue
			}
			p.At = max(round+p.At-from, 0)
			out.Points = append(out.Points, p)
		}
		for _, p := range t.Packets {
			if at := round + p - from; at >= 0 && at < length {
				out.Packets = append(out.Packets, at)
			}
		}
	}
	return out
}

// cells answers all questions with all methods in one window.
func (x Traces) cells(ctx context.Context, sources []*answers, w window) ([]cell, error) {
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
			Pair: x.machine(s, lookahead(w.rtt, x.Delays)), Link: w.path.Link, Alone: !s.Pairs(), Patience: node.DefaultPatience,
			Decode: [2]sim.Delay{sim.Every(x.Delays[0]), sim.Every(x.Delays[1])},
		})
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			cells[m].play(o)
		}
	}
	return cells, nil
}
