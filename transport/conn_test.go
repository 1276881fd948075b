package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
	"tandem/transport/reliable"
)

// When the peer vanishes, the connection ends with ErrLost after the idle timeout.
func TestPeerVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		device, cloud := connect(t, n)
		a, _ := begin(t, device, cloud)
		n.router.setDrop(func(simnet.Packet) bool { return true })
		start := time.Now()
		_, err := a.Receive(t.Context())
		if !errors.Is(err, ErrLost) {
			t.Errorf("error %v", err)
		}
		if d := time.Since(start); d < 20*time.Second || d > 70*time.Second {
			t.Errorf("the connection ended after %v", d)
		}
		<-device.Closed()
		if err := a.Send(NeedSync{}); !errors.Is(err, ErrLost) {
			t.Errorf("send: %v", err)
		}
		if _, err := device.Open(t.Context(), Begin{}); !errors.Is(err, ErrLost) {
			t.Errorf("open: %v", err)
		}
	})
}

// A question on a connection that was idle shows that the peer is there. When no other sign of life follows, it is gone.
func TestIdleConnectionIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		device, cloud := connect(t, n)
		time.Sleep(time.Minute)
		if !cloud.Silent(time.Now()) {
			t.Error("an idle connection is not silent: the test would show nothing")
		}
		device.maxDatagram.Store(0) // its first echo comes later than the question
		begin(t, device, cloud)
		if cloud.Silent(time.Now()) {
			t.Error("a question is no sign of life")
		}
		n.router.setDrop(func(simnet.Packet) bool { return true })
		time.Sleep(2 * silence)
		if !cloud.Silent(time.Now()) {
			t.Error("a peer that vanished is not silent")
		}
	})
}

// The peer of a closed connection learns the reason.
func TestCloseTellsWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		device, cloud := connect(t, n)
		a, _ := begin(t, device, cloud)
		cloud.Close("going home")
		if _, err := a.Receive(t.Context()); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "going home") {
			t.Errorf("error %v", err)
		}
		if _, _, err := cloud.Accept(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("accept on a closed connection: %v", err)
		}
	})
}

// Several answers share a connection. More than the limit wait until others are closed.
func TestManyExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		device, cloud := connectLimits(t, n, Limits{Exchanges: 4})
		for range 3 {
			var ends [4][2]*Exchange
			for i := range ends {
				ends[i][0], ends[i][1] = begin(t, device, cloud)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if x, err := device.Open(ctx, Begin{}); err == nil {
				t.Errorf("a fifth exchange was opened: %d", x.id)
			}
			cancel()
			var wg sync.WaitGroup
			for _, e := range ends {
				wg.Go(func() {
					exchangeDrafts(t, e[0], e[1], 20, 5*time.Millisecond)
					e[0].Close()
					if _, err := e[1].Receive(t.Context()); !errors.Is(err, io.EOF) {
						t.Errorf("after the end: %v", err)
					}
					e[1].Close()
				})
			}
			wg.Wait()
			time.Sleep(200 * time.Millisecond)
			if k := len(device.openExchanges()) + len(cloud.openExchanges()); k != 0 {
				t.Errorf("%d exchanges are left", k)
			}
		}
	})
}

// A peer that does not read cannot make this side keep more than a bounded amount.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, time.Millisecond)
		device, cloud := connect(t, n)
		b, a := begin(t, device, cloud)
		var err error
		sent := 0
		for ; err == nil && sent < 100_000; sent++ {
			err = a.Send(Fail{Text: strings.Repeat(fmt.Sprint(sent%10), 3000)})
			if sent%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		if !errors.Is(err, ErrBacklog) {
			t.Fatalf("after %d messages: %v", sent, err)
		}
		b.mu.Lock()
		if len(b.inbox) > inboxLimit || b.unread > inboxBytes+maxControl {
			t.Errorf("%d messages of %d bytes wait at the receiver", len(b.inbox), b.unread)
		}
		b.mu.Unlock()
	})
}

