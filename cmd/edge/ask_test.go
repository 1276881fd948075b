package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
)

// The speed of an answer that arrives at once includes the time before the first token.
func TestSpeed(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		n           int
		first, last time.Duration
		atOnce      bool
		want        float64
	}{
		{11, 20 * ms, 120 * ms, false, 100},
		{11, 20 * ms, 110 * ms, true, 100},
		{2, 20 * ms, 20*ms + time.Microsecond, false, 2 / 0.020001},
		{1, 20 * ms, 20 * ms, false, 50},
	} {
		if got := speed(c.n, c.first, c.last, c.atOnce); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%d tokens from %v to %v: %v a second, want %v", c.n, c.first, c.last, got, c.want)
		}
	}
	if got := speed(1, 0, 0, false); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("at once: %v", got)
	}
}

// The file - is standard input, and so is a last argument -. Another one may be a minus.
func TestQuestionFromStandardInput(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, c := range []struct {
		args []string
		in   string
	}{
		{[]string{"-f", "-"}, "When does the harbour museum open?\n"},
		{[]string{"-"}, "When does the harbour museum open?\n"},
		{[]string{"When does", "-"}, "the harbour museum open?\n"},
		{[]string{"-", "When does the harbour museum open?"}, "Who owns the marina?"},
	} {
		cmd := h.Command(t.Context(), append([]string{"ask", "-q"}, c.args...)...)
		cmd.Stdin = strings.NewReader(c.in)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), cloudKnows) {
			t.Errorf("%q: %v: %s", c.args, err, out)
		}
	}
}

// An answer that --max-tokens cut says so, also with -q. It ends with an ellipsis, never within a word or a number, and
// claims no confidence.
func TestCutAnswer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	notes := t.TempDir()
	long := "The bridge failed because " + strings.Repeat("its piers stood in soft ground, and ", 12) + "nobody looked."
	if err := os.WriteFile(filepath.Join(notes, "bridge.txt"), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tokens, question string
		ends, finish     string
	}{
		{"1", "When does the harbour museum open?", "", "length"},
		{"3", "When does the harbour museum open?", "…", "length"},
		{"4", "When does the harbour museum open?", "…", "length"},
		{"60", "Why did the bridge fail?", " …", "length"},
		{"30", "Why did the bridge fail?", " …", "length"},
		{"256", "When does the harbour museum open?", "9:30", "stop"},
	} {
		args := []string{"--sample"}
		if strings.Contains(c.question, "bridge") {
			args = []string{"--local-only", "--notes", notes}
		}
		args = append(args, "-n", c.tokens, c.question)
		a := h.ask(args...)
		if a.Finish != c.finish || !strings.HasSuffix(a.Answer, c.ends) || c.ends == "" && a.Answer != "" {
			t.Errorf("-n %s %s: %q, finish %s, want %q, finish %s", c.tokens, c.question, a.Answer, a.Finish, c.ends, c.finish)
		}
		for _, p := range a.Parts {
			if (p.Sure > 0) != (c.finish == "stop") || p.Cut != (c.finish != "stop") {
				t.Errorf("-n %s %s: confidence %v, cut: %v", c.tokens, c.question, p.Sure, p.Cut)
			}
		}
		_, stderr, err := h.Run(append([]string{"ask", "-q"}, args...)...)
		if said := strings.Contains(stderr, "the answer was cut at "+c.tokens+" token"); err != nil || said != (c.finish == "length") {
			t.Errorf("-n %s %s: %v, %s", c.tokens, c.question, err, stderr)
		}
		_, stderr, err = h.Run(append([]string{"ask"}, args...)...)
		bare := hasNoWord(a.Answer)
		if err != nil || strings.Contains(stderr, "leave no room") != bare || bare && strings.Contains(stderr, "Lake cabin") {
			t.Errorf("-n %s %s: %v, %s", c.tokens, c.question, err, stderr)
		}
	}
}

// An answer that nobody knows is a success, unless the user wants it to be a failure. With --json there is an object either way.
func TestFailUnknown(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, c := range []struct {
		question string
		flags    []string
		fails    bool
	}{
		{"What is the door code of the boat house?", nil, false},
		{"What is the door code of the boat house?", []string{"--fail-unknown"}, true},
		{"What is the door code of the boat house?", []string{"--fail-unknown", "--json"}, true},
		{"When does the harbour museum open?", []string{"--fail-unknown"}, false},
	} {
		stdout, stderr, err := h.Run(append(append([]string{"ask", "--sample"}, c.flags...), c.question)...)
		if (err != nil) != c.fails || strings.Contains(stderr, "edge: a part of the answer is not known") != c.fails || stdout == "" || strings.Contains(stdout, "\"error\"") {
			t.Errorf("%q %q: %v, %s%s", c.flags, c.question, err, stdout, stderr)
		}
	}
}

// Each command line of the pages is one that the program takes.
func TestDocumentedCommands(t *testing.T) {
	if n := clitest.Documented(t, "edge", &commands{}, "../.."); n < 10 {
		t.Errorf("only %d command lines", n)
	}
}

// A flag means the same kind of value in every command.
func TestFlagsOfOneNameAreOfOneKind(t *testing.T) {
	if n := clitest.FlagKinds(t, &commands{}); n < 40 {
		t.Errorf("only %d flags", n)
	}
}
