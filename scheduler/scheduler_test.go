package scheduler

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem"
)

func draw(t *rapid.T) Estimate {
	ms := rapid.Float64Range(0, 500)
	d := func(name string) time.Duration { return time.Duration(ms.Draw(t, name) * float64(time.Millisecond)) }
	a := rapid.Float64Range(0, 1)
	return Estimate{
		Decode: [2]time.Duration{d("device"), d("cloud")}, RTT: d("rtt"),
		Accept: [2]float64{a.Draw(t, "α device"), a.Draw(t, "α cloud")},
	}
}

// piecewise is ΔZ as Eq. 8 writes it, case by case.
func piecewise(l tandem.Side, e Estimate) float64 {
	r := l.Other()
	cl, cr, rtt := float64(e.Decode[l]), float64(e.Decode[r]), float64(e.RTT)
	al, ar := e.Accept[l], e.Accept[r]
	j := cr - cl
	switch {
	case cl <= cr-rtt:
		return (1 - ar) * rtt
	case cl <= cr:
		return (1-al)*j + (al-ar)*rtt
	case cl <= cr+rtt:
		return (1-ar)*j + (al-ar)*rtt
	default:
		return (al - 1) * rtt
	}
}

func TestDRAGON_Eq7IsEq8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t)
		for l := range tandem.Side(2) {
			if got, want := float64(DeltaZ(l, e)), piecewise(l, e); math.Abs(got-want) > 4 { // nanoseconds of rounding
				t.Fatalf("ΔZ of %v with %+v is %v, by cases %v", l, e, got, want)
			}
		}
		if DeltaZ(tandem.Device, e) != -DeltaZ(tandem.Cloud, e) {
			t.Fatalf("ΔZ is not antisymmetric with %+v", e)
		}
	})
}

// Theorem 6.2 (Eq. 9), case by case, and its corollaries.
func TestDRAGON_Theorem6_2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t)
		e.RTT += time.Millisecond
		e.Decode[tandem.Device] += time.Millisecond
		cl, cr, rtt, a := float64(e.Decode[0]), float64(e.Decode[1]), float64(e.RTT), e.Accept[tandem.Cloud]
		inverse := 1.0
		switch {
		case cl <= cr:
			inverse = 1 - a/(1+cr/rtt)
		case cl <= cr+rtt:
			inverse = 1 - (1-cl/(cr+rtt))*a
		}
		got := 1 / Speedup(tandem.Device, e)
		if math.Abs(got-inverse) > 1e-5 {
			t.Fatalf("1/S is %v with %+v, by cases %v", got, e, inverse)
		}
		// Corollary 6.4: more acceptance in the cloud never hurts. 6.5: the device's does not matter.
		more := e
		more.Accept[tandem.Cloud] = math.Min(1, a+0.1)
		if Speedup(tandem.Device, more) < Speedup(tandem.Device, e)-1e-5 { // nanoseconds of rounding
			t.Fatalf("more acceptance, less speed-up: %+v", e)
		}
		more = e
		more.Accept[tandem.Device] = 1 - e.Accept[tandem.Device]
		if Speedup(tandem.Device, more) != Speedup(tandem.Device, e) {
			t.Fatalf("the device's own acceptance changes its speed-up: %+v", e)
		}
	})
}

func TestAggregator(t *testing.T) {
	ms := time.Millisecond
	flow, rejected := Moment{By: tandem.ByBoth, Ready: [2]bool{true, true}}, Moment{By: tandem.ByDevice, Ready: [2]bool{true, false}}
	equal := Estimate{[2]time.Duration{30 * ms, 30 * ms}, 300 * ms, [2]float64{.8, .8}}
	for _, c := range []struct {
		name    string
		e       Estimate
		horizon int
		m       Moment
		want    tandem.Side
	}{
		// §7.4, the case study: the device's first draft accepted, the cloud's rejected.
		{"cloud rejected", Estimate{[2]time.Duration{60 * ms, 30 * ms}, 500 * ms, [2]float64{1, 0}}, 0, rejected, tandem.Cloud},
		{"slow device", Estimate{[2]time.Duration{900 * ms, 30 * ms}, 300 * ms, [2]float64{1, 0}}, 0, rejected, tandem.Device},
		{"slow cloud", Estimate{[2]time.Duration{30 * ms, 900 * ms}, 300 * ms, [2]float64{.5, .5}}, 0, flow, tandem.Cloud},
		{"no link", Estimate{[2]time.Duration{30 * ms, 30 * ms}, 0, [2]float64{.9, .1}}, 0, flow, tandem.Device},
		{"a hair better", Estimate{[2]time.Duration{30 * ms, 30 * ms}, 300 * ms, [2]float64{.81, .8}}, 0, flow, tandem.Cloud},
		{"a hair better, but a hand-over costs", Estimate{[2]time.Duration{30 * ms, 30 * ms}, 300 * ms, [2]float64{.81, .8}}, 10, flow, tandem.Device},
		{"much better, and pays", Estimate{[2]time.Duration{30 * ms, 30 * ms}, 300 * ms, [2]float64{.95, .8}}, 10, flow, tandem.Cloud},
		{"equal, but the rejected side is nearer to its next draft", equal, 4, rejected, tandem.Cloud},
		{"equal, and nothing waits", equal, 4, flow, tandem.Device},
		{"the slow side stays", Estimate{[2]time.Duration{150 * ms, 30 * ms}, 100 * ms, [2]float64{.8, .8}}, 4, rejected, tandem.Device},
	} {
		if got := (Policy{Horizon: c.horizon}).Aggregator(tandem.Device, c.e, c.m); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Table 1 without φ: right after a target, with no draft at hand, staying costs what the table says.
func TestDRAGON_Table1Waits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t)
		l, r := tandem.Device, tandem.Cloud
		for by := tandem.ByNeither; by <= tandem.ByBoth; by++ {
			want := max(e.Decode[l], e.Decode[r])
			if !by.Has(r) {
				want = max(e.Decode[l], e.Decode[r]+e.RTT)
			}
			stay, handOver := waits(l, e, Moment{By: by})
			if stay != want {
				t.Fatalf("target by %v, %+v: waits %v, want %v", by, e, stay, want)
			}
			if handOver < e.RTT/2+e.Decode[l] {
				t.Fatalf("target by %v, %+v: a hand-over takes %v", by, e, handOver)
			}
		}
	})
}

func TestDRAGON_Corollary6_5_Gamma(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t)
		for l := range tandem.Side(2) {
			want := []uint32{0, tandem.Mass}[l] // all weight on the remote draft
			if e.Decode[l] >= e.Decode[l.Other()]+e.RTT {
				want = tandem.Mass / 2
			}
			if got := Gamma(l, e); got != want {
				t.Fatalf("γ at %v with %+v is %d, want %d", l, e, got, want)
			}
		}
	})
}

func ExampleSpeedup() {
	ms := time.Millisecond
	for _, a := range []float64{0, 0.5, 0.9} {
		e := Estimate{Decode: [2]time.Duration{60 * ms, 30 * ms}, RTT: 300 * ms, Accept: [2]float64{0.5, a}}
		fmt.Printf("cloud accepted %.1f: %v a token, %.2f times as fast as in lockstep\n", a, Latency(tandem.Device, e), Speedup(tandem.Device, e))
	}
	// Output:
	// cloud accepted 0.0: 330ms a token, 1.00 times as fast as in lockstep
	// cloud accepted 0.5: 195ms a token, 1.69 times as fast as in lockstep
	// cloud accepted 0.9: 87ms a token, 3.79 times as fast as in lockstep
}
