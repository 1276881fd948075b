package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lab/phone"
	"tandem/models"
)

// Programs are listed for the chosen device, with their memory and times.
func TestNPUPrograms(t *testing.T) {
	h := clitest.NewHome(t)
	out, stderr, err := h.Run("npu", "programs", "--device", "native", "--soc", "sm8750", "--json")
	var got struct {
		Device   string
		Programs []programRow
	}
	if err != nil || json.Unmarshal([]byte(out), &got) != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	if !strings.HasPrefix(got.Device, "native") || len(got.Programs) == 0 {
		t.Errorf("device %q, %d programs", got.Device, len(got.Programs))
	}
	for _, p := range got.Programs {
		host := p.Graph == "embedding" // nothing of it is loaded
		if p.Device != got.Device || p.SimulatedLoad > 0 == host || p.Activations > p.Unshared+128*int64(p.Nodes) {
			t.Errorf("%+v", p)
		}
	}
	if _, stderr, err = h.Run("npu", "programs", "--device", "abacus"); err == nil || !strings.Contains(stderr, "abacus") {
		t.Errorf("an unknown device: %v, %s", err, stderr)
	}
	if llama := os.Getenv("TANDEM_LLAMA_PATH"); llama != "" {
		out, stderr, err := h.RunWith([]string{"TANDEM_GGML_PATH=" + llama}, "npu", "programs", "--device", "ggml:cpu")
		if err != nil || !strings.Contains(out, "ggml") || !strings.Contains(out, " to ") {
			t.Errorf("on ggml: %v, %s%s", err, out, stderr)
		}
	}
}

// The built-in decoder is in a temporary file during the native runs.
func TestDecoderOnDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := npuFigures{}
	path, remove, err := c.onDisk(nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != string(models.Decoder) {
		t.Errorf("%s: %d bytes, %v", path, len(b), err)
	}
	run, err := c.native(t.Context(), path, 0.5, phone.Staging)
	if err != nil || len(run.Tokens) == 0 || run.Counters.TransferBytes == 0 {
		t.Errorf("%+v, %v", run, err)
	}
	remove()
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
