package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/netem"
	"tandem/npu/native"
	"tandem/retrieval/search"
	"tandem/transport"
)

// street is a device and a cloud in one process with real sockets, a real (senseless) model at a walking
// pace, and between them a path that the test can spoil.
type street struct {
	t        *testing.T
	device   *Device
	relay    *netem.Relay
	router   *router
	identity transport.Identity
	peers    *transport.Peers
	reader   Local
	address  string
	limit    int    // of the cloud on an answer's tokens; 0 for none
	stop     func() // kills the cloud
	dials    int
}

func newStreet(t *testing.T) *street {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	deviceID, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	s := &street{t: t, address: "127.0.0.1:0", peers: transport.NewPeers(deviceID.ID)}
	if s.identity, err = transport.Ephemeral(); err != nil {
		t.Fatal(err)
	}
	s.reader = Local{Model: m, Scorer: search.Lexical(), Pace: 25 * time.Millisecond}
	s.serve()
	if s.relay, err = netem.Listen(s.address, netem.Config{Delay: 15 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	s.router = newRouter(t, s.relay.Addr())
	tickets := transport.OpenTickets(t.TempDir())
	s.device = &Device{Local: s.reader, Patience: Patience{Join: time.Minute, Silent: 3 * time.Second, Slow: time.Minute}, Log: slog.New(slog.DiscardHandler)}
	s.device.Cloud = NewRemoteCloud(func(ctx context.Context, _ string) (*transport.Conn, error) {
		s.dials++
		return transport.Dial(ctx, s.router.front.LocalAddr().String(), transport.ClientConfig{
			Identity: deviceID, Peer: s.identity.ID, Tickets: tickets, Eager: true,
			Hello: s.reader.Hello(tandem.Device, "test", "phone"), Log: s.device.Log,
		})
	}, 0, "the cloud")
	t.Cleanup(func() {
		err := errors.Join(s.device.Close(), s.relay.Close())
		s.stop()
		if err = errors.Join(err, m.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// serve starts the cloud, at the address where it was before.
func (s *street) serve() {
	s.t.Helper()
	listener, err := transport.Listen(s.address, transport.ServerConfig{
		Identity: s.identity, Peers: s.peers, Hello: s.reader.Hello(tandem.Cloud, "test", "cloud"), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- NewCloud(CloudConfig{Local: s.reader, Tokens: s.limit}).Serve(ctx, listener) }()
	s.stop = func() {
		cancel()
		if err := errors.Join(listener.Close(), <-done); err != nil {
			s.t.Error(err)
		}
	}
}

// ask asks the same question every time, for an answer of the given number of tokens. It calls happen
// with the number of tokens so far.
func (s *street) ask(tokens int, happen func(n int)) Answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	n := 0
	answer, err := s.device.Ask(ctx, Question{ID: "q", Text: "What is the way?"}, tandem.Settings{
		Placement: tandem.PlaceMirror, Coupling: tandem.CouplingShared, Seed: 11, Sampling: tandem.Sampling{Temperature: 1, TopP: 1, RepeatPenalty: 1},
		Nucleus: 0.8, Support: 64, Lookahead: 8, MaxTokens: tokens, Documents: 2,
	}, func(Token) {
		if n++; happen != nil {
			happen(n)
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return answer
}

func ids(tokens []Token) (list []tandem.Token) {
	for _, t := range tokens {
		list = append(list, t.ID)
	}
	return list
}

// router is a NAT on the way: each local port behind it has one before it. It can forget those it knows:
// nothing passes for them any more.
type router struct {
	front *net.UDPConn
	to    *net.UDPAddr
	wg    sync.WaitGroup

	mu    sync.Mutex
	ports map[string]*net.UDPConn // by client; closed when forgotten
}

func newRouter(t *testing.T, target string) *router {
	t.Helper()
	r := &router{ports: map[string]*net.UDPConn{}}
	var err error
	if r.to, err = net.ResolveUDPAddr("udp", target); err != nil {
		t.Fatal(err)
	}
	if r.front, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		t.Fatal(err)
	}
	r.wg.Go(func() {
		pass(r.front, func(b []byte, from *net.UDPAddr) { r.port(t, from).WriteToUDP(b, r.to) })
	})
	t.Cleanup(func() { r.front.Close(); r.forget(); r.wg.Wait() })
	return r
}

// pass gives what in receives to out, until it is closed.
func pass(in *net.UDPConn, out func(b []byte, from *net.UDPAddr)) {
	buf := make([]byte, 2000)
	for {
		n, from, err := in.ReadFromUDP(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			out(buf[:n], from)
		}
	}
}

func (r *router) port(t *testing.T, client *net.UDPAddr) *net.UDPConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	back, ok := r.ports[client.String()]
	if !ok {
		var err error
		if back, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			t.Error(err)
		}
		r.ports[client.String()] = back
		r.wg.Go(func() {
			pass(back, func(b []byte, _ *net.UDPAddr) { r.front.WriteToUDP(b, client) })
		})
	}
	return back
}

func (r *router) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, back := range r.ports {
		back.Close()
	}
}

// What happens on the way changes nothing in the text while the pair stays together; when the device had to
// go on alone, nothing before that changes, it says so, and the pair is together again afterwards.
func TestPhoneMoves(t *testing.T) {
	const length = 110
	want := ids(newStreet(t).ask(length, nil).Tokens)
	if len(want) < length {
		t.Fatal("the answer is too short for what shall happen in it: choose another seed")
	}
	for name, c := range map[string]struct {
		happen   func(s *street, n int)
		together bool // the device is never alone
		dials    int
	}{
		"another address, then a stall of a second": {func(s *street, n int) {
			switch n {
			case 10:
				s.relay.Rebind()
			case 25:
				s.relay.Interrupt(time.Second, true)
			}
		}, true, 1},
		"forgotten by a router": {func(s *street, n int) {
			if n == 10 {
				s.router.forget()
			}
		}, true, 1},
		"an outage of three and a half seconds": {func(s *street, n int) {
			if n == 10 {
				s.relay.Interrupt(3500*time.Millisecond, false)
			}
		}, false, 1},
		"a cloud that is killed and comes back": {func(s *street, n int) {
			if n == 10 {
				s.relay.Interrupt(400*time.Millisecond, false) // no goodbye reaches the device
				s.stop()
				s.serve()
			}
		}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreet(t)
			s.ask(1, nil) // the connection stands, with a ticket for the next
			got := s.ask(length, func(n int) { c.happen(s, n) })
			t.Logf("%d tokens together, %d alone, %d dials: %q", got.Pair.Together, got.Pair.Alone, s.dials, got.Remarks)
			first := slices.IndexFunc(got.Tokens, func(t Token) bool { return t.Alone })
			if s.dials != c.dials || (first < 0) != c.together {
				t.Errorf("%d dials, first alone at %d; want %d dials, together: %v", s.dials, first, c.dials, c.together)
			}
			if first < 0 {
				first = length
			} else if said := strings.Join(got.Remarks, "; "); !strings.Contains(said, "went away") || !strings.Contains(said, "joined in") {
				t.Errorf("remarks %q", said)
			}
			if len(got.Tokens) < first || !slices.Equal(ids(got.Tokens[:first]), want[:first]) {
				t.Errorf("%v, undisturbed\n%v", ids(got.Tokens), want)
			}
			if !c.together && (got.Tokens[len(got.Tokens)-1].Alone || got.Pair.Alone == 0) {
				t.Error("the pair did not come together again")
			}
			if after := s.ask(20, nil); !slices.Equal(ids(after.Tokens), want[:20]) || after.Pair.Alone > 0 {
				t.Errorf("the next answer: %d alone, %v", after.Pair.Alone, after.Remarks)
			}
		})
	}
}
