package cli

import (
	"strings"
	"testing"
)

// The error of a full disk, or of a folder where nobody may write, says what to do, also where the program goes on after it.
func TestWriteOutputWhereItCannot(t *testing.T) {
	a, _, _ := testApp(t)
	for path, want := range map[string]string{"/dev/full": "make room on it", "/sys/rows.json": "name a file in a folder where you may write"} {
		if err := a.WriteOutput(path, []byte("rows"), 0o644); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
