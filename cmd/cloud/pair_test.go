package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tandem/transport"
)

// --to takes the place of an old code, as docker-compose.yml does when it is started again, and of nothing else.
func TestPairReplacesCodesOnly(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "code")
	var last string
	for range 2 {
		if _, stderr, code := run(t, home, "pair", "--address", "cloud:4433", "--to", file); code != 0 {
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
	mine := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(mine, []byte("years of work"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{mine: "not a pairing code", dir: "folder", filepath.Join(dir, "no/where"): "no folder"} {
		if _, stderr, code := run(t, home, "pair", "--to", path); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("--to %s: exit %d, %s; want %q", path, code, stderr, want)
		}
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "years of work" {
		t.Errorf("the file holds %q now (%v)", text, err)
	}
	if open, err := os.ReadDir(filepath.Join(home, ".local", "state", "tandem", "cloud", "invites")); err != nil || len(open) != 2 {
		t.Errorf("%d codes are open (%v): want those that were written", len(open), err)
	}
}

// A code leads to where serve listens, while it runs.
func TestPairKnowsThePort(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("ends the server with a signal")
	}
	home := t.TempDir()
	addresses := func() string {
		t.Helper()
		stdout, stderr, code := run(t, home, "pair", "--json")
		var said struct{ Addresses []string }
		if err := json.Unmarshal([]byte(stdout), &said); err != nil || code != 0 {
			t.Fatal(err, stderr)
		}
		return strings.Join(said.Addresses, ",")
	}
	for listen, want := range map[string]string{"127.0.0.1:0": `^127\.0\.0\.1:PORT$`, ":0": `(^|,)127\.0\.0\.1:PORT$`} {
		serve := cloud(t.Context(), t, home, "serve", "--json", "--listen", listen)
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
		if got := addresses(); !regexp.MustCompile(strings.ReplaceAll(want, "PORT", port)).MatchString(got) || strings.Contains(got, ":"+defaultPort) {
			t.Errorf("serve on %s, the code leads to %s", said.Listening, got)
		}
		if listen == ":0" {
			serve.Process.Kill() // leaves its note behind
		}
		serve.Process.Signal(syscall.SIGTERM)
		serve.Wait()
		if got := addresses(); !strings.HasSuffix(got, "127.0.0.1:"+defaultPort) {
			t.Errorf("without a server the code leads to %s", got)
		}
	}
}
