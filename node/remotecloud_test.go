package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/node/replicas"
	"tandem/npu/native"
	"tandem/retrieval/search"
	"tandem/transport"
)

// A question that cannot be sent fails alone: the other answers keep the connection.
func TestBadQuestionKeepsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _, _ := square(t, 4)
		dials := 0
		s := NewRemoteCloud(func(context.Context, string) (*transport.Conn, error) { dials++; return devices[0], nil }, 0, "the cloud")
		good := beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts))
		first, err := s.open(t.Context(), good)
		if err != nil {
			t.Fatal(err)
		}
		bad := good
		bad.History = slices.Repeat([]transport.Turn{{Role: "user", Content: "Hello."}}, transport.MaxTurns+1)
		if _, err := s.open(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "earlier turns") {
			t.Errorf("too many turns: %v", err)
		}
		if err := devices[0].Err(); err != nil || dials != 1 || !taken(t, first.exchange.(*transport.Exchange)) {
			t.Errorf("afterwards: %v, %d dials", err, dials)
		}
		first.exchange.Close()
	})
}

// A connection that has ended is replaced.
func TestDeadConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _, _ := square(t, 4)
		rest := devices[:]
		s := NewRemoteCloud(func(context.Context, string) (*transport.Conn, error) {
			c := rest[0]
			rest = rest[1:]
			return c, nil
		}, 0, "the cloud")
		begin := beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts))
		for _, conn := range devices {
			up, err := s.open(t.Context(), begin)
			if err != nil || up.conn != conn {
				t.Fatalf("%v, the right connection: %v", err, up.conn == conn)
			}
			conn.Close("gone")
		}
	})
}

// A question that waits while another one's connection is made waits no longer than it likes.
func TestConnectionOfAnotherQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewRemoteCloud(func(ctx context.Context, _ string) (*transport.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, 0, "the cloud")
		patient, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		go s.open(patient, transport.Begin{})
		synctest.Wait()
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := s.open(hasty, transport.Begin{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// avenue is a cloud whose replicas are at a simulated network's addresses, and name those of lists as all there are.
func avenue(t *testing.T, addresses []string, lists map[string][]string) *RemoteCloud {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	own, quiet := Local{Model: m, Scorer: search.Lexical()}, slog.New(slog.DiscardHandler)
	sim := &simnet.Simnet{Router: &simnet.PerfectRouter{}}
	endpoint := func(addr net.Addr) net.PacketConn {
		pc := sim.NewEndpoint(addr.(*net.UDPAddr), simnet.NodeBiDiLinkSettings{Latency: 10 * time.Millisecond})
		t.Cleanup(func() { pc.Close() })
		return pc
	}
	var ids [2]transport.Identity
	for i := range ids {
		if ids[i], err = transport.Ephemeral(); err != nil {
			t.Fatal(err)
		}
	}
	at, devices := map[string]net.PacketConn{}, map[string]net.PacketConn{}
	for addr := range lists {
		udp, err := net.ResolveUDPAddr("udp", addr)
		if err != nil {
			t.Fatal(err)
		}
		at[addr] = endpoint(udp)
		devices[addr] = endpoint(&net.UDPAddr{IP: net.IPv4(10, 0, 1, byte(len(devices))), Port: 1})
	}
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := NewRemoteCloud(func(ctx context.Context, addr string) (*transport.Conn, error) {
		addr = strings.TrimPrefix(addr, "also ")
		return transport.Dial(ctx, addr, transport.ClientConfig{
			Identity: ids[0], Peer: ids[1].ID, Hello: own.Hello(tandem.Device, "test", "device"), PacketConn: devices[addr], Log: quiet,
		})
	}, 0, addresses...)
	var served []func() error
	for addr, list := range lists {
		hello := own.Hello(tandem.Cloud, "test", "cloud")
		hello.Replica = addr
		l, err := transport.ListenOn(at[addr], transport.ServerConfig{
			Identity: ids[1], Peers: transport.NewPeers(ids[0].ID), Hello: hello, Addrs: func() []string { return list }, Log: quiet,
		})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- NewCloud(CloudConfig{Local: own}).Serve(ctx, l) }()
		served = append(served, func() error { return errors.Join(l.Close(), <-done) })
	}
	t.Cleanup(func() {
		err := s.Close()
		cancel()
		for _, end := range served {
			err = errors.Join(err, end())
		}
		if err = errors.Join(err, m.Close()); err != nil {
			t.Error(err)
		}
		sim.Close()
	})
	return s
}

// Two replicas that name different others do not fight: what each says is taken in once, and what is known of the others stays.
func TestReplicasThatDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := "10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"
		s := avenue(t, []string{a, b}, map[string][]string{a: {a, b}, b: {a, b, c}})
		var announced [][]string
		s.Announced = func(list []string) { announced = append(announced, list) }
		begin := beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts))
		for _, except := range []string{b, a} {
			up, err := s.open(t.Context(), begin, except)
			if err != nil {
				t.Fatal(err)
			}
			defer up.exchange.Close()
		}
		for i := range 10 {
			for _, at := range []string{a, b} {
				if !s.others(at) {
					t.Errorf("%s has no others", at)
				}
			}
			if i == 0 {
				s.note(c, replicas.Measured, 5*time.Millisecond)
			}
		}
		synctest.Wait()
		if len(announced) != 1 || !slices.Equal(announced[0], []string{a, b, c}) || s.Distances()[c] != 5*time.Millisecond {
			t.Errorf("announced %v, distances %v", announced, s.Distances())
		}
	})
}

// What a replica says of its address is known as soon as the address is.
func TestReplicaAtAnotherAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := "10.0.0.1:1"
		s := avenue(t, []string{"also " + a}, map[string][]string{a: {a}})
		up, err := s.open(t.Context(), beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts)))
		if err != nil {
			t.Fatal(err)
		}
		defer up.exchange.Close()
		if s.others(up.addr) || len(s.Distances()) != 1 {
			t.Error("a replica is another one than itself")
		}
	})
}

// Of replicas that came and went, as with each release of a cloud whose replicas get new addresses, nothing is kept.
func TestDeadConnectionsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _, _ := square(t, 4)
		s := NewRemoteCloud(nil, 0, "old", "new")
		for i, at := range []string{"old", "new"} {
			if err := s.keep(at, devices[i]); err != nil {
				t.Fatal(err)
			}
			s.introduced[at] = devices[i]
			devices[0].Close("gone")
		}
		if len(s.conns) != 1 || s.conns["new"] != devices[1] || len(s.introduced) != 1 {
			t.Errorf("kept: %v, introduced: %v", s.conns, s.introduced)
		}
	})
}
