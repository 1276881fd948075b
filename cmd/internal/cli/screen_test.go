package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"Ärger\u00a0über 漢字, 50 % – “ok” \U0001f600": "Ärger\u00a0über 漢字, 50 % – “ok” \U0001f600", `C:\temp`: `C:\temp`, "": "",
		"a\x1b[2Jb": `a\x1b[2Jb`, "a\nb\rc\td": `a\nb\rc\td`, "a\x9bb\xffc": `a\x9bb\xffc`, "a\u009bb\u202ec": `a\u009bb\u202ec`, "\ufffd": "\ufffd",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestSaid(t *testing.T) {
	if got := StripControls("a\x1b]52;c;x\a\r\n\tb\u009b漢 é"); got != "a]52;c;x\n\tb漢 é" {
		t.Errorf("%q", got)
	}
}

// The direction of text cannot be turned around; marks of a direction stay.
func TestSaidInOneDirection(t *testing.T) {
	if got := StripControls("pay \u202e00.01\u202c or \u2067x\u2069 \u200fא"); got != "pay 00.01 or x \u200fא" {
		t.Errorf("%q", got)
	}
}

// An error may quote what a file, a server or a file's name says. It cannot control the terminal, wherever it is printed, and
// keeps its lines.
func TestErrorsAreEscaped(t *testing.T) {
	bad := errors.New("the template says: \x1b]0;owned\a\u009b2J\u202e\nsecond line")
	const want = `the template says: \x1b]0;owned\a\u009b2J\u202e` + "\nsecond line\n"
	var out bytes.Buffer
	if code := (&errWriter{Writer: io.Discard}).exit(&out, "edge", bad); code != exitError || out.String() != "edge: "+want {
		t.Errorf("at the end: %d, %q", code, out.String())
	}
	a, _, aside := testApp(t)
	if a.Remark("%v", bad); aside.String() != want {
		t.Errorf("as a remark: %q", aside.String())
	}
}

// JSON cannot control the terminal either: it stays the same JSON, and has nothing that a terminal obeys.
func TestJSONIsPlain(t *testing.T) {
	a, out, _ := testApp(t)
	const title = "a\x1b[2J\u009b31m\u007f\u202eb é漢\n"
	for name, print := range map[string]func(any) error{"an object": a.JSON, "a line": a.JSONLine} {
		out.Reset()
		if err := print(map[string]string{"title": title}); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.ContainsAny(text, "\x1b\u009b\u007f\u202e") || !strings.Contains(text, "é漢") {
			t.Errorf("%s: %q", name, text)
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["title"] != title {
			t.Errorf("%s: %q, %v", name, back, err)
		}
	}
}

// A progress line fits on the terminal and is removed without a trace.
func TestProgressFits(t *testing.T) {
	a, _, aside := testApp(t)
	a.live = true
	a.Progress("%s", strings.Repeat("é", 200))
	if text := strings.TrimPrefix(aside.String(), "\r"); utf8.RuneCountInString(text) != 79 || !strings.HasSuffix(text, "é…") {
		t.Errorf("%q", text)
	}
	aside.Reset()
	a.Progress("ab")
	a.Clear()
	if want := "\rab" + strings.Repeat(" ", 77) + "\r  \r"; aside.String() != want {
		t.Errorf("%q", aside)
	}
	a.Hush()
	aside.Reset()
	a.Progress("ab")
	a.Remark("ab")
	if aside.Len() > 0 {
		t.Errorf("%q", aside)
	}
}

// Wide characters take two columns of a progress line, and are removed with it.
func TestProgressOfWideCharacters(t *testing.T) {
	a, _, aside := testApp(t)
	a.live = true
	a.Progress("%s", strings.Repeat("漢", 60))
	if want := "\r" + strings.Repeat("漢", 39) + "…"; aside.String() != want {
		t.Errorf("%q, want %q", aside, want)
	}
	aside.Reset()
	a.Clear()
	if want := "\r" + strings.Repeat(" ", 79) + "\r"; aside.String() != want {
		t.Errorf("%q, want %q", aside, want)
	}
}

// Folded lines fit, break at spaces, and hold the same words. Colours have no width, wide characters have two columns.
func TestFold(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "",
		"one two three":              "one two\n  three",
		"  one two three":            "  one two\n    three",
		"\x1b[2mone\x1b[0m two four": "\x1b[2mone\x1b[0m two\n  four",
		"漢字漢 漢字 x":                   "漢字漢\n  漢字 x",
		"incomprehensible a":         "incomprehensible\n  a",
		"exact ten!":                 "exact ten!",
	} {
		if got := fold(line, 10); got != want {
			t.Errorf("%q is folded to %q, want %q", line, got, want)
		}
	}
}
