package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/clitest"
	"tandem/cmd/internal/doctor"
	"tandem/cmd/internal/modelcmd"
	"tandem/node"
)

func TestPlacementAndGammaFlags(t *testing.T) {
	for _, c := range []struct {
		name     string
		coupling tandem.Coupling
		want     tandem.Placement
	}{
		{"auto", tandem.CouplingShared, tandem.PlaceMirror},
		{"auto", tandem.CouplingSpeculative, tandem.PlaceGreedy},
		{"cloud", tandem.CouplingSpeculative, tandem.PlaceCloud},
		{"greedy", tandem.CouplingShared, tandem.PlaceGreedy},
	} {
		if got, err := placement(c.name, c.coupling); got != c.want || err != nil {
			t.Errorf("%s with %v: %v, %v, want %v", c.name, c.coupling, got, err, c.want)
		}
	}
	for text, want := range map[string]uint32{"auto": tandem.AutoGamma, "0": 0, "1": tandem.Mass, "0.5": tandem.HalfGamma} {
		if got, err := gamma(text); got != want || err != nil {
			t.Errorf("gamma %s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "half", "-0.1", "1.01", "NaN", "Inf"} {
		if got, err := gamma(text); err == nil || !strings.Contains(err.Error(), "--gamma") {
			t.Errorf("gamma %q: %d, %v", text, got, err)
		}
	}
}

// auto reports its choice, greedy gives the same text as mirror, and a recording holds the printed answer.
func TestGreedyLive(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	record := filepath.Join(h.Dir, "answer.jsonl")
	mirror := h.ask("--seed", "5", "--temperature", "1", question)
	greedy := h.ask("--seed", "5", "--temperature", "1", "--placement", "greedy", "--rtt", "60ms", "--record", record, question)
	if mirror.Placement != "mirror" || mirror.Choice != "auto" || mirror.Gamma != "" {
		t.Errorf("shared coupling: placement %q by %q, gamma %q", mirror.Placement, mirror.Choice, mirror.Gamma)
	}
	if greedy.Placement != "greedy" || greedy.Choice != "greedy" || greedy.Answer != mirror.Answer {
		t.Errorf("%s by %s says %q, mirror %q", greedy.Placement, greedy.Choice, greedy.Answer, mirror.Answer)
	}
	paper := h.ask("--coupling", "speculative", "--rtt", "60ms", question)
	if paper.Placement != "greedy" || paper.Choice != "auto" || paper.Gamma != "auto" || len(paper.Tokens) == 0 {
		t.Errorf("paper's coupling: %+v", paper)
	}
	f, err := os.Open(record)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := node.ReadRecord(f)
	if err != nil || len(lines) == 0 {
		t.Fatalf("%d lines: %v", len(lines), err)
	}
	targets, kinds := 0, map[string]int{}
	for _, l := range lines {
		if kinds[l.Event]++; l.Event == "target" {
			if targets < len(greedy.Tokens) && l.Token != greedy.Tokens[targets].ID {
				t.Errorf("token %d is recorded as %d, printed as %d", targets, l.Token, greedy.Tokens[targets].ID)
			}
			targets++
		}
	}
	if targets != len(greedy.Tokens) || kinds["begin"] != 1 || kinds["end"] != 1 || kinds["decode"] == 0 || kinds["draft"] == 0 || kinds["rtt"] == 0 {
		t.Errorf("recorded %v for %d tokens", kinds, len(greedy.Tokens))
	}
	before, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(record); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the recording: %v, %v", info.Mode(), err)
	}
	if _, _, err := h.Run("ask", "--local-only", "--record", record, "--energy", "--power-supply", t.TempDir(), question); err == nil {
		t.Error("power was measured without a battery")
	}
	if after, err := os.ReadFile(record); err != nil || !bytes.Equal(after, before) {
		t.Errorf("a question that failed left a recording of %d bytes (%v), before %d", len(after), err, len(before))
	}
	if _, stderr, err := h.Run("ask", "--record", filepath.Join(h.Dir, "no", "where"), question); err == nil || !strings.Contains(stderr, "--record") {
		t.Errorf("a file that cannot be written: %v, %s", err, stderr)
	}
}

// A missing ggml is a note only if the user has named its folder.
func TestDoctorNotesMissingGGML(t *testing.T) {
	h := newHome(t)
	empty := t.TempDir()
	refused := t.TempDir()
	clitest.Write(t, refused, "libggml-base.so", "no library")
	clitest.Write(t, refused, "libggml.so", "no library")
	for _, folder := range []string{empty, refused} {
		stdout, stderr, err := h.RunWith([]string{"TANDEM_GGML_PATH=" + folder}, "doctor", "--json")
		if err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		var report struct{ Checks []doctor.Check }
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatal(err)
		}
		c := report.Checks[1]
		if c.Name != "devices" || c.State != doctor.Noted || !strings.Contains(c.Hint, "correct TANDEM_GGML_PATH or unset it") || strings.HasPrefix(c.Hint, ";") {
			t.Errorf("%+v", c)
		}
	}
}

