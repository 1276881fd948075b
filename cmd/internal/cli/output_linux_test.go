package cli

import (
	"strings"
	"testing"
)

// The error of a full disk says what to do, also where the program goes on after it.
func TestWriteOutputToAFullDisk(t *testing.T) {
	a, _, _ := testApp(t)
	if err := a.WriteOutput("/dev/full", []byte("rows"), 0o644); err == nil || !strings.HasSuffix(err.Error(), "make room on it") {
		t.Error(err)
	}
}
