package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"
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
