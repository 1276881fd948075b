// Package llamacpp binds the llama.cpp library for comparisons. Tests compare token ids, pieces, chat prompts and logits with
// the library's, and "lab engine --against llama.cpp" compares speed. Nothing else may use it.
//
// The library is found through TANDEM_LLAMA_PATH (a folder with libllama and the ggml libraries) or in the npm package
// that ships it. Without it, the tests that need it are skipped, and the comparison reports an error. The C structs are
// those of llama.cpp v0.5.0. Other versions, identified by the file name, are refused, because their layouts may differ.
//
// Like package npu/ggml, the binding is built on Linux with cgo enabled or with the build tag ggml. Other builds are
// static, so that they run in an empty container and the tests for arm64 run under qemu.
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

// A Message is one turn of a conversation.
type Message struct{ Role, Content string }

// A skipper is the part of testing.TB that Need uses, so that programs do not link package testing.
type skipper interface {
	Helper()
	Skipf(format string, args ...any)
}

// Need returns the library, or skips the test if it is not available.
func Need(t skipper) *Lib {
	t.Helper()
	lib, err := Load()
	if err != nil {
		t.Skipf("llama.cpp is not available: %v", err)
	}
	return lib
}

// flavours are the parts of the libraries' names that distinguish builds for GPUs.
var flavours = []string{"", ".cuda", ".vulkan", ".metal"}

// find returns the folder of the libraries, and their flavour.
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
		dirs = append(dirs, dir) // search nowhere else
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
	return "", "", fmt.Errorf("no %s in %q: set TANDEM_LLAMA_PATH to its folder, or npm install @node-llama-cpp/%s@3.22.1",
		libName("llama."+version), dirs, name)
}

func libName(name string) string {
	if runtime.GOOS == "darwin" {
		return "lib" + name + ".dylib"
	}
	return "lib" + name + ".so"
}

// repoRoot returns the nearest folder with a go.mod, starting from the working directory.
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
			return "", fmt.Errorf("no go.mod in the working directory or above")
		}
		dir = up
	}
}
