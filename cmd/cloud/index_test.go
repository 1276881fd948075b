package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// A cluster that does not answer, and an address that is none, are named by every command that takes one.
func TestClusterIsAway(t *testing.T) {
	home := clitest.NewHome(t)
	file := filepath.Join(home.Dir, "a.txt")
	if err := os.WriteFile(file, []byte("The bin day is Friday."), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"index", "add", file}, {"index", "list"}, {"index", "remove", file}} {
		for address, want := range map[string]string{"weaviate://127.0.0.1:1": "no node answers", "elastic://h1": "want weaviate://"} {
			if _, stderr, err := home.Run(append(command, "--index", address)...); err == nil || !strings.Contains(stderr, want) {
				t.Errorf("%v with %s: %v, %s; want %q", command, address, err, stderr, want)
			}
		}
	}
	if _, stderr, err := home.Run("serve", "--index", "weaviate://127.0.0.1:1", "--sample"); err == nil || !strings.Contains(stderr, "only one") {
		t.Errorf("two kinds of documents: %v, %s", err, stderr)
	}
}
