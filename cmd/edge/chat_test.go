package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"tandem/api"
	"tandem/cmd/internal/clitest"
	"tandem/node"
)

// A chat goes on after the conversation, or a single question, exceeds the model's context.
func TestChatGoesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	long := "What is the wifi password of the lake cabin, which stands by the water behind the old mill and under the tall firs, " +
		"and where we were in summer, %d of us, with the boat, the dog and a hamper full of bread, cheese, plums and apples?\n"
	var questions strings.Builder
	for i := range 5 {
		fmt.Fprintf(&questions, long, i)
	}
	questions.WriteString(strings.Repeat("why ", 1000) + "?\nWhat is the wifi password of the lake cabin?\n")
	cmd := h.Command(t.Context(), "chat", "--json", "--local-only", "--reader", "decoder")
	cmd.Stdin = strings.NewReader(questions.String())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "1 of the lines") {
		t.Errorf("%v, %s", err, errs.String())
	}
	answers := bytes.Split(bytes.TrimSpace(out), []byte("\n")) // one line for each
	if len(answers) != 7 {
		t.Fatalf("%d lines: %s", len(answers), out)
	}
	asked := strings.Split(questions.String(), "\n")
	for i, line := range answers {
		var a struct{ Question, Answer, Error string }
		if err := json.Unmarshal(line, &a); err != nil || a.Question != strings.TrimSpace(asked[i]) {
			t.Fatalf("question %d: %v, %s, %s", i, err, line, errs.String())
		}
		if failed := i == 5; failed != strings.Contains(a.Error, "512 tokens") || failed == (a.Answer != "") {
			t.Errorf("question %d: %+v", i, a)
		}
	}
	cmd = h.Command(t.Context(), "chat", "--local-only")
	cmd.Stdin = strings.NewReader("Who runs the bakery?\n/quit\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The list of documents has its paths in one column, whatever the length of the titles.
func TestChatDocuments(t *testing.T) {
	h := newHome(t)
	clitest.Write(t, filepath.Join(h.Dir, "notes"), "one.md", "# Boat\n\nThe berth is C17.\n")
	clitest.Write(t, filepath.Join(h.Dir, "notes"), "two.md", "# "+strings.Repeat("A long title ", 5)+"\n\nThe berth is C18.\n")
	cmd := h.Command(t.Context(), "chat", "--local-only", "--notes", "notes")
	cmd.Stdin = strings.NewReader("/docs\n")
	out, err := cmd.CombinedOutput()
	var columns []int
	for line := range strings.Lines(string(out)) {
		if before, _, is := strings.Cut(line, "notes"+string(filepath.Separator)); is {
			columns = append(columns, utf8.RuneCountInString(before))
		}
	}
	if err != nil || len(columns) != 2 || columns[0] != columns[1] {
		t.Errorf("%v, columns %v in\n%s", err, columns, out)
	}
}

// Where a line has no room for both, the path stands below the title.
func TestChatDocumentsNarrow(t *testing.T) {
	title := strings.TrimSpace(strings.Repeat("A long title ", 5))
	for columns, want := range map[int]string{80: "  A long title A long title A long title … notes/two.md", 40: "  A long title A long title A long titl…\n    notes/two.md"} {
		if got := documentLine(title, "notes/two.md", 64, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}

// A question of several lines is one question, a command is none, an unknown command is an error, and a path is a question.
func TestChatCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cmd := h.Command(t.Context(), "chat", "--local-only", "--stats")
	cmd.Stdin = strings.NewReader("\"\"\"What is the wifi password\nof the lake cabin?\"\"\"\n/seed 70707\nWho is Pepper?\n/sources\n/save said.md\n/save said.md\n/frob\n/placement device\n/clear\n/etc/hosts, what is it?\n/exit\nunread\n")
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("two wrong commands: %v", err)
	}
	for want, n := range map[string]int{
		deviceKnows + "\n": 1, "no command /frob": 1, "said.md exists": 1, "seed 70707": 4, "placement device": 1,
		"asked: this device (sample documents) alone": 4, "A new conversation": 1, "2 answers in said.md": 1, "2 of the lines": 1,
	} {
		if got := strings.Count(string(out), want); got != n {
			t.Errorf("%q stands there %d times, want %d:\n%s", want, got, n, out)
		}
	}
	saved := filepath.Join(h.Dir, "said.md")
	text, err := os.ReadFile(saved)
	if err != nil || !strings.HasPrefix(string(text), "## What is the wifi password of the lake cabin?\n\n"+deviceKnows+"\n\nfrom: Lake cabin (sample document) 100 %\n\n> “The wifi password") {
		t.Errorf("saved %q, %v", text, err)
	}
	if info, err := os.Stat(saved); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "questions.jsonl")); err == nil {
		t.Error("questions of a program are kept")
	}
}

