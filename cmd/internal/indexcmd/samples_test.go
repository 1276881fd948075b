package indexcmd

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/examples"
)

// A folder with the sample documents is known as such, until a file is changed, added or removed.
func TestSameFiles(t *testing.T) {
	dir := t.TempDir()
	copied := func() bool { return SameFiles(dir, examples.Notes, "notes") }
	if copied() {
		t.Error("an empty folder")
	}
	list, err := examples.Notes.ReadDir("notes")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		data, err := examples.Notes.ReadFile("notes/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !copied() {
		t.Error("the samples are not known")
	}
	first := filepath.Join(dir, list[0].Name())
	data, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"changed": func() error { return os.WriteFile(first, append([]byte{data[0] ^ 1}, data[1:]...), 0o600) },
		"longer":  func() error { return os.WriteFile(first, append(data, 10), 0o600) },
		"removed": func() error { return os.Remove(first) },
		"added":   func() error { return os.WriteFile(filepath.Join(dir, "mine.md"), []byte("mine"), 0o600) },
	} {
		if err := os.WriteFile(first, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if copied() {
			t.Errorf("%s: still the samples", name)
		}
		os.Remove(filepath.Join(dir, "mine.md"))
	}
	if SameFiles(filepath.Join(dir, "absent"), examples.Notes, "notes") {
		t.Error("a folder that is not there")
	}
}
