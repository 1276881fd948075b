package transport

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
	"tandem/netem"
)

// shape sends the network's packets through links of package netem, one for each direction.
func (n *testNet) shape(t *testing.T, c netem.Config) {
	t.Helper()
	var mu sync.Mutex
	links := map[string]*netem.Link{}
	start := time.Now()
	for _, from := range []string{deviceAddr.String(), cloudAddr.String()} {
		l, err := netem.NewLink(c)
		if err != nil {
			t.Fatal(err)
		}
		links[from] = l
	}
	n.router.setDrop(func(p simnet.Packet) bool {
		mu.Lock()
		defer mu.Unlock()
		now := time.Since(start)
		for _, at := range links[p.From.String()].Step(now, len(p.Data)+28, nil) {
			time.AfterFunc(at-now, func() { n.router.PerfectRouter.SendPacket(p) })
		}
		return true
	})
}

// draftDelays sends a draft from the cloud every 30 ms while load runs. It returns the 95th percentile of the drafts' delays
// (a few drafts wait longer, while the window still doubles) and how long load took.
func draftDelays(t *testing.T, path netem.Config, load func(t *testing.T, device, cloud *Exchange)) (p95, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 0)
		device, cloud := connect(t, n)
		n.shape(t, path)
		a, b := begin(t, device, cloud)
		c, d := begin(t, device, cloud)
		done := make(chan struct{})
		start := time.Now()
		go func() {
			defer close(done)
			load(t, c, d)
			took = time.Since(start)
		}()
		var sent []time.Time
		var late []time.Duration
		var mu sync.Mutex
		var wg sync.WaitGroup
		const drafts = 200
		wg.Go(func() {
			for range drafts {
				m := receive(t, a).(tandem.Draft)
				mu.Lock()
				late = append(late, time.Since(sent[m.Step]))
				mu.Unlock()
			}
		})
		for i := range drafts {
			mu.Lock()
			sent = append(sent, time.Now())
			mu.Unlock()
			if err := b.Send(simpleDraft(i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Millisecond)
		}
		wg.Wait()
		<-done
		slices.Sort(late)
		p95 = late[len(late)*95/100]
	})
	return p95, took
}

// noise returns n bytes that cannot be compressed. Real keys and values hardly can be either.
func noise(n int) []byte {
	data := make([]byte, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

// A bulk transfer arrives unchanged and hardly delays the drafts of another answer, at any rate of the path. Without pacing
// it delays them.
func TestBulkYieldsToDrafts(t *testing.T) {
	data := noise(700_000)
	for _, mbit := range []float64{2, 8, 40} {
		path := netem.Config{Delay: 25 * time.Millisecond, Rate: mbit * 1e6, Queue: 300_000}
		idle, _ := draftDelays(t, path, func(*testing.T, *Exchange, *Exchange) {})
		paced, took := draftDelays(t, path, func(t *testing.T, device, cloud *Exchange) {
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := SendBulk(t.Context(), cloud, data); err != nil {
					t.Error(err)
				}
			})
			got, err := ReceiveBulk(t.Context(), device, len(data))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d of %d bytes: %v", len(got), len(data), err)
			}
			wg.Wait()
		})
		unpaced, _ := draftDelays(t, path, func(t *testing.T, device, cloud *Exchange) {
			for piece := range slices.Chunk(data, pieceSize) {
				if err := cloud.Send(Piece{Data: piece}); err != nil {
					t.Fatal(err)
				}
			}
			for n := 0; n < len(data); {
				n += len(receive(t, device).(Piece).Data)
			}
		})
		ideal := time.Duration(float64(len(data)*8) / (mbit * 1e6) * 1e9)
		t.Logf("%g Mbit/s: 95th percentile of drafts on an idle path %v, during a bulk transfer %v, during one without pacing %v; %d bytes took %v, %v at the full rate", mbit, idle, paced, unpaced, len(data), took, ideal)
		piece := time.Duration(pieceSize * 8 / (mbit * 1e6) * 1e9)
		if paced > idle+2*bulkTarget+piece {
			t.Errorf("%g Mbit/s: drafts take %v during a bulk transfer, %v without one", mbit, paced, idle)
		}
		if mbit < 4 && unpaced < paced+bulkTarget {
			t.Errorf("%g Mbit/s: drafts take only %v during a bulk transfer without pacing, so this test proves nothing", mbit, unpaced)
		}
		if took > 2*ideal+time.Second {
			t.Errorf("%g Mbit/s: the bulk transfer took %v; at the full rate it would take %v", mbit, took, ideal)
		}
	}
}