// A line that is too long to be a question is left out, and the chat goes on. Files can be named as in a shell.
func TestChatLinesAndPaths(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cmd := h.Command(t.Context(), "chat", "--local-only", "--json")
	cmd.Stdin = strings.NewReader(strings.Repeat("why ", 800_000) + "\nWho runs the bakery?\r\n/save ~/said.md\n/save \"a b.md\"\nWho runs the bakery?")
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err == nil || len(lines) != 3 || !strings.Contains(lines[0], "more than 1.0 MB") || !strings.Contains(lines[2], `"question":"Who runs the bakery?","answer"`) {
		t.Errorf("%v: %s", err, out)
	}
	for _, name := range []string{"said.md", "a b.md"} {
		if _, err := os.Stat(filepath.Join(h.Dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// Each part of an answer is a paragraph of its own in a saved chat: Markdown joins lines.
func TestSaveParts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cmd := h.Command(t.Context(), "chat", "--sample")
	cmd.Stdin = strings.NewReader(question + "\n/save said.md\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(h.Dir, "said.md"))
	if err != nil || !strings.Contains(string(text), "\n\n"+deviceKnows+"\n\n"+cloudKnows+"\n\n> ") {
		t.Errorf("%v, %q", err, text)
	}
}

// A saved chat says of an answer what was said below it: that it is unsure, and from whom it is.
func TestSaveMarks(t *testing.T) {
	a, _, _ := clitest.App(t)
	c := &conversation{session: &session{app: a, device: &node.Device{}}}
	var text strings.Builder
	c.markdown(&text, exchange{"Who?", askJSON{Answer: "Ada", Parts: []partJSON{{Text: "Ada", Unsure: true, Sure: 0.6, Sources: []api.Cited{{Title: "Crew", Weight: 1}}}}}})
	if want := "## Who?\n\nAda\n\nfrom: Crew\n\nunsure: right in 60 of 100 such answers\n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
}

// A saved chat has the sentences that were shown below an answer, also where nothing was certain.
func TestSaveNearest(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cmd := h.Command(t.Context(), "chat", "--local-only")
	cmd.Stdin = strings.NewReader("What is the wifi password of the submarine?\n/save said.md\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "I don't know.") {
		t.Fatalf("%v, %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(h.Dir, "said.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n\nnot known: the documents of this device do not clearly say it\n\nnearest:\n") {
		t.Errorf("saved without why: %s", text)
	}
	shown := regexp.MustCompile(`“[^”]+” – [^\n]+`).FindAllString(string(out), -1)
	if len(shown) == 0 || !strings.Contains(string(text), "\n\nnearest:\n\n> “") {
		t.Errorf("shown %q, saved %q", shown, text)
	}
	for _, line := range shown {
		if !strings.Contains(string(text), "\n> "+line+"\n") {
			t.Errorf("%s was shown and is not in %s", line, text)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for line, want := range map[string][2]string{
		"/help": {"help"}, "/save  a b.md ": {"save", "a b.md"}, "/?": {"?"}, "/": {}, "/etc/hosts": {}, "what /help does": {}, "/1": {}, "": {},
	} {
		name, argument, is := command(strings.TrimSpace(line))
		if name != want[0] || argument != want[1] || is != (want[0] != "") {
			t.Errorf("%q is %q, %q, %v", line, name, argument, is)
		}
	}
}

// Only three quotes at the beginning open a question of several lines.
func TestThreeQuotes(t *testing.T) {
	for text, want := range map[string]struct {
		complete bool
		inside   string
	}{
		"plain": {true, "plain"}, `a """ b`: {true, `a """ b`}, `"""a`: {false, "a"}, `"""`: {false, ""}, `""""`: {false, `"`},
		`""""""`: {true, ""}, "\"\"\"a\nb\"\"\"": {true, "a\nb"}, "  \"\"\"a\"\"\" \n": {true, "a"}, "": {true, ""},
	} {
		if complete(text) != want.complete || unquote(text) != want.inside {
			t.Errorf("%q: complete %v, inside %q", text, complete(text), unquote(text))
		}
	}
}
