package transport

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
)

// exchangeDrafts sends n drafts both ways, one after each gap, and checks that all arrive in order.
func exchangeDrafts(t *testing.T, a, b *Exchange, n int, gap time.Duration) {
	t.Helper()
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, pair := range [][2]*Exchange{{a, b}, {b, a}} {
		wg.Go(func() {
			for i := range n {
				if err := pair[0].Send(simpleDraft(i)); err != nil {
					t.Errorf("send %d: %v", i, err)
					return
				}
				time.Sleep(gap)
			}
		})
		wg.Go(func() {
			for i := range n {
				m, err := pair[1].Receive(t.Context())
				if d, ok := m.(tandem.Draft); err != nil || !ok || d.Step != tandem.Step(i) {
					t.Errorf("message %d is %+v, %v", i, m, err)
					return
				}
			}
		})
	}
}

// dropShare returns a drop function that loses the given share of packets.
func dropShare(share float64) func(simnet.Packet) bool {
	rng := rand.New(rand.NewPCG(1, 2))
	return func(simnet.Packet) bool { return rng.Float64() < share }
}

func TestLossyPath(t *testing.T) {
	for _, loss := range []float64{0.01, 0.05, 0.2} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newTestNet(t, 50*time.Millisecond)
				device, cloud := connect(t, n)
				a, b := begin(t, device, cloud)
				n.router.setDrop(dropShare(loss))
				exchangeDrafts(t, a, b, 300, 30*time.Millisecond)
				s := device.Stats()
				t.Logf("%d packets, %d lost, %d repeats, %d resends, %d bytes", s.PacketsSent, s.PacketsLost, s.Repeats, s.Resends, s.BytesSent)
				if s.Drafts != 300 || s.Repeats == 0 {
					t.Errorf("stats %+v", s)
				}
			})
		})
	}
}

// A lost message is late only until the next one is sent, while a stream waits for a retransmission.
func TestLossDelaysOneMessage(t *testing.T) {
	late := func(t *testing.T, limits Limits) (worst time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			n := newTestNet(t, 50*time.Millisecond)
			device, cloud := connectLimits(t, n, limits)
			a, b := begin(t, device, cloud)
			sent := make([]time.Time, 100)
			var wg sync.WaitGroup
			wg.Go(func() {
				for i := range sent {
					m, err := b.Receive(t.Context())
					if err != nil {
						t.Errorf("message %d: %v", i, err)
						return
					}
					worst = max(worst, time.Since(sent[m.(tandem.Draft).Step]))
				}
			})
			for i := range sent {
				if i == 50 {
					n.router.setDrop(func(p simnet.Packet) bool { return p.From.String() == deviceAddr.String() })
				}
				sent[i] = time.Now()
				if err := a.Send(simpleDraft(i)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
				n.router.setDrop(nil)
				time.Sleep(29 * time.Millisecond)
			}
			wg.Wait()
		})
		return worst
	}
	datagrams, stream := late(t, Limits{}), late(t, Limits{StreamsOnly: true})
	t.Logf("latest message: datagrams %v, stream %v", datagrams, stream)
	if datagrams > 81*time.Millisecond { // the path takes 50 and the gap 30
		t.Errorf("the slowest message took %v", datagrams)
	}
	if stream <= datagrams {
		t.Errorf("the stream was not later: %v", stream)
	}
}

// Drafts that come much faster than a round trip do not fill a lossy path with their repetitions.
func TestFastDraftsOnLossyPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 50*time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		n.router.setDrop(dropShare(0.05))
		const total = 1000
		sent, late := make([]time.Time, total), make([]time.Duration, 0, total)
		var wg sync.WaitGroup
		wg.Go(func() {
			for range total {
				m, err := b.Receive(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				late = append(late, time.Since(sent[m.(tandem.Draft).Step]))
			}
		})
		for i := range total {
			sent[i] = time.Now()
			if err := a.Send(simpleDraft(i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond)
		}
		wg.Wait()
		slices.Sort(late)
		p99 := late[len(late)*99/100]
		t.Logf("p99 %v, %d bytes a draft", p99, device.Stats().BytesSent/total)
		if p99 > 100*time.Millisecond {
			t.Errorf("p99 %v on a path of 50 ms", p99)
		}
	})
}

func TestStreamsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 50*time.Millisecond)
		device, cloud := connectLimits(t, n, Limits{StreamsOnly: true})
		a, b := begin(t, device, cloud)
		n.router.setDrop(dropShare(0.05))
		exchangeDrafts(t, a, b, 100, 30*time.Millisecond)
		if s := device.Stats(); s.Repeats != 0 || s.Drafts != 100 {
			t.Errorf("stats %+v", s)
		}
	})
}

// LastHeard tells a silent peer from a dead one, with datagrams and without.
func TestSignsOfLife(t *testing.T) {
	for _, limits := range []Limits{{}, {StreamsOnly: true}} {
		synctest.Test(t, func(t *testing.T) {
			n := newTestNet(t, 50*time.Millisecond)
			device, cloud := connectLimits(t, n, limits)
			begin(t, device, cloud)
			longest := func(d time.Duration) (silence time.Duration) {
				for start := time.Now(); time.Since(start) < d; time.Sleep(50 * time.Millisecond) {
					silence = max(silence, time.Since(device.LastHeard()))
				}
				return silence
			}
			if silence := longest(10 * time.Second); silence > time.Second {
				t.Errorf("%+v: no sign of life for %v from a living peer", limits, silence)
			}
			n.router.setDrop(func(simnet.Packet) bool { return true })
			if silence := longest(5 * time.Second); silence < 4*time.Second {
				t.Errorf("%+v: only %v without a sign of life from a dead peer", limits, silence)
			}
		})
	}
}

// Long messages take the stream and short ones datagrams. They arrive in order.
func TestOrderOfDatagramsAndStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		n.router.setDrop(dropShare(0.1))
		rng := rand.New(rand.NewPCG(3, 4))
		go func() {
			for i := range 200 {
				var m Message = simpleDraft(i)
				if i%5 == 0 {
					s := Sync{Epoch: uint32(i)}
					for range rng.IntN(20_000) {
						s.Tokens = append(s.Tokens, tandem.Token(rng.IntN(testVocab)))
					}
					m = s
				}
				if err := a.Send(m); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
			}
			a.Close()
		}()
		for i := range 200 {
			switch m := receive(t, b).(type) {
			case Sync:
				if i%5 != 0 || m.Epoch != uint32(i) {
					t.Fatalf("message %d is the sync of %d", i, m.Epoch)
				}
			case tandem.Draft:
				if m.Step != tandem.Step(i) {
					t.Fatalf("message %d is the draft of step %d", i, m.Step)
				}
			}
		}
		if _, err := b.Receive(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// Drafts that were sent during an outage arrive soon after it.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		exchangeDrafts(t, a, b, 10, 30*time.Millisecond)
		n.router.setDrop(func(simnet.Packet) bool { return true })
		for i := range 10 {
			a.Send(simpleDraft(10 + i))
			time.Sleep(time.Second)
		}
		if silent := time.Since(device.LastHeard()); silent < 9*time.Second {
			t.Errorf("heard something %v ago in an outage of 10 s", silent)
		}
		n.router.setDrop(nil)
		back := time.Now()
		for i := range 10 {
			if d := receive(t, b).(tandem.Draft); d.Step != tandem.Step(10+i) {
				t.Fatalf("draft %d is of step %d", 10+i, d.Step)
			}
		}
		t.Logf("all drafts have arrived %v after the outage", time.Since(back))
		if d := time.Since(back); d > 3*time.Second {
			t.Errorf("it took %v to recover", d)
		}
		time.Sleep(time.Second)
		if silent := time.Since(device.LastHeard()); silent > 400*time.Millisecond {
			t.Errorf("heard nothing for %v on a live path", silent)
		}
	})
}
