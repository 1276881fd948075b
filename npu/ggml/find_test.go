package ggml

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func touch(t *testing.T, path ...string) {
	t.Helper()
	f := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{}
	p := place{env: func(k string) string { return env[k] }, exe: filepath.Join(root, "bin", "edge"), home: filepath.Join(root, "home"), os: "linux", arch: "amd64"}

	npm := filepath.Join(root, "home", "node_modules", "@node-llama-cpp", "linux-x64", "bins", "linux-x64")
	touch(t, npm, "libggml-base.so")
	touch(t, npm, "libggml.v0.5.0.so")
	touch(t, npm, "libggml-cpu-zen4.so")
	// The system's folders may have libraries too. They come before the user's.
	if got, tried, err := p.find(); err != nil || got.dir == npm && (got.ggml != filepath.Join(npm, "libggml.v0.5.0.so") || tried[len(tried)-1] != npm) {
		t.Errorf("npm's package: %+v, %v", got, err)
	}
	cuda := strings.ReplaceAll(npm, "linux-x64", "linux-x64-cuda")
	if folders := p.folders(); slices.Index(folders, cuda) > slices.Index(folders, npm) || slices.Contains(folders, ".") {
		t.Errorf("the package for GPUs does not come first: %q", folders)
	}

	program := filepath.Join(root, "bin")
	touch(t, program, "libggml-base.so.0")
	touch(t, program, "libggml.so.0")
	touch(t, program, "libggml.so.1")
	if got, _, err := p.find(); err != nil || got != (libraries{program, filepath.Join(program, "libggml-base.so.0"), filepath.Join(program, "libggml.so.1")}) {
		t.Errorf("next to the program: %+v, %v", got, err)
	}

	env[PathVariable] = filepath.Join(root, "nothing") + string(os.PathListSeparator) + filepath.Join(root, "un[packed")
	if _, tried, err := p.find(); err == nil || !strings.Contains(err.Error(), PathVariable) || slices.Contains(tried, program) {
		t.Errorf("with a folder that has no libraries: tried %q, %v", tried, err)
	}
	touch(t, root, "un[packed", "package", "bins", "linux-x64", "libggml-base.so")
	touch(t, root, "un[packed", "package", "bins", "linux-x64", "libggml.v9.so")
	if got, _, err := p.find(); err != nil || filepath.Base(got.ggml) != "libggml.v9.so" {
		t.Errorf("an unpacked package: %+v, %v", got, err)
	}

	p.os, p.arch = "darwin", "arm64"
	if p.platform() != "mac-arm64" {
		t.Errorf("npm calls it %q", p.platform())
	}
	env[PathVariable] = filepath.Join(root, "mac")
	touch(t, root, "mac", "libggml-base.dylib")
	touch(t, root, "mac", "libggml.0.dylib")
	touch(t, root, "mac", "libggml.so")
	if got, _, err := p.find(); err != nil || filepath.Base(got.ggml) != "libggml.0.dylib" {
		t.Errorf("on macOS: %+v, %v", got, err)
	}
}

// A build for GPUs that offers no GPU is reported with the reason.
func TestIdle(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"libggml-base.so", "libggml-cpu-haswell.so", "libggml-cpu.so", "libggml-cuda.so", "libggml-vulkan.so", "libggml-rpc.so", "libggml-blas.so", "libggml.so"} {
		touch(t, root, name)
	}
	paths := accelerators(root, "linux")
	open := func(path string) error {
		if strings.Contains(path, "cuda") {
			return errors.New(path + ": libcudart.so.13: no such file")
		}
		return nil
	}
	lost := "libggml-cuda.so does not load: libcudart.so.13: no such file"
	cpu, gpu := Info{Name: "cpu", Kind: "cpu"}, Info{Name: "vulkan0", Kind: "gpu"}
	for _, c := range []struct {
		devices []Info
		want    []string
	}{
		{[]Info{cpu}, []string{lost, "libggml-vulkan.so finds no device: is its driver installed?"}},
		{[]Info{{Name: "blas", Kind: "accelerator"}, cpu}, []string{lost, "libggml-vulkan.so finds no device: is its driver installed?"}},
		{[]Info{gpu, cpu}, []string{lost}},
	} {
		if got := idle(paths, c.devices, open); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q", c.devices, got)
		}
	}
}
