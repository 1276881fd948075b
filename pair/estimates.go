package pair

import (
	"time"

	"tandem"
	"tandem/profiler"
	"tandem/scheduler"
)

// averageWindow is how many steps the estimates remember.
const averageWindow = 16

// prior is the acceptance rate to begin with. It weighs as much as 6 steps, so that the first rejection does not count
// for too much.
var prior = profiler.Average{Value: 0.8, Count: 6}

// estimates are what a machine expects of the next steps: the scheduler decides by them, and Slack. Decoding delays ride on
// drafts, which go both ways. Only the side that aggregates sees both distributions of a step, so the acceptance averages
// travel with the hand-over.
type estimates struct {
	rtt    time.Duration
	decode [2]profiler.Average // seconds
	accept [2]profiler.Average // only with the placement greedy
}

// decoded records how long a draft of side took. A draft whose distribution was already known (Stats.Ahead) took no
// pass, so its time is ignored.
func (e *estimates) decoded(d tandem.Draft, side tandem.Side) {
	if d.Decode > 0 {
		e.decode[side].Observe(min(d.Decode, time.Minute).Seconds(), averageWindow)
	}
}

// decodeDelay returns how long a draft of side takes, 0 if that is not known.
func (e *estimates) decodeDelay(side tandem.Side) time.Duration {
	return time.Duration(e.decode[side].Value * float64(time.Second))
}

// now returns the estimates as the scheduler takes them.
func (e *estimates) now() scheduler.Estimate {
	out := scheduler.Estimate{RTT: e.rtt}
	for s := tandem.Device; s <= tandem.Cloud; s++ {
		out.Decode[s], out.Accept[s] = e.decodeDelay(s), e.accept[s].Value
	}
	return out
}
