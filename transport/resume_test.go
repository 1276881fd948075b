package transport

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
	"tandem/transport/reliable"
)

// A returning device connects in one round trip instead of two, even after the cloud was restarted. It needs two when its
// ticket is missing, damaged or no longer accepted.
func TestResumption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rtt = 100 * time.Millisecond
		n := newTestNet(t, rtt/2)
		d, c := ephemeral(t), ephemeral(t)
		tickets := OpenTickets(filepath.Join(t.TempDir(), "sessions"))
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
			device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Tickets: tickets})
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
		talk("cloud restarted with lower limits", 2)
		talk("again", 1)

		files, err := filepath.Glob(filepath.Join(tickets.dir, "*.session"))
		if err != nil || len(files) != 1 {
			t.Fatalf("tickets: %v, %v", files, err)
		}
		if err := os.WriteFile(files[0], []byte("\x05damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
		talk("damaged ticket", 2)
		os.Remove(files[0])
		talk("no ticket", 2)
		// A key that is no longer trusted is refused, even with a ticket.
		l.cfg.Peers.Remove(d.ID)
		if _, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Tickets: tickets}); err == nil {
			t.Error("a removed key was accepted with its ticket")
		}
		l.Close()
	})
}

// A refused device learns the reason even if it has a ticket.
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
					tickets := OpenTickets(t.TempDir())
					l, err := ListenOn(n.cloud, ServerConfig{Identity: cloud, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet()})
					if err != nil {
						t.Fatal(err)
					}
					defer l.Close()
					dial := func() error {
						device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: cloud.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Tickets: tickets, Eager: eager})
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

// An attacker who replays the first packets of a resumed connection, unchanged or under other connection ids, from any
// address, gets no connection and takes no connection's place. A ticket leaves the store when it is first used.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, 20*time.Millisecond)
		d, c := ephemeral(t), ephemeral(t)
		tickets := OpenTickets(t.TempDir())
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet(), Limits: Limits{Conns: 2}})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		talk := func() {
			t.Helper()
			device, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Tickets: tickets})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Accept(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond) // for the ticket to come
			device.Close("")
			time.Sleep(100 * time.Millisecond)
		}
		talk()
		var first [][]byte
		n.router.setDrop(func(p simnet.Packet) bool {
			if p.To.String() == cloudAddr.String() && len(first) < 3 {
				first = append(first, bytes.Clone(p.Data))
			}
			return false
		})
		start := time.Now()
		talk()
		if took := time.Since(start); took > 280*time.Millisecond {
			t.Fatalf("not resumed: took %v", took)
		}
		n.router.setDrop(nil)
		time.Sleep(time.Minute)
		for _, p := range first {
			n.router.SendPacket(simnet.Packet{From: otherAddr, To: cloudAddr, Data: p})
		}
		for i := range 2 * maxEarly {
			id := bytes.Repeat([]byte{byte(i)}, int(first[0][5]))
			from := &net.UDPAddr{IP: net.IPv4(10, 0, 1, byte(i)), Port: 2000}
			for _, p := range first {
				if bytes.HasPrefix(p[1:], first[0][1:6+len(id)]) && p[0]&0xf0 == 0xc0 { // an Initial packet of the first flight
					n.router.SendPacket(simnet.Packet{From: from, To: cloudAddr, Data: readdress(t, p, id)})
				}
			}
		}
		time.Sleep(time.Second)
		l.mu.Lock()
		if len(l.places) != 0 || l.early != maxEarly {
			t.Errorf("%d connections and %d early hellos, want 0 and %d", len(l.places), l.early, maxEarly)
		}
		l.mu.Unlock()
		talk() // while the replayed hellos still wait
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := l.Accept(ctx); err == nil {
			t.Error("a replay was accepted as a connection")
		}
		l.mu.Lock()
		if l.early != 0 {
			t.Errorf("%d early hellos still wait", l.early)
		}
		l.mu.Unlock()
		store := tickets.of(c.ID)
		if _, ok := store.Get(""); !ok {
			t.Error("no ticket is left for the next time")
		}
		if _, ok := store.Get(""); ok {
			t.Error("a ticket was given out twice")
		}
	})
}

