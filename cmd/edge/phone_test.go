package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/npu/phone/sim"
)

// A simulated phone gives the same text as this machine, reports that it is simulated, and takes at least as long as its
// NPU is busy.
func TestPhonePace(t *testing.T) {
	h := newHome(t)
	plain := h.ask("--seed", "1", "--reader", "decoder", question)
	if plain.Phone != nil || plain.Stats.PeakMemory <= 0 {
		t.Errorf("without a phone: %+v, peak memory %v", plain.Phone, plain.Stats.PeakMemory)
	}
	for _, chip := range []string{"sm8750", "SM8650/mllm"} {
		a := h.ask("--seed", "1", "--cache-mb", "0", "--soc", chip, question)
		if a.Answer != plain.Answer {
			t.Errorf("%s: %q, want %q", chip, a.Answer, plain.Answer)
		}
		p := a.Phone
		if p == nil || !p.Simulated || p.Chip != chip || p.Runs == 0 || p.Joules <= 0 || p.Busy > a.Stats.TotalMs+1000 {
			t.Errorf("%s: %+v of %v ms", chip, p, a.Stats.TotalMs)
			continue
		}
		if len(p.Graphs) == 0 {
			t.Errorf("%s: no graph was filled", chip)
		}
		for _, g := range p.Graphs {
			if sum := g.Valid + g.Wasted + g.Underutilised; g.Runs == 0 || g.Valid <= 0 || g.Wasted < 0 || g.Underutilised < 0 || math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: rows of a graph: %+v", chip, g)
			}
		}
	}
	for _, s := range []string{"", "synchronous"} {
		args := []string{"--seed", "1", "--cache-mb", "0", "--soc", "sm8750", "--local-only"}
		want := "progressive"
		if s != "" {
			args, want = append(args, "--switching", s), s
		}
		p := h.ask(append(args, question)...).Phone
		if p == nil || p.Switching != want || p.Loading <= 0 || (p.Waiting < p.Loading) != (s == "") {
			t.Errorf("%q: %+v", s, p)
		}
	}
	if _, stderr, err := h.Run("ask", "--soc", "sm8750", "--local-only", question); err != nil || !strings.Contains(stderr, "simulated sm8750: busy") || strings.Count(stderr, "the built-in decoder answers, not the reader") != 1 {
		t.Errorf("the summary does not say what is simulated: %v, %s", err, stderr)
	}
	if _, stderr, err := h.Run("run", "--soc", "sm8750", "-n", "4", "Hello"); err != nil || !strings.Contains(stderr, "simulated sm8750") {
		t.Errorf("run does not say that its pace is simulated: %v, %s", err, stderr)
	}
	if _, stderr, err := h.Run("ask", "--switching", "greedy", question); err == nil || !strings.Contains(stderr, "simulated phone") {
		t.Errorf("switching without a phone: %v, %s", err, stderr)
	}
	if _, stderr, err := h.Run("ask", "--soc", "sm1", question); err == nil || !strings.Contains(stderr, "sm8750") {
		t.Errorf("an unknown chip: %v, %s", err, stderr)
	}
}

// --energy reads the battery, and fails without one.
func TestEnergy(t *testing.T) {
	h := newHome(t)
	root := t.TempDir()
	if _, stderr, err := h.Run("ask", "--energy", "--power-supply", root, question); err == nil || !strings.Contains(stderr, "battery") {
		t.Errorf("without a battery: %v, %s", err, stderr)
	}
	battery := filepath.Join(root, "battery")
	if err := os.Mkdir(battery, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"type": "Battery", "status": "Discharging", "voltage_now": "4000000", "current_now": "-500000"} {
		clitest.Write(t, battery, name, text)
	}
	e := h.ask("--energy", "--power-supply", root, question).Energy
	if e == nil || e.Battery != "battery" || math.Abs(e.IdleWatts-2) > 0.1 || math.Abs(e.Watts-2) > 0.1 || e.Joules > 0.1 || e.Samples < 2 {
		t.Errorf("a steady 2 W: %+v", e)
	}
}

// Rows of a prompt are valid on whatever graph they ran, and of decoded ones as many as came into the text.
func TestGraphs(t *testing.T) {
	got := graphs([]sim.GraphRows{{Size: 32, Runs: 2, Rows: 48, Prompt: 32}, {Size: 256, Runs: 1, Rows: 128, Prompt: 128}}, .25)
	want := []graphJSON{{32, 2, .5625, .1875, .25}, {256, 1, .5, 0, .5}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
