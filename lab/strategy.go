package lab

import (
	"fmt"
	"strings"

	"tandem"
	"tandem/pair"
	"tandem/scheduler"
)

// Strategy is a way for two sides to answer together: where drafts become targets, and by which coupling.
type Strategy struct {
	Method    string // in tables: tandem, dragon (the paper's coupling), drdg-tw, device-alone …
	Placement string // in tables
	Label     string // in legends
	Place     tandem.Placement
	Coupling  tandem.Coupling
	Switch    pair.Switch // placement greedy: who aggregates next; nil for the paper's rule
	Gamma     uint32      // speculative coupling
	Support   int         // most tokens that a draft's distribution carries; 0 for as many as the settings say
	Alone     bool        // one side answers without the other
	Context   bool        // that side reads its passages in one context
	Side      tandem.Side // the side that answers alone
	Want      tandem.Want // a baseline that is no placement
	Computed  bool        // from a model of the method: simulated only
	Color     int         // in charts
	Dashed    bool
}

// scheduleStrategies are the strategies of the scheduling experiment (DRAGON Figure 8). Records say whose drafts are accepted, so
// the coupling makes no difference.
var scheduleStrategies = []Strategy{
	{Method: "drdg-tw", Placement: "sync", Label: "lock step (DRDG/TW)", Place: tandem.PlaceSync, Color: 6},
	{Method: "dragon", Placement: "device", Label: "device", Place: tandem.PlaceDevice, Color: 0},
	{Method: "dragon", Placement: "cloud", Label: "cloud", Place: tandem.PlaceCloud, Color: 1},
	{Method: "dragon", Placement: "random", Label: "random", Place: tandem.PlaceGreedy, Switch: coin{}, Color: 4},
	{Method: "dragon", Placement: "greedy-plain", Label: "greedy, plain ΔZ", Place: tandem.PlaceGreedy, Color: 3, Dashed: true},
	{Method: "dragon", Placement: "greedy", Label: "greedy, switches pay", Place: tandem.PlaceGreedy, Switch: payingSwitch, Color: 3},
	{Method: "tandem", Placement: "mirror", Label: "mirror", Place: tandem.PlaceMirror, Color: 2},
}

// latencyMethods are the strategies of the latency experiment (DRAGON Figure 6).
//
// Of DRDG/SW, where each side writes a whole answer alone, there are two. drdg-sw-fast runs live (node, edge ask --method
// drdg-sw): the cloud's answer crosses as drafts, and each answer is judged by the side that wrote it (RAG-Sequence's fast
// decoding). drdg-sw-full is the paper's cost (DRAGON §7.3), computed: the distributions of all tokens over the whole
// vocabulary cross once, at the end.
var latencyMethods = []Strategy{
	{Method: "device-alone", Label: "device alone", Alone: true, Color: 7, Dashed: true},
	{Method: "crcg", Placement: "device", Label: "CRCG device", Alone: true, Context: true, Color: 4, Dashed: true},
	{Method: "crcg", Placement: "cloud", Label: "CRCG cloud", Alone: true, Context: true, Side: tandem.Cloud, Color: 5, Dashed: true},
	{Method: "drdg-tw", Placement: "sync", Label: "DRDG/TW", Place: tandem.PlaceSync, Color: 6},
	{Method: "drdg-sw-fast", Label: "DRDG/SW, drafts", Want: tandem.WantAnswer, Color: 6, Dashed: true},
	{Method: "drdg-sw-full", Label: "DRDG/SW, full distributions", Want: tandem.WantAnswer, Computed: true, Color: 3, Dashed: true},
	{Method: "drcg-text", Label: "DRCG/Text", Want: tandem.WantText, Color: 7},
	{Method: "drcg-kv", Label: "DRCG/KV", Want: tandem.WantKV, Color: 0},
	{Method: "dragon", Placement: "device", Label: "paper's coupling, device", Place: tandem.PlaceDevice, Coupling: tandem.CouplingSpeculative, Gamma: tandem.HalfGamma, Color: 1, Dashed: true},
	{Method: "dragon", Placement: "greedy", Label: "paper's coupling, greedy", Place: tandem.PlaceGreedy, Coupling: tandem.CouplingSpeculative, Gamma: tandem.HalfGamma, Switch: payingSwitch, Color: 1},
	{Method: "dragon", Placement: "greedy-gamma", Label: "paper's coupling, greedy, γ chosen", Place: tandem.PlaceGreedy, Coupling: tandem.CouplingSpeculative, Gamma: tandem.AutoGamma, Switch: payingSwitch, Color: 5},
	{Method: "tandem", Placement: "device", Label: "shared, device", Place: tandem.PlaceDevice, Color: 0, Dashed: true},
	{Method: "tandem", Placement: "cloud", Label: "shared, cloud", Place: tandem.PlaceCloud, Color: 4},
	{Method: "tandem", Placement: "greedy", Label: "shared, greedy", Place: tandem.PlaceGreedy, Switch: payingSwitch, Color: 3},
	{Method: "tandem", Placement: "mirror", Label: "shared, mirror", Place: tandem.PlaceMirror, Color: 2},
	{Method: "tandem", Placement: "support-1", Label: "mirror, drafts of one token", Place: tandem.PlaceMirror, Support: 1, Color: 5, Dashed: true},
	{Method: "tandem", Placement: "private", Label: "private", Place: tandem.PlaceDevice, Coupling: tandem.CouplingSpeculative, Color: 0},
	{Method: "tandem", Placement: "leader", Label: "leader, mirror", Place: tandem.PlaceMirror, Coupling: tandem.CouplingLeader, Color: 2, Dashed: true},
}

// Methods returns the strategies with the given names. A name is a method (dragon), or a method with a placement
// (tandem/mirror). Without names it returns all strategies.
func Methods(names []string) ([]Strategy, error) {
	if len(names) == 0 {
		return latencyMethods, nil
	}
	var out []Strategy
	for _, name := range names {
		n := len(out)
		for _, s := range latencyMethods {
			if name == s.Method || name == s.Method+"/"+s.Placement {
				out = append(out, s)
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("unknown method %q: use %s", name, strings.Join(MethodNames(), ", "))
		}
	}
	return out, nil
}

// MethodNames lists the names that Methods accepts.
func MethodNames() (names []string) {
	for _, s := range latencyMethods {
		if s.Placement == "" {
			names = append(names, s.Method)
		} else {
			names = append(names, s.Method+"/"+s.Placement)
		}
	}
	return names
}

// Pairs reports whether two sides agree on each token of the answer.
func (s Strategy) Pairs() bool { return !s.Alone && s.Want == tandem.WantDrafts }

// config is the part of a strategy that pair's machines need.
func (s Strategy) config() pair.Config {
	return pair.Config{
		Settings: tandem.Settings{Placement: s.Place, Coupling: s.Coupling, Gamma: s.Gamma, Lookahead: tandem.MaxLookahead},
		Switch:   s.Switch,
	}
}

// payingSwitch hands over where that pays soon, as live pairs do.
var payingSwitch = scheduler.Policy{Horizon: scheduler.DefaultHorizon}

// coin draws for each step the side that aggregates, with even chances (splitmix64's finaliser). It is a baseline of
// DRAGON §7.4.
type coin struct{ seed uint64 }

// Aggregator implements pair.Switch.
func (c coin) Aggregator(_ tandem.Side, _ scheduler.Estimate, m scheduler.Moment) tandem.Side {
	x := c.seed + (uint64(m.Step)+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return tandem.Side(x >> 63)
}
