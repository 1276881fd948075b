package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
)

// cloud is a "cloud serve" process with its own home folder.
type cloud struct {
	home
	binary, address string
	process         *exec.Cmd
}

// newCloud picks a free port.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	return &cloud{home: newHome(t), binary: clitest.Build(t, "tandem/cmd/cloud"), address: freeAddress(t)}
}

// freeAddress returns an address whose port is below those that systems give to clients, so that none takes it while a cloud is
// away.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		port, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err == nil {
			defer port.Close()
			return port.LocalAddr().String()
		}
	}
	t.Fatal("no free port")
	return ""
}

func (c *cloud) Command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.T.Context(), c.binary, args...)
	cmd.Env, cmd.Dir = c.Env(), c.Dir
	return cmd
}

// serve starts the process and waits until it listens.
func (c *cloud) serve(flags ...string) {
	c.T.Helper()
	cmd := c.Command(append([]string{"serve", "--listen", c.address, "--json"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.T.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		c.T.Fatal(err)
	}
	c.process = cmd
	c.T.Cleanup(c.kill)
	var said struct{ Listening string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&said); err != nil || said.Listening == "" {
		c.T.Fatalf("cloud serve: %v, %+v", err, said)
	}
}

// kill ends the process at once, like a power cut.
func (c *cloud) kill() {
	if c.process != nil {
		c.process.Process.Kill()
		c.process.Wait()
		c.process = nil
	}
}

// code returns a new pairing code.
func (c *cloud) code() string {
	c.T.Helper()
	out, err := c.Command("pair", "--json", "--address", c.address).Output()
	if err != nil {
		c.T.Fatalf("cloud pair: %v", err)
	}
	var said struct{ Code string }
	if err := json.Unmarshal(out, &said); err != nil {
		c.T.Fatal(err)
	}
	return said.Code
}

// Two processes pair by a code, which works once, and answer together. If the cloud is killed during an answer, no token is
// lost: the device says that it goes on alone, and uses the cloud again when it is back, in the same answer or the next.
func TestCloudProcessDiesAndReturns(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	code := c.code()
	if out, stderr, err := h.Run("pair", code); err != nil || !strings.Contains(out, "Paired with") {
		t.Fatalf("pair: %v, %s%s", err, out, stderr)
	}
	if _, stderr, err := newHome(t).Run("pair", code); err == nil {
		t.Error("the code was good twice")
	} else if !strings.Contains(stderr, "code") {
		t.Errorf("second use of the code: %s", stderr)
	}
	whole := h.ask("--seed", "1", question)
	if !holds(whole.Answer, deviceKnows, cloudKnows) || whole.LocalOnly {
		t.Fatalf("answer %+v", whole)
	}

	// Half a second per token leaves time to kill the cloud.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ask := h.Command(ctx, "ask", "--seed", "1", "--placement", "sync", "--rtt", "500ms", "--wait", "60s", question)
	var errs bytes.Buffer
	ask.Stderr = &errs
	out, err := ask.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	begun := make([]byte, 16)
	if _, err := out.Read(begun); err != nil {
		t.Fatal(err)
	}
	c.kill()
	var text bytes.Buffer
	text.Write(bytes.TrimRight(begun, "\x00"))
	if _, err := text.ReadFrom(out); err != nil {
		t.Fatal(err)
	}
	if err := ask.Wait(); err != nil {
		t.Fatalf("ask: %v\n%s", err, errs.String())
	}
	if !strings.Contains(errs.String(), "went away") {
		t.Errorf("nothing said about the cloud: %s", errs.String())
	}
	if said := strings.Join(strings.Fields(errs.String()), " "); !strings.Contains(said, "was away for a part of the answer") {
		t.Errorf("the part that the cloud knows is not said to be its: %s", said)
	}
	// What only the cloud knows is unknown without it.
	if answer := strings.TrimSpace(text.String()); answer != deviceKnows+"\nI don't know." {
		t.Errorf("answer %q", answer)
	}

	c.serve()
	again := h.ask("--seed", "1", question)
	if again.Answer != whole.Answer || again.LocalOnly {
		t.Errorf("after the return %q, before %q", again.Answer, whole.Answer)
	}
}

// The device names a cloud that has another vocabulary, and answers alone.
func TestForeignCloudIsNamed(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	model := filepath.Join(t.TempDir(), "other.gguf")
	if err := os.WriteFile(model, tinymodel.GGUF(tinymodel.Spec{Arch: "qwen2"}), 0o644); err != nil {
		t.Fatal(err)
	}
	a := h.ask("--model", model, "--max-tokens", "8", question)
	if said := strings.Join(a.Remarks, "; "); !a.LocalOnly || len(a.Remarks) != 1 || !strings.Contains(said, "different models") || !strings.Contains(said, "different vocabular") || strings.Contains(said, "not there") {
		t.Errorf("remarks %q, local only %v", a.Remarks, a.LocalOnly)
	}
}

// An answer waits for a missing cloud once. Within a minute no other does, but each uses the cloud as soon as it is back.
func TestMissingCloudIsRemembered(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	missed := func() time.Time {
		t.Helper()
		links, err := filepath.Glob(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "links", "*.json"))
		if err != nil || len(links) != 1 {
			t.Fatalf("kept of the path: %q, %v", links, err)
		}
		data, err := os.ReadFile(links[0])
		var kept struct{ Missed time.Time }
		if err == nil {
			err = json.Unmarshal(data, &kept)
		}
		if err != nil {
			t.Fatal(err)
		}
		return kept.Missed
	}
	ask := func(flags ...string) askJSON {
		t.Helper()
		stdout, stderr, err := h.Run(append([]string{"ask", "--json", question}, flags...)...)
		var a askJSON
		if err == nil {
			err = json.Unmarshal([]byte(stdout), &a)
		}
		if err != nil {
			t.Fatalf("%v, %s", err, stderr)
		}
		return a
	}
	if a := ask("--wait", "60s"); a.LocalOnly || !missed().IsZero() {
		t.Fatalf("local only %v, missed %v", a.LocalOnly, missed())
	}
	c.kill()
	if a := ask("--wait", "50ms"); !a.LocalOnly || missed().IsZero() {
		t.Fatalf("without the cloud: local only %v, missed %v", a.LocalOnly, missed())
	}
	first := missed()
	if a := ask(); !a.LocalOnly || !missed().Equal(first) {
		t.Errorf("again: local only %v, missed %v, first %v", a.LocalOnly, missed(), first)
	}
	c.serve()
	if a := ask("--wait", "60s"); a.LocalOnly || !missed().IsZero() {
		t.Errorf("it is back: local only %v, missed %v", a.LocalOnly, missed())
	}
	c.kill()
	if ask("--wait", "50ms"); missed().IsZero() {
		t.Fatal("gone again, and not missed")
	}
	c.serve()
	if _, stderr, err := h.Run("pair", c.code()); err != nil || !missed().IsZero() {
		t.Errorf("paired again: %v %s, missed %v", err, stderr, missed())
	}
}

// An answer names its cloud, and a server tells where the cloud was reached until it is lost.
func TestReachedCloudIsNamed(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	if _, stderr, err := h.Run("pair", "--name", "garden", c.code()); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	if a := h.ask("--wait", "60s", "--max-tokens", "8", question); a.Cloud == nil || *a.Cloud != (cloudJSON{"garden", c.address}) {
		t.Errorf("cloud %+v", a.Cloud)
	}
	if a := h.ask("--local-only", "--max-tokens", "8", question); a.Cloud != nil {
		t.Errorf("alone, but with cloud %+v", a.Cloud)
	}
	s := serve(h, "--wait", "2s")
	together := func() bool {
		t.Helper()
		together := strings.Contains(s.ask(question, ""), `"degraded":false`)
		_, body := s.do("GET", "/v1/pair", "")
		if at, timed := strings.Contains(body, `"reached":"`+c.address), strings.Contains(body, `"rtt_ms":`); at != together || timed != together {
			t.Errorf("after an answer together (%v): %s", together, body)
		}
		return together
	}
	for tries := 1; !together(); tries++ { // a busy machine may take longer than the server waits
		if tries == 30 {
			t.Fatal("no answer has the cloud")
		}
	}
	if c.kill(); together() {
		t.Error("an answer with a cloud that was killed")
	}
}

// A device that pairs where nobody listens is told what that may come from.
func TestPairWithNobody(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	if _, stderr, err := h.Run("pair", c.code()); err == nil || !strings.Contains(stderr, "let UDP through?") {
		t.Errorf("%v, %s", err, stderr)
	}
}

// A cloud that has forgotten the device says so, and the device answers alone.
func TestForgottenDeviceIsTold(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	out, err := c.Command("pair", "--list", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Peers []struct{ Key string } }
	if err := json.Unmarshal(out, &list); err != nil || len(list.Peers) != 1 {
		t.Fatalf("paired devices: %v, %s", err, out)
	}
	if out, err := c.Command("pair", "--remove", list.Peers[0].Key).CombinedOutput(); err != nil {
		t.Fatalf("remove: %v, %s", err, out)
	}
	a := h.ask("--max-tokens", "8", question)
	if !a.LocalOnly || !a.Degraded || !strings.Contains(strings.Join(a.Remarks, "; "), "not paired with this side (\"cloud pair\" there, then \"edge pair CODE\" here)") {
		t.Errorf("remarks %q, local only %v, degraded %v", a.Remarks, a.LocalOnly, a.Degraded)
	}
	h.wantsPairing(c, "not paired")
}

// A cloud that was set up again has another key. Every command that needs the cloud says so.
func TestChangedKeyIsTold(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	c.kill()
	if err := os.RemoveAll(filepath.Join(c.Dir, ".config")); err != nil {
		t.Fatal(err)
	}
	c.serve()
	a := h.ask("--max-tokens", "8", question)
	if !a.LocalOnly || !strings.Contains(strings.Join(a.Remarks, "; "), "the key at "+c.address) {
		t.Errorf("remarks %q, local only %v", a.Remarks, a.LocalOnly)
	}
	h.wantsPairing(c, "the key at "+c.address)
}

// wantsPairing checks that an answer that needs the cloud fails with its name, its address, the reason and what to do, and
// that doctor gives a hint.
func (h home) wantsPairing(c *cloud, reason string) {
	h.T.Helper()
	const again = "pair again: \"cloud pair\" there"
	if err := os.RemoveAll(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "sessions")); err != nil { // as at first contact
		h.T.Fatal(err)
	}
	_, stderr, err := h.Run("ask", "--json", "--side", "cloud", question)
	host, _ := os.Hostname()
	for _, want := range []string{host + " (" + c.address + ")", reason, again} {
		if err == nil || !strings.Contains(stderr, want) {
			h.T.Errorf("ask --side cloud: %v, %s; want %q", err, stderr, want)
		}
	}
	stdout, _, err := h.Run("doctor")
	if err == nil || !strings.Contains(stdout, reason) || !strings.Contains(stdout, again) || strings.Contains(stdout, "let UDP through") {
		h.T.Errorf("doctor: %v, %s", err, stdout)
	}
}

// Dead addresses do not hide a live one, which is tried first the next time.
func TestDeadAddressesLead(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	var dead []string
	for range 2 {
		swallows, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer swallows.Close()
		dead = append(dead, swallows.LocalAddr().String())
	}
	files, err := filepath.Glob(filepath.Join(h.Dir, ".config", "tandem", "edge", "peers", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("paired clouds %q, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lead := fmt.Sprintf("%q, %q, %q", dead[0], dead[1], c.address)
	data = bytes.Replace(data, fmt.Appendf(nil, "%q", c.address), []byte(lead), 1)
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if a := h.ask("--max-tokens", "8", question); a.LocalOnly || len(a.Remarks) > 0 {
		t.Errorf("local only %v, remarks %q", a.LocalOnly, a.Remarks)
	}
	links, err := filepath.Glob(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "links", "*.json"))
	if err != nil || len(links) != 1 {
		t.Fatalf("kept of the path: %q, %v", links, err)
	}
	if data, err := os.ReadFile(links[0]); err != nil || !bytes.Contains(data, []byte(c.address)) {
		t.Errorf("kept %s, %v, want the address %s", data, err, c.address)
	}
}
