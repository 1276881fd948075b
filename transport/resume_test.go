package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
)

// A device that comes back is greeted after one round trip instead of two, also when the cloud was
// restarted, and after two whenever the ticket is missing, damaged, or not accepted any more.
func TestResumption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rtt = 100 * time.Millisecond
		n := newTestNet(t, rtt/2)
		d, c := ephemeral(t), ephemeral(t)
		sessions := OpenSessions(filepath.Join(t.TempDir(), "sessions"))
		listen := func(limits Limits) *Listener {
			l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet(), Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		l := listen(Limits{})
		talk := func(what string, trips int) {
			t.Helper()
			start := time.Now()
			device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Sessions: sessions})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if took := time.Since(start); took != time.Duration(trips)*rtt {
				t.Errorf("%s: connected after %v, want %d round trips", what, took, trips)
			}
			cloud, err := l.Accept(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			a, b := begin(t, device, cloud)
			exchangeDrafts(t, a, b, 3, time.Millisecond)
			a.Close()
			device.Close("")
			time.Sleep(time.Second)
		}
		talk("first time", 2)
		talk("again", 1)
		talk("and again", 1)
		l.Close()
		l = listen(Limits{})
		talk("cloud restarted", 1)
		l.Close()
		l = listen(Limits{Exchanges: 2})
		talk("cloud restarted with less room", 2)
		talk("again", 1)

		files, err := filepath.Glob(filepath.Join(sessions.dir, "*.session"))
		if err != nil || len(files) != 1 {
			t.Fatalf("tickets: %v, %v", files, err)
		}
		if err := os.WriteFile(files[0], []byte("\x05damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
		talk("damaged ticket", 2)
		os.Remove(files[0])
		talk("no ticket", 2)
		// A key that is not trusted any more is refused, ticket or not.
		l.cfg.Peers.Remove(d.ID)
		if _, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Sessions: sessions}); err == nil {
			t.Error("a removed key was let in by its ticket")
		}
		l.Close()
	})
}

// Who comes with a ticket learns why it is refused, as everybody does.
func TestRefusalWithTicket(t *testing.T) {
	for name, c := range map[string]struct {
		change func(l *Listener, d Identity)
		check  func(error) bool
	}{
		"not paired": {func(l *Listener, d Identity) { l.cfg.Peers.Remove(d.ID) }, func(err error) bool { var n *NotPairedError; return errors.As(err, &n) }},
		"busy":       {func(l *Listener, _ Identity) { l.cfg.Limits.Conns = 0 }, func(err error) bool { var r *RefusedError; return errors.As(err, &r) }},
	} {
		for _, eager := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " eager=", eager), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := newTestNet(t, 20*time.Millisecond)
					d, cloud := ephemeral(t), ephemeral(t)
					sessions := OpenSessions(t.TempDir())
					l, err := ListenOn(n.cloud, ServerConfig{Identity: cloud, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet()})
					if err != nil {
						t.Fatal(err)
					}
					defer l.Close()
					dial := func() error {
						device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: cloud.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Sessions: sessions, Eager: eager})
						if err == nil {
							time.Sleep(time.Second) // for the ticket, or the refusal, to come
							err = device.Err()
							device.Close("")
						}
						return err
					}
					if err := dial(); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
					c.change(l, d)
					if err := dial(); !c.check(err) {
						t.Errorf("the device was told %v", err)
					}
				})
			})
		}
	}
}

