package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/node"
	"tandem/transport"
)

// --to overwrites an old code, as when docker-compose.yml is started again, but no other file.
func TestPairReplacesCodesOnly(t *testing.T) {
	home, dir := clitest.NewHome(t), t.TempDir()
	file := filepath.Join(dir, "code")
	var last string
	for range 2 {
		if _, stderr, err := home.Run("pair", "--address", "cloud:4433", "--to", file); err != nil {
			t.Fatal(stderr)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transport.ParseCode(string(text)); err != nil || string(text) == last {
			t.Errorf("the file holds %q (%v), before %q", text, err, last)
		}
		last = string(text)
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%v, %v: want a file for its owner alone", info.Mode(), err)
		}
	}
	for address, want := range map[string]string{"cellar": "cellar:4433", "::1": "[::1]:4433", "cellar:1": "cellar:1"} {
		if out, stderr, err := home.Run("pair", "--no-qr", "--address", address); err != nil || !strings.Contains(out, "this cloud at "+want+".") {
			t.Errorf("--address %s: %v, %s%s", address, err, out, stderr)
		}
	}
	mine := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(mine, []byte("years of work"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{mine: "not a pairing code", dir: "folder", filepath.Join(dir, "no/where"): "no folder"} {
		if _, stderr, err := home.Run("pair", "--to", path); err == nil || !strings.Contains(stderr, want) {
			t.Errorf("--to %s: %v, %s; want %q", path, err, stderr, want)
		}
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "years of work" {
		t.Errorf("the file now holds %q (%v)", text, err)
	}
	if open, err := os.ReadDir(filepath.Join(home.Dir, ".local", "state", "tandem", "cloud", "invites")); err != nil || len(open) != 5 {
		t.Errorf("%d codes are open (%v), want the 5 that were made", len(open), err)
	}
}

// A code has the port of the running server. If none runs, pair says so.
func TestPairKnowsThePort(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("ends the server with a signal")
	}
	home := clitest.NewHome(t)
	addresses := func(running bool) string {
		t.Helper()
		stdout, stderr, err := home.Run("pair", "--json")
		if warned := strings.Contains(stderr, "start it before a device uses the code"); warned == running {
			t.Errorf("a server runs: %v; pair says %q", running, stderr)
		}
		var said struct{ Addresses []string }
		if err = errors.Join(err, json.Unmarshal([]byte(stdout), &said)); err != nil {
			t.Fatal(err, stderr)
		}
		return strings.Join(said.Addresses, ",")
	}
	for listen, want := range map[string]string{"127.0.0.1:0": `^127\.0\.0\.1:PORT$`, ":0": `(^|,)127\.0\.0\.1:PORT$`} {
		serve := home.Command(t.Context(), "serve", "--json", "--log-level", "info", "--listen", listen)
		var log strings.Builder
		serve.Stderr = &log
		out, err := serve.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		var said struct{ Listening string }
		if err := json.NewDecoder(out).Decode(&said); err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(said.Listening)
		if got := addresses(true); !regexp.MustCompile(strings.ReplaceAll(want, "PORT", port)).MatchString(got) || strings.Contains(got, ":"+defaultPort) {
			t.Errorf("serve on %s, the code leads to %s", said.Listening, got)
		}
		if listen == ":0" {
			serve.Process.Kill() // leaves its state file behind
		}
		serve.Process.Signal(syscall.SIGTERM)
		serve.Wait()
		if stopped := strings.Contains(log.String(), "msg=\"stopping"); stopped == (listen == ":0") {
			t.Errorf("killed: %v, its log says that it stops: %v", listen == ":0", stopped)
		}
		if got := addresses(false); !strings.HasSuffix(got, "127.0.0.1:"+defaultPort) {
			t.Errorf("without a server the code leads to %s", got)
		}
	}
}

// The operator gives a paired device a priority, which lists show.
func TestPairPrefers(t *testing.T) {
	home := clitest.NewHome(t)
	id, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	peers := transport.OpenPeers(filepath.Join(home.Dir, ".config", "tandem", "cloud", "peers"))
	if err := peers.Add(transport.Peer{ID: id.ID, Name: "pixel"}); err != nil {
		t.Fatal(err)
	}
	shared := []string{"serve", "--service", home.Dir, "--listen", "127.0.0.1:0"}
	for want, command := range map[string][]string{
		"nobody called":       {"pair", "--prefer", "nokia", "--priority", "high"},
		"want one of low":     {"pair", "--prefer", "pixel", "--priority", "urgent"},
		"--prefer":            {"pair", "--priority", "high"},
		"no replica of":       {"pair", "--service", home.Dir},
		"there is no folder":  {"pair", "--service", filepath.Join(home.Dir, "none")},
		"mkdir":               {"serve", "--service", filepath.Join(home.Dir, "none"), "--advertise", "127.0.0.1:4433"},
		"--advertise is for":  {"serve", "--advertise", "cloud-b:4433"},
		"a replica needs":     shared,
		"not host:port":       append(shared[:len(shared):len(shared)], "--advertise", "cloud-b"),
		"--advertise cloud-c": append(shared[:len(shared):len(shared)], "--advertise", "cloud-c"),
		"--advertise :4433":   append(shared[:len(shared):len(shared)], "--advertise", ":4433"),
		"--advertise [::]":    append(shared[:len(shared):len(shared)], "--advertise", "[::]:4433"),
		"--drain -5s":         {"serve", "--drain", "-5s", "--service", filepath.Join(home.Dir, "none")},
		"--wait 0s":           {"health", "--wait", "0s", "--listen", "127.0.0.1:1"},
		"--wait -1s":          {"health", "--wait", "-1s", "--listen", "127.0.0.1:1"},
		"":                    {"pair", "--prefer", "pixel", "--priority", "low"},
	} {
		if _, stderr, err := home.Run(command...); (err == nil) != (want == "") || !strings.Contains(stderr, want) {
			t.Errorf("%v: %v, %s; want %q", command, err, stderr, want)
		}
	}
	p, err := peers.Lookup(id.ID)
	if err != nil || p.Priority != -1 || priorityOf(peers)(id.ID) != node.Low || priorityOf(peers)(transport.ID{}) != node.Normal {
		t.Errorf("priority %d, %v", p.Priority, err)
	}
	if _, err := os.Stat(filepath.Join(home.Dir, "none")); err == nil {
		t.Error("a folder with a mistyped name was made")
	}
	if out, _, err := home.Run("pair", "--list"); err != nil || !strings.Contains(out, "low") {
		t.Errorf("%s, %v", out, err)
	}
}

// A server that cannot start changes nothing for the one that runs: codes lead there, and "health" asks there.
func TestPairAfterAnotherServerFailed(t *testing.T) {
	home := clitest.NewHome(t)
	serve := home.Command(t.Context(), "serve", "--json", "--listen", "127.0.0.1:0")
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer serve.Wait()
	defer serve.Process.Kill()
	var said struct{ Listening string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, stderr, err := home.Run("serve", "--listen", "127.0.0.1:0", "--metrics", taken.Addr().String()); err == nil {
		t.Fatalf("it serves metrics on a port that is taken: %s", stderr)
	}
	for _, command := range []string{"pair --no-qr", "health", "doctor"} {
		if stdout, stderr, err := home.Run(strings.Fields(command)...); err != nil || !strings.Contains(stdout, said.Listening) {
			t.Errorf("a server runs at %s; %s: %v, %s%s", said.Listening, command, err, stdout, stderr)
		}
	}
}

// The server says once that a device was paired, whether its log has pairings or not.
func TestPairingIsSaidOnce(t *testing.T) {
	for _, level := range []string{"info", "warn"} {
		home := clitest.NewHome(t)
		serve := home.Command(t.Context(), "serve", "--sample", "--listen", "127.0.0.1:0", "--log-level", level)
		out, err := serve.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		serve.Stderr = &said
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		for in := bufio.NewScanner(out); in.Scan() && in.Text() != "Pair a device with: cloud pair"; {
		}
		file := filepath.Join(home.Dir, "code")
		if _, stderr, err := home.Run("pair", "--to", file); err != nil {
			t.Fatal(err, stderr)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code, err := transport.ParseCode(string(text))
		if err != nil {
			t.Fatal(err)
		}
		id, err := transport.Ephemeral()
		if err == nil {
			_, err = transport.Pair(t.Context(), code, id, "pixel", nil)
		}
		serve.Process.Signal(os.Interrupt)
		if err := errors.Join(err, serve.Wait()); err != nil || strings.Count(said.String(), "pixel") != 1 {
			t.Errorf("at the level %s: %v, %q", level, err, &said)
		}
	}
}

// A code leads to the machine's addresses of IPv4, or of IPv6 where it has no others.
func TestReachable(t *testing.T) {
	for _, c := range []struct{ own, want string }{
		{"127.0.0.1 10.0.0.5 ::1 fe80::1 2001:db8::1 192.0.2.7 192.0.2.8", "10.0.0.5:1 192.0.2.7:1 127.0.0.1:1"},
		{"127.0.0.1 ::1 fe80::1 2001:db8::1 2001:db8::2 2001:db8::3", "[2001:db8::1]:1 [2001:db8::2]:1 127.0.0.1:1"},
		{"127.0.0.1 ::1 fe80::1", "127.0.0.1:1"},
	} {
		var all []net.Addr
		for _, ip := range strings.Fields(c.own) {
			all = append(all, &net.IPNet{IP: net.ParseIP(ip)})
		}
		if got := strings.Join(reachable(all, "1"), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.own, got, c.want)
		}
	}
}
