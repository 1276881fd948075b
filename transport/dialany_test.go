package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
)

// routes are addresses of one cloud: some reach it, each after its own delay, and some do not.
type routes struct {
	cfg   ClientConfig
	conns map[string]net.PacketConn
	keep  bool // dials go on after they are cancelled

	start time.Time
	mu    sync.Mutex
	began map[string]time.Duration
	made  map[string]*Conn
}

// newRoutes returns the routes and the cloud's listener. Each delay is for one direction. 0 stands for an address that does
// not answer.
func newRoutes(t *testing.T, delays map[string]time.Duration) (*routes, *Listener) {
	t.Helper()
	sim := &simnet.Simnet{Router: &testRouter{}}
	at := sim.NewEndpoint(cloudAddr, simnet.NodeBiDiLinkSettings{})
	w := &routes{conns: map[string]net.PacketConn{}, start: time.Now(), began: map[string]time.Duration{}, made: map[string]*Conn{}}
	port := 2000
	for name, delay := range delays {
		from := &net.UDPAddr{IP: net.IPv4(10, 0, 1, 1), Port: port}
		w.conns[name] = simnet.NewSimConn(from, &testRouter{drop: func(simnet.Packet) bool { return true }})
		if delay > 0 {
			w.conns[name] = sim.NewEndpoint(from, simnet.NodeBiDiLinkSettings{Latency: 2 * delay}) // the endpoint delays only packets to it
		}
		port++
	}
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	d, c := ephemeral(t), ephemeral(t)
	l, err := ListenOn(at, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	w.cfg = ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), Log: quiet(), Eager: true}
	t.Cleanup(func() {
		l.Close()
		at.Close()
		for _, pc := range w.conns {
			pc.Close()
		}
		sim.Close()
	})
	return w, l
}

func (w *routes) dial(ctx context.Context, name string) (*Conn, error) {
	w.mu.Lock()
	w.began[name] = time.Since(w.start)
	w.mu.Unlock()
	pc, ok := w.conns[name]
	if !ok {
		return nil, errors.New("no such address: " + name)
	}
	if w.keep {
		ctx = context.WithoutCancel(ctx)
	}
	cfg := w.cfg
	cfg.PacketConn = pc
	conn, err := Dial(ctx, cloudAddr.String(), cfg)
	if err == nil {
		w.mu.Lock()
		w.made[name] = conn
		w.mu.Unlock()
	}
	return conn, err
}

// If an address does not answer, DialAny dials the next one a moment later. It closes the connections that are not needed.
// (A synctest bubble fails if a goroutine is left.)
func TestDialAny(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		addrs []string
		keep  bool
		want  string
		began []time.Duration
		took  time.Duration // at most
	}{
		"one":                       {[]string{"near"}, false, "near", []time.Duration{0}, 30 * ms},
		"first":                     {[]string{"near", "far"}, false, "near", []time.Duration{0}, 30 * ms},
		"dead ones first":           {[]string{"dead", "buried", "near"}, false, "near", []time.Duration{0, 300 * ms, 600 * ms}, 630 * ms},
		"unknown ones first":        {[]string{"nowhere", "never", "near"}, false, "near", []time.Duration{0, 0, 0}, 30 * ms},
		"a slow one first":          {[]string{"far", "near"}, false, "near", []time.Duration{0, 300 * ms}, 330 * ms},
		"a slow one is good enough": {[]string{"far", "dead"}, false, "far", []time.Duration{0, 300 * ms}, 900 * ms},
		"the slow one arrives too":  {[]string{"far", "near"}, true, "near", []time.Duration{0, 300 * ms}, 900 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, l := newRoutes(t, map[string]time.Duration{"near": 5 * ms, "far": 300 * ms, "dead": 0, "buried": 0})
				w.keep = c.keep
				conn, at, err := DialAny(t.Context(), c.addrs, w.dial)
				if err != nil || at != c.want || conn != w.made[c.want] {
					t.Fatalf("%q, error %v, want %q", at, err, c.want)
				}
				if took := time.Since(w.start); took > c.took {
					t.Errorf("took %v, want at most %v", took, c.took)
				}
				for i, began := range c.began {
					if got := w.began[c.addrs[i]]; got != began {
						t.Errorf("%s was dialled at %v, want %v", c.addrs[i], got, began)
					}
				}
				if len(w.began) != len(c.began) {
					t.Errorf("dialled %v, want %d dials", w.began, len(c.began))
				}
				for name, made := range w.made {
					if (made.Err() == nil) != (name == c.want) {
						t.Errorf("%s: %v", name, made.Err())
					}
				}
				got, err := l.Accept(t.Context())
				for err == nil && got.Err() != nil {
					got, err = l.Accept(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				begin(t, conn, got)
				conn.Close("test over")
			})
		})
	}
}

// When no address answers, the error names them all.
func TestDialAnyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newRoutes(t, map[string]time.Duration{"dead": 0})
		_, _, err := DialAny(t.Context(), []string{"nowhere", "dead", "never"}, w.dial)
		if took := time.Since(w.start); err == nil || took > handshakeTimeout || len(w.began) != 3 {
			t.Fatalf("after %v: %v", took, err)
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], "nowhere") || !strings.Contains(lines[2], "never") {
			t.Errorf("error %q, want a line for each address in their order", lines)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := DialAny(ctx, []string{"dead", "never"}, w.dial); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v after the deadline", err)
		}
		if _, _, err := DialAny(t.Context(), nil, w.dial); err == nil {
			t.Error("no error without an address")
		}
	})
}

// A listener whose seats are all taken refuses for a moment. The device tries again, and says so only if that lasts.
func TestDialWhileFull(t *testing.T) {
	for _, full := range []time.Duration{0, 30 * time.Millisecond, 200 * time.Millisecond, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			n := newTestNet(t, 10*time.Millisecond)
			device, cloud := ephemeral(t), ephemeral(t)
			tr, start := &quic.Transport{Conn: n.cloud}, time.Now()
			defer tr.Close()
			conf := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cloud.cert}, NextProtos: []string{protoTalk}}
			l, err := tr.Listen(conf, &quic.Config{EnableDatagrams: true, GetConfigForClient: func(*quic.ClientInfo) (*quic.Config, error) {
				if time.Since(start) < full {
					return nil, errors.New("no seat")
				}
				return nil, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				qc, err := l.Accept(t.Context())
				if err != nil {
					return
				}
				if stream, err := qc.AcceptStream(t.Context()); err == nil {
					swapHellos(stream, Hello{Version: ProtocolVersion, Side: tandem.Cloud, Vocab: [32]byte{1}, VocabSize: testVocab, Template: [32]byte{2}, Scorer: "lexical/1"})
				}
			}()
			conn, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: device, Peer: cloud.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
			if never := full == time.Minute; never != (err != nil) || never && !errors.Is(err, ErrLost) {
				t.Errorf("full for %v: %v", full, err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("full for %v: dialling took %v", full, took)
			}
			if conn != nil {
				conn.Close("")
			}
		})
	}
}
