package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/lab/sim"
)

// Loss measures the cost of lost packets: with repeated datagrams, and on a stream.
type Loss struct {
	Setup
	Delays    [][2]time.Duration
	RTT       time.Duration
	Losses    []float64
	Simulated bool
	AtOnce    int // live cells at a time; paced decoding leaves the processor idle for several
}

// lossTransports are the ways to carry drafts that are compared.
var lossTransports = []struct {
	method, label string
	streams       bool
	color         int
}{
	{"tandem", "repeated datagrams", false, 2},
	{"tandem-stream", "stream", true, 1},
}

// Run answers every question at every loss.
func (x Loss) Run(ctx context.Context, progress report.Progress) (r report.Report, err error) {
	r = report.Report{
		Name: fileName("loss", x.Simulated), Title: "Lost packets: repeated datagrams and a stream", Simulated: x.Simulated,
		About: fmt.Sprintf("Placement mirror, round trip %v with a fifth as jitter, packets lost at random both ways, %d questions about the sample documents.", x.RTT, len(x.Questions)),
	}
	if x.Simulated {
		r.About += " Played in virtual time with the distributions of the real decoders; the wire is modelled: each datagram repeats what is not acknowledged, or a stream by RFC 9002."
	} else {
		r.About += " Live, over QUIC and an emulated path."
	}
	var sources []*answerSource
	if x.Simulated {
		if sources, err = x.sources(ctx, nil); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, closeAll(sources)) }()
	}
	perDelay := len(lossTransports) * len(x.Losses)
	r.Results = make([]report.Result, len(x.Delays)*perDelay)
	err = atOnce(ctx, max(x.AtOnce, 1), len(r.Results), progress, func(ctx context.Context, i int) error {
		d, c, loss := x.Delays[i/perDelay], lossTransports[i/len(x.Losses)%len(lossTransports)], x.Losses[i%len(x.Losses)]
		path := steadyPath(x.RTT, loss, 1)
		path.Streams = c.streams
		result, err := x.cell(ctx, sources, path, d)
		result.Experiment, result.Method, result.Placement, result.Simulated = "loss", c.method, "mirror", x.Simulated
		result.Device, result.Cloud, result.RTT, result.Loss = report.Ms(d[0]), report.Ms(d[1]), report.Ms(x.RTT), report.Is(loss)
		r.Results[i] = result
		return err
	})
	if err != nil {
		return r, err
	}
	for i, d := range x.Delays {
		x.draw(&r, d, r.Results[i*perDelay:][:perDelay])
	}
	r.Findings = append(r.Findings, report.SameTexts(r.Results))
	return r, nil
}

// draw adds the figure of one pair of decoding delays and the findings from it. results has those of each transport, by loss.
func (x Loss) draw(r *report.Report, d [2]time.Duration, results []report.Result) {
	plot := chart.Plot{Title: fmt.Sprintf("Decoding %v / %v, round trip %v (%s)", d[0], d[1], x.RTT, liveOrSimulated(x.Simulated)), X: "lost packets (%)", Y: "time between tokens (ms)"}
	p99s := map[string][]float64{} // by method and loss
	for k, c := range lossTransports {
		average := chart.Line{Name: c.label + ", mean", Color: c.color}
		p99 := chart.Line{Name: c.label + ", 99th percentile", Color: c.color, Dashed: true}
		for j, loss := range x.Losses {
			result := results[k*len(x.Losses)+j]
			average.Points = append(average.Points, chart.Point{X: 100 * loss, Y: result.PerToken.Value})
			p99.Points = append(p99.Points, chart.Point{X: 100 * loss, Y: result.P99.Value})
			p99s[c.method] = append(p99s[c.method], result.P99.Value)
		}
		plot.Lines = append(plot.Lines, average, p99)
	}
	r.Figures = append(r.Figures, report.Figure{Name: fmt.Sprintf("%s-%d-%d", r.Name, d[0].Milliseconds(), d[1].Milliseconds()), SVG: plot.SVG()})
	if len(x.Losses) == 0 || x.Losses[0] != 0 {
		return // nothing to compare with
	}
	for i, loss := range x.Losses[1:] {
		of := func(method string) float64 { return p99s[method][i+1] / p99s[method][0] }
		r.Findings = append(r.Findings, fmt.Sprintf("Decoding %v / %v, %g %% lost: 99th percentile between tokens %.2f of lossless with repeated datagrams, %.2f on a stream.",
			d[0], d[1], 100*loss, of("tandem"), of("tandem-stream")))
	}
}

// cell answers all questions over one path.
func (x Loss) cell(ctx context.Context, sources []*answerSource, p Path, d [2]time.Duration) (report.Result, error) {
	if x.Simulated {
		return x.simulate(ctx, sources, p, d)
	}
	mirror := Strategy{Label: "mirror"}
	l, err := x.connect(p, d)
	if err != nil {
		return report.Result{}, err
	}
	defer l.close()
	if err := l.warm(ctx); err != nil {
		return report.Result{}, err
	}
	var c cell
	for q := range x.Questions {
		a, err := l.ask(ctx, q, mirror, lookahead(x.RTT, d))
		if err != nil {
			return report.Result{}, err
		}
		c.add(a)
	}
	return c.result(), nil
}

// repeats is how often a simulated question is played, each time over a path with another seed.
const repeats = 20

func (x Loss) simulate(ctx context.Context, sources []*answerSource, p Path, d [2]time.Duration) (report.Result, error) {
	set := sim.Setting{
		Pair:   x.pairConfig(Strategy{Place: tandem.PlaceMirror}, lookahead(x.RTT, d)),
		Decode: [2]sim.Delay{sim.Every(d[0]), sim.Every(d[1])}, Link: p.Link, Warm: true,
	}
	if p.Streams {
		set.Wire = sim.Stream
	}
	outcomes := make([]sim.Outcome, len(sources)*repeats)
	seed := set.Pair.Seed
	err := inParallel(ctx, len(outcomes), nil, func(ctx context.Context, i int) (err error) {
		set := set
		set.Source, set.Pair.Seed = sources[i/repeats], seed+uint64(i/repeats)
		for s := range set.Link {
			set.Link[s].Seed = uint64(2*i + s)
		}
		outcomes[i], err = sim.Run(ctx, set)
		return err
	})
	return summarize(outcomes), err
}
