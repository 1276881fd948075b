// Package llamacpp asks the real llama.cpp library what it would do: token ids, pieces, chat prompts and
// logits as an oracle for tests, and its speed as a peer for "lab engine --against llama.cpp".
// Nothing else of a program may use it.
//
// The library is found through TANDEM_LLAMA_PATH (a directory with libllama and the ggml libraries), or
// where npm puts the package that ships them; without it the tests that need it are skipped and the
// comparison says so. The C
// structs are those of llama.cpp v0.5.0, named in the file's name: another version is refused, since its
// layouts may differ. It is built in as package npu/ggml is: on Linux where cgo is enabled or with the build
// tag ggml. Other programs are static: they fit an empty container, and tests run for arm64 under qemu.
package llamacpp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const version = "v0.5.0"

// Message is one turn of a conversation, for ApplyTemplate.
type Message struct{ Role, Content string }

// skipper is a testing.TB, which programs should not link.
type skipper interface {
	Helper()
	Skipf(format string, args ...any)
}

// Need returns the library, loading it once per process, or skips the test with the reason.
func Need(t skipper) *Lib {
	t.Helper()
	lib, err := Load()
	if err != nil {
		t.Skipf("llama.cpp is not available to compare with: %v", err)
	}
	return lib
}

// flavours are what builds for GPUs have in their libraries' names before the version.
var flavours = []string{"", ".cuda", ".vulkan", ".metal"}

// find returns the directory that holds the libraries, and their flavour.
func find() (dir, flavour string, err error) {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	platform := map[string]string{"darwin": "mac"}[runtime.GOOS]
	if platform == "" {
		platform = runtime.GOOS
	}
	name := platform + "-" + arch
	pkg := filepath.Join("node_modules", "@node-llama-cpp", name, "bins", name)

	var dirs []string
	if dir := os.Getenv("TANDEM_LLAMA_PATH"); dir != "" {
		dirs = append(dirs, dir) // set: look nowhere else
	} else {
		if root, err := repoRoot(); err == nil {
			dirs = append(dirs, filepath.Join(root, pkg))
		}
		if out, err := exec.Command("npm", "root", "-g").Output(); err == nil {
			dirs = append(dirs, filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), pkg))
		}
	}
	for _, dir := range dirs {
		for _, flavour := range flavours {
			if _, err := os.Stat(filepath.Join(dir, libName("llama"+flavour+"."+version))); err == nil {
				return dir, flavour, nil
			}
		}
	}
	return "", "", fmt.Errorf("no %s in %q: set TANDEM_LLAMA_PATH to its directory, or npm install @node-llama-cpp/%s@3.22.1",
		libName("llama."+version), dirs, name)
}

func libName(name string) string {
	if runtime.GOOS == "darwin" {
		return "lib" + name + ".dylib"
	}
	return "lib" + name + ".so"
}

// repoRoot walks up from the working directory to the one that holds go.mod.
func repoRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = up
	}
}
