package lab

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem"
	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/node"
	"tandem/scheduler"
)

// Pipeline draws one live answer as a timeline (DRAGON §7.4, Figure 9).
type Pipeline struct {
	Setup
	Strategy Strategy
	Pace     [2]time.Duration
	RTT      time.Duration
}

// Run answers the first question and draws the recording.
func (x Pipeline) Run(ctx context.Context) (report.Report, error) {
	l, err := x.connect(steadyPath(x.RTT, 0, 1), x.Pace)
	if err != nil {
		return report.Report{}, err
	}
	defer l.close()
	if err := l.warm(ctx); err != nil {
		return report.Report{}, err
	}
	var lines []node.Line
	l.record = func(line node.Line) { lines = append(lines, line) }
	a, err := l.ask(ctx, 0, x.Strategy, lookahead(x.RTT, x.Pace))
	if err != nil {
		return report.Report{}, err
	}
	r := Replay(lines)
	r.About = fmt.Sprintf("One live answer to %q, %s, emulated round trip %v, decoding paced to %v / %v.", x.Questions[0], x.Strategy.Label, x.RTT, x.Pace[0], x.Pace[1])
	var c cell
	c.add(a)
	row := label(c.result(), "pipeline", x.Strategy, x.RTT, x.Pace)
	r.Results = []report.Result{row}
	return r, nil
}

// Replay draws a recorded answer. The device recorded it, so the cloud's decoding is placed half a measured round trip before
// its drafts arrived.
func Replay(lines []node.Line) report.Report {
	t := timeline{estimate: scheduler.Estimate{}}
	for _, l := range lines {
		t.line(l)
	}
	first, last := t.span()
	figure := chart.Timeline{
		Title: fmt.Sprintf("One answer: %s coupling, placement %s", t.coupling, t.placement), X: "ms since the question", From: first, To: last,
		Lanes: []chart.Lane{
			{Name: "cloud", Spans: t.decode[tandem.Cloud]},
			{Name: "to device", Spans: stack(t.travel[tandem.Cloud]), Slim: true},
			{Name: "to cloud", Spans: stack(t.travel[tandem.Device]), Slim: true},
			{Name: "device", Spans: t.decode[tandem.Device]},
			{Name: "answer", Spans: t.targets},
		},
		Panels: []chart.Plot{
			{Y: "RTT (ms)", Lines: []chart.Line{{Points: t.rtt, Color: 6}}},
			{Y: "ΔZ (ms)", Lines: []chart.Line{{Points: t.deltaZ, Color: 3}}},
			{Y: "accepted", Lines: []chart.Line{{Points: t.accept[0], Color: 0}, {Points: t.accept[1], Color: 1}}},
		},
		Legend: []chart.Line{
			{Name: "device's draft", Color: 0}, {Name: "cloud's draft", Color: 1}, {Name: "drafted by both", Color: 2},
			{Name: "by neither", Color: 7}, {Name: "hand-over", Color: 3}, {Name: "rejected: pale", Color: 6},
		},
	}
	return report.Report{
		Name: "pipeline", Title: "One answer as a timeline", Taken: time.Now(),
		Figures:  []report.Figure{{Name: "pipeline", SVG: figure.SVG()}},
		Findings: []string{fmt.Sprintf("%d tokens in %.0f ms, %d rejections, %d hand-overs.", len(t.targets), last-first, t.rejections, t.handovers)},
	}
}

// timeline collects spans from the lines of a recording.
type timeline struct {
	placement, coupling string
	decode, travel      [2][]chart.Span
	targets             []chart.Span
	rtt, deltaZ         []chart.Point
	accept              [2][]chart.Point
	accepted, together  [2]float64
	estimate            scheduler.Estimate
	handovers           int
	rejections          int
	aggregator          tandem.Side
}

func (t *timeline) line(l node.Line) {
	switch l.Event {
	case "begin":
		t.placement, t.coupling = l.Placement, l.Coupling
	case "rtt":
		t.estimate.RTT = time.Duration(l.TookMs * 1e6)
		t.rtt = append(t.rtt, chart.Point{X: l.Ms, Y: l.TookMs})
	case "draft":
		t.draft(l)
	case "target":
		t.target(l)
	case "note":
		t.note(l)
	}
}