// The model's delays are kept after an answer. Doctor shows them and measures them again. A damaged file does no harm.
func TestProfileIsKept(t *testing.T) {
	h := newHome(t)
	all := func() map[string]cli.DecodeProfile {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "profiles", "*"))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]cli.DecodeProfile{}
		for _, file := range files {
			data, err := os.ReadFile(file)
			var p cli.DecodeProfile
			if err == nil {
				err = json.Unmarshal(data, &p)
			}
			if err != nil {
				t.Fatal(err)
			}
			out[file] = p
		}
		return out
	}
	kept := func() (p cli.DecodeProfile, path string) {
		t.Helper()
		profiles := all()
		if len(profiles) != 1 {
			t.Fatalf("profiles %v", profiles)
		}
		for path, p = range profiles {
		}
		return p, path
	}
	h.ask("--local-only", question)
	first, path := kept()
	if first.Model != modelcmd.SpanReader || first.Device == "" || first.Made.IsZero() || first.Length == 0 || first.Decode.B <= 0 || !first.Decode.Valid() {
		t.Errorf("kept %+v", first)
	}
	if err := os.WriteFile(path, []byte(`{"decode":{"a":1e300,"b":1e-300}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.ask("--local-only", question)
	if p, _ := kept(); p.Made.IsZero() || !p.Decode.Valid() {
		t.Errorf("kept %+v after damage", p)
	}
	h.ask("--local-only", question)
	stdout, stderr, err := h.Run("doctor", "--profile", "--json")
	if err != nil {
		t.Fatalf("%v, %s", err, stderr)
	}
	var report struct {
		Checks []struct {
			Name, Detail string
			Data         profileJSON
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Name != "profile" {
			continue
		}
		p, _ := kept()
		if c.Data.From != cli.FromDocuments || len(c.Data.Samples) < 12 || !strings.Contains(c.Detail, " ms behind 512 words") || strings.Contains(c.Detail, "1024") || strings.Contains(c.Detail, "k_") || p.Decode != c.Data.Decode {
			t.Errorf("doctor says %+v, kept is %+v", c, p)
		}
	}
	if !strings.Contains(stdout, cli.FromDocuments) {
		t.Errorf("no profile in %s", stdout)
	}
	of, path := kept()
	h.ask("--local-only", "--reader", "decoder", question)
	models := []string{}
	for file, p := range all() {
		if models = append(models, p.Model); file == path && (p.Model != of.Model || !p.Made.Equal(of.Made)) {
			t.Errorf("the decoder's answer has replaced %+v by %+v", of, p)
		}
	}
	if slices.Sort(models); !slices.Equal(models, []string{modelcmd.BuiltInDecoder, modelcmd.SpanReader}) {
		t.Errorf("profiles of %q", models)
	}
}

// auto takes the leader's coupling where earlier answers found rows dear and the cloud far, and says so. The text is that of the
// coupling that it took.
func TestCouplingAuto(t *testing.T) {
	h := newHome(t)
	ask := func(coupling string) askJSON {
		return h.ask("--reader", "decoder", "--seed", "5", "--temperature", "1", "--coupling", coupling, "--rtt", "60ms", question)
	}
	first, shared := ask("auto"), ask("shared")
	if first.Coupling != "shared" || first.Answer != shared.Answer {
		t.Errorf("with unknown costs: %s says %q; shared says %q", first.Coupling, first.Answer, shared.Answer)
	}
	files, err := filepath.Glob(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "profiles", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("profiles %v: %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var p cli.DecodeProfile
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if p.FourRows <= 0 {
		t.Errorf("a profile without the cost of rows: %s", text)
	}
	p.FourRows = 3
	if text, err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	keep := func() {
		if err := os.WriteFile(files[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keep()
	far, leader := ask("auto"), ask("leader")
	if far.Coupling != "leader" || far.Answer != leader.Answer {
		t.Errorf("with dear rows: %s says %q; leader says %q", far.Coupling, far.Answer, leader.Answer)
	}
	keep()
	_, served := serve(h, "--reader", "decoder", "--coupling", "auto", "--rtt", "60ms").do("POST", "/v1/chat/completions",
		fmt.Sprintf(`{"stream":true,"messages":[{"role":"user","content":%q}],"tandem":{"record":true}}`, question))
	if !strings.Contains(served, `"coupling":"leader"`) {
		t.Errorf("edge serve, with dear rows: %.300s", served)
	}
}
