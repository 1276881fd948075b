package netem

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Config describes one direction of a path. The zero value delivers everything at once.
type Config struct {
	Delay        time.Duration // propagation, one way
	Jitter       time.Duration // spread of the delay about Delay; see Distribution
	Distribution Distribution
	Rate         float64 // bits per second, 0 for no limit
	Queue        int     // bytes that may wait for the rate or the trace [150,000]; packets beyond them are dropped
	Loss         float64 // probability that a packet is lost, independent of other packets
	Burst        Burst   // bursty loss, in addition to Loss
	Duplicate    float64 // probability that a packet arrives twice
	Reorder      float64 // probability that a packet skips Delay and so overtakes others
	Corrupt      float64 // probability that one bit of a packet is flipped
	Unordered    bool    // jitter may change the order of packets
	Outages      []Outage
	Trace        *Trace // adds its delay and applies its rate and losses
	Seed         uint64
}

// Distribution is the shape of jitter.
type Distribution uint8

const (
	// Normal has Jitter as its standard deviation and is cut off at three standard deviations.
	Normal Distribution = iota
	// Uniform is even over Delay ± Jitter.
	Uniform
	// Pareto is never early and rarely very late. Its shape is 3, and Jitter is the mean lateness.
	Pareto
)

var distributionNames = [...]string{"normal", "uniform", "pareto"}

func (d Distribution) String() string {
	if int(d) < len(distributionNames) {
		return distributionNames[d]
	}
	return fmt.Sprintf("distribution(%d)", uint8(d))
}

// ParseDistribution reads a distribution's name.
func ParseDistribution(name string) (Distribution, error) {
	for i, n := range distributionNames {
		if n == name {
			return Distribution(i), nil
		}
	}
	return 0, fmt.Errorf("unknown jitter distribution %q: use normal, uniform or pareto", name)
}

// Burst is the Gilbert-Elliott model: at each packet the path may change between a good and a bad state.
type Burst struct {
	Enter    float64 // probability of good → bad; 0 turns the model off
	Leave    float64 // probability of bad → good
	LossGood float64
	LossBad  float64
}

// Outage is a period in which nothing passes.
type Outage struct {
	From, For time.Duration // since the start of the path
	Every     time.Duration // repeats with this period; 0 for once
	Hold      bool          // packets wait until the end, as on a stalled radio link, instead of being lost
}

const defaultQueue = 150_000

// Validate returns an error that names the first invalid field.
func (c Config) Validate() error {
	for _, p := range []struct {
		name string
		p    float64
	}{
		{"loss", c.Loss}, {"duplicate", c.Duplicate}, {"reorder", c.Reorder}, {"corrupt", c.Corrupt},
		{"burst enter", c.Burst.Enter}, {"burst leave", c.Burst.Leave},
		{"burst loss good", c.Burst.LossGood}, {"burst loss bad", c.Burst.LossBad},
	} {
		if !(p.p >= 0 && p.p <= 1) {
			return fmt.Errorf("netem: %s %v is not a probability: use 0 to 1", p.name, p.p)
		}
	}
	if c.Burst.Enter > 0 && c.Burst.Leave == 0 {
		return errors.New("netem: bursts never end: set burst leave above 0")
	}
	if c.Delay < 0 || c.Jitter < 0 || c.Delay > time.Hour || c.Jitter > time.Hour {
		return fmt.Errorf("netem: delay %v ± %v: use 0 to 1h", c.Delay, c.Jitter)
	}
	if !(c.Rate >= 0) || math.IsInf(c.Rate, 0) || c.Rate > 0 && c.Rate < 100 {
		return fmt.Errorf("netem: rate of %v bit/s: use 0 for no limit, or at least 100", c.Rate)
	}
	if c.Queue < 0 {
		return fmt.Errorf("netem: queue of %d bytes: use 0 or more", c.Queue)
	}
	if int(c.Distribution) >= len(distributionNames) {
		return fmt.Errorf("netem: unknown %v", c.Distribution)
	}
	for _, o := range c.Outages {
		if o.From < 0 || o.For < 0 || o.Every < 0 || o.Every > 0 && o.Every <= o.For {
			return fmt.Errorf("netem: outage from %v for %v every %v: use times of at least 0 and a period longer than the outage", o.From, o.For, o.Every)
		}
	}
	if c.Trace != nil {
		return c.Trace.Validate()
	}
	return nil
}

// Link decides what happens to the packets of one direction. It reads no clock: Step takes the time since the start of the
// path.
type Link struct {
	cfg     Config
	rng     *rand.Rand
	bad     bool          // state of the burst model
	free    time.Duration // when the rate limiter will have sent everything
	cursor  cursor        // position in a packet trace
	waiting []waiting     // packets in the queue, in the order in which they leave
	queued  int           // their bytes
	last    time.Duration // latest delivery so far
}

type waiting struct {
	until time.Duration
	size  int
}

// NewLink returns a link in its initial state.
func NewLink(c Config) (*Link, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Queue == 0 {
		c.Queue = defaultQueue
	}
	return &Link{cfg: c, rng: rand.New(rand.NewPCG(c.Seed, 0x6e6574656d))}, nil
}

