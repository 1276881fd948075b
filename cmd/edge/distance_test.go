package main

import (
	"strings"
	"testing"
)

// A cloud joins over any emulated distance that is allowed, without a longer --wait.
func TestDistantCloudJoins(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	stdout, stderr, err := h.Run("ask", "--json", "--seed", "1", "--rtt", "2500ms", question)
	if err != nil || !strings.Contains(stdout, `"local_only": false`) {
		t.Errorf("%v, %s%s", err, stdout, stderr)
	}
	if _, stderr, err := h.Run("ask", "--rtt", "5s", question); err == nil || !strings.Contains(stderr, "want 0 to 4s") {
		t.Errorf("further than that: %v, %s", err, stderr)
	}
}
