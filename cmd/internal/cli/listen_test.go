package cli

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"tandem/transport"
)

// What could not be listened at is named once, with the cause and what to do.
func TestListenError(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	used := taken.LocalAddr().String()
	udp := func(address string) error {
		l, err := transport.Listen(address, transport.ServerConfig{})
		if err == nil {
			l.Close()
		}
		return err
	}
	if err := errors.Join(udp("4433"), nil); ListenError("--listen", ":1", err) != err {
		t.Error("an error of another address is laid to this one")
	}
	for _, c := range []struct {
		address string
		err     error
		want    string
	}{
		{used, udp(used), "address already in use: end the program that listens there, or give another port"},
		{"192.0.2.1:4433", udp("192.0.2.1:4433"), "cannot assign requested address: this machine has no such address"},
		{"4433", udp("4433"), "missing port in address: give HOST:PORT, such as 127.0.0.1:4433"},
		{"127.0.0.1:99999", udp("127.0.0.1:99999"), "invalid port: give HOST:PORT"},
		{":80", fmt.Errorf("listen: %w", syscall.EACCES), "permission denied: ports below 1024"},
	} {
		got := ListenError("--listen", c.address, c.err).Error()
		if c.err == nil || !strings.HasPrefix(got, "--listen "+c.address+": "+c.want) {
			t.Errorf("%s: %q, want %q", c.address, got, c.want)
		}
	}
}
