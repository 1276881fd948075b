package doctor

import (
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/cmd/internal/modelcmd"
)

// A model file cannot control the terminal of who has it checked.
func TestDoctorEscapesModels(t *testing.T) {
	path := clitest.EscapingModel(t)
	a, out, _ := clitest.App(t)
	if err := Run(a, Flags{ModelFlags: modelcmd.ModelFlags{Model: path, Threads: 1}}); err != nil || !strings.Contains(out.String(), "model") {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.ContainsRune(out.String(), 0x1b) {
		t.Errorf("%q", out)
	}
}
