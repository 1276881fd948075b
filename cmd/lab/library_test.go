package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// Every passage of a made-up library is indexed, and every fact found; the same seed makes the same library, in a folder that was
// empty.
func TestLibrary(t *testing.T) {
	h := clitest.NewHome(t)
	dir := filepath.Join(h.Dir, "library")
	var said [2]libraryReport
	for i, where := range [][]string{{"--dir", dir}, nil} {
		stdout, stderr, err := h.Run(append([]string{"library", "--passages", "420", "--per-file", "20", "--questions", "50", "--at-once", "1,3", "--json"}, where...)...)
		if err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		if err := json.Unmarshal([]byte(stdout), &said[i]); err != nil {
			t.Fatal(err)
		}
	}
	r := said[0]
	if r.Passages != 420 || r.Files != 21 || r.Text != said[1].Text || len(r.Searches) != 2 || !(r.Text > 0 && r.Index > 0 && r.PerSec > 0 && r.Refresh > 0 && r.List > 0 && r.Open > 0) {
		t.Errorf("%+v, then %+v", r, said[1])
	}
	for i, s := range r.Searches {
		if s.AtOnce != 1+2*i || s.Questions != 50 || s.Found != 1 || !(0 < s.Median && s.Median <= s.P99 && s.PerSecond > 0) {
			t.Errorf("%+v", s)
		}
	}
	for _, c := range [][2]string{{"--dir=" + dir, "is not empty"}, {"--passages=0", "want 1 or more"}, {"--at-once=0", "want 1 to 1024"}} {
		if _, stderr, err := h.Run("library", c[0]); err == nil || !strings.Contains(stderr, c[1]) {
			t.Errorf("%s: %v: %s", c[0], err, stderr)
		}
	}
}
