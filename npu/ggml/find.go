package ggml

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// PathVariable is the environment variable that names the only folders to search for the libraries.
const PathVariable = "TANDEM_GGML_PATH"

// place is the environment to search in. Tests replace it.
type place struct {
	env      func(string) string
	exe      string // this program
	home     string
	os, arch string
}

func here() place {
	p := place{env: os.Getenv, os: runtime.GOOS, arch: runtime.GOARCH}
	p.exe, _ = os.Executable()
	p.home, _ = os.UserHomeDir()
	return p
}

// platform returns the name that the npm packages use for this platform.
func (p place) platform() string {
	name, arch := p.os, p.arch
	if name == "darwin" {
		name = "mac"
	}
	if arch == "amd64" {
		arch = "x64"
	}
	return name + "-" + arch
}

// packages returns the npm packages with the libraries. Those for GPUs come first, because they include the one for the
// processor.
func (p place) packages() []string {
	var names []string
	for _, flavour := range []string{"-cuda", "-vulkan", "-metal", ""} {
		names = append(names, p.platform()+flavour)
	}
	return names
}

// folders lists the folders to search, in order. It leaves out the working directory, because anyone who can write to it
// could then choose which code is loaded.
func (p place) folders() []string {
	f := folders{packages: p.packages()}
	if list := p.env(PathVariable); list != "" {
		f.addNamed(list)
	} else {
		f.addInstalled(p)
	}
	return f.dirs
}

// folders collects folders to search, each once.
type folders struct {
	packages []string
	dirs     []string
}

func (f *folders) add(dir ...string) {
	if d := filepath.Join(dir...); filepath.IsAbs(d) && !slices.Contains(f.dirs, d) {
		f.dirs = append(f.dirs, d)
	}
}

// addModules adds the packages in a node_modules folder.
func (f *folders) addModules(dir ...string) {
	root := filepath.Join(dir...)
	for _, at := range []string{root, filepath.Join(root, "node-llama-cpp", "node_modules")} {
		for _, name := range f.packages {
			f.add(at, "@node-llama-cpp", name, "bins", name)
		}
	}
}

// addNamed adds the folders of the user's list.
func (f *folders) addNamed(list string) {
	for _, dir := range filepath.SplitList(list) {
		dir, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		f.add(dir)
		f.add(dir, "lib")
		for _, name := range f.packages { // the folder of an unpacked npm package, or its parent
			f.add(dir, "bins", name)
			f.add(dir, "package", "bins", name)
		}
		f.addModules(dir, "node_modules")
		f.addModules(dir)
	}
}

// addInstalled adds the folders to which the libraries are usually installed.
func (f *folders) addInstalled(p place) {
	if p.exe != "" {
		f.add(filepath.Dir(p.exe))
		f.add(filepath.Dir(p.exe), "..", "lib", "tandem")
	}
	if p.os == "darwin" {
		f.add("/opt/homebrew/lib")
		f.add("/usr/local/lib")
	} else {
		triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[p.arch]
		f.add("/usr/local/lib")
		f.add("/usr/lib", triplet)
		f.add("/usr/lib64")
		f.add("/usr/lib")
	}
	if prefix := p.env("NPM_CONFIG_PREFIX"); prefix != "" {
		f.addModules(prefix, "lib", "node_modules")
	}
	if bin := p.env("NVM_BIN"); bin != "" {
		f.addModules(bin, "..", "lib", "node_modules")
	}
	f.addModules("/usr/local/lib/node_modules")
	f.addModules("/usr/lib/node_modules")
	f.addModules("/opt/homebrew/lib/node_modules")
	if p.home != "" {
		f.addModules(p.home, ".npm-global", "lib", "node_modules")
		f.addModules(p.home, "node_modules")
	}
}

// libraries are the two files to open, in order. The library loads the backends in their folder itself.
type libraries struct{ dir, base, ggml string }

// find returns the libraries in the first folder that has them, and the folders that it searched.
func (p place) find() (found libraries, tried []string, err error) {
	for _, dir := range p.folders() {
		tried = append(tried, dir)
		base, ggml := newest(dir, p.os, "libggml-base"), newest(dir, p.os, "libggml")
		if base != "" && ggml != "" {
			return libraries{dir, base, ggml}, tried, nil
		}
	}
	hint := fmt.Sprintf("set %s to their folder (npm pack @node-llama-cpp/%s has them)", PathVariable, p.platform())
	if p.env(PathVariable) != "" {
		return libraries{}, tried, fmt.Errorf("no ggml libraries in %s=%q: it must name the folder that holds %s",
			PathVariable, p.env(PathVariable), library(p.os, "libggml-base"))
	}
	return libraries{}, tried, fmt.Errorf("no ggml libraries in %d folders: %s", len(tried), hint)
}

func library(os, stem string) string {
	if os == "darwin" {
		return stem + ".dylib"
	}
	return stem + ".so"
}

// newest returns the library with the given stem: the plain name, or a name with a version, such as libggml.so.0,
// libggml.v0.5.0.so or libggml.0.dylib.
func newest(dir, os, stem string) string {
	plain := filepath.Join(dir, library(os, stem))
	if isFile(plain) {
		return plain
	}
	ext := filepath.Ext(plain)
	versions, _ := filepath.Glob(filepath.Join(escape(dir), stem+".*"))
	versions = slices.DeleteFunc(versions, func(f string) bool {
		rest := strings.TrimPrefix(filepath.Base(f), stem)
		return !(strings.HasSuffix(rest, ext) || strings.HasPrefix(rest, ext+".")) || !isFile(f)
	})
	if len(versions) == 0 {
		return ""
	}
	return slices.Max(versions)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// escape escapes a folder's name for Glob.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// accelerators lists the libraries of a folder that drive GPUs and NPUs: libggml-cuda, not libggml-cpu-haswell, and
// not those for other machines' devices (rpc) or for a processor's products (blas).
func accelerators(dir, os string) (paths []string) {
	files, _ := filepath.Glob(filepath.Join(escape(dir), library(os, "libggml-*")))
	for _, path := range files {
		name := strings.TrimPrefix(filepath.Base(path), "libggml-")
		kind, _, _ := strings.Cut(name, ".")
		if !slices.Contains([]string{"base", "rpc", "blas"}, kind) && !strings.HasPrefix(kind, "cpu") && isFile(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// idle says why libraries for GPUs and NPUs offer no device: opening them failed, or they found no device.
func idle(paths []string, devices []Info, open func(path string) error) (why []string) {
	some := slices.ContainsFunc(devices, Info.GPU)
	for _, path := range paths {
		name := filepath.Base(path)
		if err := open(path); err != nil {
			why = append(why, fmt.Sprintf("%s does not load: %s", name, strings.TrimPrefix(err.Error(), path+": ")))
		} else if !some {
			why = append(why, name+" finds no device: is its driver installed?")
		}
	}
	return why
}