// draft adds a decoding and the way of its draft to the other side.
func (t *timeline) draft(l node.Line) {
	side, color := tandem.Device, 0
	half := t.estimate.RTT.Seconds() * 1000 / 2
	from, to := l.Ms, l.Ms+half
	if l.Side == tandem.Cloud.String() {
		side, color = tandem.Cloud, 1
		from, to = l.Ms-half, l.Ms
	}
	t.estimate.Decode[side] = time.Duration(l.TookMs * 1e6)
	title := fmt.Sprintf("%s drafts step %d, version %d: %.1f ms", l.Side, l.Step, l.Version, l.TookMs)
	text := fmt.Sprint(l.Step)
	t.decode[side] = append(t.decode[side], chart.Span{From: from - l.TookMs, To: from, Text: text, Title: title, Color: color})
	t.travel[side] = append(t.travel[side], chart.Span{From: from, To: to, Title: fmt.Sprintf("draft of step %d", l.Step), Color: color})
}

// byColors are the colours of targets, by who drafted them.
var byColors = map[string]int{"device": 0, "cloud": 1, "both": 2, "neither": 7}

// target adds an agreed token and counts whose draft it was.
func (t *timeline) target(l node.Line) {
	t.targets = append(t.targets, chart.Span{From: l.Ms - 1, To: l.Ms + 3, Color: byColors[l.By], Title: fmt.Sprintf("step %d by %s", l.Step, l.By)})
	for s := range t.accept {
		side := tandem.Side(s)
		t.together[s]++
		if l.By == "both" || l.By == side.String() {
			t.accepted[s]++
		}
		t.estimate.Accept[s] = t.accepted[s] / t.together[s]
		t.accept[s] = append(t.accept[s], chart.Point{X: l.Ms, Y: t.estimate.Accept[s]})
	}
	t.deltaZ = append(t.deltaZ, chart.Point{X: l.Ms, Y: scheduler.DeltaZ(t.aggregator, t.estimate).Seconds() * 1000})
}

// note marks hand-overs and draws rejected drafts pale.
func (t *timeline) note(l node.Line) {
	side := tandem.Device
	if l.Side == tandem.Cloud.String() {
		side = tandem.Cloud
	}
	switch l.Note {
	case "handover":
		t.handovers++
		t.aggregator = side
		half := t.estimate.RTT.Seconds() * 1000 / 2
		span := chart.Span{From: l.Ms, To: l.Ms + half, Color: 3, Title: fmt.Sprintf("hand-over at step %d to the %s", l.Step, l.Side)}
		if side == tandem.Device {
			span.From, span.To = l.Ms-half, l.Ms
		}
		t.travel[side.Other()] = append(t.travel[side.Other()], span)
	case "rejected":
		t.rejections++
		title := fmt.Sprintf("%s drafts step %d,", l.Side, l.Step)
		for i := range t.decode[side] {
			if s := &t.decode[side][i]; strings.HasPrefix(s.Title, title) {
				s.Faint = true
			}
		}
	}
}

// span returns the first and last time to draw.
func (t *timeline) span() (first, last float64) {
	first, last = 1e18, 0
	for _, spans := range [][]chart.Span{t.decode[0], t.decode[1], t.targets} {
		for _, s := range spans {
			first, last = min(first, s.From), max(last, s.To)
		}
	}
	if first > last {
		return 0, 1
	}
	return first, last
}

// stack puts spans that overlap in time into different rows.
func stack(spans []chart.Span) []chart.Span {
	const most = 10
	var free []float64 // when each row is free
	for i := range spans {
		row := 0
		for row < len(free) && free[row] > spans[i].From {
			row++
		}
		if row >= most {
			row = i % most
		}
		if row == len(free) {
			free = append(free, 0)
		}
		free[row], spans[i].Row = spans[i].To, row
	}
	return spans
}
