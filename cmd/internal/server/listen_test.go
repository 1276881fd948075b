package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/transport"
)

// An IPv4 address is listened at over IPv4 alone, and what is printed can be opened in a browser.
func TestListen(t *testing.T) {
	for address, want := range map[string]string{"0.0.0.0:0": "http://127.0.0.1:", ":0": "http://127.0.0.1:", "127.0.0.2:0": "http://127.0.0.2:"} {
		l, err := Listen("--http", address)
		if err != nil {
			t.Skip(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		if got := URL(l.Addr()); got != want+port {
			t.Errorf("%s: %s", address, got)
		}
		if address != "0.0.0.0:0" {
			continue
		}
		if c, err := net.Dial("tcp6", "[::1]:"+port); err == nil {
			c.Close()
			t.Error("0.0.0.0 is served over IPv6")
		}
	}
	if l, err := Listen("--http", "[::1]:0"); err == nil {
		defer l.Close()
		if got := URL(l.Addr()); !strings.HasPrefix(got, "http://[::1]:") {
			t.Errorf("%s", got)
		}
	}
	if _, err := Listen("--http", "0.0.0.0"); err == nil || !strings.HasPrefix(err.Error(), "--http 0.0.0.0: missing port") {
		t.Errorf("%v", err)
	}
}

// A name of the server is one that a request's Host can hold.
func TestHostNames(t *testing.T) {
	a := &cli.App{Context: t.Context(), Log: slog.New(slog.DiscardHandler)}
	for name, fine := range map[string]bool{"edge.home": true, "Edge-1": true, "fe80::1": true, "a b": false, "edge.home:80": false, "http://edge.home": false, "": false} {
		err := Flags{AtOnce: 1, Host: []string{name}}.Configure(a, "127.0.0.1:0", &api.Config{})
		if (err == nil) != fine || !fine && !strings.Contains(err.Error(), "--host") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

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
		{"127.0.0.1:44x", udp("127.0.0.1:44x"), "unknown port: give HOST:PORT, such as 127.0.0.1:4433"},
		{":80", fmt.Errorf("listen: %w", syscall.EACCES), "permission denied: ports below 1024"},
	} {
		got := ListenError("--listen", c.address, c.err).Error()
		if c.err == nil || !strings.HasPrefix(got, "--listen "+c.address+": "+c.want) {
			t.Errorf("%s: %q, want %q", c.address, got, c.want)
		}
	}
}

// A server says that it has made a key, once, and that HTTP beyond this machine is not encrypted.
func TestConfigureRemarks(t *testing.T) {
	const unsafe, made = "put a proxy with TLS in front", "a new key is in "
	key := filepath.Join(t.TempDir(), "key")
	for _, c := range []struct{ address, want, not string }{
		{"127.0.0.1:0", made + key, unsafe}, {"127.0.0.1:0", "", "key"}, {"0.0.0.0:0", unsafe, made}, {":0", unsafe, made},
	} {
		var said bytes.Buffer
		a := &cli.App{Context: t.Context(), Log: slog.New(slog.DiscardHandler), Screen: &cli.Screen{Out: io.Discard, Aside: &said}}
		if err := (Flags{AtOnce: 1, APIKey: key}).Configure(a, c.address, &api.Config{}); err != nil || !strings.Contains(said.String(), c.want) || strings.Contains(said.String(), c.not) {
			t.Errorf("%s: %v, %q", c.address, err, said.String())
		}
	}
}
