package lab

import (
	"math"
	"time"

	"tandem/netem"
)

// Path is the network between the two sides.
type Path struct {
	Link    [2]netem.Config // indexed by the sender
	Streams bool            // drafts travel on a QUIC stream, not in datagrams
}

// steadyPath is a path with the given round trip and loss. Its jitter is a fifth of the round trip.
func steadyPath(rtt time.Duration, loss float64, seed uint64) Path {
	c := netem.Config{Delay: rtt / 2, Jitter: rtt / 10, Loss: loss, Seed: 2 * seed}
	p := Path{Link: [2]netem.Config{c, c}}
	p.Link[1].Seed++
	return p
}

// calm is the path at its best: its shortest delays, without what its traces tell.
func (p Path) calm() Path {
	for i, l := range p.Link {
		if l.Trace != nil {
			p.Link[i] = netem.Config{Delay: minDelay(l), Seed: l.Seed}
		}
	}
	return p
}

// recorded reports whether the path is that of a trace.
func (p Path) recorded() bool { return p.Link[0].Trace != nil || p.Link[1].Trace != nil }

// sinePath is a path with the given mean round trip. Its delay swings by a fifth with a period of 20π seconds, as in DRAGON's
// simulation (§7.4). phase is where it starts, as a share of the period.
func sinePath(rtt time.Duration, phase float64) netem.Config {
	const (
		period = 62832 * time.Millisecond
		points = 628
	)
	t := &netem.Trace{Period: period}
	for i := range points {
		swing := 1 + math.Sin(2*math.Pi*(float64(i)/points+phase))/5
		t.Points = append(t.Points, netem.Point{
			At:    period * time.Duration(i) / points,
			Delay: time.Duration(float64(rtt) / 2 * swing),
		})
	}
	return netem.Config{Trace: t}
}
