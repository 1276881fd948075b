package main

import (
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// Flags out of range or that contradict each other are errors that name them.
func TestFlagsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, h.Dir, "long.txt", strings.Repeat("the boat house ", 2000))
	for args, want := range map[string]string{
		"run -n 0 hi":                       "--max-tokens 0: want 1 to 65536",
		"run -n 100000000 hi":               "--max-tokens 100000000: want 1 to 65536",
		"reply -n 100000 hi":                "--max-tokens 100000: want 1 to 65536",
		"rewrite --correct -n 0 hi":         "--max-tokens 0: want 1 to 65536",
		"run --repeat-last=-2 hi":           "--repeat-last -2: want 1 or more, 0 for none or -1 for all",
		"run --repeat-penalty 0 hi":         "--repeat-penalty 0: want 0.01 to 100",
		"ask --top-k=-1 hi":                 "--top-k -1: want 1 or more, or 0 for all tokens",
		"ask --top-p 2 hi":                  "--top-p 2: want 0 to 1",
		"ask --soc sm8750 --reader span hi": "--reader span: it points at words, and --soc is for what decodes",
		"ask --reader other hi":             "span",
		"ask --switching synchronous hi":    "--switching synchronous: it is for a simulated phone: add --soc",
		"run --file long.txt":               "tokens, and tandem-reader takes 512: shorten it",
	} {
		if stdout, stderr, err := h.Run(strings.Fields(args)...); err == nil || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("edge %s: %v, %s%s; want %q", args, err, stdout, stderr, want)
		}
	}
}
