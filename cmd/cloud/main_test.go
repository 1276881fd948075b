package main

import (
	"testing"

	"tandem/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, main) }

// A flag means the same kind of value in every command.
func TestFlagsOfOneNameAreOfOneKind(t *testing.T) {
	if n := clitest.FlagKinds(t, &commands{}); n < 40 {
		t.Errorf("only %d flags", n)
	}
}

// Each command line of the pages is one that the program takes.
func TestDocumentedCommands(t *testing.T) {
	if n := clitest.Documented(t, "cloud", &commands{}, "../.."); n < 10 {
		t.Errorf("only %d command lines", n)
	}
}
