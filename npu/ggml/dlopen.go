//go:build !static && (amd64 || arm64) && (darwin || (linux && (cgo || (ggml && !android))))

package ggml

import (
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// load finds, opens and checks the libraries, once per process. If it fails, the lib is nil or contains only the report.
var load = sync.OnceValues(func() (*lib, error) {
	l := &lib{report: Report{Tried: []string{}, Devices: []Info{}}}
	found, tried, err := here().find()
	l.report.Tried, l.report.Folder = append(l.report.Tried, tried...), found.dir
	if err != nil {
		return l, err
	}
	if runtime.GOOS == "linux" {
		if err := checkFiles(found.dir, runtime.GOARCH); err != nil {
			return l, fmt.Errorf("ggml in %s: %w", found.dir, err)
		}
	}
	if err := l.api.open(found); err != nil {
		return l, fmt.Errorf("ggml in %s: %w", found.dir, err)
	}
	l.report.Version = l.api.Version()
	if err := l.api.checkTypes(l.report.Version); err != nil {
		return l, fmt.Errorf("ggml in %s: %w", found.dir, err)
	}
	l.api.LogSet(purego.NewCallback(logLine), 0)
	if l.api.Devs() == 0 { // else they are linked in or loaded already
		l.api.LoadAll(found.dir)
	}
	l.report.Devices = l.api.devices()
	l.report.Idle = idle(accelerators(found.dir, runtime.GOOS), l.report.Devices, func(path string) error {
		_, err := purego.Dlopen(path, purego.RTLD_LAZY) // again if it was loaded before, and for good
		return err
	})
	if err := l.api.checkResults(l.report.Version); err != nil {
		return l, fmt.Errorf("ggml in %s: %w", found.dir, err)
	}
	return l, nil
})

// initParams is struct ggml_init_params, the only struct that is passed to the libraries.
type initParams struct {
	size    uintptr
	_       uintptr // memory of the caller: none
	noAlloc bool
	_       [7]byte
}

// open opens the libraries and binds all functions.
func (a *api) open(found libraries) error {
	var handles []uintptr
	for _, path := range []string{found.base, found.ggml} {
		h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return err
		}
		handles = append(handles, h)
	}
	address := func(name string) uintptr {
		for _, h := range handles {
			if p, err := purego.Dlsym(h, name); err == nil {
				return p
			}
		}
		return 0
	}
	var missing []string
	v := reflect.ValueOf(a).Elem()
	for i := range v.NumField() {
		name, ok := v.Type().Field(i).Tag.Lookup("c")
		if !ok {
			continue
		}
		if p := address(name); p != 0 {
			purego.RegisterFunc(v.Field(i).Addr().Interface(), p)
		} else {
			missing = append(missing, name)
		}
	}
	var initWith func(initParams) ptr
	if p := address("ggml_init"); p != 0 {
		purego.RegisterFunc(&initWith, p)
	} else {
		missing = append(missing, "ggml_init")
	}
	if len(missing) > 0 {
		version := "a library that does not tell its version"
		if a.Version != nil {
			version = "version " + a.Version()
		}
		return lacks(version, missing)
	}
	a.Init = func(size uintptr) ptr { return initWith(initParams{size: size, noAlloc: true}) }
	a.bind = func(f any, p ptr) { purego.RegisterFunc(f, p) }
	return nil
}

// logLine logs the libraries' messages: warnings and errors at their levels, the rest at debug level.
func logLine(level uintptr, text *byte, _ uintptr) uintptr {
	n := 0
	for n < 1<<12 && *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	line := strings.TrimSpace(string(unsafe.Slice(text, n)))
	switch {
	case line == "" || line == ".":
	case level&0xff == 4:
		lastError.Store(&line)
		slog.Error("ggml: " + line)
	case level&0xff == 3:
		slog.Warn("ggml: " + line)
	default:
		slog.Debug("ggml: " + line)
	}
	return 0
}
