package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
)

// jsonLog checks that each line is a record of a log in JSON, and returns the messages with their levels.
func jsonLog(t *testing.T, r io.Reader) (messages []string) {
	t.Helper()
	for in := bufio.NewScanner(r); in.Scan(); {
		var record struct{ Time, Level, Msg string }
		if err := json.Unmarshal(in.Bytes(), &record); err != nil || record.Time == "" || record.Level == "" {
			t.Errorf("%v: %q", err, in.Text())
		}
		messages = append(messages, record.Level+" "+record.Msg)
	}
	return messages
}

// With a log in JSON, whatever goes to standard error is a record of it: messages, remarks and the error that ends the program.
func TestLogInJSON(t *testing.T) {
	h := clitest.NewHome(t)
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	cmd := h.Command(ctx, "serve", "--log-format", "json", "--kv-memory", "1", "--reader", "decoder", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(out); in.Scan() && !strings.Contains(in.Text(), "Pair a device"); {
	}
	cmd.Process.Signal(os.Interrupt)
	said := strings.Join(jsonLog(t, stderr), "; ")
	if err := cmd.Wait(); err != nil || !strings.Contains(said, "INFO metrics on http://127.0.0.1:") {
		t.Errorf("%v, %s", err, said)
	}
	_, failed, err := h.Run("serve", "--log-format", "json", "--listen", "127.0.0.1:0", "--drain", "-1s")
	if said := jsonLog(t, strings.NewReader(failed)); err == nil || len(said) != 1 || said[0] != "ERROR cloud: --drain -1s: want 0s or more" {
		t.Errorf("%v, %q", err, said)
	}
}
