package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/testutils/simnet"
	"pgregory.net/rapid"

	"tandem"
)

// inviteLife is how long the tests' codes are valid.
const inviteLife = 10 * time.Minute

func drawCode(t *rapid.T) Code {
	c := Code{
		Pin:    [pinSize]byte(rapid.SliceOfN(rapid.Byte(), pinSize, pinSize).Draw(t, "pin")),
		Secret: [secretSize]byte(rapid.SliceOfN(rapid.Byte(), secretSize, secretSize).Draw(t, "secret")),
	}
	for range rapid.IntRange(1, MaxCodeAddrs).Draw(t, "addresses") {
		host := rapid.SampledFrom([]string{"192.168.1.20", "2001:db8::5", "cloud.example.org", "a"}).Draw(t, "host")
		c.Addrs = append(c.Addrs, net.JoinHostPort(host, fmt.Sprint(rapid.IntRange(1, 65535).Draw(t, "port"))))
	}
	return c
}

func equalCodes(a, b Code) bool {
	return a.Pin == b.Pin && a.Secret == b.Secret && strings.Join(a.Addrs, " ") == strings.Join(b.Addrs, " ")
}

func TestCodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCode(t)
		text := c.String()
		spoken := strings.NewReplacer("-", " ", "0", "o", "1", "l").Replace(strings.ToLower(text))
		for _, s := range []string{text, spoken, "TANDEM:" + text, "  " + strings.ReplaceAll(text, "-", "") + "\n"} {
			got, err := ParseCode(s)
			if err != nil || !equalCodes(got, c) {
				t.Fatalf("%+v became %q and then %+v, %v", c, s, got, err)
			}
		}
	})
}

// The error names the group with a wrong character or with two exchanged characters, and the first of two exchanged groups.
func TestCodeNamesTypos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		good := drawCode(t).String()
		groups := strings.Split(good, "-")
		g := rapid.IntRange(0, len(groups)-1).Draw(t, "group")
		b := []byte(groups[g])
		i := rapid.IntRange(0, len(b)-1).Draw(t, "place")
		if rapid.Bool().Draw(t, "exchange") {
			k := rapid.IntRange(0, len(b)-1).Draw(t, "with")
			b[i], b[k] = b[k], b[i]
		} else {
			b[i] = alphabet[rapid.IntRange(0, len(alphabet)-1).Draw(t, "character")]
		}
		if string(b) == groups[g] {
			return
		}
		groups[g] = string(b)
		if h := rapid.IntRange(0, len(groups)-1).Draw(t, "whole group with"); rapid.IntRange(0, 2).Draw(t, "groups") == 0 && h != g {
			groups = strings.Split(good, "-")
			if groups[g] == groups[h] {
				return
			}
			groups[g], groups[h] = groups[h], groups[g]
			g = min(g, h)
		}
		_, err := ParseCode(strings.Join(groups, "-"))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("group %d ", g+1)) {
			t.Fatalf("a typo in group %d: %v", g+1, err)
		}
	})
}

func TestCodeRefuses(t *testing.T) {
	good := Code{Addrs: []string{"192.168.1.20:4433"}}.String()
	if n := len(strings.Split(good, "-")); n != 7 {
		t.Errorf("%d groups: %s", n, good)
	}
	groups := strings.Split(good, "-")
	groups[0], groups[1] = groups[1], groups[0]
	for name, text := range map[string]string{
		"empty":    "",
		"short":    good[:len(good)-1],
		"group":    good[:len(good)-9],
		"long":     good + "-00000000",
		"umlaut":   "Ü" + good[1:],
		"swapped":  strings.Join(groups, "-"),
		"very":     strings.Repeat("0", 10_000),
		"question": "what is the wifi password?",
	} {
		if c, err := ParseCode(text); err == nil {
			t.Errorf("%s: read as %+v", name, c)
		}
	}
	for _, addrs := range [][]string{nil, {"host"}, {"host:0"}, {"host:99999"}, {":4433"}, {"b d:1"}, {strings.Repeat("x", 64) + ":1"}, {"a:1", "b:1", "c:1", "d:1"}} {
		if _, err := OpenInvites(t.TempDir()).New(ID{}, addrs, time.Minute); err == nil {
			t.Errorf("%q: a code was made", addrs)
		}
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add(Code{Addrs: []string{"192.168.1.20:4433"}}.String())
	f.Add(Code{Addrs: []string{"[2001:db8::5]:1", "cloud.example.org:4433"}}.String())
	f.Add("TANDEM:0000")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCode(text)
		if err != nil {
			return
		}
		again, err := ParseCode(c.String())
		if err != nil || !equalCodes(again, c) {
			t.Fatalf("%q gave %+v, then %+v, %v", text, c, again, err)
		}
	})
}

