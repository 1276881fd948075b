package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// What is wrong with a command line is said together with what helps.
func TestHelpfulErrors(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, h.Dir, "binary", "\x7fELF\x00\x00")
	clitest.Write(t, h.Dir, "thesis.txt", "years of work\n")
	clitest.Write(t, h.Dir, "empty.gguf", "")
	if err := os.Symlink("loop", filepath.Join(h.Dir, "loop")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--port", "80"}, `unknown flag --port, did you mean "--http"?`},
		{[]string{"serve", "--addr=:80"}, `unknown flag --addr, did you mean "--http"?`},
		{[]string{"ask", "--quotes", "x"}, `unknown flag --quotes: it is a flag of "cloud serve"`},
		{[]string{"ask", "--color=never", "x"}, "NO_COLOR"},
		{[]string{"ask", "--porty", "x"}, "unknown flag --porty\n"},
		{[]string{"ask", "--foo", "x"}, "unknown flag --foo\n"},
		{[]string{"ask", "-z", "x"}, "unknown flag -z\n"},
		{[]string{"ask", "-local-only", "x"}, "unknown flag -l, did you mean \"--local-only\"?\n"},
		{[]string{"ask", "-zeal=5", "x"}, "unknown flag -z\n"},
		{[]string{"ask", "--local", "x"}, "unknown flag --local, did you mean \"--local-only\"?\n"},
		{[]string{"ask", "--wiat", "3s", "x"}, "unknown flag --wiat, did you mean \"--wait\"?\n"},
		{[]string{"ask", "--max-tolens=5", "x"}, "unknown flag --max-tolens, did you mean \"--max-tokens\"?\n"},
		{[]string{"add", "notes"}, "unexpected argument add, did you mean \"index add\"?\n"},
		{[]string{"index", "notes"}, "unexpected argument notes: want one of \"add\", \"list\", "},
		{[]string{"aks", "x"}, "unexpected argument aks, did you mean \"ask\"?\n"},
		{[]string{"who", "has", "the", "key?"}, "To ask a question: edge ask \"who has the key?\"\n"},
		{[]string{"go"}, "unexpected argument go\n"},
		{[]string{"help", "aks"}, "there is no command \"aks\", did you mean \"ask\"?\n"},
		{[]string{"help", "go"}, "there is no command \"go\": see edge help\n"},
		{[]string{"man", "index", "ad"}, "there is no command \"index ad\", did you mean \"add\"?\n"},
		{[]string{"ind"}, "unexpected argument ind, did you mean \"index\"?\n"},
		{[]string{"ask", "--placement", "moon", "x"}, `--placement: want one of auto, mirror, device, cloud, greedy, sync, but got "moon"`},
		{[]string{"rewrite", "--tone", "rude", "x"}, `--tone: want one of neutral, polite, formal, jovial, but got "rude"`},
		{[]string{"ask", "--soc", "sm8750", "--switching", "greedy", "--npu-memory", "4", "x"}, "--switching and --npu-memory: staged weights"},
		{[]string{"serve", "--cors"}, "--cors: want a value, but got nothing"},
		{[]string{"models", "frob"}, `"rm", "quantize", "convert", "adapt"`},
		{[]string{"index", "show", "A", "B"}, "unexpected argument B: usage: edge index show <path>"},
		{[]string{"ask", ""}, "the question is empty"},
		{[]string{"ask", "-n", "-5", "x"}, "--max-tokens -5: want 1 to 65536"},
		{[]string{"ask", "--seed", "-2", "x"}, "--seed -2: want 0 or more"},
		{[]string{"pair", "--rename", "vm"}, "--rename needs --name"},
		{[]string{"pair", "--remove", "vm", "--list"}, "can't be used together"},
		{[]string{"rewrite", "--correct", "--file", "binary"}, "binary: it holds NUL bytes, so it is no text"},
		{[]string{"ask", "--sample", "--record", "thesis.txt", "x"}, "thesis.txt exists and is no recording"},
		{[]string{"pair", "--from", "."}, "is a folder: name the file"},
		{[]string{"models", "adapt", "add", "nope", "--model", "m"}, "there is no file or folder nope"},
		{[]string{"ask", "--model", "empty.gguf", "x"}, "it is empty"},
		{[]string{"index", "add", "loop"}, "loop: a link that leads back to itself"},
		{[]string{"pair", "edge", "pair", "280E-8"}, "length is 5,"},
		{[]string{"pair", "edge pair 280E-8"}, "length is 5,"},
		{[]string{"pair", "--list", "CODE"}, "a code and --list: give only one of them"},
		{[]string{"reply", ""}, "the conversation is empty"},
		{[]string{"run", ""}, "the prompt is empty"},
		{[]string{"rewrite", "--correct", ""}, "the text is empty"},
	} {
		stdout, stderr, err := h.Run(c.args...)
		if err == nil || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: %v, %q, %s; want %s", c.args, err, stdout, stderr, c.want)
		}
	}
	if _, stderr, err := h.RunWith([]string{"TANDEM_MAX_TOKENS=x"}, "ask", "x"); err == nil || !strings.Contains(stderr, `(from the environment variable TANDEM_MAX_TOKENS="x")`) {
		t.Errorf("%v: %s", err, stderr)
	}
	for args, want := range map[string]string{"history clear": "Nothing was kept.\n", "models check": "There are no files to check: the built-in models are part of the program.\n"} {
		if stdout, stderr, err := h.Run(strings.Fields(args)...); err != nil || stdout != want {
			t.Errorf("%s: %v, %q, %s", args, err, stdout, stderr)
		}
	}
}

// Arguments that begin with a command are no question, and groups of commands alone list what there is.
func TestNoQuestion(t *testing.T) {
	h := newHome(t)
	if _, stderr, err := h.Run("index", "show", "a", "b", "c"); err == nil || strings.Contains(stderr, "To ask a question") {
		t.Errorf("%v: %s", err, stderr)
	}
	for _, c := range [][2]string{{"config", "config view"}, {"config --all", "config view --all"}, {"models", "models list"}, {"index", "index list"}, {"history", "history list"}} {
		whole, _, err := h.Run(strings.Fields(c[1])...)
		if short, _, e := h.Run(strings.Fields(c[0])...); err != nil || e != nil || short != whole {
			t.Errorf("%s: %v, %v: %s", c[0], err, e, short)
		}
	}
}
