//go:build unix

package main

import (
	"encoding/json"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lab/soak"
)

// The programs are soaked for a few seconds: faults happen, answers come, and nothing is lost.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the programs and runs them for some seconds")
	}
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("soak", "--json", "--minutes", "0.08", "--devices", "1",
		"--edge", clitest.Build(t, "tandem/cmd/edge"), "--cloud", clitest.Build(t, "tandem/cmd/cloud"))
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