// FuzzUnmarshalCode skips the check characters, which stop most inputs of FuzzParseCode.
func FuzzUnmarshalCode(f *testing.F) {
	b, _ := Code{Addrs: []string{"192.168.1.20:4433", "h:1"}}.marshal()
	f.Add(b)
	f.Add([]byte("\x1200000000000")) // ends within the pin
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := unmarshalCode(b)
		if err != nil {
			return
		}
		if again, err := ParseCode(c.String()); err != nil || !equalCodes(again, c) {
			t.Fatalf("%x gave %+v, then %+v, %v", b, c, again, err)
		}
	})
}

func TestQR(t *testing.T) {
	text, err := Code{Addrs: []string{"192.168.1.20:4433"}}.QR()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 15 || !strings.Contains(text, "█") {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
}

// pairNet returns a network with a cloud that accepts pairings, for use in a synctest bubble.
func pairNet(t *testing.T) (n *testNet, l *Listener, cloud Identity) {
	n, cloud = newTestNet(t, 20*time.Millisecond), ephemeral(t)
	l, err := ListenOn(n.cloud, ServerConfig{
		Identity: cloud, Peers: OpenPeers(filepath.Join(t.TempDir(), "peers")), Invites: OpenInvites(filepath.Join(t.TempDir(), "invites")),
		Hello: testHello(tandem.Cloud), Log: quiet(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return n, l, cloud
}

func TestPairing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, cloud := pairNet(t)
		code, err := l.cfg.Invites.New(cloud.ID, []string{cloudAddr.String()}, inviteLife)
		if err != nil {
			t.Fatal(err)
		}
		typed, err := ParseCode(code.String())
		if err != nil {
			t.Fatal(err)
		}
		device := ephemeral(t)
		peer, err := Pair(t.Context(), typed, device, "phone", n.device)
		if err != nil {
			t.Fatal(err)
		}
		if peer.ID != cloud.ID || peer.Name != "cloud" || peer.Addrs[0] != cloudAddr.String() {
			t.Errorf("paired with %+v", peer)
		}
		known, err := l.cfg.Peers.Lookup(device.ID)
		if err != nil || known.Name != "phone" {
			t.Errorf("the cloud knows %+v, %v", known, err)
		}
		// The code is used up.
		var refused *RefusedError
		if _, err := Pair(t.Context(), typed, ephemeral(t), "thief", n.device); !errors.As(err, &refused) || !strings.Contains(err.Error(), "used already") {
			t.Errorf("the second use: %v", err)
		}
		conn, err := Dial(t.Context(), peer.Addrs[0], ClientConfig{Identity: device, Peer: peer.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		conn.Close("")
		// Removing the key ends the trust.
		if err := l.cfg.Peers.Remove(device.ID); err != nil {
			t.Fatal(err)
		}
		_, err = Dial(t.Context(), peer.Addrs[0], ClientConfig{Identity: device, Peer: peer.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet()})
		var unpaired *NotPairedError
		if !errors.As(err, &unpaired) {
			t.Errorf("after removal: %v", err)
		}
	})
}

// Whoever paired last comes first, though the others paired within the same second.
func TestPairedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, cloud := pairNet(t)
		var names []string
		for _, name := range []string{"first", "second", "third", "fourth"} {
			code, err := l.cfg.Invites.New(cloud.ID, []string{cloudAddr.String()}, inviteLife)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Pair(t.Context(), code, ephemeral(t), name, n.device); err != nil {
				t.Fatal(err)
			}
		}
		list, err := l.cfg.Peers.List()
		for _, p := range list {
			names = append(names, p.Name)
		}
		if want := []string{"fourth", "third", "second", "first"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%q, %v, want %q", names, err, want)
		}
	})
}

// An address that does not answer delays pairing only for a moment. The peer keeps all addresses, because any of them may
// answer later.
func TestPairingDialsAllAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, cloud := pairNet(t)
		addrs := []string{"10.0.9.1:1", "10.0.9.2:1", cloudAddr.String()}
		code, err := l.cfg.Invites.New(cloud.ID, addrs, inviteLife)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		peer, err := Pair(t.Context(), code, ephemeral(t), "phone", n.device)
		if took := time.Since(start); err != nil || took > time.Second {
			t.Fatalf("after %v: %v", took, err)
		}
		if !slices.Equal(peer.Addrs, addrs) || peer.ID != cloud.ID {
			t.Errorf("paired with %+v", peer)
		}
	})
}

