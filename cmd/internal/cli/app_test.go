package cli

import (
	"bytes"
	"testing"
)

// testApp returns an app with empty folders, and its output.
func testApp(t *testing.T) (a *App, out, aside *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	for _, v := range []string{"HF_HOME", "HF_TOKEN", "HF_HUB_CACHE", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(v, "")
	}
	t.Setenv("HOME", home)
	out, aside = &bytes.Buffer{}, &bytes.Buffer{}
	a = &App{Context: t.Context(), Screen: &Screen{Out: out, Aside: aside}, Program: "edge", Globals: &Globals{}}
	return a, out, aside
}
