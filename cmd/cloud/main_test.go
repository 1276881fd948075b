package main

import (
	"testing"

	"tandem/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, main) }
