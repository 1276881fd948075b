package netem

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// replay sends n packets at intervals of gap and returns the arrival of each, or -1 if it is lost.
func replay(t *testing.T, c Config, n, size int, gap time.Duration) []time.Duration {
	t.Helper()
	l, err := NewLink(c)
	if err != nil {
		t.Fatal(err)
	}
	at := make([]time.Duration, n)
	for i := range at {
		at[i] = -1
		if out := l.Step(time.Duration(i)*gap, size, nil); len(out) > 0 {
			at[i] = out[0]
		}
	}
	return at
}

func TestLinkDelay(t *testing.T) {
	for i, at := range replay(t, Config{Delay: 50 * ms}, 10, 100, ms) {
		if want := time.Duration(i)*ms + 50*ms; at != want {
			t.Errorf("packet %d arrives at %v, want %v", i, at, want)
		}
	}
}

// A link never exceeds its rate, and reaches it while packets wait.
func TestLinkRate(t *testing.T) {
	at := replay(t, Config{Rate: 1e6, Queue: 1 << 20}, 100, 1250, 0) // 10 ms each
	for i := range at {
		if want := time.Duration(i+1) * 10 * ms; at[i] != want {
			t.Fatalf("packet %d leaves at %v, want %v", i, at[i], want)
		}
	}
	at = replay(t, Config{Rate: 1e6, Queue: 5000}, 100, 1250, 5*ms)
	lost := 0
	for i, a := range at {
		if a < 0 {
			lost++
		} else if wait := a - time.Duration(i)*5*ms; wait > 50*ms {
			t.Errorf("packet %d waited %v in a queue of 40 ms", i, wait)
		}
	}
	if lost < 40 || lost > 55 {
		t.Errorf("%d of 100 packets dropped at twice the rate", lost)
	}
}

func TestLinkLoss(t *testing.T) {
	const n = 20_000
	share := func(c Config) (lost float64, runs int) {
		count, inRun := 0, false
		for _, a := range replay(t, c, n, 100, ms) {
			if a < 0 {
				count++
				if !inRun {
					runs++
				}
			}
			inRun = a < 0
		}
		return float64(count) / n, runs
	}
	if p, _ := share(Config{Loss: 0.05}); math.Abs(p-0.05) > 0.008 {
		t.Errorf("loss %v, want 0.05", p)
	}
	// Gilbert-Elliott: the bad state's share is enter/(enter+leave) and its mean length 1/leave.
	p, runs := share(Config{Burst: Burst{Enter: 0.01, Leave: 0.2, LossBad: 1}})
	if want := 0.01 / 0.21; math.Abs(p-want) > 0.01 {
		t.Errorf("bursty loss %v, want %v", p, want)
	}
	if length := p * n / float64(runs); math.Abs(length-5) > 0.8 {
		t.Errorf("bursts of %v packets, want 5", length)
	}
}

func TestLinkJitter(t *testing.T) {
	for _, d := range []Distribution{Normal, Uniform, Pareto} {
		var sum float64
		const n = 20_000
		for i, a := range replay(t, Config{Delay: 100 * ms, Jitter: 10 * ms, Distribution: d, Unordered: true}, n, 100, ms) {
			late := a - time.Duration(i)*ms - 100*ms
			if d != Pareto && (late < -30*ms || late > 30*ms) || d == Pareto && late < 0 {
				t.Fatalf("%v: packet %d is %v late", d, i, late)
			}
			sum += float64(late)
		}
		want := 0 * ms
		if d == Pareto {
			want = 10 * ms
		}
		if mean := time.Duration(sum / n); (mean - want).Abs() > ms/2 {
			t.Errorf("%v: mean lateness %v, want %v", d, mean, want)
		}
	}
}

func TestLinkOutage(t *testing.T) {
	c := Config{Delay: 5 * ms, Outages: []Outage{{From: 100 * ms, For: 50 * ms, Every: 200 * ms, Hold: true}}}
	for i, a := range replay(t, c, 600, 100, ms) {
		now := time.Duration(i) * ms
		want := now + 5*ms
		if phase := (now + 100*ms) % (200 * ms); now >= 100*ms && phase < 50*ms {
			want = now - phase + 55*ms
		}
		if a != want {
			t.Fatalf("packet of %v arrives at %v, want %v", now, a, want)
		}
	}
	c.Outages[0].Hold = false
	if at := replay(t, c, 300, 100, ms); at[99] < 0 || at[100] >= 0 || at[149] >= 0 || at[150] < 0 {
		t.Errorf("outage from 100 to 150 ms: %v", at[95:155])
	}
}

