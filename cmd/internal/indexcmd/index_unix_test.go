//go:build unix

package indexcmd

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandem/cmd/internal/clitest"
)

// What holds no documents is named, with the reason in words.
func TestIndexAddOfNothing(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	large, err := os.Create(in("large.txt"))
	if err == nil {
		err = large.Truncate(300e6)
	}
	for _, e := range []error{err, large.Close(), os.Mkdir(in("empty"), 0o700), syscall.Mkfifo(in("pipe"), 0o600)} {
		if e != nil {
			t.Fatal(e)
		}
	}
	for _, c := range []struct {
		path, want string
		fails      bool
	}{
		{in("empty"), "There are no files in " + in("empty"), false},
		{in("pipe"), "a named pipe, not a file with text", true},
		{os.DevNull, "a device, not a file with text", true},
		{in("large.txt"), "too large: 300.0 MB, and at most 8.4 MB are read of this type: split it", true},
	} {
		a, out, aside := clitest.App(t)
		err := (&addCmd{Paths: []string{c.path}}).Run(a)
		if (err != nil) != c.fails || c.fails && !strings.Contains(err.Error(), "nothing was indexed of "+c.path) || !strings.Contains(out.String()+aside.String(), c.want) {
			t.Errorf("%s: %v, %s%s", c.path, err, out, aside)
		}
	}
}
