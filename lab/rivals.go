package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/netem"
	"tandem/pair"
	"tandem/pair/pairtest"
)

// Rivals plays mirror against the paper's coupling at its best, in virtual time and without guesses from documents. A pass takes
// the same time whatever it decodes.
type Rivals struct {
	World   string // of RivalWorlds
	Decode  [][2]time.Duration
	RTT     []time.Duration
	Rows    []int // most rows of mirror's passes
	Share   float64
	Tokens  int
	Answers int
}

// RivalWorlds are the kinds of random distributions: where sides differ, "own" gives each side tokens that the other
// one does not know (pairtest.Sharing), and "common" other masses over the same tokens (pairtest.Common).
var RivalWorlds = []string{"own", "common"}

// RivalsResult is one cell. Times are mean seconds of an answer.
type RivalsResult struct {
	World  string        `json:"world"`
	Device float64       `json:"device_ms"`
	Cloud  float64       `json:"cloud_ms"`
	RTT    float64       `json:"rtt_ms"`
	Floor  float64       `json:"floor_s"`  // one pass of the slower side for each token; being faster requires several tokens per pass
	Half   float64       `json:"half_s"`   // the paper's coupling with γ = ½ and its rule for switching
	Fixed  float64       `json:"fixed_s"`  // with all weight on the cloud's drafts, aggregated on the device
	Chosen float64       `json:"chosen_s"` // with γ chosen and its rule
	Paying float64       `json:"paying_s"` // with γ chosen and our rule, which counts what a switch costs
	Mirror []RivalMirror `json:"mirror"`
}

// RivalMirror is what mirror takes with a coupling and a number of rows.
type RivalMirror struct {
	Coupling string  `json:"coupling"`
	Rows     int     `json:"rows"`
	Seconds  float64 `json:"seconds"`
}

// Paper returns the least that the paper's coupling takes by its own rules.
func (r RivalsResult) Paper() float64 { return min(r.Half, r.Fixed, r.Chosen) }

// Best returns mirror's fastest coupling with a number of rows.
func (r RivalsResult) Best(rows int) RivalMirror {
	best := RivalMirror{Seconds: math.Inf(1)}
	for _, m := range r.Mirror {
		if m.Rows == rows && m.Seconds < best.Seconds {
			best = m
		}
	}
	return best
}

// Run plays all cells. It fails if a coupling says another text for a seed with other rows.
func (x Rivals) Run(ctx context.Context, progress report.Progress) ([]RivalsResult, error) {
	results := make([]RivalsResult, len(x.Decode)*len(x.RTT))
	err := inParallel(ctx, len(results), progress, func(ctx context.Context, i int) (err error) {
		results[i], err = x.cell(ctx, x.Decode[i/len(x.RTT)], x.RTT[i%len(x.RTT)])
		return err
	})
	return results, err
}

func (x Rivals) cell(ctx context.Context, d [2]time.Duration, rtt time.Duration) (r RivalsResult, err error) {
	r = RivalsResult{World: x.World, Device: d[0].Seconds() * 1e3, Cloud: d[1].Seconds() * 1e3, RTT: rtt.Seconds() * 1e3,
		Floor: max(d[0], d[1]).Seconds() * float64(x.Tokens)}
	sampling := tandem.Sampling{Temperature: 1}
	paper := tandem.Settings{Sampling: sampling, Coupling: tandem.CouplingSpeculative}
	for _, rival := range []struct {
		place  tandem.Placement
		gamma  uint32
		swap   pair.Switch
		result *float64
	}{
		{tandem.PlaceGreedy, tandem.HalfGamma, nil, &r.Half},
		{tandem.PlaceDevice, 0, nil, &r.Fixed},
		{tandem.PlaceGreedy, tandem.AutoGamma, nil, &r.Chosen},
		{tandem.PlaceGreedy, tandem.AutoGamma, payingSwitch, &r.Paying},
	} {
		paper.Placement, paper.Gamma = rival.place, rival.gamma
		if *rival.result, err = x.play(ctx, pair.Config{Settings: paper, Switch: rival.swap}, d, rtt, nil); err != nil {
			return r, err
		}
	}
	for _, c := range []tandem.Coupling{tandem.CouplingShared, tandem.CouplingLeader} {
		texts := make([][]tandem.Token, x.Answers)
		for _, rows := range x.Rows {
			cfg := pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Coupling: c, Sampling: sampling, PassPlaces: min(rows, tandem.MaxPassPlaces)}, PassRows: rows}
			seconds, err := x.play(ctx, cfg, d, rtt, texts)
			if err != nil {
				return r, err
			}
			r.Mirror = append(r.Mirror, RivalMirror{c.String(), rows, seconds})
		}
	}
	return r, nil
}

// play returns the mean seconds of the answers. The first call fills texts, if there are any, later ones compare with them.
func (x Rivals) play(ctx context.Context, cfg pair.Config, d [2]time.Duration, rtt time.Duration, texts [][]tandem.Token) (seconds float64, err error) {
	source := pairtest.Sharing
	if x.World == "common" {
		source = pairtest.Common
	}
	link := netem.Config{Delay: rtt / 2}
	cfg.MaxTokens, cfg.Lookahead = x.Tokens, tandem.MaxLookahead
	for n := 1; n <= tandem.MaxRows; n++ { // as after other answers: sides know that a row costs nothing
		cfg.Past.ObservePass(n, d[0])
	}
	for i := range x.Answers {
		cfg.Seed = uint64(i)
		o, err := sim.Run(ctx, sim.Setting{Pair: cfg, Source: source(cfg.Seed, x.Share), Decode: [2]sim.Delay{sim.Every(d[0]), sim.Every(d[1])},
			Link: [2]netem.Config{link, link}, Warm: true})
		if err != nil {
			return 0, err
		}
		seconds += o.Took.Seconds() / float64(x.Answers)
		switch {
		case texts == nil:
		case texts[i] == nil:
			texts[i] = o.IDs()
		case !slices.Equal(texts[i], o.IDs()):
			return 0, fmt.Errorf("answer %d, coupling %v, passes of up to %d rows: another text", i, cfg.Coupling, cfg.PassRows)
		}
	}
	return seconds, nil
}

// RivalFindings says, for each number of rows, the best and the worst cell of mirror's faster coupling, and of each
// coupling, against the paper's best.
func RivalFindings(results []RivalsResult, rows []int) (out []string) {
	for _, n := range rows {
		var best, worst string
		low, high := math.Inf(1), 0.0
		for _, r := range results {
			ratio, cell := r.Best(n).Seconds/r.Paper(), fmt.Sprintf("%.0f/%.0f ms, %.0f ms, %s", r.Device, r.Cloud, r.RTT, r.World)
			if ratio < low {
				low, best = ratio, cell
			}
			if ratio > high {
				high, worst = ratio, cell
			}
		}
		out = append(out, fmt.Sprintf("%d rows: mirror takes %.2f (%s) to %.2f (%s) of the paper's best.", n, low, best, high, worst))
	}
	return out
}