// Jitter and loss slow a bulk transfer down but do not stop it.
func TestBulkOnBadPaths(t *testing.T) {
	data := noise(300_000)
	for name, path := range map[string]netem.Config{
		"jitter": {Delay: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Rate: 20e6},
		"far":    {Delay: 150 * time.Millisecond, Jitter: 30 * time.Millisecond},
		"loss":   {Delay: 30 * time.Millisecond, Loss: 0.03, Rate: 20e6},
	} {
		_, took := draftDelays(t, path, func(t *testing.T, device, cloud *Exchange) {
			go SendBulk(t.Context(), cloud, data)
			got, err := ReceiveBulk(t.Context(), device, len(data))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: %d of %d bytes: %v", name, len(got), len(data), err)
			}
		})
		t.Logf("%s: %d bytes in %v", name, len(data), took)
		if took > 10*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// Sizes that a peer claims are checked, and so are the messages of a bulk transfer.
func TestBulkRefuses(t *testing.T) {
	for name, send := range map[string][]Message{
		"too much":     {Piece{Data: make([]byte, 11)}},
		"empty":        {Piece{}},
		"another kind": {NeedSync{}},
		"aborted":      {Piece{Data: make([]byte, 5)}, Fail{Text: "no more"}},
	} {
		b, a := Pipe(testVocab)
		for _, m := range send {
			if err := a.Send(m); err != nil {
				t.Fatal(err)
			}
		}
		if data, err := ReceiveBulk(t.Context(), b, 10); err == nil {
			t.Errorf("%s: accepted as %d bytes", name, len(data))
		}
	}
	for name, m := range map[string]Message{"too much": Got{Bytes: 11}, "not a piece": Got{Bytes: 3}, "the end": End{}, "another kind": Sync{}} {
		b, a := Pipe(testVocab)
		if err := b.Send(m); err != nil {
			t.Fatal(err)
		}
		if err := SendBulk(t.Context(), a, make([]byte, 10)); err == nil {
			t.Errorf("%s: accepted as an acknowledgement", name)
		}
	}
	for name, m := range map[string]Message{
		"passages":       Passages{Passages: make([]Passage, MaxPassages+1)},
		"long passage":   Passages{Passages: []Passage{{Text: string(make([]byte, MaxPassage+1))}}},
		"unequal caches": Passages{Passages: make([]Passage, 2), Saved: []int{1}},
		"huge cache":     Passages{Passages: make([]Passage, 2), Saved: []int{MaxBulk, 1}},
		"negative":       Passages{Passages: make([]Passage, 1), Saved: []int{-1}},
		"piece":          Piece{Data: make([]byte, maxPiece+1)},
		"got":            Got{Bytes: -1},
	} {
		if _, err := encodeControl(m); err == nil {
			t.Errorf("%s: sent", name)
		}
	}
	if _, err := ReceiveBulk(t.Context(), nil, MaxBulk+1); err == nil {
		t.Error("a bulk transfer beyond the limit was accepted")
	}
}

// Delays that vary without a queue let the window grow. Delays that only rise stop it.
func TestBulkTellsJitterFromQueue(t *testing.T) {
	run := func(delay func(i int, b *bulkFlow) time.Duration) int {
		var b bulkFlow
		rng := rand.New(rand.NewPCG(5, 6))
		for i := range 600 {
			b.room()
			b.adapt(pieceSize, delay(i, &b)+time.Duration(rng.IntN(1000))*time.Microsecond, time.Unix(1000, 0).Add(time.Duration(i)*10*time.Millisecond))
		}
		return int(b.window)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	flush := 160 * time.Millisecond
	jittery := run(func(i int, _ *bulkFlow) time.Duration { // pieces that come together share their delay
		if i%6 == 0 {
			flush = time.Duration(145+rng.IntN(60)) * time.Millisecond
		}
		return flush
	})
	queued := run(func(_ int, b *bulkFlow) time.Duration { // 2 Mbit/s: what exceeds 37 kB waits in a queue
		return 150*time.Millisecond + time.Duration(max(0, b.window-37500)*8/2e6*1e9)
	})
	t.Logf("window of %d bytes with jitter, %d with a queue", jittery, queued)
	if jittery < 20*firstWindow {
		t.Errorf("with jitter alone the window stays at %d bytes", jittery)
	}
	if queued > 3*37500 || queued < 20_000 {
		t.Errorf("with a queue the window is %d bytes", queued)
	}
}
