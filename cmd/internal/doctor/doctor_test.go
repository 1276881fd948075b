package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/cmd/internal/modelcmd"
	"tandem/internal/tinymodel"
)

// A model file cannot control the terminal of who has it checked.
func TestDoctorEscapesModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.gguf")
	raw := tinymodel.GGUF(tinymodel.Spec{Seed: 3})
	name := strings.Index(string(raw), "general.name")
	if name < 0 {
		t.Skip("the tiny model has no name")
	}
	value := name + len("general.name") + 4 + 8
	raw[value] = 0x1b
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	a, out, _ := clitest.App(t)
	if err := Run(a, Flags{ModelFlags: modelcmd.ModelFlags{Model: path, Threads: 1}}); err != nil || !strings.Contains(out.String(), "model") {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.ContainsRune(out.String(), 0x1b) {
		t.Errorf("%q", out)
	}
}