// readdress returns the Initial packet at the start of a datagram under another connection id. Anybody can do that, because
// the keys follow from the id (RFC 9001, 5.2).
func readdress(t *testing.T, datagram, id []byte) []byte {
	t.Helper()
	b := bytes.Clone(datagram)
	varint := func(at int) (v, next int) {
		n := 1 << (b[at] >> 6)
		v = int(b[at] & 0x3f)
		for _, x := range b[at+1 : at+n] {
			v = v<<8 | int(x)
		}
		return v, at + n
	}
	old := bytes.Clone(b[6:][:b[5]])
	at := 6 + len(old)
	at += 1 + int(b[at]) // the sender's id
	token, at := varint(at)
	length, at := varint(at + token)
	end := at + length
	keys, mask := keysOf(t, old), make([]byte, 16)
	keys.mask.Encrypt(mask, b[at+4:][:16])
	b[0] ^= mask[0] & 0x0f
	size := int(b[0]&3) + 1 // of the packet number
	flip := func() {
		for i := range size {
			b[at+i] ^= mask[1+i]
		}
	}
	flip()
	nonce := func(k initialKeys) []byte {
		out := bytes.Clone(k.iv)
		for i, x := range b[at : at+size] {
			out[len(out)-size+i] ^= x
		}
		return out
	}
	plain, err := keys.aead.Open(nil, nonce(keys), b[at+size:end], b[:at+size])
	if err != nil {
		t.Fatal(err)
	}
	copy(b[6:], id)
	keys = keysOf(t, id)
	keys.aead.Seal(b[at+size:at+size], nonce(keys), plain, b[:at+size])
	keys.mask.Encrypt(mask, b[at+4:][:16])
	b[0] ^= mask[0] & 0x0f
	flip()
	clear(b[end:])
	return b
}

// initialKeys are the keys of a client's Initial packets.
type initialKeys struct {
	aead cipher.AEAD
	iv   []byte
	mask cipher.Block
}

func keysOf(t *testing.T, id []byte) initialKeys {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	expand := func(secret []byte, label string, n int) []byte {
		label = "tls13 " + label
		out, err := hkdf.Expand(sha256.New, secret, "\x00"+string(rune(n))+string(rune(len(label)))+label+"\x00", n)
		check(err)
		return out
	}
	salt, err := hex.DecodeString("38762cf7f55934b34d179ae6a4c80cadccbb7f0a")
	check(err)
	secret, err := hkdf.Extract(sha256.New, id, salt)
	check(err)
	secret = expand(secret, "client in", 32)
	block, err := aes.NewCipher(expand(secret, "quic key", 16))
	check(err)
	aead, err := cipher.NewGCM(block)
	check(err)
	mask, err := aes.NewCipher(expand(secret, "quic hp", 16))
	check(err)
	return initialKeys{aead, expand(secret, "quic iv", 12), mask}
}

// After a crash and a restart, the cloud tells the device at the next echo that their connection is gone.
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
		n.router.setDrop(func(simnet.Packet) bool { return true }) // the cloud cannot close the connection
		l.Close()
		time.Sleep(2 * time.Second)
		select {
		case <-device.Closed():
			t.Fatalf("ended before the cloud was back: %v", device.Err())
		default:
		}
		n.router.setDrop(nil)
		l = listen()
		defer l.Close()
		start := time.Now()
		a.Send(simpleDraft(0))
		<-device.Closed()
		if took := time.Since(start); took > reliable.EchoEvery+rtt {
			t.Errorf("noticed after %v", took)
		}
		if err := device.Err(); !errors.Is(err, ErrLost) {
			t.Errorf("error %v, want %v", err, ErrLost)
		}
	})
}

// When the phone gets another address, no message is lost or repeated.
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

// The connection survives a NAT that gives the device another port without its knowledge.
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
