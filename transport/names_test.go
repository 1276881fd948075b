package transport

import (
	"context"
	"net"
	"testing"
	"time"

	"tandem"
)

// A name may have an address at which nobody answers, such as an IPv6 address of a cloud that only IPv4 reaches. Dial, Pair and
// Probe then reach the cloud at another, also with a ticket, whose data would go out before anybody has answered.
func TestNameWithDeadAddress(t *testing.T) {
	before := lookupIP
	defer func() { lookupIP = before }()
	lookupIP = func(ctx context.Context, host string) ([]net.IPAddr, error) {
		if host != "cloud.test" {
			return before(ctx, host)
		}
		return []net.IPAddr{{IP: net.IPv4(127, 0, 0, 2)}, {IP: net.IPv4(127, 0, 0, 1)}}, nil
	}
	device, cloud := ephemeral(t), ephemeral(t)
	invites, peers := OpenInvites(t.TempDir()), NewPeers()
	l, err := Listen("127.0.0.1:0", ServerConfig{Identity: cloud, Peers: peers, Invites: invites, Hello: testHello(tandem.Cloud), Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("cloud.test", port)
	probing, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := Probe(probing, addr); err != nil {
		t.Error(err)
	}
	code, err := invites.New(cloud.ID, []string{addr}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := Pair(t.Context(), code, device, "phone", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(peer.Addrs) != 1 || peer.Addrs[0] != addr {
		t.Errorf("paired with %q, want the name", peer.Addrs)
	}
	tickets := OpenTickets(t.TempDir())
	for i, eager := range []bool{false, false, true} {
		conn, err := Dial(t.Context(), addr, ClientConfig{Identity: device, Peer: cloud.ID, Hello: testHello(tandem.Device), Tickets: tickets, Eager: eager, Log: quiet()})
		if err != nil {
			t.Fatalf("dial %d: %v", i, err)
		}
		if _, err := conn.Open(t.Context(), Begin{ID: "x", Question: "what?"}); err != nil {
			t.Errorf("dial %d: %v", i, err)
		}
		time.Sleep(50 * time.Millisecond) // the ticket comes after the handshake
		conn.Close("done")
	}
}
