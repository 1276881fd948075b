package llamacpp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	lib := Need(t)
	got, err := lib.ApplyTemplate("chatml", []Message{{"system", "S"}, {"user", "U"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"; got != want {
		t.Errorf("chatml: %q, want %q", got, want)
	}
	if _, err := lib.Open("no-such-file.gguf", true); err == nil || !strings.Contains(err.Error(), "no-such-file") {
		t.Errorf("opening a missing file: %v", err)
	}
}

func TestFindFlavours(t *testing.T) {
	for _, flavour := range []string{"", ".cuda", ".vulkan"} {
		dir := t.TempDir()
		t.Setenv("TANDEM_LLAMA_PATH", dir)
		if _, _, err := find(); err == nil || !strings.Contains(err.Error(), "TANDEM_LLAMA_PATH") {
			t.Errorf("an empty folder: %v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, libName("llama"+flavour+"."+version)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, f, err := find(); got != dir || f != flavour || err != nil {
			t.Errorf("%q: %q in %s, %v", flavour, f, got, err)
		}
	}
}
