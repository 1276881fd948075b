package main

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"tandem/netem"
)

// These tests run in a network that only they see, and need sch_netem: netem/vm.sh has it.

// enterNetwork moves the test's thread, and the programs that it starts, into a new network with a loopback interface.
func enterNetwork(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // never unlocked: the thread, and with it the network, ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("SKIPPED: no network namespace: %v (needs root)", err)
	}
	if err := linkUp("lo", ""); err != nil {
		t.Fatal(err)
	}
}

// needKernel skips the test where the kernel has no netem.
func needKernel(t *testing.T) {
	t.Helper()
	enterNetwork(t)
	lo := netem.Kernel{Interface: "lo"}
	if err := lo.Apply(netem.Config{Delay: time.Millisecond}); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if err := lo.Clear(); err != nil {
		t.Fatal(err)
	}
}

// linkUp sets up an interface, with an address unless it is empty.
func linkUp(name, address string) error {
	link, err := netlink.LinkByName(name)
	if err == nil && address != "" {
		err = netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(address), Mask: net.CIDRMask(24, 32)}})
	}
	if err == nil {
		err = netlink.LinkSetUp(link)
	}
	return err
}

// relayOver starts "netem" with args, and returns the address where it listens.
func relayOver(t *testing.T, args ...string) (cmd *exec.Cmd, address string, stderr *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd, stderr = newHome(t).Command(ctx, append([]string{"netem"}, args...)...), new(bytes.Buffer)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if at, _, found := strings.Cut(lines.Text(), " → "); found {
			return cmd, at, stderr
		}
	}
	t.Fatalf("%q relays nothing: %v, %s", args, cmd.Wait(), stderr)
	return nil, "", nil
}

// The command sets, shows and ends what the kernel emulates, and names what the kernel cannot do.
func TestKernelCommand(t *testing.T) {
	needKernel(t)
	h := newHome(t)
	for _, c := range []struct{ args, want string }{
		{"--rate 2 --delay 20ms", "a delay of 20ms ± 0s, 0 % lost, 0 % doubled, 0 % reordered, rate 2 Mbit/s"},
		{"--delay 20ms", "a delay of 20ms ± 0s, 0 % lost, 0 % doubled, 0 % reordered, rate unlimited"},
		{"--burst 0.01,0.3", "3.23 % lost (in bursts: entered 0.01, left 0.3)"},
		{"--show", "3.23 % lost (in bursts: entered 0.01, left 0.3)"},
		{"--show --json", `"burst_enter": 0.01`},
		{"--delay 10s --jitter 3s", "the most is 2.147s"},
		{"--delay 10s --jitter 600ms --distribution pareto", "the most is 536ms"},
		{"--outage 1s+1s", "leave out --tc"},
		{"--clear", "nothing is emulated"},
		{"--clear", "nothing is emulated on lo"},
	} {
		out, stderr, _ := h.Run(append([]string{"netem", "--tc", "lo"}, strings.Fields(c.args)...)...)
		if said := out + stderr; !strings.Contains(said, c.want) {
			t.Errorf("%s: %s, want %q", c.args, said, c.want)
		}
	}
}

// Each signal that ends the program ends the kernel's emulation, that of a closed terminal too.
func TestKernelEndsWithTheProgram(t *testing.T) {
	needKernel(t)
	lo := netem.Kernel{Interface: "lo"}
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		cmd, _, stderr := relayOver(t, "--tc", "lo", "--delay", "20ms", "--listen", "127.0.0.1:0", "127.0.0.1:9")
		if s, err := lo.Show(); err != nil || s.Qdisc != "netem" {
			t.Errorf("the queue is %s, %v", s.Qdisc, err)
		}
		cmd.Process.Signal(signal)
		if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "emulated twice") {
			t.Errorf("%v: %v; it said %s", signal, err, stderr)
		}
		if s, err := lo.Show(); err != nil || s.Qdisc == "netem" {
			t.Errorf("after %v the queue is %s, %v", signal, s.Qdisc, err)
		}
	}
	// Nothing stays where the program cannot start.
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.LocalAddr().String()
	if _, said, err := newHome(t).Run("netem", "--tc", "lo", "--delay", "20ms", "--listen", address, "127.0.0.1:9"); err == nil || !strings.Contains(said, address) {
		t.Errorf("a port that is taken: %v; it said %s", err, said)
	}
	if s, err := lo.Show(); err != nil || s.Qdisc == "netem" {
		t.Errorf("a port that is taken: the queue is %s, %v", s.Qdisc, err)
	}
	// The program emulates what the kernel cannot, and leaves the interface alone.
	cmd, _, stderr := relayOver(t, "--tc", "lo", "--outage", "1h+1s", "--listen", "127.0.0.1:0", "127.0.0.1:9")
	if s, err := lo.Show(); err != nil || s.Qdisc == "netem" {
		t.Errorf("an outage: the queue is %s, %v", s.Qdisc, err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "this program emulates the path instead") {
		t.Errorf("an outage: %v; it said %s", err, stderr)
	}
}

