//go:build unix

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lab/soak"
)

// The programs are soaked for a few seconds: faults happen, answers come, and nothing is lost.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the programs and runs them for some seconds")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "tandem/cmd/edge", "tandem/cmd/cloud").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("soak", "--json", "--minutes", "0.08", "--devices", "1", "--edge", filepath.Join(bin, "edge"), "--cloud", filepath.Join(bin, "cloud"))
	var r soak.Result
	if err == nil {
		err = json.Unmarshal([]byte(stdout), &r)
	}
	if err != nil || len(r.Lost) > 0 {
		t.Fatalf("%v, lost %q\n%s", err, r.Lost, stderr)
	}
	if r.Answers < 8 || r.Faults["cloud killed"] == 0 { // each question once more at the end
		t.Errorf("%+v", r)
	}
}
