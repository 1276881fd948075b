//go:build !unix

package gguf

import (
	"fmt"
	"os"
)

// Map reads the whole file into memory, because this system cannot map it. The returned function does nothing.
func Map(path string) ([]byte, func() error, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	b, err := os.ReadFile(path)
	return b, func() error { return nil }, err
}
