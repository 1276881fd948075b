package llamacpp

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/cpu"
)

func TestLoadedVariant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "maps")
	for text, want := range map[string]string{
		"7f00-7f01 r-xp 00000000 08:01 42 /opt/bins/libggml-base.so\n7f02-7f03 r-xp 0 08:01 43 /opt/b ins/libggml-cpu-zen4.so\n": "zen4",
		"7f02-7f03 r-xp 0 08:01 43 /opt/libggml-cpu.so.0\n":                                                                      "",
		"7f02-7f03 r-xp 0 00:00 0 \n": "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := loadedVariant(path); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := loadedVariant(path + "none"); got != "" {
		t.Errorf("%q", got)
	}
}

// What holds our engine to AVX2 holds llama.cpp, too.
func TestHeld(t *testing.T) {
	want := "haswell"
	if cpu.X86.HasAVXVNNI {
		want = "alderlake"
	}
	for debug, want := range map[string]string{"": "", "gctrace=1": "", "cpu.avx512vnni=off": want, "cpu.avxvnni=off,cpu.avx512vnni=off": want,
		"cpu.amxint8=off": "zen4", "cpu.amxint8=off,cpu.avx512vnni=off": want} {
		if got := held(debug); got != want {
			t.Errorf("%q: %q, want %q", debug, got, want)
		}
	}
}
