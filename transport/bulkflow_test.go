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

// narrow lets a test network's packets through links of package netem, one for each direction.
func (n *testNet) narrow(t *testing.T, c netem.Config) {
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

// beside sends drafts from the cloud every 30 ms while load runs. It returns how long the slowest of twenty drafts took,
// and how long load took. (A few drafts wait while the window still doubles.)
func beside(t *testing.T, path netem.Config, load func(t *testing.T, device, cloud *Exchange)) (p95, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 0)
		device, cloud := connect(t, n)
		n.narrow(t, path)
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

// noise returns n bytes that cannot be compressed, as keys and values hardly can.
func noise(n int) []byte {
	data := make([]byte, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

// A bulk transfer arrives to the byte and does not delay the drafts of another answer, at any rate of the path. Without
// pacing it does.
func TestBulkGivesWay(t *testing.T) {
	data := noise(700_000)
	for _, mbit := range []float64{2, 8, 40} {
		path := netem.Config{Delay: 25 * time.Millisecond, Rate: mbit * 1e6, Queue: 300_000}
		idle, _ := beside(t, path, func(*testing.T, *Exchange, *Exchange) {})
		paced, took := beside(t, path, func(t *testing.T, device, cloud *Exchange) {
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
		rude, _ := beside(t, path, func(t *testing.T, device, cloud *Exchange) {
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
		t.Logf("%g Mbit/s: 95th percentile of drafts idle %v, beside a bulk %v, beside one without pacing %v; %d bytes took %v, %v at the full rate", mbit, idle, paced, rude, len(data), took, ideal)
		piece := time.Duration(pieceSize * 8 / (mbit * 1e6) * 1e9)
		if paced > idle+2*bulkTarget+piece {
			t.Errorf("%g Mbit/s: drafts take %v beside a bulk, %v without", mbit, paced, idle)
		}
		if mbit < 4 && rude < paced+bulkTarget {
			t.Errorf("%g Mbit/s: drafts take %v beside a bulk without pacing: the test shows nothing", mbit, rude)
		}
		if took > 2*ideal+time.Second {
			t.Errorf("%g Mbit/s: the bulk took %v, at the full rate it is %v", mbit, took, ideal)
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
		_, took := beside(t, path, func(t *testing.T, device, cloud *Exchange) {
			go SendBulk(t.Context(), cloud, data)
			got, err := ReceiveBulk(t.Context(), device, len(data))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: %d of %d bytes: %v", name, len(got), len(data), err)
			}
		})
		t.Logf("%s: %d bytes in %v", name, len(data), took)
		if took > 10*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

// Sizes that a peer claims are checked.
func TestBulkRefuses(t *testing.T) {
	for name, send := range map[string][]Message{
		"too much":     {Piece{Data: make([]byte, 11)}},
		"empty":        {Piece{}},
		"another kind": {NeedSync{}},
		"given up":     {Piece{Data: make([]byte, 5)}, Fail{Text: "no more"}},
	} {
		b, a := Pipe(testVocab)
		for _, m := range send {
			if err := a.Send(m); err != nil {
				t.Fatal(err)
			}
		}
		if data, err := ReceiveBulk(t.Context(), b, 10); err == nil {
			t.Errorf("%s: taken as %d bytes", name, len(data))
		}
	}
	for name, m := range map[string]Message{"too much": Got{Bytes: 11}, "not a piece": Got{Bytes: 3}, "the end": End{}, "another kind": Sync{}} {
		b, a := Pipe(testVocab)
		if err := b.Send(m); err != nil {
			t.Fatal(err)
		}
		if err := SendBulk(t.Context(), a, make([]byte, 10)); err == nil {
			t.Errorf("%s: taken for an acknowledgement", name)
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
		t.Error("a bulk beyond the limit was accepted")
	}
}

// Delays that vary without a queue let the window grow; delays that only rise stop it.
func TestBulkTellsJitterFromAQueue(t *testing.T) {
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
	wavering := run(func(i int, _ *bulkFlow) time.Duration { // pieces that come together share what they waited for
		if i%6 == 0 {
			flush = time.Duration(145+rng.IntN(60)) * time.Millisecond
		}
		return flush
	})
	queued := run(func(_ int, b *bulkFlow) time.Duration { // 2 Mbit/s: a window above 37 kB stands in a queue
		return 150*time.Millisecond + time.Duration(max(0, b.window-37500)*8/2e6*1e9)
	})
	t.Logf("window %d bytes under jitter, %d before a queue", wavering, queued)
	if wavering < 20*firstWindow {
		t.Errorf("jitter alone holds the window at %d bytes", wavering)
	}
	if queued > 3*37500 || queued < 20_000 {
		t.Errorf("the window before a queue is %d bytes", queued)
	}
}
