// Package scheduler decides which side aggregates next, and with which γ (greedy scheduling, DRAGON §5.1). It holds the
// paper's model of the time between two targets, as plain functions of estimates. Package pair provides the estimates: it
// averages the decoding delays that travel with drafts and the acceptance rates of the last steps (profiler.Average), and takes
// the round-trip time from the connection.
//
// The package keeps no state, reads no clock and does no I/O.
package scheduler

import (
	"time"

	"tandem"
)

// Estimate is what a side expects of the next steps. Arrays are indexed by tandem.Side.
type Estimate struct {
	Decode [2]time.Duration // c_dec: how long a side's pass takes
	RTT    time.Duration    // c_trans^l + c_trans^r: there and back, for messages of a draft's size
	Accept [2]float64       // α: probability that a side's draft is the target
}

// Latency is Z^l, the expected time between two targets when side l aggregates (DRAGON Eq. 7): accepted drafts of the
// other side r flow on, and a rejected one costs r a round trip in addition to its decoding. (The equation as printed
// garbles α^r.)
func Latency(l tandem.Side, e Estimate) time.Duration {
	r := l.Other()
	flow := max(e.Decode[l], e.Decode[r])
	wait := max(e.Decode[l], e.Decode[r]+e.RTT)
	return time.Duration(e.Accept[r]*float64(flow) + (1-e.Accept[r])*float64(wait))
}

// DeltaZ is ΔZ = Z^l − Z^r (DRAGON Eq. 8), the expected time that a step gains when the other side aggregates instead of
// l. By Eq. 7, with j = c^r − c^l:
//
//	(1 − α^r)·rtt                       if c^l ≤ c^r − rtt
//	(1 − α^l)·j + (α^l − α^r)·rtt       if c^r − rtt < c^l ≤ c^r
//	(1 − α^r)·j + (α^l − α^r)·rtt       if c^r < c^l ≤ c^r + rtt
//	(α^l − 1)·rtt                       if c^r + rtt < c^l
//
// The first and the third case are misprinted in the paper, which has 1 − α^l in both. Its case study (§7.4) has the third
// as here.
func DeltaZ(l tandem.Side, e Estimate) time.Duration {
	return Latency(l, e) - Latency(l.Other(), e)
}

// Moment is what the side that aggregates sees right after a target.
type Moment struct {
	Step  tandem.Step // the next one
	By    tandem.By   // whose drafts the target took
	Ready [2]bool     // a side's next draft is here already
}

// waits returns how long the next target takes when side l continues to aggregate, and when it hands over: the cases of
// DRAGON Table 1 for this one step, with φ = 0 for a draft that is here. A side whose draft was rejected decodes from the
// target. After a rejected remote draft, this side waits a full round trip, but the remote side only half of one, because
// the target travels in any case. So a hand-over is then nearly free.
func waits(l tandem.Side, e Estimate, m Moment) (stay, handOver time.Duration) {
	r := l.Other()
	own, remote := e.Decode[l], e.Decode[r]
	if m.Ready[l] {
		own = 0
	}
	there := remote
	switch {
	case !m.By.Has(r):
		remote += e.RTT
	case m.Ready[r]:
		remote, there = 0, 0
	default: // it decodes while the hand-over travels
		there = max(remote-e.RTT/2, 0)
	}
	return max(own, remote), e.RTT/2 + max(own, there)
}

// DefaultHorizon is a Policy.Horizon that never takes more than half a percent longer than the better fixed side, and
// that comes close to tandem.PlaceMirror where both sides are equally fast (measured in virtual time).
const DefaultHorizon = 4

// Policy is the greedy switch (DRAGON Eq. 6).
type Policy struct {
	// Horizon is how many later steps count, in addition to what a hand-over costs or gains at the next one. 0 is the
	// paper's rule, which looks only at later steps: it hands over whenever ΔZ > 0.
	Horizon int
}

// Aggregator returns the side that should aggregate next, now being the one that does.
func (p Policy) Aggregator(now tandem.Side, e Estimate, m Moment) tandem.Side {
	gain := DeltaZ(now, e)
	if p.Horizon > 0 {
		stay, handOver := waits(now, e, m)
		gain = gain*time.Duration(p.Horizon) + stay - handOver
	}
	if gain > 0 {
		return now.Other()
	}
	return now
}

// Gamma returns the γ that is best while side l aggregates: the probability, out of tandem.Mass, of taking the device's
// result of the speculative coupling. Only the remote side's acceptance matters to the latency (DRAGON Corollary 6.5),
// and it grows with the remote side's weight (Theorem 4.2). Where l's own decoding hides a round trip there is nothing to
// gain, and Gamma returns the paper's ½.
func Gamma(l tandem.Side, e Estimate) uint32 {
	switch r := l.Other(); {
	case e.Decode[l] >= e.Decode[r]+e.RTT:
		return tandem.Mass / 2
	case r == tandem.Device:
		return tandem.Mass
	default:
		return 0
	}
}

// vanilla is the expected time between two targets without drafting ahead, when side l aggregates: every draft waits for
// the target before it (DRAGON §6).
func vanilla(l tandem.Side, e Estimate) time.Duration {
	return max(e.Decode[l], e.Decode[l.Other()]+e.RTT)
}

// Speedup is S = vanilla/Latency (DRAGON Theorem 6.2), 1 when nothing takes time.
func Speedup(l tandem.Side, e Estimate) float64 {
	z := Latency(l, e)
	if z <= 0 {
		return 1
	}
	return float64(vanilla(l, e)) / float64(z)
}
