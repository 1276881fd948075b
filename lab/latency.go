package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"tandem"
	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/lab/sim"
)

// Latency measures the time between tokens over the round-trip time for every method (DRAGON §7.3, Figure 6).
type Latency struct {
	Setup
	Methods   []Strategy
	Delays    [][2]time.Duration // paced decoding of device and cloud; 0 for this machine's own pace, in live runs only
	RTTs      []time.Duration
	Simulated bool // in virtual time, with the distributions of the real decoders
	AtOnce    int  // live cells at a time; paced decoding leaves the processor idle for several
}

// Run answers every question in every cell.
func (x Latency) Run(ctx context.Context, progress report.Progress) (report.Report, error) {
	r := report.Report{
		Name: fileName("latency", x.Simulated), Title: "Time between tokens over network latency", Simulated: x.Simulated,
		About: fmt.Sprintf("Mean time between the tokens of an answer, after the first, over %d questions about the sample documents; jitter is a fifth of the round trip (the paper's Figure 6).", len(x.Questions)),
	}
	if x.Simulated {
		r.About += " Played in virtual time with the live pair's machines; the distributions are those of the real decoders over the real documents. DRDG/SW is computed: both sides generate alone, then the cloud's answer crosses once, as drafts that fit the first flight (drdg-sw-fast), or as full distributions (float32, the whole vocabulary) by a connection in slow start from 12 kB (drdg-sw-full, the paper's)."
	} else {
		r.About += " Live: both sides in one process, over QUIC and an emulated path; decoding is paced. DRDG/SW sends drafts as all others do (drdg-sw-fast), not whole distributions as in the paper; its time after reading is divided by its tokens."
		x.Methods = slices.DeleteFunc(slices.Clone(x.Methods), func(s Strategy) bool { return s.Computed })
		if len(x.Methods) == 0 {
			return r, errors.New("the methods are computed, not run live: add --simulate")
		}
	}
	run := x.live
	if x.Simulated {
		run = x.play
	}
	results, err := run(ctx, progress)
	if err != nil {
		return r, err
	}
	r.Results = results
	for _, d := range x.Delays {
		x.draw(&r, d)
	}
	r.Findings = append(r.Findings, report.SameTexts(r.Results))
	return r, nil
}

// play simulates all cells.
func (x Latency) play(ctx context.Context, progress report.Progress) (results []report.Result, err error) {
	sources := map[int][]*answerSource{} // by the support of drafts
	defer func() {
		for _, s := range sources {
			err = errors.Join(err, closeAll(s))
		}
	}()
	for _, s := range x.Methods {
		if sources[s.Support] == nil {
			setup := x.Setup
			setup.Settings.Support = cmp.Or(s.Support, setup.Settings.Support)
			if sources[s.Support], err = setup.sources(ctx, nil); err != nil {
				return nil, err
			}
		}
	}
	n := len(x.Delays) * len(x.RTTs) * len(x.Methods)
	results = make([]report.Result, n)
	err = inParallel(ctx, n, progress, func(ctx context.Context, i int) error {
		s, rtt, d := x.cellAt(i)
		result, err := x.simulate(ctx, sources[s.Support], s, rtt, d)
		results[i] = label(result, "latency", s, rtt, d)
		return err
	})
	return results, err
}

// cellAt returns the i-th cell.
func (x Latency) cellAt(i int) (Strategy, time.Duration, [2]time.Duration) {
	m, r := len(x.Methods), len(x.RTTs)
	return x.Methods[i%m], x.RTTs[i/m%r], x.Delays[i/m/r]
}

// label sets the cell that a result belongs to.
func label(result report.Result, experiment string, s Strategy, rtt time.Duration, d [2]time.Duration) report.Result {
	result.Experiment, result.Method, result.Placement = experiment, s.Method, s.Placement
	result.Device, result.Cloud, result.RTT = report.Ms(d[0]), report.Ms(d[1]), report.Ms(rtt)
	return result
}

