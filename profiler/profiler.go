// Package profiler estimates what the scheduler needs: decoding delays, transmission delays and acceptance
// rates (DRAGON §5.2; DESIGN §3.5). Estimators are plain values that are told measurements; they read no
// clock and measure nothing themselves.
package profiler

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Sample is one measured decoding step.
type Sample struct {
	Length int           // context length t
	Took   time.Duration // c̃(t)
}

// Decode models the delay of one decoding step after a context of t tokens as ĉ(t) = (A/B)·t + C. A and B
// are kept apart because run-time updates forget them at the same rate. The zero value knows nothing and
// takes the first observation as constant.
type Decode struct {
	A float64 `json:"a"` // mean of (c − C)·t, in seconds
	B float64 `json:"b"` // mean of t²
	C float64 `json:"c"` // seconds
}

// ErrFit is returned when samples do not determine a line.
var ErrFit = errors.New("decoding delays need samples of at least two context lengths")

// Fit is the offline stage: the line of least squares through the samples among those that neither fall nor
// begin below 0, as noise would have it and no decoder does. A and B are means over the samples, so that one
// observation later weighs as much as one of them; their quotient is the slope, by the normal equation
// Σ t·(c − C − slope·t) = 0.
func Fit(samples []Sample) (Decode, error) {
	n := float64(len(samples))
	var meanT, meanC float64
	for _, s := range samples {
		if s.Length < 0 || s.Took < 0 {
			return Decode{}, fmt.Errorf("decoding delays: negative sample %+v", s)
		}
		meanT += float64(s.Length) / n
		meanC += s.Took.Seconds() / n
	}
	var cov, variance float64
	for _, s := range samples {
		d := float64(s.Length) - meanT
		cov += d * (s.Took.Seconds() - meanC)
		variance += d * d
	}
	if variance == 0 {
		return Decode{}, ErrFit
	}
	d := Decode{C: max(0, meanC-max(0, cov/variance)*meanT)}
	for _, s := range samples {
		t := float64(s.Length)
		d.A += (s.Took.Seconds() - d.C) * t / n
		d.B += t * t / n
	}
	if cov <= 0 {
		d.A = 0
	}
	return d, nil
}

// At returns ĉ(length), never below 0.
func (d Decode) At(length int) time.Duration {
	c := d.C
	if d.B > 0 {
		c += d.A / d.B * float64(length)
	}
	return time.Duration(max(c, 0) * float64(time.Second))
}

// Valid reports whether d can be a profile at all, to be asked of one that comes from outside: finite numbers,
// no more than a minute for a step.
func (d Decode) Valid() bool {
	const minute = 60
	slope := 0.0
	if d.B != 0 {
		slope = d.A / d.B
	}
	return d.B >= 0 && math.Abs(d.C) <= minute && math.Abs(slope) <= minute && !math.IsNaN(d.A) && !math.IsInf(d.B, 0)
}

// Observe is the run-time stage: C stays frozen and the slope becomes
// ((1−ζ)A + ζ(c̃−C)t) / ((1−ζ)B + ζt²).
func (d *Decode) Observe(s Sample, zeta float64) {
	if *d == (Decode{}) {
		d.C = s.Took.Seconds()
		return
	}
	t := float64(s.Length)
	d.A = (1-zeta)*d.A + zeta*(s.Took.Seconds()-d.C)*t
	d.B = (1-zeta)*d.B + zeta*t*t
}

// Average is an exponential moving average that starts as the plain mean, so that its first values are not
// biased towards 0. The zero value has seen nothing.
type Average struct {
	Value float64
	Count float64 // observations so far, at most the window
}

// Observe moves the average towards x. window is the number of observations that it remembers, roughly; a
// window below 1 counts as 1. NaN and infinities are ignored.
func (a *Average) Observe(x, window float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	a.Count = min(a.Count+1, max(window, 1))
	a.Value += (x - a.Value) / a.Count
}

// Seen reports whether there was any observation.
func (a Average) Seen() bool { return a.Count > 0 }

// Link models the transmission there and back as ĉ(g) = RTT + g/bandwidth (§5.2). It is fed by what the
// connection itself measures.
type Link struct {
	rtt, rate Average // seconds, bytes per second
}

// Observe takes a round-trip time and, where bytes were delivered over some time, a bandwidth.
func (l *Link) Observe(rtt time.Duration, bytes int, over time.Duration, window float64) {
	if rtt > 0 {
		l.rtt.Observe(rtt.Seconds(), window)
	}
	if bytes > 0 && over > 0 {
		l.rate.Observe(float64(bytes)/over.Seconds(), window)
	}
}

// RoundTrip returns the estimated time for bytes one way and an answer back; 0 when nothing is known.
func (l Link) RoundTrip(bytes int) time.Duration {
	c := l.rtt.Value
	if l.rate.Seen() {
		c += float64(bytes) / l.rate.Value
	}
	return time.Duration(c * float64(time.Second))
}
