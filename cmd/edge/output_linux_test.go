package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
)

// Output to a full disk is an error.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, h.Dir, "boat.md", "# The boat Marigold\n\nThe berth of the Marigold is C17.\n")
	if _, stderr, err := h.Run("index", "add", "boat.md"); err != nil {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{
		{"ask", "--local-only", question}, {"ask", "--local-only", "--json", question}, {"models", "list"}, {"models", "show"}, {"index", "list"},
		{"history", "list"}, {"pair", "--list"}, {"doctor"}, {"--version"}, {"--help"}, {"ask", "--help"},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		var errs bytes.Buffer
		cmd := h.Command(t.Context(), args...)
		cmd.Stdout, cmd.Stderr = full, &errs
		cmd.Run()
		full.Close()
		if code := cmd.ProcessState.ExitCode(); code != 1 || strings.Count(errs.String(), "no space left") != 1 {
			t.Errorf("edge %q: exit %d, %q", args, code, errs.String())
		}
	}
}

// A closed pipe ends the program without a message, like other programs.
func TestClosedPipe(t *testing.T) {
	h := newHome(t)
	for name, command := range map[string]string{"as it is": `exec "$0" --help`, "ignored": `trap "" PIPE; exec "$0" --help`} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "("+command+"); echo $? >&2", self)
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = h.Env(), h.Dir, w, &errs
		err = cmd.Run()
		w.Close()
		if err != nil || errs.String() != "141\n" {
			t.Errorf("SIGPIPE %s: %v, %q; want exit code 141 and no message", name, err, errs.String())
		}
	}
}

// The program does not wait for a pipe given as a model, nor for one given as a configuration that nobody writes to. A
// configuration can come from a pipe, as in --config <(command).
func TestPipesAreNotWaitedFor(t *testing.T) {
	h := newHome(t)
	pipe := filepath.Join(h.Dir, "pipe.gguf")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	run := func(want string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if out, err := h.Command(ctx, args...).CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("edge %q: %v, %s", args, err, out)
		}
	}
	run("not a regular file", "ask", "--local-only", "--model", pipe, question)
	run("not a regular file", "models", "show", pipe)
	run(pipe, "--config", pipe, "index", "list")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		w.WriteString(`{"log-level": "debug", "placement": "moon"}`)
		w.Close()
	}()
	cmd := h.Command(t.Context(), "ask", "--config", "/dev/fd/3", "--local-only", question)
	cmd.ExtraFiles = []*os.File{r}
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "moon") {
		t.Errorf("a configuration from a pipe: %s", out)
	}
}