// Messages count by their size in memory, however small they are on the wire. Messages that arrive ahead of a missing one
// stay encoded until there is space.
func TestBacklogOfCompressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		const total = 40
		frames := make([][]byte, total)
		for i := range frames {
			var err error
			if frames[i], err = encodeControl(Sync{Epoch: uint32(i), Tokens: make([]tandem.Token, tandem.MaxAnswer)}); err != nil {
				t.Fatal(err)
			}
		}
		b.mu.Lock()
		for i := range frames[1:] {
			if err := b.flow.Insert(uint64(i+2), frames[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		b.mu.Unlock()
		a.Send(Sync{Tokens: make([]tandem.Token, tandem.MaxAnswer)})
		time.Sleep(time.Second)
		b.mu.Lock()
		tokens := 0
		for _, d := range b.inbox {
			tokens += len(d.message.(Sync).Tokens)
		}
		b.mu.Unlock()
		if tokens == 0 || 4*tokens > inboxBytes+4*tandem.MaxAnswer {
			t.Errorf("%d tokens wait at the receiver", tokens)
		}
		for i := range total {
			if s := receive(t, b).(Sync); s.Epoch != uint32(i) {
				t.Fatalf("sync %d is of epoch %d", i, s.Epoch)
			}
		}
	})
}

// A message that a side must not send ends the connection: the cloud's messages from a device, or a longer answer than the
// device asked for.
func TestOutOfPlace(t *testing.T) {
	for name, m := range map[string]Message{
		"begin again":   Begin{},
		"hello":         testHello(tandem.Device),
		"the cloud's":   Fail{Text: "no"},
		"a longer sync": Sync{Tokens: make([]tandem.Token, 9)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newTestNet(t, time.Millisecond)
				device, cloud := connect(t, n)
				a, err := device.Open(t.Context(), Begin{Settings: tandem.Settings{MaxTokens: 8}})
				if err != nil {
					t.Fatal(err)
				}
				if err := a.Send(Sync{Tokens: make([]tandem.Token, 8)}); err != nil {
					t.Fatal(err)
				}
				b, _, err := cloud.Accept(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if s := receive(t, b).(Sync); len(s.Tokens) != 8 {
					t.Errorf("%d tokens arrived", len(s.Tokens))
				}
				if err := a.Send(m); err != nil { // only now: a connection that has ended may have nothing more to accept
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if m, err := b.Receive(ctx); err == nil {
					t.Fatalf("%T was accepted", m)
				}
				<-device.Closed()
				var refused *RefusedError
				if err := device.Err(); !errors.As(err, &refused) {
					t.Errorf("the sender was told %v", err)
				}
			})
		})
	}
}

// A peer that floods this side with hedges, each for another prefix and as large as possible, takes no more memory than any
// other peer, and gets ErrBacklog.
func TestHedgeFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		hedge := tandem.Draft{Epoch: 1, Version: tandem.AnyVersion, Dist: spread(tandem.MaxSupport, testVocab)}
		hedge.Token = hedge.Dist.IDs[0]
		var err error
		for i := 0; err == nil && i < 100_000; i++ {
			hedge.Step, hedge.Prefix = tandem.Step(i%50), tandem.Prefix(i)
			if err = a.Send(hedge); i%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		if !errors.Is(err, ErrBacklog) {
			t.Fatalf("the flood ends with %v", err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.inbox) > inboxLimit || b.unread > inboxBytes+maxControl {
			t.Errorf("%d hedges of %d bytes wait at the receiver", len(b.inbox), b.unread)
		}
	})
}