// Step sends a packet of size bytes at time now, which must not decrease. It appends the packet's times of arrival to out:
// none if the packet is lost, two if it is duplicated.
func (l *Link) Step(now time.Duration, size int, out []time.Duration) []time.Duration {
	point := l.cfg.Trace.at(now)
	if l.lost(point.Loss) {
		return out
	}
	start, ok := l.outage(now)
	if !ok {
		return out
	}
	sent, ok := l.transmit(now, start, size, point.Rate)
	if !ok {
		return out
	}
	at := sent + point.Delay
	if l.cfg.Reorder == 0 || l.rng.Float64() >= l.cfg.Reorder {
		at += l.delay()
		if !l.cfg.Unordered {
			at = max(at, l.last)
		}
		l.last = max(l.last, at)
	}
	out = append(out, at)
	if l.cfg.Duplicate > 0 && l.rng.Float64() < l.cfg.Duplicate {
		out = append(out, at)
	}
	return out
}

// damage flips a bit of a packet, now and then.
func (l *Link) damage(packet []byte) {
	if l.cfg.Corrupt > 0 && len(packet) > 0 && l.rng.Float64() < l.cfg.Corrupt {
		bit := l.rng.IntN(8 * len(packet))
		packet[bit/8] ^= 1 << (bit % 8)
	}
}

// lost draws whether one of the loss models drops the packet.
func (l *Link) lost(trace float64) bool {
	lost := l.cfg.Loss > 0 && l.rng.Float64() < l.cfg.Loss
	if trace > 0 && l.rng.Float64() < trace {
		lost = true
	}
	if b := l.cfg.Burst; b.Enter > 0 {
		turn, p := b.Enter, b.LossGood
		if l.bad {
			turn = b.Leave
		}
		if l.rng.Float64() < turn {
			l.bad = !l.bad
		}
		if l.bad {
			p = b.LossBad
		}
		lost = l.rng.Float64() < p || lost
	}
	return lost
}

// maxOutages bounds the outages that may hold a packet back one after the other. Those that leave no gap would do so for ever.
const maxOutages = 1000

// outage returns when a packet that arrives now can be sent, and whether it can be sent at all. One outage may begin before
// another ends.
func (l *Link) outage(now time.Duration) (time.Duration, bool) {
	for range maxOutages {
		i := slices.IndexFunc(l.cfg.Outages, func(o Outage) bool { return o.left(now) > 0 })
		if i < 0 {
			return now, true
		}
		if !l.cfg.Outages[i].Hold {
			break
		}
		now += l.cfg.Outages[i].left(now)
	}
	return 0, false
}

// left returns how long the outage still lasts, 0 if it is not under way.
func (o Outage) left(now time.Duration) time.Duration {
	since := now - o.From
	if since >= 0 && o.Every > 0 {
		since %= o.Every
	}
	if since < 0 {
		return 0
	}
	return max(0, o.For-since)
}

// transmit passes a packet through the queue and returns when its last byte has left. It reports false if the queue is full.
// The packet arrives at now and may not be sent before start.
func (l *Link) transmit(now, start time.Duration, size int, rate float64) (time.Duration, bool) {
	if l.cfg.Rate > 0 && (rate == 0 || l.cfg.Rate < rate) {
		rate = l.cfg.Rate
	}
	packets := l.cfg.Trace.packets()
	if rate == 0 && packets == nil {
		return start, true
	}
	for len(l.waiting) > 0 && l.waiting[0].until <= now {
		l.queued -= l.waiting[0].size
		l.waiting = l.waiting[1:]
	}
	if len(l.waiting) > 0 && l.queued+size > l.cfg.Queue {
		return 0, false
	}
	sent := start
	if rate > 0 {
		sent = max(start, l.free) + time.Duration(float64(size)*8/rate*float64(time.Second))
		l.free = sent
	}
	if packets != nil {
		sent = l.cursor.send(packets, sent, size)
	}
	l.waiting = append(l.waiting, waiting{sent, size})
	l.queued += size
	return sent, true
}

// delay draws the propagation delay. It is never negative.
func (l *Link) delay() time.Duration {
	d, j := float64(l.cfg.Delay), float64(l.cfg.Jitter)
	if j > 0 {
		switch l.cfg.Distribution {
		case Normal:
			d += j * min(max(l.rng.NormFloat64(), -3), 3)
		default:
			d += j * l.cfg.Distribution.quantile(l.rng.Float64())
		}
	}
	return time.Duration(max(d, 0))
}

// quantile returns the deviation from Delay, in units of Jitter, that the share u of packets does not exceed. 0 ≤ u < 1.
func (d Distribution) quantile(u float64) float64 {
	switch d {
	case Normal:
		return min(max(math.Sqrt2*math.Erfinv(2*u-1), -3), 3)
	case Pareto:
		const shape = 3
		return (shape - 1) * (math.Pow(1-u, -1.0/shape) - 1)
	default:
		return 2*u - 1
	}
}
