//go:build static || !(amd64 || arm64) || !(darwin || (linux && (cgo || (ggml && !android))))

package ggml

import (
	"errors"
	"runtime"
)

func load() (*lib, error) {
	if runtime.GOOS == "linux" {
		return nil, errors.New("this program was built without ggml, so that it needs no C library: rebuild it with -tags ggml")
	}
	return nil, errors.New("this program was built without ggml: it can be built in on Linux and macOS for amd64 and arm64")
}
