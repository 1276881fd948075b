package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
)

// A cloud can be kept private: then every answer with it is, until that is lifted, and pairing again does not lift it. Codes
// and questions come from standard input, too, where no list of processes shows them.
func TestPrivateCloud(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	typed := func(text string, args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := h.Command(ctx, args...)
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if e, ok := err.(*exec.ExitError); ok {
			return string(e.Stderr), err
		}
		return string(out), err
	}
	if out, err := typed("", "pair"); err == nil || !strings.Contains(out, "no code") {
		t.Errorf("no code: %v, %q", err, out)
	}
	if out, err := typed("\n  "+c.code()+"\n", "pair", "--private", "--name", "home"); err != nil || !strings.Contains(out, "Paired with home") {
		t.Fatalf("a typed code: %v, %q", err, out)
	}
	placement := func(args ...string) string {
		t.Helper()
		out, err := typed(question+"\n", append([]string{"ask", "--json", "--require-cloud", "--wait", "60s"}, args...)...)
		var a askJSON
		if err == nil {
			err = json.Unmarshal([]byte(out), &a)
		}
		if err != nil || !holds(a.Answer, deviceKnows, cloudKnows) {
			t.Fatalf("%v, %q, %s", err, a.Answer, out)
		}
		return a.Placement
	}
	if p := placement(); p != "device" {
		t.Errorf("answers of a private cloud have the placement %s", p)
	}
	if out, err := typed(question, "ask", "--placement", "mirror"); err == nil || !strings.Contains(out, "home is a private cloud") {
		t.Errorf("a placement: %v, %s", err, out)
	}
	if out, _, err := h.Run("pair", "--list"); err != nil || !strings.Contains(out, "home (private)") {
		t.Errorf("%v, %s", err, out)
	}
	if out, stderr, err := h.Run("pair", "--open-for", "home"); err != nil {
		t.Errorf("%v, %s%s", err, out, stderr)
	}
	if p := placement(); p != "mirror" {
		t.Errorf("answers of a cloud that is no longer private have the placement %s", p)
	}
	if _, stderr, err := h.Run("pair", "--private-for", "home"); err != nil {
		t.Errorf("%v, %s", err, stderr)
	}
	if out, err := typed(c.code(), "pair"); err != nil {
		t.Fatalf("pairing again: %v, %s", err, out)
	}
	if p := placement(); p != "device" {
		t.Errorf("pairing again has changed the placement to %s", p)
	}
}

// A server that runs follows what is said of its cloud: that it is private, that it is not, and that it is no longer paired.
func TestServeFollowsItsPeer(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	pair := func(args ...string) {
		t.Helper()
		if _, stderr, err := h.Run(append([]string{"pair"}, args...)...); err != nil {
			t.Fatalf("pair %q: %v, %s", args, err, stderr)
		}
	}
	pair(c.code(), "--name", "home")
	s := serve(h, "--wait", "60s")
	check := func(when string, wants ...string) {
		t.Helper()
		if body := s.ask(cloudOnly, ""); !holds(body, wants...) {
			t.Errorf("%s: %s lacks one of %q", when, body, wants)
		}
	}
	placed := `{"messages":[{"role":"user","content":"` + cloudOnly + `"}],"tandem":{"placement":"mirror"}}`
	const open, private = `"placement":"mirror"`, `"placement":"device"`
	check("at first", cloudKnows, open)
	pair("--private-for", "home")
	check("made private", cloudKnows, private)
	if code, body := s.do("POST", "/v1/chat/completions", placed); code != 400 || !strings.Contains(body, "private with its cloud") {
		t.Errorf("a placement with a private cloud: %d %s", code, body)
	}
	pair("--open-for", "home")
	check("made open", cloudKnows, open)
	pair("--remove", "home")
	check("removed", "home is no longer paired: the device answers alone", `"local_only":true,"degraded":true`)
	if code, body := s.do("POST", "/v1/chat/completions", strings.Replace(placed, `"placement":"mirror"`, `"rtt_ms":20`, 1)); code != 200 || !strings.Contains(body, "home is no longer paired") {
		t.Errorf("removed, over an emulated network: %d %s", code, body)
	}
	pair(c.code(), "--name", "home", "--private")
	check("paired again", cloudKnows, private)
}

