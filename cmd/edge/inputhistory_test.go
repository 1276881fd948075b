package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of a long file the newest questions are kept, and the file does not stay long.
func TestQuestionsKeepsTheNewest(t *testing.T) {
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
	h := &inputHistory{path: path}
	if err := h.load(); err != nil {
		t.Fatal(err)
	}
	if n := h.Len(); n != 7 || h.list[n-1] != "newest" || h.list[0][0] != 'd' {
		t.Errorf("%d questions, the last %.10q", n, h.list[n-1])
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxQuestionsFile {
		t.Errorf("%v, %v", info, err)
	}
}

// A line that was written in part does not swallow the next question.
func TestQuestionsAfterHalfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "questions.jsonl")
	if err := os.WriteFile(path, []byte("\"first\"\n\"hal"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h := &inputHistory{path: path}
		if err := h.load(); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Write("second"); err != nil {
			t.Fatal(err)
		}
		h = &inputHistory{path: path}
		if err := h.load(); err != nil || h.Len() != 2 || h.list[1] != "second" {
			t.Errorf("%q, %v", h.list, err)
		}
	}
}

// A command comes back with the arrow keys of this chat. It is no question, so the file does not have it.
func TestQuestionsAreNoCommands(t *testing.T) {
	h := &inputHistory{path: filepath.Join(t.TempDir(), "questions.jsonl")}
	for _, line := range []string{"Who is Pepper?", "/seed 5", "/foo", "/etc/hosts, what is it?"} {
		if _, err := h.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	kept := &inputHistory{path: h.path}
	if err := kept.load(); err != nil || h.Len() != 4 || kept.Len() != 2 || kept.list[1] != "/etc/hosts, what is it?" {
		t.Errorf("%v: %q of %q", err, kept.list, h.list)
	}
}