// Setting the clock back does not prolong a code.
func TestInviteOutlivesNoClock(t *testing.T) {
	run, since := uptime()
	if run == "" {
		t.Skip("this system has no clock that cannot be set back")
	}
	now := time.Now()
	for _, c := range []struct {
		i    invite
		over bool
	}{
		{invite{Expires: now.Add(time.Minute), Run: run, Until: since + time.Minute}, false},
		{invite{Expires: now.Add(-time.Minute), Run: run, Until: since + time.Minute}, true},
		{invite{Expires: now.Add(time.Minute), Run: run, Until: since - time.Second}, true},
		{invite{Expires: now.Add(time.Minute), Run: "before the restart", Until: 0}, false},
		{invite{Expires: now.Add(time.Minute)}, false},
	} {
		if got := c.i.over(now); got != c.over {
			t.Errorf("%+v: over is %v", c.i, got)
		}
	}
}

func TestPairingRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, cloud := pairNet(t)
		code, err := l.cfg.Invites.New(cloud.ID, []string{cloudAddr.String()}, inviteLife)
		if err != nil {
			t.Fatal(err)
		}
		pair := func(c Code) error {
			t.Helper()
			_, err := Pair(t.Context(), c, ephemeral(t), "phone", n.device)
			return err
		}
		wrong := code
		wrong.Pin[0]++
		if err := pair(wrong); !errors.Is(err, ErrOtherKey) || strings.Contains(err.Error(), "CRYPTO_ERROR") {
			t.Errorf("another cloud's key: %v", err)
		}
		guess := code
		for i := range 20 {
			guess.Secret[0]++
			if err := pair(guess); err == nil || !strings.Contains(err.Error(), "unknown, expired or used") {
				t.Errorf("guess %d: %v", i, err)
			}
		}
		time.Sleep(inviteLife + time.Second)
		if err := pair(code); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("after the code expired: %v", err)
		}
		if list, err := l.cfg.Peers.List(); err != nil || len(list) != 0 {
			t.Errorf("the cloud trusts %v, %v", list, err)
		}
	})
}

// Strangers who guess codes, or who connect and say nothing, do not keep others from pairing. While no code is open, they
// are refused at once.
func TestPairingCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, cloud := pairNet(t)
		sim := &simnet.Simnet{Router: n.router}
		crowd := &quic.Transport{Conn: sim.NewEndpoint(otherAddr, simnet.NodeBiDiLinkSettings{Latency: 20 * time.Millisecond})}
		if err := sim.Start(); err != nil {
			t.Fatal(err)
		}
		defer sim.Close()
		defer crowd.Conn.Close()
		defer crowd.Close()
		stranger := func() *quic.Conn {
			t.Helper()
			anybody := func(tls.ConnectionState) error { return nil }
			qc, err := crowd.Dial(t.Context(), cloudAddr, clientTLS(ephemeral(t), protoPair, anybody), quicConfig(Limits{}.withDefaults()))
			if err != nil {
				t.Fatal(err)
			}
			return qc
		}
		early := stranger()
		time.Sleep(time.Second)
		var refused *RefusedError
		if err := explain(context.Cause(early.Context())); early.Context().Err() == nil || !errors.As(err, &refused) {
			t.Errorf("without an open code: %v", err)
		}
		code, err := l.cfg.Invites.New(cloud.ID, []string{cloudAddr.String()}, inviteLife)
		if err != nil {
			t.Fatal(err)
		}
		guess := code
		for range 10 {
			guess.Secret[0]++
			if _, err := Pair(t.Context(), guess, ephemeral(t), "stranger", n.device); !errors.As(err, &refused) {
				t.Fatalf("a guess: %v", err)
			}
		}
		for range maxPairings + 4 {
			stranger()
		}
		time.Sleep(100 * time.Millisecond)
		l.mu.Lock()
		if len(l.pairings) != maxPairings {
			t.Errorf("%d pairings wait, want %d", len(l.pairings), maxPairings)
		}
		l.mu.Unlock()
		if _, err := Pair(t.Context(), code, ephemeral(t), "phone", n.device); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		l.mu.Lock()
		if len(l.pairings) != 0 {
			t.Errorf("%d pairings are left", len(l.pairings))
		}
		l.mu.Unlock()
	})
}

