package node

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/node/replicas"
	"tandem/pair"
	"tandem/transport"
)

// dialled is a cloud of two replicas whose dials end when the test says how. Nothing is ever said on its links.
type dialled struct {
	*town
	dials chan chan replica // one for each dial that has begun; closed for one that fails
}

func (d *dialled) open(ctx context.Context, _ ...string) (replica, error) {
	ends := make(chan replica)
	d.dials <- ends
	select {
	case up, ok := <-ends:
		if !ok {
			return replica{}, errors.New("nobody there")
		}
		return up, nil
	case <-ctx.Done():
		return replica{}, ctx.Err()
	}
}

// replica returns a replica with an open exchange.
func (d *dialled) replica(at string) replica {
	exchange, _ := transport.Pipe(toyVocab)
	return replica{conn: d.clouds[at], exchange: exchange, addr: at}
}

// dialling is a device that has asked the first of two replicas. The test takes its messages.
func dialling(t *testing.T) (*deviceAnswer, *dialled) {
	cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
	d := &dialled{town: newTown(t, cfg, &cable{}, &cable{}), dials: make(chan chan replica, 8)}
	cfg.Self = tandem.Device
	a := newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) {})
	a.log = slog.New(slog.DiscardHandler)
	var rest func()
	a.worker, rest = startWorker(a.ctx, &toy{side: tandem.Device, takes: time.Hour}, a.inbox)
	t.Cleanup(func() { a.stop(); rest() })
	a.reach(Patience{Join: time.Hour, Silent: time.Hour, Slow: time.Hour}, d)
	(<-d.dials) <- d.replica("replica-0")
	a.process(<-a.inbox)
	a.reportOthers()
	a.drainQueue()
	return a, d
}

// A search for another replica that was given up and then fails does not take the exchange of the next search.
func TestOldSearchFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, d := dialling(t)
		defer a.stop()
		a.process(fromCloud{exchange: a.exchange, message: transport.Busy{Before: 1}})
		first := <-d.dials
		a.process(fromCloud{exchange: a.exchange, message: transport.Ready{}})
		if a.presence.Seeking() {
			t.Fatal("it still looks for another replica")
		}
		time.Sleep(time.Second)
		a.process(fromCloud{exchange: a.exchange, message: transport.Leaving{}})
		second := <-d.dials
		up := d.replica("replica-1")
		second <- up
		a.process(<-a.inbox)
		close(first)
		a.process(<-a.inbox)
		if a.other.exchange != up.exchange || !a.presence.Seeking() {
			t.Error("the exchange to the other replica was given up")
		}
	})
}

// An exchange from a search that was given up is not used, and one that fails while the next search goes on does not end that.
func TestOldSearchEnds(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, d := dialling(t)
			defer a.stop()
			a.process(fromCloud{exchange: a.exchange, message: transport.Busy{Before: 1}})
			first := <-d.dials
			a.process(fromCloud{exchange: a.exchange, message: transport.Ready{}})
			time.Sleep(time.Second)
			a.process(fromCloud{exchange: a.exchange, message: transport.Leaving{}})
			second := <-d.dials
			if fails {
				close(first)
			} else {
				first <- d.replica("replica-1")
			}
			a.process(<-a.inbox)
			if a.other.exchange != nil || !a.presence.Seeking() {
				t.Errorf("fails %v: another exchange: %v, seeking: %v", fails, a.other.exchange != nil, a.presence.Seeking())
			}
			up := d.replica("replica-1")
			second <- up
			for a.other.exchange == nil {
				a.process(<-a.inbox)
			}
			if a.other.exchange != up.exchange {
				t.Errorf("fails %v: another exchange", fails)
			}
		})
	}
}

// The cloud's last words are waited for although another exchange ends.
func TestLastWordsOfThisExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, d := dialling(t)
		defer a.stop()
		a.post(exchangeEnded{exchange: d.replica("replica-1").exchange, err: errCut})
		a.post(received{a.exchange, []transport.Message{transport.Sources{Sources: []transport.Source{{Title: "Museum", Weight: 1}}}}})
		a.awaitSources()
		if got := a.answer.Documents[tandem.Cloud]; len(got) != 1 {
			t.Errorf("sources %v", got)
		}
	})
}

// A replica that takes a question is not full any more.
func TestTakingAQuestionEndsBeingFull(t *testing.T) {
	for _, other := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, d := dialling(t)
			defer a.stop()
			a.process(fromCloud{exchange: a.exchange, message: transport.Busy{Before: 1, About: 20 * time.Second}})
			at := "replica-0"
			if other {
				at = "replica-1"
				(<-d.dials) <- d.replica(at)
				a.process(<-a.inbox)
				d.note(at, replicas.Full, 20*time.Second) // as another answer found
				a.process(fromCloud{exchange: a.other.exchange, message: transport.Ready{}})
			} else {
				a.process(fromCloud{exchange: a.exchange, message: transport.Ready{}})
			}
			if a.addr != at || !d.set.Fits(time.Now(), at) {
				t.Errorf("at %s, which is still full", a.addr)
			}
		})
	}
}

// Drafts that arrive together with the word that another replica is ready are not lost.
func TestDraftsArriveWithReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, d := dialling(t)
		defer a.stop()
		a.process(received{a.exchange, []transport.Message{transport.Busy{Before: 1}}})
		(<-d.dials) <- d.replica("replica-1")
		a.process(<-a.inbox)
		rule := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false).Rule() // of dialling
		dist, h := toyOutput(tandem.Cloud, nil)
		draft := tandem.Draft{Epoch: 1, Prefix: tandem.NoPrefix, Token: rule.Draft(tandem.Cloud, 0, dist), Dist: dist, H: h}
		a.process(received{a.other.exchange, []transport.Message{transport.Ready{}, draft}})
		a.step(pair.Start{})
		own, h := toyOutput(tandem.Device, nil)
		a.process(decoded{id: 1, out: decoder.Output{Dist: own, H: h}})
		if a.addr != "replica-1" || len(a.answer.Tokens) != 1 {
			t.Errorf("at %s, %d tokens", a.addr, len(a.answer.Tokens))
		}
	})
}

// metered is a connection that has sent as many bytes as the test says.
type metered struct {
	cloudConn
	sent uint64
}

func (m *metered) Stats() transport.Stats { return transport.Stats{BytesSent: m.sent} }

// What an answer cost on the network counts both replicas if it waits at one and then at the other.
func TestCostOfBothQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, d := dialling(t)
		defer a.stop()
		first, second := &metered{a.conn, 0}, &metered{d.clouds["replica-1"], 0}
		a.conn = first
		a.process(fromCloud{exchange: a.exchange, message: transport.Busy{Before: 1, About: time.Minute}})
		up := d.replica("replica-1")
		up.conn = second
		(<-d.dials) <- up
		a.process(<-a.inbox)
		first.sent, second.sent = 300, 20
		a.process(fromCloud{exchange: a.other.exchange, message: transport.Busy{Before: 1, About: time.Second}})
		if first.sent += 4000; a.addr != "replica-1" {
			t.Fatalf("it waits at %s", a.addr)
		}
		if got := a.traffic().BytesSent; got != 320 {
			t.Errorf("%d bytes sent, want those of both replicas while it used them: 320", got)
		}
	})
}
