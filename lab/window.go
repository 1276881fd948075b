package lab

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/netem"
)

// windowLength is the part of a trace that is repeated for one cell.
const windowLength = 30 * time.Second

// beforeWorst is how long before the worst moment of a trace its window begins, so that live answers have started by
// then. Simulated answers each begin at the start of the window, and meet the worst moment after half of their time.
const beforeWorst = 5 * time.Second

// window is a part of a trace.
type window struct {
	name  string
	path  Path
	rtt   time.Duration // the least
	worst time.Duration // when the trace is at its worst, from the window's beginning; 0 if that is elsewhere
}

// windows cuts the traces into windows. That of the worst begins a lead before it.
func (x Traces) windows(lead time.Duration) (out []window, err error) {
	for _, file := range x.Files {
		up, err := netem.LoadTrace(file, netem.Up)
		if err != nil {
			return nil, err
		}
		down, err := netem.LoadTrace(file, netem.Down)
		if err != nil {
			return nil, err
		}
		var starts []time.Duration
		for i := range x.Windows {
			starts = append(starts, up.Period*time.Duration(i)/time.Duration(x.Windows))
		}
		worst, ok := worstOf(up, down)
		if ok {
			starts = append(starts, max(worst-lead, 0))
		}
		for i, at := range starts {
			w := window{name: fmt.Sprintf("%s@%.0fs", strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), at.Seconds())}
			if i == x.Windows {
				w.worst = worst - at
			}
			for i, t := range []*netem.Trace{up, down} {
				part := tracePart(t, at, windowLength)
				w.path.Link[i] = netem.Config{Trace: part, Seed: uint64(i)}
				if len(part.Points) == 0 {
					w.path.Link[i].Delay = 20 * time.Millisecond // a packet trace has no delays
				}
			}
			w.rtt = minDelay(w.path.Link[0]) + minDelay(w.path.Link[1])
			out = append(out, w)
		}
	}
	return out, nil
}

// worstOf finds when a trace's two directions are at their worst: where the longest delay, or the longest time without
// an opportunity to send, begins.
func worstOf(directions ...*netem.Trace) (at time.Duration, ok bool) {
	worst := time.Duration(0)
	for _, t := range directions {
		for _, p := range t.Points {
			if p.Delay > worst {
				at, worst, ok = p.At, p.Delay, true
			}
		}
		before := time.Duration(0)
		for _, p := range append(slices.Clone(t.Packets), t.Period) {
			if gap := p - before; len(t.Packets) > 0 && gap > worst {
				at, worst, ok = before, gap, true
			}
			before = p
		}
	}
	return at, ok
}

// minDelay is the shortest delay of a direction.
func minDelay(c netem.Config) time.Duration {
	least := c.Delay
	for i, q := range c.Trace.Points {
		if i == 0 || q.Delay < least {
			least = q.Delay
		}
	}
	return least
}

// tracePart returns a part of a trace as a trace. Where the part passes the trace's end it continues at its beginning.
func tracePart(t *netem.Trace, from, length time.Duration) *netem.Trace {
	out := &netem.Trace{Period: length}
	for round := time.Duration(0); round <= from+length; round += t.Period {
		for i, p := range t.Points {
			end := t.Period
			if i+1 < len(t.Points) {
				end = t.Points[i+1].At
			}
			if round+end <= from || round+p.At >= from+length {
				continue
			}
			p.At = max(round+p.At-from, 0)
			out.Points = append(out.Points, p)
		}
		for _, p := range t.Packets {
			if at := round + p - from; at >= 0 && at < length {
				out.Packets = append(out.Packets, at)
			}
		}
	}
	return out
}
