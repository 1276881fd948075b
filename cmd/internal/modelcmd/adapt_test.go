package modelcmd

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/clitest"
	"tandem/lora"
	"tandem/models"
)

// A file or folder in the current folder takes the place of no adapter: a bare word is a name, and a path has a separator or
// ends in .gguf. The names of the built-in adapters stand for these alone.
func TestNamesOfAdapters(t *testing.T) {
	a, out, _ := clitest.App(t)
	t.Chdir(t.TempDir())
	other, _ := models.Adapter("short")
	adapters, err := adaptersDir(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := cli.MakePrivateDir(adapters); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"tone", "here", "both.gguf", filepath.Join(adapters, "both.gguf"), filepath.Join(adapters, "added.gguf"), filepath.Join(adapters, "correct.gguf")} {
		if err := os.WriteFile(file, other, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("reply", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tone", "correct", "reply"} {
		one, err := openAdapter(a, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b, _ := models.Adapter(name)
		if want, err := lora.ReadGGUF(name, b); err != nil || !reflect.DeepEqual(one, want) {
			t.Errorf("%s is not the built-in adapter", name)
		}
	}
	for name, want := range map[string]string{"both": filepath.Join(adapters, "both.gguf"), "both.gguf": "both.gguf", "added.gguf": filepath.Join(adapters, "added.gguf"), "./here": "./here"} {
		if path, err := findAdapter(a, name); err != nil || path != want {
			t.Errorf("%s is %s, %v, want %s", name, path, err, want)
		}
	}
	for name, want := range map[string]string{"here": "write ./here", "none": "adapt list"} {
		if _, err := findAdapter(a, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	if err := (&adaptAdd{Path: "here", Name: "reply"}).Run(a); err == nil || !strings.Contains(err.Error(), "built in") {
		t.Errorf("a built-in name was taken: %v", err)
	}
	if err := (&adaptShow{Name: "correct"}).Run(a); err != nil || !strings.Contains(out.String(), "built in") {
		t.Errorf("%v: %s", err, out)
	}
}
