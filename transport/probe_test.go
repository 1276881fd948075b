package transport

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
)

// A probe tells a server from a closed port, a silent one and one that repeats what it gets.
func TestProbe(t *testing.T) {
	l, err := Listen("127.0.0.1:0", ServerConfig{Identity: ephemeral(t), Hello: testHello(tandem.Cloud), Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if rtt, err := Probe(t.Context(), l.Addr().String()); err != nil || rtt <= 0 {
		t.Error(err)
	}
	closed := l.Addr().String()
	l.Close()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	echo, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for b := make([]byte, 2048); ; {
			n, from, err := echo.ReadFrom(b)
			if err != nil {
				return
			}
			echo.WriteTo(b[:n], from)
		}
	}()
	for name, addr := range map[string]string{"closed": closed, "silent": silent.LocalAddr().String(), "echo": echo.LocalAddr().String()} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := Probe(ctx, addr); err == nil || !strings.Contains(err.Error(), addr) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

// Datagrams that are no answer to a probe do not bring forward the next one: whoever announces an address must not direct a flood
// at it.
func TestProbesKeepTheirPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, far := net.Pipe()
		probes := 0
		go func() {
			for b := make([]byte, 2048); ; {
				n, err := far.Read(b)
				if err != nil {
					return
				}
				if probes++; probes < 1000 { // or time would stand still
					far.Write(b[:n])
				}
			}
		}()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(4*probeEvery+probeEvery/2, cancel)
		_, err := probe(ctx, own)
		own.Close()
		synctest.Wait()
		if err == nil || probes != 5 {
			t.Errorf("%d probes in 4.5 times their interval, want 5; %v", probes, err)
		}
	})
}
