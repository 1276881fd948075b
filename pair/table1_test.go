package pair_test

import (
	"fmt"
	"testing"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/pair/pairtest"
)

// period returns the steady time between tokens on the device.
func period(t *testing.T, p tandem.Placement, by tandem.By, decode, trans [2]time.Duration) time.Duration {
	cfg := pair.Config{Settings: tandem.Settings{Placement: p, MaxTokens: 60, Lookahead: 16}}
	w := pairtest.NewLinks(cfg, pairtest.Record{by}, 1)
	for s := range w.Ends {
		w.Ends[s].Delay = pairtest.Every(decode[s])
		w.Links[s] = pairtest.Link{Delay: trans[s]}
	}
	w.Open(false, 0)
	run(t, w, false)
	at := w.Ends[tandem.Device].At
	for _, e := range w.Ends[0].Emits {
		if e.By != by {
			t.Fatalf("%v: target by %v, want %v", p, e.By, by)
		}
	}
	if len(at) != 60 {
		t.Fatalf("%v, %v: %d tokens", p, by, len(at))
	}
	return (at[59] - at[29]) / 30
}

// DRAGON Table 1 and Appendix A.3: when each acceptance case repeats, the time between two aggregations on
// side l is as the paper says, φ being 0 or the whole in the steady state. The second set of delays is the
// one of the appendix's figure for the case, the others vary what dominates.
func TestDRAGON_Table1(t *testing.T) {
	ms := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	for _, c := range []struct {
		by     tandem.By
		appx   [4]float64 // c_trans^l, c_trans^r, c_dec^l, c_dec^r
		waits  func(tl, tr, cl, cr float64) float64
		figure string
	}{
		{tandem.ByCloud, [4]float64{1.2, 1.8, 1, 1.5}, func(tl, tr, cl, cr float64) float64 { return max(cl, cr) }, "10"},
		{tandem.ByDevice, [4]float64{1.5, 1, 2, 2}, func(tl, tr, cl, cr float64) float64 { return max(cl, tl+cr+tr) }, "11"},
		{tandem.ByBoth, [4]float64{1.5, 1.8, 1, 1.5}, func(tl, tr, cl, cr float64) float64 { return max(cl, cr) }, "12"},
		{tandem.ByNeither, [4]float64{1.5, 1.8, 2, 1}, func(tl, tr, cl, cr float64) float64 { return max(cl, tl+tr+cr) }, "13"},
	} {
		for _, d := range [][4]float64{c.appx, {1, 1, 5, 1}, {3, 2, 1, 4}, {10, 10, 3, 3}, {0.1, 0.1, 1, 2}, {2, 2, 9, 3}} {
			tl, tr, cl, cr := d[0], d[1], d[2], d[3]
			want := ms(c.waits(tl, tr, cl, cr))
			for _, p := range []tandem.Placement{tandem.PlaceDevice, tandem.PlaceCloud} {
				by, side := c.by, tandem.Device
				if p == tandem.PlaceCloud { // the cloud is l
					by, side = (by&1)<<1|by>>1, tandem.Cloud
				}
				var decode, trans [2]time.Duration
				decode[side], trans[side] = ms(cl), ms(tl)
				decode[side.Other()], trans[side.Other()] = ms(cr), ms(tr)
				name := fmt.Sprintf("%v, target by %v, trans %v %v dec %v %v (Figure %s)", p, by, tl, tr, cl, cr, c.figure)
				if got := period(t, p, by, decode, trans); abs(got-want) > time.Microsecond {
					t.Errorf("%s: %v between targets, want %v", name, got, want)
				}
				// Nobody waits longer when both aggregate.
				if got := period(t, tandem.PlaceMirror, by, decode, trans); got > want+time.Microsecond {
					t.Errorf("%s: %v between targets in mirror, more than %v", name, got, want)
				}
			}
			// Without drafting ahead every draft waits for the target (Theorem 6.2's vanilla latency).
			if got, want := period(t, tandem.PlaceSync, c.by, [2]time.Duration{ms(cl), ms(cr)}, [2]time.Duration{ms(tl), ms(tr)}), ms(max(cl, cr+tl+tr)); abs(got-want) > time.Microsecond {
				t.Errorf("sync, target by %v, %v: %v between targets, want %v", c.by, d, got, want)
			}
		}
	}
}

func abs(d time.Duration) time.Duration { return max(d, -d) }
