package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// Where nobody knows, the likeliest sentence of a passage stands alone, and what is around it in the line below.
func TestNearestSentenceComesFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := os.Mkdir(filepath.Join(h.Dir, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.Write(t, h.Dir, "notes/notes.txt", "The boiler was serviced in May.\nThe plumber left his ladder behind the shed.\nBins go out on Thursdays.")
	const question = "Who rang about the ladder on Sunday?"
	got := h.ask("--notes", "notes", "--local-only", question)
	if !got.Parts[0].Unknown {
		t.Fatalf("%q", got.Answer)
	}
	_, stderr, err := h.Run("ask", "--notes", "notes", "--local-only", question)
	if err != nil {
		t.Fatal(err)
	}
	_, nearest, _ := strings.Cut(stderr, "nearest:\n")
	lines := strings.Split(nearest, "\n")
	if len(lines) < 2 || lines[0] != "  “The plumber left his ladder behind the shed.” – Notes" ||
		lines[1] != "    The boiler was serviced in May. / … / Bins go out on Thursdays." {
		t.Errorf("%s", stderr)
	}
}