// The drafts of one Send leave in one datagram if they fit, whatever else wakes the sender, and arrive together.
func TestSentTogetherShareADatagram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 5*time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		for round := range 200 {
			time.Sleep(time.Second) // until everything is acknowledged
			a.mu.Lock()
			before := a.flow.Stats().Datagrams
			a.mu.Unlock()
			var drafts []Message
			for i := range 4 {
				d := simpleDraft(4*round + i)
				d.Dist = spread(128, testVocab) // takes a while to encode
				d.Token = d.Dist.IDs[0]
				drafts = append(drafts, d)
			}
			if err := a.Send(drafts...); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			a.mu.Lock()
			if got := a.flow.Stats().Datagrams - before; got != 1 || a.flow.Stats().Unsent > 0 {
				t.Errorf("round %d: %d datagrams, %d drafts not sent", round, got, a.flow.Stats().Unsent)
			}
			a.mu.Unlock()
			for i := range drafts {
				if d, ok := receive(t, b).(tandem.Draft); !ok || d.Step != tandem.Step(4*round+i) {
					t.Fatalf("draft %d of round %d is %+v", i, round, d)
				}
				if more := i < len(drafts)-1; b.More() != more {
					t.Fatalf("after draft %d of round %d more have arrived: %v, want %v", i, round, !more, more)
				}
			}
		}
	})
}

// When the reader falls behind, drafts wait at the sender and none is lost.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 5*time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		const total = 3000
		for i := range total {
			if err := a.Send(simpleDraft(i)); err != nil {
				t.Fatalf("draft %d: %v", i, err)
			}
		}
		time.Sleep(5 * time.Second)
		b.mu.Lock()
		if n := len(b.inbox); n < inboxLimit/2 || n > inboxLimit {
			t.Errorf("%d drafts wait at the receiver", n)
		}
		b.mu.Unlock()
		for i := range total {
			if d := receive(t, b).(tandem.Draft); d.Step != tandem.Step(i) {
				t.Fatalf("draft %d is of step %d", i, d.Step)
			}
		}
	})
}

// This also holds when drafts come one by one, so that only datagrams carry them.
func TestSlowReaderOfDatagrams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 5*time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		const total = inboxLimit + reliable.Window/4
		for i := range total {
			if err := a.Send(simpleDraft(i)); err != nil {
				t.Fatalf("draft %d: %v", i, err)
			}
			time.Sleep(time.Millisecond)
		}
		b.mu.Lock()
		if n := len(b.inbox); n != inboxLimit {
			t.Errorf("%d drafts wait at the receiver", n)
		}
		b.mu.Unlock()
		for i := range total {
			if d := receive(t, b).(tandem.Draft); d.Step != tandem.Step(i) {
				t.Fatalf("draft %d is of step %d", i, d.Step)
			}
		}
	})
}

// A malformed datagram ends the connection.
func TestHostileDatagrams(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty id":        {0x80},
		"cut off":         {4, 0},
		"long frame":      {4, 0, 0, 0, 200, 1},
		"unreadable body": {4, 0, 0, 1, 1, 0xff},
		"follows nothing": {4, 0, 0, 1, 2, 0x40, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newTestNet(t, time.Millisecond)
				device, cloud := connect(t, n)
				a, _ := begin(t, device, cloud)
				if a.id != 4 {
					t.Fatalf("exchange %d", a.id)
				}
				if err := device.qc.SendDatagram(data); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if err := cloud.Err(); err == nil {
					t.Error("the connection survived")
				}
				var refused *RefusedError
				if err := device.Err(); !errors.As(err, &refused) {
					t.Errorf("the sender was told %v", err)
				}
			})
		})
	}
}

// A datagram that claims to be an exchange's first message does not replace its Begin, however early it arrives. An
// exchange that starts with another message is refused.
func TestBeginComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, time.Millisecond)
		device, cloud := connect(t, n)
		stream, err := device.qc.OpenStreamSync(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		frame, err := encodeControl(Sync{})
		if err != nil {
			t.Fatal(err)
		}
		x := cloud.begun(stream, Begin{ID: "x"}, 1)
		for _, seq := range []byte{0, 1} {
			if err := x.datagram(append([]byte{0, 0, seq, byte(len(frame))}, frame...), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		cloud.ready <- x
		got, first, err := cloud.Accept(t.Context())
		if err != nil || got != x || first.ID != "x" {
			t.Fatalf("accepted %+v, %v", first, err)
		}
		x.mu.Lock()
		waiting := len(x.inbox)
		x.mu.Unlock()
		if waiting != 1 {
			t.Errorf("%d messages after Begin, want 1", waiting)
		}

		x = cloud.exchange(stream)
		x.add(NeedSync{}, 1)
		cloud.ready <- x
		if _, _, err := cloud.Accept(t.Context()); err == nil {
			t.Error("an exchange that starts with NeedSync was accepted")
		}
	})
}

