package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

func TestCacheCommand(t *testing.T) {
	h := clitest.NewHome(t)
	dir := t.TempDir()
	clitest.Write(t, dir, "text", strings.Repeat("The harbour museum opens at 9:30. ", 8))
	flags := []string{"cache", "--json", "--threads", "1", "--contexts", "160", "--steps", "2", "--runs", "1", "--text", filepath.Join(dir, "text"), "--tokens", "64"}
	out, stderr, err := h.Run(flags...)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	var r cacheReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Rows) != 2 || len(r.Perplexity) != 2 {
		t.Fatalf("%v: %s", err, out)
	}
	whole, eight := r.Rows[0], r.Rows[1]
	if whole.Type != "f16" || eight.Type != "q8_0" || 32*eight.Bytes != 17*whole.Bytes || whole.Prefill <= 0 || eight.Decode <= 0 {
		t.Errorf("%+v", r.Rows)
	}
	if a, b := r.Perplexity["f16"], r.Perplexity["q8_0"]; !(a > 1) || b < .98*a || b > 1.02*a {
		t.Errorf("perplexities %v", r.Perplexity)
	}
	if r.Peak < whole.Bytes+eight.Bytes {
		t.Errorf("a peak of %d bytes with caches of %d and %d", r.Peak, whole.Bytes, eight.Bytes)
	}
	if out, stderr, err := h.Run(append(flags, "--kv-type=q8_0", "--processor-time")...); err != nil || !strings.Contains(out, "q8_0") || strings.Contains(out, "f16") {
		t.Errorf("--kv-type q8_0: %v: %s%s", err, out, stderr)
	}
	if _, stderr, err := h.Run("cache", "--json", "--threads", "1", "--kv-type", "q8_0", "--steps", "32", "--runs", "1"); err != nil { // the default contexts
		t.Errorf("%v: %s", err, stderr)
	}
	for _, c := range [][2]string{{"--tokens=-1", "--tokens"}, {"--contexts=100", "more than 128"}, {"--steps=0", "--steps"}, {"--processor-time --threads=2", "needs --threads 1"}, {"--contexts=100000", "context of 512"}} {
		if _, stderr, err := h.Run(append(flags, strings.Fields(c[0])...)...); err == nil || !strings.Contains(stderr, c[1]) {
			t.Errorf("%s: %v: %s", c[0], err, stderr)
		}
	}
}
