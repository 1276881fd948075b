package modelcmd

import (
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// A model file cannot control the terminal of who looks at it.
func TestShowEscapesModels(t *testing.T) {
	path := clitest.EscapingModel(t)
	a, out, _ := clitest.App(t)
	if err := (&showCmd{Name: path, Metadata: true, Template: true}).Run(a); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(out.String(), 0x1b) {
		t.Errorf("%q", out)
	}
}
