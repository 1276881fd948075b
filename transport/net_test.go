package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
)

const testVocab = 2048

func testHello(side tandem.Side) Hello {
	return Hello{Side: side, Vocab: [32]byte{1}, VocabSize: testVocab, Template: [32]byte{2}, Scorer: "lexical/1", Model: "tiny", Name: side.String()}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// testNet is a simulated network of two hosts, for use in a synctest bubble.
type testNet struct {
	device, cloud net.PacketConn
	router        *testRouter
	sim           *simnet.Simnet
}

// testRouter forwards packets unless drop returns true. It can give the device another public address.
type testRouter struct {
	simnet.PerfectRouter
	mu   sync.Mutex
	drop func(p simnet.Packet) bool
	nat  net.Addr // if set, the address at which the cloud sees and reaches the device
}

func (r *testRouter) SendPacket(p simnet.Packet) error {
	r.mu.Lock()
	drop := r.drop != nil && r.drop(p)
	if r.nat != nil {
		switch {
		case p.From.String() == deviceAddr.String():
			p.From = r.nat
		case p.To.String() == r.nat.String():
			p.To = deviceAddr
		default:
			drop = true
		}
	}
	r.mu.Unlock()
	if drop {
		return nil
	}
	return r.PerfectRouter.SendPacket(p)
}

func (r *testRouter) setDrop(drop func(p simnet.Packet) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop = drop
}

var (
	deviceAddr = &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1001}
	otherAddr  = &net.UDPAddr{IP: net.IPv4(10, 0, 0, 3), Port: 1003}
	deadAddr   = &net.UDPAddr{IP: net.IPv4(10, 0, 0, 4), Port: 1004}
	cloudAddr  = &net.UDPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 1002}
)

func newTestNet(t *testing.T, oneWay time.Duration) *testNet {
	router := &testRouter{}
	sim := &simnet.Simnet{Router: router}
	settings := simnet.NodeBiDiLinkSettings{Latency: oneWay}
	n := &testNet{router: router, sim: sim, device: sim.NewEndpoint(deviceAddr, settings), cloud: sim.NewEndpoint(cloudAddr, settings)}
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.device.Close()
		n.cloud.Close()
		sim.Close()
	})
	return n
}

func ephemeral(t *testing.T) Identity {
	t.Helper()
	id, err := Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// connect returns both ends of a connection over n.
func connect(t *testing.T, n *testNet) (device, cloud *Conn) {
	t.Helper()
	return connectLimits(t, n, Limits{})
}

// begin opens an exchange and returns both ends.
func begin(t *testing.T, device, cloud *Conn) (a, b *Exchange) {
	t.Helper()
	a, err := device.Open(t.Context(), Begin{ID: "x", Question: "what?", Settings: tandem.Settings{Seed: 7, MaxTokens: tandem.MaxAnswer}})
	if err != nil {
		t.Fatal(err)
	}
	b, got, err := cloud.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Question != "what?" || got.Seed != 7 {
		t.Fatalf("begin arrived as %+v", got)
	}
	return a, b
}

func receive(t *testing.T, x *Exchange) Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m, err := x.Receive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func simpleDraft(step int) tandem.Draft {
	return tandem.Draft{Epoch: 1, Step: tandem.Step(step), Token: 5, Dist: tandem.Dist{IDs: []tandem.Token{5, 9}, Weights: []uint32{tandem.Mass - 7, 7}}, H: 3, Decode: 32 * time.Millisecond}
}

func TestExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 25*time.Millisecond)
		start := time.Now()
		device, cloud := connect(t, n)
		t.Logf("connected after %v", time.Since(start))
		a, b := begin(t, device, cloud)
		t.Logf("exchange opened after %v", time.Since(start))
		for i := range 50 {
			if err := a.Send(simpleDraft(i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		for i := range 50 {
			if d, ok := receive(t, b).(tandem.Draft); !ok || d.Step != tandem.Step(i) {
				t.Fatalf("message %d is %+v", i, d)
			}
		}
		if err := b.Send(Sources{Sources: []Source{{Title: "Harbour", Weight: 0.5}}}); err != nil {
			t.Fatal(err)
		}
		b.Send(End{Reason: "stop"})
		b.Close()
		if s := receive(t, a).(Sources); s.Sources[0].Title != "Harbour" {
			t.Fatal(s)
		}
		if e := receive(t, a).(End); e.Reason != "stop" {
			t.Fatal(e)
		}
		if _, err := a.Receive(t.Context()); !errors.Is(err, io.EOF) {
			t.Fatalf("after the end: %v", err)
		}
		if err := a.Send(NeedSync{}); !errors.Is(err, ErrClosed) {
			t.Fatalf("send after the end: %v", err)
		}
		a.Close()
		if rtt := device.RTT(); rtt < 50*time.Millisecond || rtt > 52*time.Millisecond {
			t.Errorf("RTT %v on a 50 ms path", rtt)
		}
		s := device.Stats()
		t.Logf("%+v", s)
		if s.Drafts != 50 || s.DraftBytes == 0 || s.PacketsLost != 0 || s.Resends != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}
