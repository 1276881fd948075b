package main

import (
	"bufio"
	"encoding/json"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/netem"
)

// The relay passes packets both ways, later by its delay, and reports them when a signal ends it.
func TestNetemRelays(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		buf := make([]byte, 100)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			server.WriteTo(buf[:n], from)
		}
	}()
	h := newHome(t)
	cmd := h.Command(t.Context(), "netem", "--listen", "127.0.0.1:0", "--delay", "20ms", "--rebind", "10s", server.LocalAddr().String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("no line says where the relay listens")
	}
	address, _, _ := strings.Cut(lines.Text(), " ")
	client, err := net.Dial("udp", address)
	if err != nil {
		t.Fatalf("%q: %v", lines.Text(), err)
	}
	defer client.Close()
	begun := time.Now()
	client.SetDeadline(begun.Add(2 * time.Minute))
	client.Write([]byte("hello"))
	buf := make([]byte, 100)
	if n, err := client.Read(buf); err != nil || string(buf[:n]) != "hello" || time.Since(begun) < 40*time.Millisecond {
		t.Errorf("%q came back after %v, %v", buf[:n], time.Since(begun), err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if !lines.Scan() || lines.Text() != "up: 1 packets in, 1 out, 0 dropped; down: 1 in, 1 out, 0 dropped" {
		t.Errorf("report %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// An interface that is not there is named, as text and as JSON.
func TestNetemNamesTheInterface(t *testing.T) {
	if _, err := (netem.Kernel{Interface: "lo"}).Show(); err != nil {
		t.Skip("the kernel's queues cannot be read:", err)
	}
	h := newHome(t)
	for _, args := range [][]string{{"netem", "--tc", "absent0", "--delay", "1ms", "127.0.0.1:9"}, {"netem", "--tc", "absent0", "--show"}} {
		if _, stderr, err := h.Run(args...); err == nil || !strings.Contains(stderr, "absent0") {
			t.Errorf("%q: %v, %s", args, err, stderr)
		}
		var failure struct{ Error string }
		if out, _, _ := h.Run(append(args, "--json")...); json.Unmarshal([]byte(out), &failure) != nil || !strings.Contains(failure.Error, "absent0") {
			t.Errorf("%q --json: %s", args, out)
		}
	}
}
