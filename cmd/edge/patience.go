package main

import (
	"time"

	"tandem/node"
)

// joinTrips are the round trips until a cloud joins: for the keys, for the hellos, and for the question.
const joinTrips = 3

// patienceOver returns the patience with a cloud behind an emulated network. Its round trips are added, since otherwise no
// cloud could join over a slow one.
func patienceOver(p node.Patience, rtt time.Duration) node.Patience {
	p.Join += joinTrips * rtt
	p.Busy = plusTrips(p.Busy, rtt)
	return p
}

// plusTrips adds what patienceOver adds to a time, unless it is 0, which stands for none.
func plusTrips(d, rtt time.Duration) time.Duration {
	if d > 0 {
		d += joinTrips * rtt
	}
	return d
}
