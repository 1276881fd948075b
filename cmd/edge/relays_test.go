package main

import (
	"net"
	"testing"
	"time"

	"tandem/netem"
	"tandem/node"
)

// However many emulated paths the requests name, few relays are kept: those of the last paths.
func TestServeKeepsFewPaths(t *testing.T) {
	const target = "127.0.0.1:9"
	var addresses []string
	ss := &session{device: &node.Device{Cloud: node.NewRemoteCloud(nil, 0, target)}}
	ss.cloud.through = func(f answerFlags, p *relays) *node.RemoteCloud {
		at, err := f.path(p, target)
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

// Dials at the same time share the relay to an address, and none begins after the paths are closed.
func TestPathsShareRelays(t *testing.T) {
	var p relays
	first, err := p.relay("127.0.0.1:9", netem.Config{Delay: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if second, err := p.relay("127.0.0.1:9", netem.Config{Delay: time.Millisecond}); err != nil || second != first {
		t.Errorf("%s, then %s, %v", first, second, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if at, err := p.relay("127.0.0.1:9", netem.Config{}); err == nil {
		t.Errorf("a relay at %s after the end", at)
	}
}
