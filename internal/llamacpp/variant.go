package llamacpp

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/cpu"
)

// held returns the variant of ggml's CPU library that uses only the instructions that GODEBUG leaves this program, or "" if
// GODEBUG leaves all of them. So one setting limits both engines of a comparison.
func held(debug string) string {
	switch {
	case strings.Contains(debug, "cpu.avx512vnni=off"):
	case strings.Contains(debug, "cpu.amxint8=off"):
		return "zen4"
	default:
		return ""
	}
	if cpu.X86.HasAVXVNNI {
		return "alderlake"
	}
	return "haswell"
}

const cpuPrefix = "libggml-cpu"

// loadedVariant returns the variant of ggml's CPU library that this process has loaded, such as "zen4", or "" if that is
// unknown. maps is Linux's list of mapped files.
func loadedVariant(maps string) string {
	f, err := os.Open(maps)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		i := strings.IndexByte(s.Text(), '/')
		if i < 0 {
			continue
		}
		if name, ok := strings.CutPrefix(filepath.Base(s.Text()[i:]), cpuPrefix); ok {
			name, _, _ = strings.Cut(name, ".so")
			return strings.TrimPrefix(name, "-")
		}
	}
	return ""
}
