package clitest

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"tandem/cmd/internal/cli"
	"tandem/internal/tinymodel"
)

// App returns an app with empty folders, and its output.
func App(t *testing.T) (a *cli.App, out, aside *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	for _, v := range []string{"HF_HOME", "HF_TOKEN", "HF_HUB_CACHE", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(v, "")
	}
	t.Setenv("HOME", home)
	out, aside = &bytes.Buffer{}, &bytes.Buffer{}
	a = &cli.App{Context: t.Context(), Screen: &cli.Screen{Out: out, Aside: aside}, Program: "edge", Globals: &cli.Globals{}, Log: slog.New(slog.DiscardHandler)}
	return a, out, aside
}

// EscapingModel writes a model whose name begins with what begins a terminal's commands, and returns its path.
func EscapingModel(t *testing.T) string {
	t.Helper()
	raw := tinymodel.GGUF(tinymodel.Spec{Seed: 3})
	const key = "general.name"
	at := bytes.Index(raw, []byte(key))
	if at < 0 {
		t.Fatal("the tiny model has no name")
	}
	raw[at+len(key)+4+8] = 0x1b // behind the value's type and length
	path := filepath.Join(t.TempDir(), "x.gguf")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
