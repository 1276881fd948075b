// Package ggml implements devices that the ggml libraries can drive: processors and, if the libraries were built for them,
// GPUs (CUDA, Vulkan, Metal) and Hexagon NPUs. It finds the libraries at run time and calls them without cgo. If they are
// not installed, the other devices still work.
//
// A program is the static graph of some of a model's layers, or of all of them on a GPU. For each number of rows and each
// cache size that occurs, it is built and allocated once as a ggml graph; a run only sets the inputs. A processor reads
// weights from the mapped model file if possible. Other weights, and those for which ggml has a faster layout, are copied
// to the device once. As for every device, npu.KV holds the keys and values. The device keeps copies of those that it
// attends to (see pages.go), so a sequence can be forked, truncated, saved or moved to another device at any time.
//
// Unlike the native device, ggml sums in an order that depends on the batch, and it rounds activations in its own way. So a
// token that is decoded again in another batch may differ in the last bits. A pair still agrees, because both sides compute
// with the distributions that were sent. But the same seed may give a different text if rounding changes a draw.
//
// The package is compiled in on macOS, on Linux if cgo is enabled (the program then needs the system's C library anyway) or
// with the build tag ggml, and never with the tag static. Only dlopen.go calls into C. The rest of the package is ordinary
// Go over a table of functions.
package ggml

import (
	"fmt"
	"strings"
)

// Info describes one device that the libraries offer.
type Info struct {
	Name        string `json:"name"`        // as passed to Open: "cpu", "cuda0"
	Description string `json:"description"` // as given by the library
	Kind        string `json:"kind"`        // cpu, gpu, integrated gpu, accelerator, several
	Free        uint64 `json:"free"`        // bytes of memory, 0 if the library does not know
	Total       uint64 `json:"total"`
}

// GPU reports whether the device is separate from the processor: a GPU or an NPU.
func (i Info) GPU() bool { return i.Kind == kinds[1] || i.Kind == kinds[2] }

// Report says which libraries were found, in which folders, and which devices they offer.
type Report struct {
	Version string   `json:"version,omitempty"` // of ggml
	Folder  string   `json:"folder,omitempty"`  // of the libraries
	Tried   []string `json:"tried"`             // folders that were searched, in order
	Devices []Info   `json:"devices"`
	Idle    []string `json:"idle,omitempty"` // libraries for GPUs and NPUs in the folder that offer no device, and why
}

// Probe loads the libraries, unless they are already loaded, and lists their devices. If it fails, the report says where it
// searched.
func Probe() (Report, error) {
	l, err := load()
	if l == nil {
		return Report{Devices: []Info{}}, err
	}
	return l.report, err
}

// Open returns the device with the given name, as listed by Probe, ignoring case. A processor computes with up to the given
// number of threads, or with up to one per core if threads is 0.
func Open(name string, threads int) (*Device, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	var have []string
	for i, info := range l.report.Devices {
		if strings.EqualFold(info.Name, name) {
			return newDevice(&l.api, l.api.DevGet(uintptr(i)), info, l.report.Version, threads)
		}
		have = append(have, info.Name)
	}
	err = fmt.Errorf("ggml %s in %s has no device %q: it has %s", l.report.Version, l.report.Folder, name, strings.Join(have, ", "))
	if len(l.report.Idle) > 0 {
		err = fmt.Errorf("%w; %s", err, strings.Join(l.report.Idle, "; "))
	}
	return nil, err
}
