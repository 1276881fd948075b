package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"Ärger\u00a0über 漢字, 50 % – “ok” \U0001f600": "Ärger\u00a0über 漢字, 50 % – “ok” \U0001f600", `C:\temp`: `C:\temp`, "": "",
		"a\x1b[2Jb": `a\x1b[2Jb`, "a\nb\rc\td": `a\nb\rc\td`, "a\x9bb\xffc": `a\x9bb\xffc`, "a\u009bb\u202ec": `a\u009bb\u202ec`, "\ufffd": "\ufffd",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestSaid(t *testing.T) {
	if got := Said("a\x1b]52;c;x\a\r\n\tb\u009b漢 é"); got != "a]52;c;x\n\tb漢 é" {
		t.Errorf("%q", got)
	}
}

// Names and titles of files cannot control the terminal.
func TestIndexListIsPlain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names")
	}
	a, out, _ := testApp(t)
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "a\x1b[2J\nb.md"), []byte("# The \x1b[31mboat\n\nThe berth of the Marigold is C17.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&indexAdd{Paths: []string{docs}}).Run(a); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := (&indexList{}).Run(a); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b") || strings.Count(text, "\n") != 3 || !strings.Contains(text, `a\x1b[2J\nb.md`) {
		t.Errorf("%q", text)
	}
}
