// Package profiler turns measurements into estimates (DRAGON §5.2). Estimators are plain values: they are given
// measurements, read no clock and measure nothing themselves.
//
//   - DecodeDelay fits a side's decoding delay to the length of its context. Before an answer, it says how many drafts a
//     round trip holds, and so how far a side drafts ahead (package node).
//   - Average follows what changes during an answer: the decoding delays that travel with drafts, and the acceptance
//     rates. Package pair gives both to the scheduler. It uses no fit there, since a context grows by only one token a
//     step and the last few delays say more.
//   - PassPlanner decides what a pass decodes besides the next draft (package pair).
//
// The paper also models transmission, from ping and iperf3. Here the connection measures its round trip itself
// (package transport), and a draft is a few dozen bytes, so bandwidth does not matter.
package profiler

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Sample is a measured decoding step.
type Sample struct {
	Length int           // context length t
	Took   time.Duration // c̃(t)
}

// DecodeDelay models the delay of a decoding step after a context of t tokens as ĉ(t) = (A/B)·t + C (DRAGON §5.2). A and B
// are kept apart because run-time updates forget both at the same rate. The zero value knows nothing and takes its
// first observation as the constant.
type DecodeDelay struct {
	A float64 `json:"a"` // mean of (c − C)·t, in seconds
	B float64 `json:"b"` // mean of t²
	C float64 `json:"c"` // seconds
}

// errFit is returned when samples do not determine a line.
var errFit = errors.New("decoding delays need samples of at least two context lengths")

// Fit is the offline stage: a line of least squares through the samples. The line neither falls nor begins below 0,
// which noise may suggest but no decoder does. A and B are means over the samples, so that a later observation weighs
// as much as one of them. Their quotient is the slope, by the normal equation Σ t·(c − C − slope·t) = 0. It is
// an error if all samples have the same length.
func Fit(samples []Sample) (DecodeDelay, error) {
	n := float64(len(samples))
	var meanT, meanC float64
	for _, s := range samples {
		if s.Length < 0 || s.Took < 0 {
			return DecodeDelay{}, fmt.Errorf("decoding delays: negative sample %+v", s)
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
		return DecodeDelay{}, errFit
	}
	d := DecodeDelay{C: max(0, meanC-max(0, cov/variance)*meanT)}
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
func (d DecodeDelay) At(length int) time.Duration {
	c := d.C
	if d.B > 0 {
		c += d.A / d.B * float64(length)
	}
	return time.Duration(max(c, 0) * float64(time.Second))
}

// Valid reports whether d, which may come from a file, can be a profile at all: its numbers are finite, and a step takes
// at most a minute.
func (d DecodeDelay) Valid() bool {
	const minute = 60
	slope := 0.0
	if d.B != 0 {
		slope = d.A / d.B
	}
	return d.B >= 0 && math.Abs(d.C) <= minute && math.Abs(slope) <= minute && !math.IsNaN(d.A) && !math.IsInf(d.B, 0)
}

// Observe is the run-time stage: C stays as it is, and the slope becomes ((1−ζ)A + ζ(c̃−C)t) / ((1−ζ)B + ζt²). Where
// that would be negative, C takes the fall instead, so that the line gives the same at t and does not promise less for
// more.
func (d *DecodeDelay) Observe(s Sample, zeta float64) {
	if *d == (DecodeDelay{}) {
		d.C = s.Took.Seconds()
		return
	}
	t := float64(s.Length)
	d.A = (1-zeta)*d.A + zeta*(s.Took.Seconds()-d.C)*t
	d.B = (1-zeta)*d.B + zeta*t*t
	if d.A < 0 {
		d.C = max(0, d.C+d.A/d.B*t)
		d.A = 0
	}
}

// Average is an exponential moving average. It starts as the plain mean, so that its first values are not biased towards
// 0. The zero value has seen nothing.
type Average struct {
	Value float64
	Count float64 // observations so far, at most the window
}

// Observe moves the average towards x. It remembers about window observations; a window below 1 counts as 1. NaN and
// infinities are ignored.
func (a *Average) Observe(x, window float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	a.Count = min(a.Count+1, max(window, 1))
	a.Value += (x - a.Value) / a.Count
}

// observed reports whether there was any observation.
func (a Average) observed() bool { return a.Count > 0 }
