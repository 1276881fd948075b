package lab

import (
	"errors"
	"time"

	"tandem"
	"tandem/lab/sim"
	"tandem/node"
	"tandem/pair/pairtest"
)

// Recorded is what the simulator needs of a live answer: whose drafts were accepted, and how long decoding took.
type Recorded struct {
	Accept pairtest.Record
	Decode [2][]time.Duration // of each side's drafts, in order
}

// byNames are the names of drafters in a recording.
var byNames = map[string]tandem.By{"neither": tandem.ByNeither, "device": tandem.ByDevice, "cloud": tandem.ByCloud, "both": tandem.ByBoth}

// ReadRecorded reads an acceptance record from the lines of a recording. It leaves out tokens that the device decided alone.
func ReadRecorded(lines []node.Line) (Recorded, error) {
	var r Recorded
	for _, l := range lines {
		switch l.Event {
		case "target":
			if by, ok := byNames[l.By]; ok && !l.Alone {
				r.Accept = append(r.Accept, by)
			}
		case "draft":
			side := tandem.Device
			if l.Side == tandem.Cloud.String() {
				side = tandem.Cloud
			}
			r.Decode[side] = append(r.Decode[side], time.Duration(l.TookMs*float64(time.Millisecond)))
		}
	}
	if len(r.Accept) == 0 {
		return r, errors.New("the recording holds no token of two sides")
	}
	for side, d := range r.Decode {
		if len(d) == 0 {
			return r, errors.New("the recording holds no drafts of the " + tandem.Side(side).String() + ": record an answer with placement mirror, device or greedy")
		}
	}
	return r, nil
}

// delays repeats each side's recorded delays by step.
func (r Recorded) delays() (out [2]sim.Delay) {
	for side, d := range r.Decode {
		out[side] = func(n int) time.Duration { return d[n%len(d)] }
	}
	return out
}

// meanDelays is the mean of each side's delays over several recordings.
func meanDelays(records []Recorded) (out [2]time.Duration) {
	for side := range out {
		n := 0
		for _, r := range records {
			for _, d := range r.Decode[side] {
				out[side], n = out[side]+d, n+1
			}
		}
		out[side] = (out[side] / time.Duration(max(n, 1))).Round(100 * time.Microsecond)
	}
	return out
}