// simulate plays one cell.
func (x Latency) simulate(ctx context.Context, sources []*answerSource, s Strategy, rtt time.Duration, d [2]time.Duration) (report.Result, error) {
	path := steadyPath(rtt, 0, 1)
	set := sim.Setting{
		Pair: x.pairConfig(s, lookahead(rtt, d)), Link: path.Link, Alone: !s.Pairs(), Warm: true,
		Decode: [2]sim.Delay{sim.Every(d[0]), sim.Every(d[1])},
	}
	if s.Alone {
		set.Decode[tandem.Device] = sim.Every(d[s.Side])
	}
	outcomes, err := x.Setup.play(ctx, sources, set)
	if err != nil {
		return report.Result{}, err
	}
	result := summarize(outcomes)
	switch {
	case s.Computed:
		result = x.sequence(outcomes, rtt, d, 4*x.Model.Tokenizer().Size())
	case s.Want == tandem.WantAnswer:
		result = x.sequence(outcomes, rtt, d, draftBytes)
	case s.Alone && s.Context, s.Want != tandem.WantDrafts: // only the pace is played, not the text of one context or of the other side
		result = report.Result{PerToken: result.PerToken, P99: result.P99, Simulated: true}
	}
	return result, nil
}

// draftBytes is about the size of a draft on the wire.
const draftBytes = 80

// sequence is DRDG/SW: both sides generate as many tokens as the device does alone, then the cloud's answer crosses at once,
// cellAt the given number of bytes a token.
func (x Latency) sequence(alone []sim.Outcome, rtt time.Duration, d [2]time.Duration, bytes int) report.Result {
	var per []float64
	for _, o := range alone {
		n := len(o.Tokens) + 1 // and the end of the answer
		took := max(time.Duration(n)*d[0], time.Duration(n)*d[1]+rtt/2+slowStart(n*bytes, rtt))
		per = append(per, took.Seconds()*1000/float64(n))
	}
	return report.Result{PerToken: report.Is(mean(per)), Simulated: true}
}

// slowStart is how long bytes take after the first flight has arrived, when the window begins with ten packets of 1,200
// bytes and doubles with each round trip.
func slowStart(bytes int, rtt time.Duration) time.Duration {
	const first = 10 * 1200
	rounds := math.Ceil(math.Log2(float64(bytes)/first + 1))
	return time.Duration(max(rounds-1, 0)) * rtt
}

// live asks all questions in all cells. The methods take turns, so that a change in the machine's load affects them all.
func (x Latency) live(ctx context.Context, progress report.Progress) ([]report.Result, error) {
	total, done := len(x.Delays)*len(x.RTTs)*len(x.Methods)*len(x.Questions), 0
	var lock sync.Mutex
	n := len(x.Delays) * len(x.RTTs)
	byPath := make([][]report.Result, n)
	err := atOnce(ctx, max(x.AtOnce, 1), n, nil, func(ctx context.Context, i int) error {
		d, rtt := x.Delays[i/len(x.RTTs)], x.RTTs[i%len(x.RTTs)]
		cells, err := x.measure(ctx, steadyPath(rtt, 0, uint64(i%len(x.RTTs))), rtt, d, func() {
			lock.Lock()
			defer lock.Unlock()
			done++
			progress(done, total)
		})
		if err != nil {
			return err
		}
		for m, s := range x.Methods {
			byPath[i] = append(byPath[i], label(cells[m].result(), "latency", s, rtt, d))
		}
		return nil
	})
	return slices.Concat(byPath...), err
}

