package profiler

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// DRAGON §5.2, offline: the fit finds the line under the noise, and A/B is its slope.
func TestDRAGON_OfflineFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slope := rapid.Float64Range(0, 1e-3).Draw(t, "slope")
		base := rapid.Float64Range(0, 0.2).Draw(t, "base")
		noise := rapid.SampledFrom([]float64{0, 1e-4}).Draw(t, "noise")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var samples []Sample
		for length := 64; length < 320; length++ {
			c := base + slope*float64(length) + noise*rng.Float64()
			samples = append(samples, Sample{length, time.Duration(c * float64(time.Second))})
		}
		d, err := Fit(samples)
		if err != nil {
			t.Fatal(err)
		}
		for _, length := range []int{64, 200, 400} {
			want := base + slope*float64(length)
			if got := d.At(length).Seconds(); math.Abs(got-want-noise/2) > 1e-8+noise {
				t.Fatalf("ĉ(%d) = %v, want %v", length, got, want)
			}
		}
	})
}

// Noise never gives a decoder that is faster on longer contexts, or that takes negative time on short ones.
func TestFitIsPhysical(t *testing.T) {
	for name, took := range map[string][]int{"falling": {30, 28, 25}, "below 0": {1, 40, 100}} {
		var samples []Sample
		for i, ms := range took {
			samples = append(samples, Sample{100 * (i + 1), time.Duration(ms) * time.Millisecond})
		}
		d, err := Fit(samples)
		if err != nil || d.A < 0 || d.C < 0 || d.At(200) < d.At(100) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		sum := 0.0 // of squares: no other slope through the same beginning fits better
		for _, slope := range []float64{d.A / d.B, d.A/d.B + 1e-5, max(0, d.A/d.B-1e-5)} {
			squares := 0.0
			for _, s := range samples {
				off := s.Took.Seconds() - d.C - slope*float64(s.Length)
				squares += off * off
			}
			if sum == 0 {
				sum = squares
			} else if squares < sum-1e-12 {
				t.Errorf("%s: slope %g leaves %g, the fit %g", name, slope, squares, sum)
			}
		}
	}
}

func TestFitRefuses(t *testing.T) {
	for _, samples := range [][]Sample{nil, {{5, time.Second}}, {{5, time.Second}, {5, 2 * time.Second}}} {
		if _, err := Fit(samples); !errors.Is(err, errFit) {
			t.Errorf("Fit(%v): %v", samples, err)
		}
	}
	if _, err := Fit([]Sample{{1, -1}, {2, 1}}); err == nil {
		t.Error("a negative delay is taken")
	}
}

// DRAGON §5.2, at run time: the update is the formula, keeps a perfect model as it is, and follows a change
// of speed while the intercept stays.
func TestDRAGON_RuntimeUpdate(t *testing.T) {
	line := func(c, slope float64, length int) Sample {
		return Sample{length, time.Duration((c + slope*float64(length)) * 1e9)}
	}
	var samples []Sample
	for length := 64; length < 256; length++ {
		samples = append(samples, line(0.03, 1e-4, length))
	}
	d, err := Fit(samples)
	if err != nil {
		t.Fatal(err)
	}
	const zeta = 0.1
	s := Sample{100, 70 * time.Millisecond}
	want := ((1-zeta)*d.A + zeta*(0.07-d.C)*100) / ((1-zeta)*d.B + zeta*100*100)
	once := d
	once.Observe(s, zeta)
	if got := once.A / once.B; math.Abs(got-want) > 1e-12 || once.C != d.C {
		t.Errorf("slope %v, want %v; intercept %v, was %v", got, want, once.C, d.C)
	}
	same := d
	for length := 64; length < 256; length++ {
		same.Observe(line(0.03, 1e-4, length), zeta)
	}
	if got := same.At(200); (got - d.At(200)).Abs() > time.Microsecond {
		t.Errorf("ĉ(200) moved from %v to %v on perfect observations", d.At(200), got)
	}
	for length := 64; length < 256; length++ {
		d.Observe(line(0.03, 3e-4, length), zeta)
	}
	if got, want := d.At(256).Seconds(), 0.03+3e-4*256; math.Abs(got-want) > 1e-3 {
		t.Errorf("ĉ(256) = %v after a change, want %v", got, want)
	}
	var fresh DecodeDelay
	fresh.Observe(Sample{10, 20 * time.Millisecond}, zeta)
	if got := fresh.At(500); got != 20*time.Millisecond {
		t.Errorf("without a fit, ĉ = %v after one observation of 20ms", got)
	}
}

// Steps that are shorter than the constant lower it: the line does not fall, and gives what was measured.
func TestObserveKeepsTheLineFromFalling(t *testing.T) {
	d := DecodeDelay{A: 0.01, B: 1e5, C: 2e-3}
	for range 500 {
		d.Observe(Sample{250, time.Millisecond}, 0.05)
		if d.A < 0 || d.At(1000) < d.At(250) {
			t.Fatalf("%+v falls", d)
		}
	}
	if got := d.At(250); got < 990*time.Microsecond || got > 1010*time.Microsecond {
		t.Errorf("%v after 250 tokens, want 1 ms", got)
	}
}

func TestAverage(t *testing.T) {
	var a Average
	if a.observed() {
		t.Error("seen before any observation")
	}
	for i, x := range []float64{1, 0, 1, 0} {
		a.Observe(x, 100)
		if want := []float64{1, 0.5, 2.0 / 3, 0.5}[i]; math.Abs(a.Value-want) > 1e-12 {
			t.Errorf("after %d: %v, want the mean %v", i+1, a.Value, want)
		}
	}
	for range 1000 {
		a.Observe(3, 10)
	}
	a.Observe(math.NaN(), 10)
	a.Observe(math.Inf(1), 10)
	if math.Abs(a.Value-3) > 1e-9 {
		t.Errorf("%v after many 3s", a.Value)
	}
	rapid.Check(t, func(t *rapid.T) {
		var a Average
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, x := range rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 50).Draw(t, "values") {
			a.Observe(x, rapid.Float64Range(-1, 20).Draw(t, "window"))
			lo, hi = min(lo, x), max(hi, x)
		}
		if a.Value < lo-1e-9 || a.Value > hi+1e-9 {
			t.Fatalf("average %v of values in [%v, %v]", a.Value, lo, hi)
		}
	})
}

// A profile from a file is used only if it can be one.
func TestValid(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, d := range []DecodeDelay{{}, {C: 0.01}, {A: 40, B: 40000, C: 0.01}, {A: -1, B: 40000, C: 0.2}} {
		if !d.Valid() {
			t.Errorf("%+v is refused", d)
		}
	}
	for _, d := range []DecodeDelay{{C: nan}, {C: 1e9}, {A: 1e9, B: 1}, {A: nan, B: 1}, {A: nan}, {A: inf, B: inf}, {A: 1, B: inf}, {A: 1, B: -1}} {
		if d.Valid() {
			t.Errorf("%+v is taken", d)
		}
	}
}
