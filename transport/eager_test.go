package transport

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
)

// An eager device gets its answer after two round trips, one for the handshake and one for the question. If the peer
// refuses it or the hellos differ, it learns the reason.
func TestEagerDial(t *testing.T) {
	const rtt = 100 * time.Millisecond
	ours := testHello(tandem.Device)
	other := ours
	other.Scorer = "another"
	for name, c := range map[string]struct {
		hello  Hello
		paired bool
		check  func(error) bool
	}{
		"match":      {ours, true, nil},
		"mismatch":   {other, true, func(err error) bool { var m *MismatchError; return errors.As(err, &m) && m.What == "scorer" }},
		"not paired": {ours, false, func(err error) bool { var n *NotPairedError; return errors.As(err, &n) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newTestNet(t, rtt/2)
				d, cloudID := ephemeral(t), ephemeral(t)
				peers := NewPeers()
				if c.paired {
					peers = NewPeers(d.ID)
				}
				l, err := ListenOn(n.cloud, ServerConfig{Identity: cloudID, Peers: peers, Hello: testHello(tandem.Cloud), Log: quiet()})
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				go func() {
					conn, err := l.Accept(t.Context())
					if err != nil {
						return
					}
					if x, _, err := conn.Accept(t.Context()); err == nil {
						x.Send(Ready{Documents: 3})
					}
				}()
				start := time.Now()
				device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: cloudID.ID, Hello: c.hello, PacketConn: n.device, Log: quiet(), Eager: true})
				if err != nil {
					t.Fatal(err)
				}
				defer device.Close("")
				x, err := device.Open(t.Context(), Begin{ID: "1", Question: "?"})
				if err == nil {
					_, err = x.Receive(t.Context())
				}
				if c.check != nil {
					if !c.check(err) {
						t.Errorf("error %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took > 2*rtt+5*time.Millisecond {
					t.Errorf("ready after %v, want two round trips of %v", took, rtt)
				}
				synctest.Wait() // the hello may be read after the answer
				if device.Hello().Side != tandem.Cloud {
					t.Errorf("hello %+v", device.Hello())
				}
			})
		})
	}
}

// Before a round trip was measured, Stats says none. QUIC assumes one then, and over a slow path it takes longer to
// measure its own.
func TestUnmeasuredRoundTrip(t *testing.T) {
	const rtt = 1800 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, rtt/2)
		d, cloudID := ephemeral(t), ephemeral(t)
		l, err := ListenOn(n.cloud, ServerConfig{Identity: cloudID, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: cloudID.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Eager: true})
		if err != nil {
			t.Fatal(err)
		}
		defer device.Close("")
		for _, got := range []time.Duration{device.Stats().RTT, device.Stats().MinRTT} {
			if got != 0 && got < rtt {
				t.Errorf("%v over a path of %v", got, rtt)
			}
		}
		if _, err := device.Open(t.Context(), Begin{ID: "1", Question: "?"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if got := device.Stats().RTT; got < rtt || got > rtt+rtt/4 {
			t.Errorf("%v over a path of %v, after some time", got, rtt)
		}
	})
}