// On any path, no packet arrives earlier than the path allows, packets stay in order by default, and the same seed gives
// the same decisions.
func TestLinkProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Delay:        time.Duration(rapid.IntRange(0, 300).Draw(t, "delay")) * ms,
			Jitter:       time.Duration(rapid.IntRange(0, 100).Draw(t, "jitter")) * ms,
			Distribution: Distribution(rapid.IntRange(0, 2).Draw(t, "distribution")),
			Rate:         rapid.SampledFrom([]float64{0, 1e4, 1e6}).Draw(t, "rate"),
			Queue:        rapid.IntRange(0, 5000).Draw(t, "queue"),
			Loss:         rapid.Float64Range(0, 0.5).Draw(t, "loss"),
			Duplicate:    rapid.Float64Range(0, 0.5).Draw(t, "duplicate"),
			Seed:         rapid.Uint64().Draw(t, "seed"),
		}
		if rapid.Bool().Draw(t, "burst") {
			c.Burst = Burst{Enter: 0.1, Leave: 0.3, LossBad: 0.7, LossGood: 0.01}
		}
		if rapid.Bool().Draw(t, "outage") {
			c.Outages = []Outage{{From: 50 * ms, For: 100 * ms, Hold: rapid.Bool().Draw(t, "hold")}}
		}
		if rapid.Bool().Draw(t, "trace") {
			c.Trace = &Trace{Packets: []time.Duration{0, 3 * ms, 3 * ms, 90 * ms}, Period: 90 * ms}
		}
		a, err := NewLink(c)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := NewLink(c)
		now, last := time.Duration(0), time.Duration(0)
		for range rapid.IntRange(1, 100).Draw(t, "packets") {
			now += time.Duration(rapid.IntRange(0, 30).Draw(t, "gap")) * ms
			size := rapid.IntRange(1, 1500).Draw(t, "size")
			out, again := a.Step(now, size, nil), b.Step(now, size, nil)
			if !slices.Equal(out, again) {
				t.Fatalf("the same seed gives %v and %v", out, again)
			}
			if len(out) > 2 {
				t.Fatalf("%d copies", len(out))
			}
			for _, at := range out {
				least := now
				if c.Rate > 0 {
					least += time.Duration(float64(size) * 8 / c.Rate * 1e9)
				}
				if at < least || at < last {
					t.Fatalf("packet of %v arrives at %v, the one before at %v", now, at, last)
				}
				last = at
			}
			if a.queued > max(c.Queue, defaultQueue*btoi(c.Queue == 0), 1500) {
				t.Fatalf("queue of %d bytes", a.queued)
			}
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestLinkReorderAndDuplicate(t *testing.T) {
	at := replay(t, Config{Delay: 20 * ms, Reorder: 0.1, Seed: 3}, 1000, 100, ms)
	early := 0
	for i, a := range at {
		if a == time.Duration(i)*ms {
			early++
		} else if a != time.Duration(i)*ms+20*ms {
			t.Fatalf("packet %d arrives at %v", i, a)
		}
	}
	if early < 70 || early > 130 {
		t.Errorf("%d of 1000 packets overtook others", early)
	}
}

func TestValidate(t *testing.T) {
	for want, c := range map[string]Config{
		"loss":        {Loss: 1.5},
		"duplicate":   {Duplicate: math.NaN()},
		"burst leave": {Burst: Burst{Enter: 0.1}},
		"delay":       {Delay: -1},
		"rate":        {Rate: 1},
		"queue":       {Queue: -1},
		"outage":      {Outages: []Outage{{For: 2, Every: 1}}},
		"period":      {Trace: &Trace{Points: []Point{{}}}},
		"first":       {Trace: &Trace{Points: []Point{{At: 5}}, Period: 9}},
	} {
		if _, err := NewLink(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v does not name %q", c, err, want)
		}
	}
}

// A packet that an outage holds back until another begins waits for the end of that one, too, in whichever order they are given.
func TestOutagesInSuccession(t *testing.T) {
	outages := []Outage{{From: 8 * ms, For: 4 * ms, Hold: true}, {From: 10 * ms, For: 5 * ms, Hold: true}, {From: 15 * ms, For: ms, Every: 20 * ms, Hold: true}}
	for range 2 {
		l, err := NewLink(Config{Outages: outages})
		if err != nil {
			t.Fatal(err)
		}
		if at := l.Step(9*ms, 100, nil); !slices.Equal(at, []time.Duration{16 * ms}) {
			t.Errorf("%v: a packet of 9 ms arrives at %v, want 16 ms", outages, at)
		}
		slices.Reverse(outages)
	}
	l, err := NewLink(Config{Outages: []Outage{{For: 6 * ms, Every: 10 * ms, Hold: true}, {From: 5 * ms, For: 6 * ms, Every: 10 * ms, Hold: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if at := l.Step(9*ms, 100, nil); len(at) > 0 {
		t.Errorf("outages without an end: a packet arrives at %v", at)
	}
}
