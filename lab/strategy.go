package lab

import (
	"math"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/pair"
	"tandem/scheduler"
)

// Strategy is a way for two sides to answer together: where drafts become tokens, and how.
type Strategy struct {
	Method    string // for tables: tandem, dragon (the paper's coupling), drdg-tw, device-alone …
	Placement string // for tables
	Label     string // for legends
	Place     tandem.Placement
	Coupling  tandem.Coupling
	Horizon   int    // placement greedy: see scheduler.Policy
	Gamma     uint32 // speculative coupling
	Color     int    // in charts
	Dashed    bool
}

// Horizon is the number of steps within which a hand-over of the placement greedy must pay.
const Horizon = 8

// schedules are the strategies of the scheduling experiment (DRAGON Figure 8). Acceptance comes from
// records, so the coupling plays no part.
var schedules = []Strategy{
	{Method: "drdg-tw", Placement: "sync", Label: "lock step (DRDG/TW)", Place: tandem.PlaceSync, Color: 6},
	{Method: "dragon", Placement: "device", Label: "device", Place: tandem.PlaceDevice, Color: 0},
	{Method: "dragon", Placement: "cloud", Label: "cloud", Place: tandem.PlaceCloud, Color: 1},
	{Method: "dragon", Placement: "greedy-plain", Label: "greedy, plain ΔZ", Place: tandem.PlaceGreedy, Color: 3, Dashed: true},
	{Method: "dragon", Placement: "greedy", Label: "greedy, switches pay", Place: tandem.PlaceGreedy, Horizon: Horizon, Color: 3},
	{Method: "tandem", Placement: "mirror", Label: "mirror", Place: tandem.PlaceMirror, Color: 2},
}

// config is the machines' part of a strategy.
func (s Strategy) config() pair.Config {
	return pair.Config{
		Placement: s.Place, Coupling: s.Coupling, Gamma: s.Gamma, Horizon: s.Horizon, Lookahead: pair.MaxLookahead,
	}
}

// sine is a path of that mean round trip whose delay swings by a fifth with a period of 20π seconds, as in
// DRAGON's simulation (§7.4), from a phase of the given share of the period.
func sine(rtt time.Duration, phase float64) netem.Config {
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

// better is the less of the times of the two fixed sides.
func better(device, cloud float64) float64 { return min(device, cloud) }

// estimate is what the theory is asked with.
func estimate(device, cloud, rtt time.Duration, accept [2]float64) scheduler.Estimate {
	return scheduler.Estimate{Decode: [2]time.Duration{device, cloud}, RTT: rtt, Accept: accept}
}
