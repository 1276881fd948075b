package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var replicaRuns = flag.Int("replicas.runs", 3, "how often TestReplicaProcessesEnd ends a replica in mid-answer")

// newReplicas starts three clouds that share a folder.
func newReplicas(t *testing.T) (replicas []*cloud, folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "service")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c := newCloud(t)
		c.serve("--service", folder, "--advertise", c.address)
		replicas = append(replicas, c)
	}
	return replicas, folder
}

// Three processes share one identity and their pairings. Whichever of them is killed, stopped or asked to end in mid-answer, the
// answer is that of a cloud that stays. A key that one of them removes is refused by all.
func TestReplicaProcessesEnd(t *testing.T) {
	t.Parallel()
	replicas, folder := newReplicas(t)
	h := newHome(t)
	out, err := replicas[1].Command("pair", "--service", folder, "--json").Output()
	var said struct {
		Code      string
		Addresses []string
	}
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil || len(said.Addresses) != 3 {
		t.Fatalf("cloud pair: %v, %s", err, out)
	}
	if _, stderr, err := h.Run("pair", said.Code); err != nil {
		t.Fatalf("pair: %v, %s", err, stderr)
	}
	whole := h.ask("--seed", "1", question)
	if !holds(whole.Answer, deviceKnows, cloudKnows) || whole.LocalOnly {
		t.Fatalf("answer %+v", whole)
	}
	stdout, _, err := h.Run("doctor")
	if err != nil || !strings.Contains(stdout, "3 replicas") || strings.Contains(stdout, "not reached") {
		t.Errorf("doctor: %v, %s", err, stdout)
	}

	inUse := 0
	for run := range *replicaRuns {
		rng := rand.New(rand.NewPCG(uint64(run), 3))
		victim := replicas[rng.IntN(3)]
		if at := reachedLast(t, h); rng.IntN(4) > 0 {
			victim = replicas[slices.IndexFunc(replicas, func(c *cloud) bool { return c.address == at })]
			inUse++
		}
		how := []os.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTERM}[run%3]
		after := 2 + rng.IntN(len(whole.Answer)-4)
		text, said := askMeanwhile(t, h, after, func() { victim.process.Process.Signal(how) })
		if text != whole.Answer || strings.Contains(said, "alone") {
			t.Errorf("run %d, %v after %d characters: %q, %s", run, how, after, text, said)
		}
		victim.kill()
		victim.serve("--service", folder, "--advertise", victim.address)
	}
	t.Logf("%d answers, in %d of them the replica in use ended", *replicaRuns, inUse)

	if out, err := replicas[0].Command("pair", "--service", folder, "--remove", hostOf(t, replicas[0], folder)).CombinedOutput(); err != nil {
		t.Fatalf("remove: %v, %s", err, out)
	}
	for _, c := range replicas {
		_, stderr, err := h.Run("ask", "--side", "cloud", "--cloud", c.address, question)
		if err == nil || !strings.Contains(stderr, "not paired") {
			t.Errorf("after the removal: %v, %s", err, stderr)
		}
	}
}

// hostOf returns the key of the only paired device.
func hostOf(t *testing.T, c *cloud, folder string) string {
	t.Helper()
	out, err := c.Command("pair", "--service", folder, "--list", "--json").Output()
	var list struct{ Peers []struct{ Key string } }
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil || len(list.Peers) != 1 {
		t.Fatalf("paired devices: %v, %s", err, out)
	}
	return list.Peers[0].Key
}

// reachedLast returns the address of the replica that the device used last.
func reachedLast(t *testing.T, h home) string {
	t.Helper()
	links, err := filepath.Glob(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "links", "*.json"))
	if err != nil || len(links) != 1 {
		t.Fatalf("kept of the path: %q, %v", links, err)
	}
	data, err := os.ReadFile(links[0])
	var kept struct{ Address string }
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil || kept.Address == "" {
		t.Fatalf("%s: %v", data, err)
	}
	return kept.Address
}

// askMeanwhile asks, lets something happen after some characters of the answer, and returns the answer and what the program
// remarked. A token takes a round trip.
func askMeanwhile(t *testing.T, h home, characters int, happen func(), flags ...string) (answer, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := h.Command(ctx, append([]string{"ask", "--seed", "1", "--placement", "sync", "--rtt", "120ms", "--wait", "60s", question}, flags...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	begun := make([]byte, characters)
	_, err = io.ReadFull(out, begun)
	happen()
	rest, e := io.ReadAll(out)
	if err = errors.Join(err, e, cmd.Wait()); err != nil {
		t.Fatalf("ask: %v, %s", err, errs.String())
	}
	return strings.TrimSpace(string(begun) + string(rest)), errs.String()
}
