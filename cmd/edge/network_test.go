package main

import (
	"net"
	"testing"
	"time"

	"tandem/node"
)

// However many emulated paths the requests name, few relays are kept: those of the last paths.
func TestServeKeepsFewPaths(t *testing.T) {
	const target = "127.0.0.1:9"
	var addresses []string
	ss := &session{device: &node.Device{Cloud: node.NewRemoteCloud(nil, 0, target)}}
	ss.cloud.over = func(n *network) *node.RemoteCloud {
		at, err := n.route(target)
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, at)
		return node.NewRemoteCloud(nil, 0, target)
	}
	s := &servedSession{session: ss, devices: map[networkPath]*networkDevice{}}
	for i := range 3 * maxPaths {
		if _, err := s.on(networkPath{rtt: time.Second + time.Duration(i)}); err != nil {
			t.Fatal(err)
		}
	}
	open := func() (n int) {
		for _, at := range addresses {
			if c, err := net.ListenPacket("udp", at); err == nil {
				c.Close()
			} else {
				n++
			}
		}
		return n
	}
	s.leaving.Wait()
	if n := open(); n != maxPaths {
		t.Errorf("%d relays are open after %d paths", n, len(addresses))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := open(); n != 0 {
		t.Errorf("%d relays are open after the server has ended", n)
	}
}

// Dials at the same time share the relay to an address, and none begins after the network is closed.
func TestDialsShareRelays(t *testing.T) {
	n := network{rtt: 2 * time.Millisecond}
	first, err := n.route("127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := n.route("127.0.0.1:9"); err != nil || second != first {
		t.Errorf("%s, then %s, %v", first, second, err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if at, err := n.route("127.0.0.1:9"); err == nil {
		t.Errorf("a relay at %s after the end", at)
	}
}
