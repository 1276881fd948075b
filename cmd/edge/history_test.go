package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/specdec"
)

const saidTwice = "Summarize: The harbour museum opens at 9:30. The harbour museum opens at 9:30 on Sunday too."

// Drafting does not change the text; --stats prints what became of the drafts.
func TestRunDrafts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	text := ""
	for _, draft := range []string{"off", "auto", "pld", "sam", "all", "auto,history", "forecast,pld"} {
		stdout, stderr, err := h.Run("run", "--draft", draft, "--stats", "--max-tokens", "24", "--threads", "1", saidTwice)
		if err != nil {
			t.Fatalf("%s: %v\n%s", draft, err, stderr)
		}
		if text == "" {
			text = stdout
		}
		if stdout != text || strings.TrimSpace(text) == "" {
			t.Errorf("%s: %q, plain decoding says %q", draft, stdout, text)
		}
		if drafts := strings.Contains(stderr, "tokens a pass") && strings.Contains(stderr, "% valid") && strings.Contains(stderr, "% underutilised"); drafts != (draft != "off") {
			t.Errorf("%s: %q", draft, stderr)
		}
	}
	if _, stderr, err := h.Run("run", "--draft", "all", "--max-tokens", "4", "--threads", "1", saidTwice); err != nil || strings.Contains(stderr, "tokens a pass") {
		t.Errorf("without --stats: %v, %q", err, stderr)
	}
	stdout, stderr, err := h.Run("run", "--json", "--draft", "pld", "--max-tokens", "24", "--threads", "1", saidTwice)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var got struct {
		Text   string        `json:"text"`
		Tokens int           `json:"tokens"`
		Passes int           `json:"passes"`
		Drafts specdec.Stats `json:"drafts"`
		Accept float64       `json:"accept_length"`
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if d := got.Drafts; got.Text != strings.TrimSuffix(text, "\n") || d.Passes < 1 || d.Passes > got.Passes || d.Tokens != d.Valid || d.Valid+d.Wasted+d.Underutilised != 32*d.Passes || got.Accept != d.AcceptLength() {
		t.Errorf("%+v", got)
	}
}

func TestRunDraftErrors(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, c := range []struct{ args, want string }{
		{"--draft off,history", "off"},
		{"--draft off --forecast forecast", "off"},
		{"--draft magic", "auto"},
	} {
		stdout, stderr, err := h.Run(append(append([]string{"run"}, strings.Fields(c.args)...), "hello")...)
		if err == nil || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("run %s: %v, %q, %q; want %q", c.args, err, stdout, stderr, c.want)
		}
	}
	if list, _, err := h.Run("history", "list"); err != nil || !strings.Contains(list, "Nothing is kept") {
		t.Errorf("afterwards: %v, %s", err, list)
	}
}

// Only the drafter history keeps texts, which can be listed and cleared.
func TestHistoryLife(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	list := func() (got struct {
		Folder    string
		Histories []specdec.HistoryFile
	}) {
		t.Helper()
		stdout, stderr, err := h.Run("history", "list", "--json")
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Histories == nil {
			t.Fatalf("%v in %s", err, stdout)
		}
		return got
	}
	run := func(args ...string) string {
		t.Helper()
		stdout, stderr, err := h.Run(append([]string{"run", "--max-tokens", "12", "--threads", "1"}, append(args, saidTwice)...)...)
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
		return stdout
	}
	first := run("--draft", "all")
	if got := list(); len(got.Histories) != 0 {
		t.Errorf("without the drafter history it remembers %+v", got)
	}
	for range 2 {
		if again := run("--draft", "all,history"); again != first {
			t.Errorf("%q, without a history %q", again, first)
		}
	}
	got := list()
	if len(got.Histories) != 1 || got.Histories[0].Entries != 4 || got.Histories[0].Tokens == 0 || got.Histories[0].Oldest.IsZero() {
		t.Fatalf("%+v", got)
	}
	if stdout, _, err := h.Run("history", "list"); err != nil || !strings.HasPrefix(stdout, "TEXTS  TOKENS") || !regexp.MustCompile(`(?m)^ +4 .*  `+got.Histories[0].Vocabulary+`$`).MatchString(stdout) {
		t.Errorf("list: %v, %s", err, stdout)
	}
	clitest.Write(t, got.Folder, "other.history", "")
	if stdout, _, err := h.Run("history", "list"); err != nil || !regexp.MustCompile(`(?m)^ +0 +0 +0 B  never .*other$`).MatchString(stdout) {
		t.Errorf("list with an empty file: %v, %s", err, stdout)
	}
	clitest.Write(t, got.Folder, ".new-123", "what a crash left")
	clitest.Write(t, filepath.Join(h.Dir, ".local", "state", "tandem", "edge"), "questions.jsonl", "\"why?\"\n")
	if stdout, _, err := h.Run("history", "list"); err != nil || !strings.HasPrefix(stdout, "1 question of chats in ") {
		t.Errorf("list with questions: %v, %s", err, stdout)
	}
	if stdout, stderr, err := h.Run("history", "clear"); err != nil || stdout != "Questions of chats cleared.\n2 histories of answers cleared.\n" {
		t.Errorf("clear: %v, %s%s", err, stdout, stderr)
	}
	clitest.Write(t, filepath.Join(h.Dir, ".local", "state", "tandem", "edge"), "questions.jsonl", "\"why?\"\n\"who?\"\n")
	if stdout, _, err := h.Run("history", "clear", "--json"); err != nil || strings.Join(strings.Fields(stdout), "") != `{"cleared":0,"questions":2}` {
		t.Errorf("clear questions: %v, %s", err, stdout)
	}
	if left, _ := filepath.Glob(filepath.Join(got.Folder, "*history*")); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	if stdout, _, err := h.Run("history", "clear", "--json"); err != nil || strings.Join(strings.Fields(stdout), "") != `{"cleared":0,"questions":0}` {
		t.Errorf("nothing to clear: %v, %s", err, stdout)
	}
}

// An error about a damaged history names the file and what to do; clearing helps.
func TestHistoryErrors(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	remember := []string{"run", "--draft", "history", "--max-tokens", "4", "--threads", "1", saidTwice}
	if _, stderr, err := h.Run(remember...); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	files, _ := filepath.Glob(filepath.Join(h.Dir, ".local", "share", "tandem", "edge", "history", "*.history"))
	if len(files) != 1 {
		t.Fatalf("histories: %v", files)
	}
	fails := func(want string, args ...string) {
		t.Helper()
		if _, stderr, err := h.Run(args...); err == nil || !strings.Contains(stderr, files[0]) || !strings.Contains(stderr, want) {
			t.Errorf("edge %q: %v, %q; want %q", args, err, stderr, want)
		}
	}
	if err := os.WriteFile(files[0], []byte("not a history"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails("to start over", remember...)
	if err := os.Truncate(files[0], 65<<20); err != nil {
		t.Fatal(err)
	}
	fails("more than", "history", "list")
	fails("to start over", remember...)
	if stdout, stderr, err := h.Run("history", "clear"); err != nil || stdout != "1 history of answers cleared.\n" {
		t.Errorf("clear: %v, %s%s", err, stdout, stderr)
	}
	clitest.Write(t, files[0], "a-folder-that-is-not-empty", "")
	fails("", "history", "clear")
	fails("", "history", "list")
	if _, stderr, err := h.Run("history", "forget"); err == nil || !strings.Contains(stderr, "--help") {
		t.Errorf("history forget: %v, %q", err, stderr)
	}
}
