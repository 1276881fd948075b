package ggml

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
)

// checkFiles checks all libraries of a folder before any of them is opened. The system's loader maps even a truncated file,
// such as one from a broken download, and the program crashes when it touches the missing part. On macOS the loader checks
// itself.
func checkFiles(dir, arch string) error {
	files, _ := filepath.Glob(filepath.Join(escape(dir), "libggml*.so*"))
	for _, path := range files {
		if !isFile(path) {
			continue
		}
		if err := checkELF(path, arch); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return nil
}

// checkELF returns an error unless a file is a complete shared library for the processor.
func checkELF(path, arch string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f, err := elf.NewFile(file)
	if err != nil {
		if info.Size() < 4096 {
			return fmt.Errorf("not a shared library (%d bytes): install it again", info.Size())
		}
		return fmt.Errorf("not a complete shared library: install it again (%v)", err)
	}
	if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; f.Machine != want {
		return fmt.Errorf("library is for %v, not for this processor (%s): install the matching one", f.Machine, arch)
	}
	if f.Type != elf.ET_DYN {
		return fmt.Errorf("not a shared library but %v", f.Type)
	}
	for _, p := range f.Progs {
		if end := p.Off + p.Filesz; end < p.Off || end > uint64(info.Size()) {
			return fmt.Errorf("cut off after %d of at least %d bytes: install it again", info.Size(), end)
		}
	}
	return nil
}