// measure asks all questions with all methods over one path.
func (x Latency) measure(ctx context.Context, p Path, rtt time.Duration, d [2]time.Duration, step func()) ([]cell, error) {
	l, err := x.connect(p, d)
	if err != nil {
		return nil, err
	}
	defer l.close()
	if err := l.warm(ctx); err != nil {
		return nil, err
	}
	if err := l.startTrace(p); err != nil {
		return nil, err
	}
	began := time.Now()
	solo := [2]*testbed{x.solo(tandem.Device, d[tandem.Device]), x.solo(tandem.Cloud, d[tandem.Cloud])}
	cells := make([]cell, len(x.Methods))
	for q := range x.Questions {
		for i, s := range x.Methods {
			from := l
			if s.Alone {
				from = solo[s.Side]
			}
			a, err := from.ask(ctx, q, s, lookahead(rtt, d))
			if err != nil {
				return nil, err
			}
			if s.Want == tandem.WantAnswer {
				cells[i].addWhole(a)
			} else {
				cells[i].add(a)
			}
			cells[i].until = time.Since(began)
			step()
		}
	}
	return cells, nil
}

// draw adds the figure of one pair of decoding delays, and the findings from it.
func (x Latency) draw(r *report.Report, d [2]time.Duration) {
	plot := chart.Plot{
		Title: fmt.Sprintf("Decoding %v on the device, %v in the cloud (%s)", d[0], d[1], liveOrSimulated(x.Simulated)),
		X:     "round-trip time (ms)", Y: "time between tokens (ms)",
	}
	if d == ([2]time.Duration{}) {
		plot.Title = "Decoding at this machine's own pace (live)"
	}
	for _, s := range x.Methods {
		line := chart.Line{Name: s.Label, Color: s.Color, Dashed: s.Dashed}
		for _, result := range resultsOf(r.Results, s, d) {
			line.Points = append(line.Points, chart.Point{X: result.RTT.Value, Y: result.PerToken.Value})
		}
		if len(line.Points) > 0 {
			plot.Lines = append(plot.Lines, line)
		}
	}
	name := fmt.Sprintf("%s-%d-%d", r.Name, d[0].Milliseconds(), d[1].Milliseconds())
	r.Figures = append(r.Figures, report.Figure{Name: name, SVG: plot.SVG()})
	r.Findings = append(r.Findings, x.compare(r.Results, d)...)
}

// resultsOf returns the results of a strategy, in the order of round trips.
func resultsOf(results []report.Result, s Strategy, d [2]time.Duration) (out []report.Result) {
	for _, result := range results {
		if result.Method == s.Method && result.Placement == s.Placement && result.Device == report.Ms(d[0]) && result.Cloud == report.Ms(d[1]) && result.PerToken.Known {
			out = append(out, result)
		}
	}
	slices.SortStableFunc(out, func(a, b report.Result) int { return int(math.Copysign(1, a.RTT.Value-b.RTT.Value)) })
	return out
}

// compare returns findings that compare mirror with the other methods at the longest round trip and on average.
func (x Latency) compare(results []report.Result, d [2]time.Duration) (out []string) {
	of := func(method, placement string) (last, average float64, ok bool) {
		found := resultsOf(results, Strategy{Method: method, Placement: placement}, d)
		if len(found) == 0 {
			return 0, 0, false
		}
		var all []float64
		for _, f := range found {
			all = append(all, f.PerToken.Value)
		}
		return all[len(all)-1], mean(all), true
	}
	mirror, average, ok := of("tandem", "mirror")
	if !ok {
		return nil
	}
	far := x.RTTs[len(x.RTTs)-1]
	for _, other := range []struct{ method, placement, name string }{
		{"drdg-tw", "sync", "DRDG/TW"}, {"drdg-sw-fast", "", "DRDG/SW with drafts"}, {"drdg-sw-full", "", "DRDG/SW with full distributions"}, {"dragon", "greedy", "the paper's coupling with greedy, γ = ½"}, {"dragon", "greedy-gamma", "the paper's coupling with greedy, γ chosen by the scheduler"}, {"device-alone", "", "the device alone"},
	} {
		if last, all, ok := of(other.method, other.placement); ok && last > 0 && all > 0 {
			out = append(out, fmt.Sprintf("Decoding %v / %v: mirror takes %.1f ms a token at %v, %.2f of %s (%.1f ms); on average over the round trips %.2f of it.",
				d[0], d[1], mirror, far, mirror/last, other.name, last, average/all))
		}
	}
	return out
}