// A malformed stream is refused, and the connection stays.
func TestHostileStreams(t *testing.T) {
	for name, data := range map[string][]byte{
		"too long":    binary.AppendUvarint(nil, 1<<40),
		"no begin":    appendStreamFrame(nil, 0, []byte{kindControl << 5, codeNeedSync, 0x90}),
		"hello again": appendStreamFrame(nil, 0, []byte{kindControl << 5, codeHello, 0x90}),
		"empty":       {0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newTestNet(t, time.Millisecond)
				device, cloud := connect(t, n)
				stream, err := device.qc.OpenStreamSync(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				stream.Write(data)
				if _, err := stream.Read(make([]byte, 1)); err == nil {
					t.Error("the stream was served")
				}
				a, b := begin(t, device, cloud) // other exchanges are not affected
				exchangeDrafts(t, a, b, 3, time.Millisecond)
			})
		})
	}
}

func connectLimits(t *testing.T, n *testNet, limits Limits) (device, cloud *Conn) {
	t.Helper()
	d, c := ephemeral(t), ephemeral(t)
	l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet(), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	device, err = Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { device.Close("test over") })
	if cloud, err = l.Accept(t.Context()); err != nil {
		t.Fatal(err)
	}
	return device, cloud
}

// However many exchanges of a peer are refused, the log has one line about them.
func TestRefusedExchangesDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		device, cloud := connect(t, newTestNet(t, 10*time.Millisecond))
		var log bytes.Buffer
		cloud.log = slog.New(slog.NewTextHandler(&log, nil))
		for range 50 {
			stream, err := device.qc.OpenStreamSync(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			stream.Write([]byte{1, 0})
			time.Sleep(100 * time.Millisecond) // of virtual time
		}
		cloud.Close("test over")
		if n := strings.Count(log.String(), "exchange refused"); n != 1 {
			t.Errorf("%d lines", n)
		}
	})
}

// Both ends name each difference, with both values.
func TestHelloMismatch(t *testing.T) {
	for what, change := range map[string]func(*Hello){
		"side":                   func(h *Hello) { h.Side = tandem.Device },
		"vocabulary size":        func(h *Hello) { h.VocabSize++ },
		"vocabulary fingerprint": func(h *Hello) { h.Vocab[5]++ },
		"chat template":          func(h *Hello) { h.Template[5]++ },
		"scorer":                 func(h *Hello) { h.Scorer = "learned/2" },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newTestNet(t, 20*time.Millisecond)
				d, c := ephemeral(t), ephemeral(t)
				hello := testHello(tandem.Cloud)
				change(&hello)
				var log bytes.Buffer
				l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: hello, Log: slog.New(slog.NewTextHandler(&log, nil))})
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				_, err = Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device})
				var mismatch *MismatchError
				if !errors.As(err, &mismatch) || mismatch.What != what {
					t.Fatalf("the device was told %v", err)
				}
				t.Log(err)
				if strings.Contains(err.Error(), "--scorer") { // each side chooses its own: it only orders passages
					t.Errorf("the device was told to change what may differ: %v", err)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if !strings.Contains(log.String(), what) {
					t.Errorf("the cloud logs %q, want it to name %q", log.String(), what)
				}
			})
		})
	}
}

// A difference that takes a long text to describe ends the connection as well, so its place is free again.
func TestLongHelloMismatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d, c := ephemeral(t), ephemeral(t)
		hello := testHello(tandem.Cloud)
		hello.Scorer = strings.Repeat("ä", MaxText/2)
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: hello, Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, err = Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device})
		if mismatch := (*MismatchError)(nil); !errors.As(err, &mismatch) {
			t.Fatalf("the device was told %v", err)
		}
		time.Sleep(500 * time.Millisecond)
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.places) != 0 {
			t.Error("the connection still has its place")
		}
	})
}

func TestUnknownKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d, c, other := ephemeral(t), ephemeral(t), ephemeral(t)
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(other.ID), Hello: testHello(tandem.Cloud), Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		cfg := ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()}
		_, err = Dial(t.Context(), cloudAddr.String(), cfg)
		var unpaired *NotPairedError
		if !errors.As(err, &unpaired) {
			t.Errorf("an unknown device was told %v", err)
		}
		cfg.Identity, cfg.Peer = other, other.ID
		if _, err = Dial(t.Context(), cloudAddr.String(), cfg); err == nil || !strings.Contains(err.Error(), "pair again") {
			t.Errorf("another cloud's key gave %v", err)
		}
		cfg.Peer = c.ID
		conn, err := Dial(t.Context(), cloudAddr.String(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close("")
	})
}

// A device whose key is removed while it is connected can ask no more questions, and learns why.
func TestRemovedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d, c := ephemeral(t), ephemeral(t)
		peers := NewPeers(d.ID)
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: peers, Hello: testHello(tandem.Cloud), Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer device.Close("")
		cloud, err := l.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		begin(t, device, cloud)
		if err := peers.Remove(d.ID); err != nil {
			t.Fatal(err)
		}
		x, err := device.Open(t.Context(), Begin{Question: "and now?"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var unpaired *NotPairedError
		if _, err := x.Receive(ctx); !errors.As(err, &unpaired) {
			t.Errorf("the device was told %v", err)
		}
		if _, _, err := cloud.Accept(ctx); !errors.As(err, &unpaired) {
			t.Errorf("the question arrived: %v", err)
		}
	})
}

// A replica tells its devices of the others. A key that another process removes loses its connection within seconds, and a
// directory that cannot be reached removes nobody.
func TestReplicasSharePairings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d, c, dir := ephemeral(t), ephemeral(t), filepath.Join(t.TempDir(), "peers")
		if err := OpenPeers(dir).Add(Peer{ID: d.ID, Name: "phone"}); err != nil {
			t.Fatal(err)
		}
		hello, addrs := testHello(tandem.Cloud), []string{"10.0.0.2:1002", "cloud-b.example:4433"}
		hello.Replica = addrs[0]
		l, err := ListenOn(n.cloud, ServerConfig{
			Identity: c, Peers: OpenPeers(dir), Hello: hello, Log: quiet(), Addrs: func() []string { return addrs },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer device.Close("")
		if h := device.Hello(); h.Replica != addrs[0] || !slices.Equal(h.Addrs, addrs) {
			t.Errorf("the replica says of itself %q, %q", h.Replica, h.Addrs)
		}
		cloud, err := l.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, b := begin(t, device, cloud)
		b.SendLeaving()
		if m := receive(t, a); m != (Leaving{}) {
			t.Errorf("the device hears %v", m)
		}
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * revokeEvery)
		if err := errors.Join(os.Rename(dir+".away", dir), device.Err()); err != nil {
			t.Fatalf("without the directory: %v", err)
		}
		time.Sleep(2 * revokeEvery)
		if device.Err() != nil {
			t.Fatal(device.Err())
		}
		if err := OpenPeers(dir).Remove(d.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(revokeEvery + time.Second)
		var unpaired *NotPairedError
		if err := device.Err(); !errors.As(err, &unpaired) {
			t.Errorf("after its key was removed: %v", err)
		}
	})
}

func TestDialGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d := ephemeral(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Dial(ctx, cloudAddr.String(), ClientConfig{Identity: d, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no listener: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		_, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: ephemeral(t), Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
		if want := "transport: dial " + cloudAddr.String() + ": no answer"; err == nil || err.Error() != want {
			t.Errorf("no listener and no deadline: %v, want %s", err, want)
		}
	})
	if _, err := Dial(t.Context(), "nowhere", ClientConfig{Identity: ephemeral(t), Hello: testHello(tandem.Device)}); err == nil || !strings.Contains(err.Error(), "host:port") {
		t.Errorf("address without a port: %v", err)
	}
}

func TestTooManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d, c := ephemeral(t), ephemeral(t)
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet(), Limits: Limits{Conns: 1}})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		cfg := ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()}
		first, err := Dial(t.Context(), cloudAddr.String(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		// The second connection needs its own socket, because the first one's transport owns n.device.
		sim := &simnet.Simnet{Router: n.router}
		cfg.PacketConn = sim.NewEndpoint(otherAddr, simnet.NodeBiDiLinkSettings{Latency: 20 * time.Millisecond})
		if err := sim.Start(); err != nil {
			t.Fatal(err)
		}
		defer sim.Close()
		defer cfg.PacketConn.Close()
		defer first.Close("")
		var refused *RefusedError
		if _, err := Dial(t.Context(), cloudAddr.String(), cfg); !errors.As(err, &refused) {
			t.Errorf("a second connection: %v", err)
		}
	})
}

// Connections whose devices have vanished, and idle ones, give their places to new ones: nobody is shut out for QUIC's idle
// timeout. One key never has more connections than its share.
func TestVanishedMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		keys := []Identity{ephemeral(t), ephemeral(t)}
		c := ephemeral(t)
		l, err := ListenOn(n.cloud, ServerConfig{
			Identity: c, Peers: NewPeers(keys[0].ID, keys[1].ID), Hello: testHello(tandem.Cloud), Log: quiet(), Limits: Limits{Conns: 4, PerKey: 3},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		sim := &simnet.Simnet{Router: n.router}
		var sockets []net.PacketConn
		for i := range 12 {
			at := &net.UDPAddr{IP: net.IPv4(10, 0, 2, byte(i)), Port: 3000}
			sockets = append(sockets, sim.NewEndpoint(at, simnet.NodeBiDiLinkSettings{Latency: 20 * time.Millisecond}))
		}
		if err := sim.Start(); err != nil {
			t.Fatal(err)
		}
		defer sim.Close()
		var gone atomic.Int32
		n.router.setDrop(func(p simnet.Packet) bool { // the first sockets are closed without a word
			from, to := p.From.(*net.UDPAddr), p.To.(*net.UDPAddr)
			dead := func(a *net.UDPAddr) bool { return a.IP[len(a.IP)-2] == 2 && int32(a.IP[len(a.IP)-1]) < gone.Load() }
			return dead(from) || dead(to)
		})
		next := 0
		dial := func(key int) (*Conn, error) {
			pc := sockets[next]
			next++
			d, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: keys[key], Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: pc, Log: quiet()})
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { d.Close("") })
			_, err = d.Open(t.Context(), Begin{})
			return d, err
		}
		for i, key := range []int{0, 0, 0, 1} {
			if _, err := dial(key); err != nil {
				t.Fatalf("connection %d: %v", i, err)
			}
		}
		time.Sleep(10 * time.Second) // echoes keep them
		var refused *RefusedError
		if _, err := dial(0); !errors.As(err, &refused) || !strings.Contains(err.Error(), "this key") {
			t.Errorf("a fourth connection of a key: %v", err)
		}
		if _, err := dial(1); !errors.As(err, &refused) || !strings.Contains(err.Error(), "too many") {
			t.Errorf("a fifth connection: %v", err)
		}
		gone.Store(4)
		time.Sleep(silence + time.Second)
		for i, key := range []int{0, 1, 0, 1} {
			if _, err := dial(key); err != nil {
				t.Errorf("connection %d after the others vanished: %v", i, err)
			}
		}
		l.mu.Lock()
		if len(l.places) > 4 {
			t.Errorf("%d connections", len(l.places))
		}
		l.mu.Unlock()
	})
}

func TestPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe(testVocab)
		exchangeDrafts(t, a, b, 50, time.Millisecond)
		if err := a.Send("text"); err == nil {
			t.Error("a string was sent")
		}
		a.Send(End{Reason: "done"})
		a.Close()
		if m := receive(t, b); m != (End{Reason: "done"}) {
			t.Errorf("got %+v", m)
		}
		if _, err := b.Receive(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
		if err := b.Send(NeedSync{}); !errors.Is(err, ErrClosed) {
			t.Errorf("send after the end: %v", err)
		}
		if _, err := a.Receive(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("receive after Close: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c, _ := Pipe(testVocab)
		if _, err := c.Receive(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("receive from nobody: %v", err)
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add(appendStreamFrame(appendStreamFrame(nil, 0, []byte{1, 2}), 1, []byte{3}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bufio.NewReader(bytes.NewReader(b))
		for total := 0; ; {
			seq, frame, err := readFrame(in, 100)
			if err != nil {
				return
			}
			if total += len(frame); len(frame) == 0 || len(frame) > 100+binary.MaxVarintLen64 || total > len(b) {
				t.Fatalf("message %d of %d bytes out of %d", seq, len(frame), len(b))
			}
		}
	})
}

// While the directory of the pairings is away, connected devices can ask on. A list that cannot be read is no reason for a device
// to pair again.
func TestPairingsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d, c, dir := ephemeral(t), ephemeral(t), filepath.Join(t.TempDir(), "peers")
		if err := OpenPeers(dir).Add(Peer{ID: d.ID, Name: "phone"}); err != nil {
			t.Fatal(err)
		}
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: OpenPeers(dir), Hello: testHello(tandem.Cloud), Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		cfg := ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()}
		device, err := Dial(t.Context(), cloudAddr.String(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		cloud, err := l.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		begin(t, device, cloud)
		if err := errors.Join(os.Rename(dir+".away", dir), device.Err()); err != nil {
			t.Error(err)
		}
		device.Close("")
		if err := os.WriteFile(OpenPeers(dir).path(d.ID), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, cfg.Eager = range []bool{false, true} {
			device, err = Dial(t.Context(), cloudAddr.String(), cfg)
			if err == nil {
				time.Sleep(time.Second)
				err = device.Err()
			}
			if refused := (*RefusedError)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "cannot read") {
				t.Errorf("eager %v: the device is told %v", cfg.Eager, err)
			}
		}
	})
}

// Refused connections are logged at once, then at most once a minute, with how many were not: anybody can knock.
func TestRefusedConnectionsAreLoggedSparingly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		c := ephemeral(t)
		var said bytes.Buffer
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(), Hello: testHello(tandem.Cloud), Log: slog.New(slog.NewTextHandler(&said, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		knock := func(times int) {
			for range times {
				cfg := ClientConfig{Identity: ephemeral(t), Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()}
				if _, err := Dial(t.Context(), cloudAddr.String(), cfg); !errors.As(err, new(*NotPairedError)) {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		}
		for _, step := range []struct {
			times int
			after time.Duration
			want  string // of the last warning
			lines int    // of all
		}{
			{1, 0, "unlogged=0", 1},
			{20, 0, "unlogged=0", 1},
			{1, time.Minute, "unlogged=20", 2},
			{5, 0, "unlogged=20", 2},
			{1, time.Hour, "unlogged=5", 3},
			{1, time.Minute, "unlogged=0", 4},
		} {
			time.Sleep(step.after)
			knock(step.times)
			lines := strings.Split(strings.TrimSpace(said.String()), "\n")
			if last := lines[len(lines)-1]; len(lines) != step.lines || !strings.Contains(last, "connection refused") || !strings.HasSuffix(last, step.want) {
				t.Errorf("after %v, %d refusals: %d lines, the last %q; want %d and %q", step.after, step.times, len(lines), last, step.lines, step.want)
			}
		}
	})
}

// A paired device that breaks the protocol again and again, on a new connection each time, does not fill the log.
func TestAbortedConnectionsAreLoggedSparingly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 10*time.Millisecond)
		d, c := ephemeral(t), ephemeral(t)
		var said bytes.Buffer
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: slog.New(slog.NewTextHandler(&said, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range 10 {
			device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Accept(t.Context()); err != nil {
				t.Fatal(err)
			}
			device.qc.SendDatagram([]byte{0x80}) // half a number
			time.Sleep(time.Second)
			if device.Err() == nil && device.qc.Context().Err() == nil {
				t.Fatal("the connection stands")
			}
			device.Close("")
		}
		synctest.Wait()
		if n := strings.Count(said.String(), "connection aborted"); n != 1 {
			t.Errorf("%d lines:\n%s", n, &said)
		}
	})
}
