package prompt

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Of a long file the newest inputs are kept, and the file does not stay long.
func TestHistoryKeepsTheNewest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "questions.jsonl")
	var text strings.Builder
	for i := range 9 {
		line, err := json.Marshal(strings.Repeat(string(rune('a'+i)), 600_000))
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	text.WriteString("\"newest\"\n")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHistory(path, all)
	if err != nil {
		t.Fatal(err)
	}
	if n := h.Len(); n != 7 || h.list[n-1] != "newest" || h.list[0][0] != 'd' {
		t.Errorf("%d inputs, the last %.10q", n, h.list[n-1])
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxFile {
		t.Errorf("%v, %v", info, err)
	}
}

// A line that was written in part does not swallow the next input.
func TestHistoryAfterHalfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "questions.jsonl")
	if err := os.WriteFile(path, []byte("\"first\"\n\"hal"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h, err := OpenHistory(path, all)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Write("second"); err != nil {
			t.Fatal(err)
		}
		if h, err = OpenHistory(path, all); err != nil || h.Len() != 2 || h.list[1] != "second" {
			t.Errorf("%q, %v", h.list, err)
		}
	}
}

// What is not kept comes back with the arrow keys until the program ends. The file does not have it.
func TestHistoryLeavesOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "questions.jsonl")
	question := func(text string) bool { return strings.HasSuffix(text, "?") }
	h, err := OpenHistory(path, question)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Who is Pepper?", "/seed 5", "/foo", "/etc/hosts, what is it?"} {
		if _, err := h.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := OpenHistory(path, question)
	if err != nil || h.Len() != 4 || kept.Len() != 2 || kept.list[1] != "/etc/hosts, what is it?" {
		t.Errorf("%v: %q of %q", err, kept.list, h.list)
	}
}

func all(string) bool { return true }

// Inputs are kept for their owner alone, each once in a row, and not without end.
func TestHistoryIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "questions.jsonl")
	h, err := OpenHistory(path, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "one", " ", "two\nlines", "one"} {
		if _, err := h.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil { // as an older version may have left it
		t.Fatal(err)
	}
	again, err := OpenHistory(path, all)
	if err != nil || !slices.Equal(again.list, []string{"one", "two\nlines", "one"}) {
		t.Errorf("%q, %v", again.list, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if text, err := again.GetLine(1); text != "two\nlines" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for _, i := range []int{-1, 3} {
		if _, err := again.GetLine(i); err == nil {
			t.Errorf("input %d of 3", i)
		}
	}
	var many strings.Builder
	for i := range 2*maxInputs + 5 {
		fmt.Fprintf(&many, "\"q%d\"\n", i)
	}
	many.WriteString("broken\n")
	if err := os.WriteFile(path, []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	last, err := OpenHistory(path, all)
	if err != nil || len(last.list) != maxInputs || last.list[0] != fmt.Sprintf("q%d", maxInputs+5) {
		t.Errorf("%d inputs, %v", len(last.list), err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") != maxInputs {
		t.Errorf("%d lines are left, %v", strings.Count(string(text), "\n"), err)
	}
}
