package replicas

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const ms = time.Millisecond

func TestOrder(t *testing.T) {
	s := New(1, []string{"far", "new", "near", "mid"})
	for addr, d := range map[string]time.Duration{"far": 200 * ms, "near": 10 * ms, "mid": 50 * ms} {
		s.Name(addr, addr)
		s.Step(start, addr, Measured, d)
	}
	expect := func(at time.Duration, want []string, except ...string) {
		t.Helper()
		if got := s.Order(start.Add(at), except...); !slices.Equal(got, want) {
			t.Errorf("after %v, without %v: %v, want %v", at, except, got, want)
		}
	}
	expect(0, []string{"near", "mid", "far", "new"})
	expect(0, []string{"mid", "far", "new"}, "near")
	s.Step(start, "near", Full, 5*time.Second)
	s.Step(start, "mid", Leaves, 0)
	expect(time.Second, []string{"far", "new", "near", "mid"})
	expect(6*time.Second, []string{"near", "far", "new", "mid"})
	expect(21*time.Second, []string{"near", "mid", "far", "new"})
	s.Step(start.Add(time.Minute), "near", Lost, 0)
	expect(time.Minute, []string{"mid", "far", "new", "near"})
	expect(time.Minute+1100*ms, []string{"near", "mid", "far", "new"})
	if later := start.Add(2 * time.Minute); s.Fits(later, "far") || !s.Fits(later, "new") {
		t.Error("a far connection is kept, or one of unknown distance is not")
	}
}

// What a replica says of itself holds for all of its addresses, and no address of it is another replica.
func TestOneReplicaSeveralAddresses(t *testing.T) {
	s := New(1, []string{"a1", "a2", "b"})
	if s.Others(start, "a1") {
		t.Error("a cloud that does not say that it has replicas has others")
	}
	s.Name("a1", "a")
	if !s.Others(start, "a1") {
		t.Error("no others, though some addresses were never tried")
	}
	s.Name("a2", "a")
	s.Step(start, "a2", Full, time.Minute)
	if got := s.Order(start, "a2"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("without a: %v", got)
	}
	if got := s.Order(start); got[0] != "b" {
		t.Errorf("a full replica comes first: %v", got)
	}
	s.Step(start, "b", Lost, 0)
	if s.Others(start, "a1") || !s.Others(start.Add(2*time.Second), "a1") {
		t.Error("a lost replica is no other one until it is tried again")
	}
}

// A connection fits if it leads about as near as another would.
func TestFits(t *testing.T) {
	s := New(1, []string{"near", "close", "far"})
	for addr, d := range map[string]time.Duration{"near": 20 * ms, "close": 40 * ms, "far": 41 * ms} {
		s.Step(start, addr, Measured, d)
	}
	fits := func(at time.Time, want ...string) {
		t.Helper()
		var got []string
		for _, a := range s.Addrs() {
			if s.Fits(at, a) {
				got = append(got, a)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v fit, want %v", got, want)
		}
	}
	fits(start, "near", "close")
	s.Step(start, "near", Full, 2*time.Second)
	fits(start, "close", "far")
	fits(start.Add(2*time.Second), "near", "close")
}

// A replica is left alone for longer with each loss in a row, and for as long as it says that it is full, within bounds. To
// answer a probe or to take a question ends that.
func TestHowLongAReplicaIsOfNoUse(t *testing.T) {
	s := New(1, []string{"a", "b"})
	s.Name("a", "one")
	s.Name("b", "one")
	expect := func(what, addr string, want time.Duration) {
		t.Helper()
		if got := max(0, s.find(addr).until.Sub(start)); got != want {
			t.Errorf("%s: %s is of no use for %v, want %v", what, addr, got, want)
		}
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		s.Step(start, "a", Lost, 0)
		expect("lost", "a", want*time.Second)
	}
	expect("the other address was not tried", "b", 0)
	s.Step(start, "a", Measured, ms)
	expect("it answers again", "a", 0)
	s.Step(start, "a", Lost, 0)
	expect("lost for the first time since", "a", time.Second)
	for says, want := range map[time.Duration]time.Duration{0: time.Second, 7 * time.Second: 7 * time.Second, time.Hour: 30 * time.Second} {
		s.Step(start, "a", Full, says)
		expect("full", "b", want)
	}
	s.Step(start, "b", Served, 0)
	expect("it took a question", "a", 0)
}

// Replicas at the same distance share the devices evenly.
func TestSpread(t *testing.T) {
	first := map[string]int{}
	for device := range uint64(3000) {
		s := New(device, []string{"10.0.0.1:4433", "10.0.0.2:4433", "10.0.0.3:4433"})
		for i, a := range s.Addrs() {
			s.Step(start, a, Measured, 20*ms+time.Duration(i)*ms)
		}
		first[s.Order(start)[0]]++
	}
	for a, n := range first {
		if n < 900 || n > 1100 {
			t.Errorf("%s is the first choice of %d of 3000 devices", a, n)
		}
	}
}

func TestAnnounce(t *testing.T) {
	s := New(1, []string{"paired"})
	steps := []struct {
		addrs   []string
		want    []string
		changed bool
	}{
		{[]string{"paired", "b"}, []string{"paired", "b"}, true},
		{[]string{"paired", "b"}, []string{"paired", "b"}, false},
		{[]string{"c"}, []string{"paired", "c"}, true},
		{nil, []string{"paired"}, true},
	}
	for _, c := range steps {
		if changed := s.Announce(c.addrs); changed != c.changed || !slices.Equal(s.Addrs(), c.want) {
			t.Errorf("%v: %v, changed %v", c.addrs, s.Addrs(), changed)
		}
	}
}

// Whatever happens, every address is tried sooner or later, each once, and one that is of use comes before one that is not.
func TestOrderIsComplete(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var addrs []string
		for i := range 1 + r.IntN(6) {
			addrs = append(addrs, fmt.Sprint("r", i))
		}
		s, now := New(seed, addrs), start
		for range 40 {
			a := addrs[r.IntN(len(addrs))]
			if now = now.Add(time.Duration(r.IntN(3000)) * ms); r.IntN(6) == 0 {
				s.Name(a, addrs[r.IntN(len(addrs))])
			}
			s.Step(now, a, Event(r.IntN(5)), time.Duration(r.IntN(20000))*ms)
			order := s.Order(now)
			if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, addrs) {
				t.Fatalf("seed %d: %v of %v", seed, order, addrs)
			}
			if !slices.IsSortedFunc(order, func(a, b string) int { return s.find(a).usableFrom(now).Compare(s.find(b).usableFrom(now)) }) {
				t.Fatalf("seed %d: %v", seed, order)
			}
			if later := s.Order(now.Add(time.Minute)); s.Others(now.Add(time.Minute), later[0]) != (s.find(later[0]).name != "" && len(s.Order(now, later[0])) > 0) {
				t.Fatalf("seed %d: others after a minute", seed)
			}
		}
	}
}
