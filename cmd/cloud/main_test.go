package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The tests run this test binary as the program: with runAsCloud set, main takes over.
const runAsCloud = "TANDEM_TEST_RUN_AS_CLOUD"

func TestMain(m *testing.M) {
	if os.Getenv(runAsCloud) != "" {
		main()
	}
	os.Exit(m.Run())
}

// cloud is the program with the given arguments and home folder, not yet started.
func cloud(ctx context.Context, t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env, cmd.Dir = []string{runAsCloud + "=1", "HOME=" + home}, home
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name != "HOME" && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "TANDEM_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	return cmd
}

// run runs the program and returns what it printed and its exit code.
func run(t *testing.T, home string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := cloud(ctx, t, home, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