// Both ways take the delay, wherever the client is: the way back to a client on this machine by the relay, to one beyond
// the interface by the kernel.
func TestKernelDelaysBothWays(t *testing.T) {
	needKernel(t)
	beyond := namespace{make(chan func()), make(chan int)}
	go beyond.run()
	defer close(beyond.do)
	tid := <-beyond.tid
	if tid == 0 {
		t.Fatal("no second network")
	}
	err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "near0"}, PeerName: "far0", PeerNamespace: netlink.NsPid(tid)})
	if err != nil {
		t.Skipf("SKIPPED: no pair of interfaces: %v", err)
	}
	if err := linkUp("near0", "10.9.0.1"); err != nil {
		t.Fatal(err)
	}
	target, far := beyond.serve(t)
	near, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	const delay = 50 * time.Millisecond
	for _, c := range []struct {
		client   net.PacketConn
		listen   string
		backByUs bool
	}{
		{near, "127.0.0.1:0", true},
		{far, "10.9.0.1:0", false},
	} {
		cmd, address, stderr := relayOver(t, "--tc", "near0", "--delay", delay.String(), "--listen", c.listen, target)
		if took, err := roundTrip(c.client, address); err != nil || took < 2*delay {
			t.Errorf("%s: a round trip of %v, %v; want %v at least", c.listen, took, err, 2*delay)
		}
		cmd.Process.Signal(syscall.SIGTERM)
		err := cmd.Wait()
		if said := stderr.String(); err != nil || strings.Contains(said, "this program emulates the way back") != c.backByUs {
			t.Errorf("%s: %v; it said %q", c.listen, err, said)
		}
	}
}

// roundTrip returns the shortest of a few round trips: the first ones also wait until neighbours are found.
func roundTrip(client net.PacketConn, address string) (shortest time.Duration, err error) {
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return 0, err
	}
	shortest = time.Hour
	for range 5 {
		begun := time.Now()
		client.SetDeadline(begun.Add(2 * time.Minute))
		if _, err := client.WriteTo([]byte("hello"), to); err != nil {
			return 0, err
		}
		if _, _, err = client.ReadFrom(make([]byte, 100)); err != nil {
			return 0, err
		}
		shortest = min(shortest, time.Since(begun))
	}
	return shortest, nil
}

// namespace runs functions in a second network namespace, on a thread that it keeps.
type namespace struct {
	do  chan func()
	tid chan int
}

func (n namespace) run() {
	runtime.LockOSThread()
	if unix.Unshare(unix.CLONE_NEWNET) != nil {
		close(n.tid)
		return
	}
	n.tid <- unix.Gettid()
	for f := range n.do {
		f()
	}
}

// serve answers packets beyond the interface, and makes a client there.
func (n namespace) serve(t *testing.T) (target string, client net.PacketConn) {
	var server net.PacketConn
	var err error
	done := make(chan bool)
	n.do <- func() {
		defer close(done)
		err = linkUp("far0", "10.9.0.2")
		if err == nil {
			server, err = net.ListenPacket("udp", "10.9.0.2:0")
		}
		if err == nil {
			client, err = net.ListenPacket("udp", "10.9.0.2:0")
		}
	}
	if <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(); client.Close() })
	go func() {
		buf := make([]byte, 100)
		for {
			size, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			server.WriteTo(buf[:size], from)
		}
	}()
	return server.LocalAddr().String(), client
}
