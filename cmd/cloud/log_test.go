package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
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
}

// So are errors before the command runs: about the command line, the environment and the configuration file.
func TestErrorsInJSON(t *testing.T) {
	const readMore = `INFO Run "cloud serve --help" for examples and flags.`
	for _, c := range []struct {
		config string // the configuration file
		args   string
		env    []string
		want   []string
	}{
		{args: "serve --log-format json --drain -1s", want: []string{"ERROR cloud: --drain -1s: want 0s or more"}},
		{args: "--log-format json serve --no-such", want: []string{"ERROR cloud: unknown flag --no-such", readMore}},
		{args: "serve --no-such --log-format=json", want: []string{"ERROR cloud: unknown flag --no-such", readMore}},
		{args: "serve --no-such", env: []string{"TANDEM_LOG_FORMAT=json", "TANDEM_DRAINS=1s"}, want: []string{
			"INFO cloud: the environment variable TANDEM_DRAINS is not used: did you mean TANDEM_DRAIN?", "ERROR cloud: unknown flag --no-such", readMore}},
		{config: `{"log-format": "json"}`, args: "serve --no-such", want: []string{"ERROR cloud: unknown flag --no-such", readMore}},
		{config: `{`, args: "--log-format json serve", want: []string{"ERROR cloud: HOME/.config/tandem/cloud/config.json: unexpected EOF; write an object such as {\"placement\": \"device\"}"}},
	} {
		h := clitest.NewHome(t)
		if c.config != "" {
			clitest.Write(t, filepath.Join(h.Dir, ".config", "tandem", "cloud"), "config.json", c.config)
		}
		_, failed, err := h.RunWith(c.env, strings.Fields(c.args)...)
		if said := jsonLog(t, strings.NewReader(strings.ReplaceAll(failed, h.Dir, "HOME"))); err == nil || !slices.Equal(said, c.want) {
			t.Errorf("%s: %v, %q, want %q", c.args, err, said, c.want)
		}
	}
}