// An attacker who sends a resumed connection's first packets again gets no connection from it, and a
// ticket is taken out of the store by its first use.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d, c := ephemeral(t), ephemeral(t)
		sessions := OpenSessions(t.TempDir())
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var first []simnet.Packet
		for i := range 2 {
			if i == 1 {
				n.router.setDrop(func(p simnet.Packet) bool {
					if p.To.String() == cloudAddr.String() && len(first) < 3 {
						first = append(first, simnet.Packet{From: otherAddr, To: p.To, Data: bytes.Clone(p.Data)})
					}
					return false
				})
			}
			start := time.Now()
			device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Sessions: sessions})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); i == 1 && took > 40*time.Millisecond {
				t.Fatalf("not resumed: connected after %v", took)
			}
			if _, err := l.Accept(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond) // for the ticket to come
			device.Close("")
		}
		n.router.setDrop(nil)
		time.Sleep(time.Minute)
		for _, p := range first {
			n.router.SendPacket(p)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := l.Accept(ctx); err == nil {
			t.Error("a replay was accepted as a connection")
		}
		store := sessions.of(c.ID)
		if _, ok := store.Get(""); !ok {
			t.Error("no ticket is left for the next time")
		}
		if _, ok := store.Get(""); ok {
			t.Error("a ticket was given out twice")
		}
	})
}

// A cloud that was killed and is back tells the device at the next echo that their connection is gone.
func TestRestartIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rtt = 40 * time.Millisecond
		n := newTestNet(t, rtt/2)
		d, c := ephemeral(t), ephemeral(t)
		listen := func() *Listener {
			l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet()})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		l := listen()
		device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		cloud, err := l.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, _ := begin(t, device, cloud)
		time.Sleep(time.Second)
		n.router.setDrop(func(simnet.Packet) bool { return true }) // nobody can say goodbye
		l.Close()
		time.Sleep(2 * time.Second)
		select {
		case <-device.Closed():
			t.Fatalf("gone before the cloud was back: %v", device.Err())
		default:
		}
		n.router.setDrop(nil)
		l = listen()
		defer l.Close()
		start := time.Now()
		a.Send(simpleDraft(0))
		<-device.Closed()
		if took := time.Since(start); took > pingEvery+rtt {
			t.Errorf("noticed after %v", took)
		}
		if err := device.Err(); !errors.Is(err, ErrLost) {
			t.Errorf("error %v, want %v", err, ErrLost)
		}
	})
}

// The phone gets another address: not one message is lost or repeated.
func TestMigration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		sim := &simnet.Simnet{Router: n.router}
		other := sim.NewEndpoint(otherAddr, simnet.NodeBiDiLinkSettings{Latency: 60 * time.Millisecond})
		if err := sim.Start(); err != nil {
			t.Fatal(err)
		}
		defer sim.Close()
		defer other.Close()
		go func() {
			time.Sleep(300 * time.Millisecond)
			n.router.setDrop(func(p simnet.Packet) bool { // Wi-Fi is gone
				return p.From.String() == deviceAddr.String() || p.To.String() == deviceAddr.String()
			})
			time.Sleep(500 * time.Millisecond)
			if err := device.Migrate(t.Context(), other); err != nil {
				t.Error(err)
			}
		}()
		exchangeDrafts(t, a, b, 100, 20*time.Millisecond)
		time.Sleep(3 * time.Second)
		if from := cloud.qc.RemoteAddr().String(); from != otherAddr.String() {
			t.Errorf("the cloud still sends to %s", from)
		}
		if rtt := device.RTT(); rtt < 80*time.Millisecond || rtt > 90*time.Millisecond {
			t.Errorf("RTT %v on the new path of 80 ms", rtt)
		}
		// A path that leads nowhere leaves the connection where it is.
		dead := simnet.NewSimConn(deadAddr, &simnet.PerfectRouter{})
		defer dead.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := device.Migrate(ctx, dead); err == nil {
			t.Error("moved to a dead path")
		}
		exchangeDrafts(t, a, b, 10, time.Millisecond)
	})
}

// A NAT on the way forgets the device and gives it another port, without the device's knowledge.
func TestRebinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		device, cloud := connect(t, n)
		a, b := begin(t, device, cloud)
		go func() {
			time.Sleep(300 * time.Millisecond)
			n.router.mu.Lock()
			n.router.nat = otherAddr
			n.router.mu.Unlock()
		}()
		exchangeDrafts(t, a, b, 50, 20*time.Millisecond)
		if from := cloud.qc.RemoteAddr().String(); from != otherAddr.String() {
			t.Errorf("the cloud still sends to %s", from)
		}
	})
}