// Of many attempts with the same proof, exactly one succeeds.
func TestInviteSingleUse(t *testing.T) {
	v := OpenInvites(t.TempDir())
	code, err := v.New(ID{}, []string{"h:1"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	won := make(chan bool, 20)
	for range cap(won) {
		wg.Go(func() {
			_, ok, err := v.redeem(time.Now(), []byte("b"), proof(code.Secret[:], "device", []byte("b")))
			if err != nil {
				t.Error(err)
			}
			won <- ok
		})
	}
	wg.Wait()
	close(won)
	count := 0
	for ok := range won {
		if ok {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d attempts succeeded", count)
	}
	for range maxInvites {
		if _, err := v.New(ID{}, []string{"h:1"}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := v.New(ID{}, []string{"h:1"}, time.Minute); err == nil {
		t.Errorf("more than %d codes are open", maxInvites)
	}
}

func TestIdentity(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "place")
	a, err := LoadOrCreateIdentity(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := LoadOrCreateIdentity(dir)
	if err != nil || a.ID != b.ID {
		t.Errorf("%v became %v, %v", a.ID, b.ID, err)
	}
	info, err := os.Stat(filepath.Join(dir, "identity.pem"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 { // the key and its lock
		t.Errorf("%d files are left", len(files))
	}
	if id, err := parseID(a.ID.String()); err != nil || id != a.ID {
		t.Errorf("%v, %v", id, err)
	}
	for _, text := range []string{"", "x", a.ID.String() + "0", strings.Repeat("U", 52)} {
		if _, err := parseID(text); err == nil {
			t.Errorf("%q is an ID", text)
		}
	}
	os.WriteFile(filepath.Join(dir, "identity.pem"), []byte("damaged"), 0o600)
	if _, err := LoadOrCreateIdentity(dir); err == nil || !strings.Contains(err.Error(), "identity.pem") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestPeers(t *testing.T) {
	for name, p := range map[string]*Peers{"disk": OpenPeers(filepath.Join(t.TempDir(), "peers")), "memory": NewPeers()} {
		t.Run(name, func(t *testing.T) {
			if list, err := p.List(); err != nil || len(list) != 0 {
				t.Errorf("%v, %v", list, err)
			}
			old := Peer{ID: ID{1}, Name: "old", Paired: time.Unix(100, 0).UTC()}
			young := Peer{ID: ID{2}, Name: "young", Addrs: []string{"h:1"}, Paired: time.Unix(200, 0).UTC()}
			for _, peer := range []Peer{old, young} {
				if err := p.Add(peer); err != nil {
					t.Fatal(err)
				}
			}
			list, err := p.List()
			if err != nil || fmt.Sprint(list) != fmt.Sprint([]Peer{young, old}) {
				t.Errorf("%v, %v", list, err)
			}
			if err := p.Remove(old.ID); err != nil {
				t.Error(err)
			}
			if _, err := p.Lookup(old.ID); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("removed: %v", err)
			}
			if err := p.Remove(old.ID); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("removed twice: %v", err)
			}
		})
	}
}

func TestSocketSwallowsTransientErrors(t *testing.T) {
	for _, e := range []error{syscall.ENETUNREACH, &net.OpError{Op: "write", Err: os.NewSyscallError("sendmsg", syscall.EHOSTUNREACH)}} {
		if !transient(e) {
			t.Errorf("%v would end a connection", e)
		}
	}
	for _, e := range []error{nil, net.ErrClosed, os.NewSyscallError("sendmsg", syscall.EMSGSIZE), os.NewSyscallError("sendmsg", syscall.EIO)} {
		if transient(e) {
			t.Errorf("%v is hidden from QUIC", e)
		}
	}
}

// A device that pairs again keeps what the operator has given it.
func TestPairAgain(t *testing.T) {
	cloud, device := ephemeral(t), ephemeral(t)
	peers, invites := NewPeers(), OpenInvites(t.TempDir())
	l, err := Listen("127.0.0.1:0", ServerConfig{Identity: cloud, Peers: peers, Invites: invites, Hello: testHello(tandem.Cloud), Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	pair := func() {
		t.Helper()
		code, err := invites.New(cloud.ID, []string{l.Addr().String()}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Pair(ctx, code, device, "vm", nil); err != nil {
			t.Fatal(err)
		}
	}
	pair()
	if _, err := peers.Update(device.ID, func(p *Peer) { p.Name, p.Priority = "pixel", 1 }); err != nil {
		t.Fatal(err)
	}
	pair()
	if p, err := peers.Lookup(device.ID); err != nil || p.Name != "pixel" || p.Priority != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Pairing, dialling and an exchange also work over real sockets.
func TestLoopback(t *testing.T) {
	cloud, device := ephemeral(t), ephemeral(t)
	peers := NewPeers()
	l, err := Listen("127.0.0.1:0", ServerConfig{Identity: cloud, Peers: peers, Invites: OpenInvites(t.TempDir()), Hello: testHello(tandem.Cloud), Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	code, err := l.cfg.Invites.New(cloud.ID, []string{l.Addr().String()}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	peer, err := Pair(ctx, code, device, "phone", nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := Dial(ctx, peer.Addrs[0], ClientConfig{Identity: device, Peer: peer.ID, Hello: testHello(tandem.Device), Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a, b := begin(t, conn, far)
	exchangeDrafts(t, a, b, 100, 0)
	if !bytes.Equal(far.peer[:], device.ID[:]) || conn.Hello().Name != "cloud" {
		t.Error("the two ends are confused")
	}
	a.Close()
	conn.Close("done")
	<-far.Closed()
}