// A server and a chat that run ask the cloud that was paired last, though they began without one.
func TestFollowPairing(t *testing.T) {
	t.Parallel()
	h, first, second := newHome(t), newCloud(t), newCloud(t)
	first.serve()
	second.serve()
	clitest.Write(t, h.Dir, "own.md", "The berth of the Marigold is C17.\n")
	if _, stderr, err := h.Run("index", "add", filepath.Join(h.Dir, "own.md")); err != nil {
		t.Fatal(err, stderr)
	}
	s := serve(h, "--wait", "60s")
	chat := h.chat(t.Context())
	check := func(when, asked string) {
		t.Helper()
		if body := s.ask(cloudOnly, ""); strings.Contains(body, cloudKnows) != (asked != "") {
			t.Errorf("%s, served: %s", when, body)
		}
		if body := s.ask(cloudOnly, `,"tandem":{"rtt_ms":20}`); strings.Contains(body, cloudKnows) != (asked != "") {
			t.Errorf("%s, served over an emulated network: %s", when, body)
		}
		if _, body := s.do("GET", "/v1/pair", ""); asked != "" && !strings.Contains(body, `"clouds":[{"name":"`+asked+`"`) {
			t.Errorf("%s: %s", when, body)
		}
		if a := chat(cloudOnly); a.LocalOnly != (asked == "") || holds(a.Answer, cloudKnows) != (asked != "") {
			t.Errorf("%s, in a chat: %+v", when, a)
		}
	}
	check("at first", "")
	for name, c := range map[string]*cloud{"z": first, "a": second} {
		if _, stderr, err := h.Run("pair", c.code(), "--name", name); err != nil {
			t.Fatal(err, stderr)
		}
		check("paired", name)
	}
	if _, stderr, err := h.Run("pair", "--remove", "a"); err != nil {
		t.Fatal(err, stderr)
	}
	if _, stderr, err := h.Run("pair", "--remove", "z"); err != nil {
		t.Fatal(err, stderr)
	}
	check("removed", "")
}

// A server that asks another cloud from now on keeps what it measured before.
func TestServeKeepsMeasurements(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	clitest.Write(t, h.Dir, "own.md", "The berth of the Marigold is C17.\n")
	if _, stderr, err := h.Run("index", "add", filepath.Join(h.Dir, "own.md")); err != nil {
		t.Fatal(err, stderr)
	}
	s := serve(h)
	s.ask("Where does the Marigold lie?", "")
	if _, stderr, err := h.Run("pair", c.code(), "--name", "home"); err != nil {
		t.Fatal(err, stderr)
	}
	if _, body := s.do("GET", "/v1/pair", ""); !strings.Contains(body, `"in_use":true`) {
		t.Errorf("%s", body)
	}
	s.stop()
	if kept, err := filepath.Glob(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "profiles", "*.json")); err != nil || len(kept) != 1 {
		t.Errorf("%q, %v", kept, err)
	}
}

// An answer that needs a cloud that was removed meanwhile fails, and says so.
func TestServeNeedsItsPeer(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	if _, stderr, err := h.Run("pair", c.code(), "--name", "home"); err != nil {
		t.Fatal(err, stderr)
	}
	s := serve(h, "--wait", "60s", "--require-cloud")
	if _, stderr, err := h.Run("pair", "--remove", "home"); err != nil {
		t.Fatal(err, stderr)
	}
	code, body := s.do("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"`+cloudOnly+`"}]}`)
	if code != 503 || !strings.Contains(body, "home is no longer paired") {
		t.Errorf("%d %s", code, body)
	}
}
