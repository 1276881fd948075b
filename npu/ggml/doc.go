// Package ggml is the device for everything that the ggml libraries can drive: processors and, with matching builds of the
// libraries, GPUs (CUDA, Vulkan, Metal) and Hexagon NPUs. It finds the libraries at run time and calls them without cgo. If
// there are none, everything else works as before.
//
// A program is the static graph of a few of a model's layers, or of all on a GPU. It becomes a ggml graph, built and
// allocated once for each number of rows and each size of the cache that occur; a run sets its inputs. A processor reads
// weights from the mapped model file if it can. Otherwise, and if ggml has a faster layout for them, they are copied to the
// device once. Keys and values are in npu.KV, as for every device. The device keeps copies of those that it attends to (see
// pages.go), so a sequence can be forked, truncated, saved or moved to another device at any time.
//
// In contrast to the native device, ggml sums in another order for another batch, and rounds activations in its own way. So
// a token that is decoded again in another batch may differ in the last bits. The pair agrees all the same, since both
// sides compute with the distributions that were sent. But the same seed may give another text if rounding changes a draw.
//
// Build tags decide what is compiled in: on macOS always, on Linux if cgo is enabled (the program then needs the system's C
// library anyway) or with the tag ggml, and never with the tag static. Only dlopen.go calls into C; the rest of the package
// is ordinary Go over a table of functions.
package ggml

import (
	"fmt"
	"strings"
)

// Info describes one device that the libraries offer.
type Info struct {
	Name        string `json:"name"`        // as for Open: "cpu", "cuda0"
	Description string `json:"description"` // the library's words
	Kind        string `json:"kind"`        // cpu, gpu, integrated gpu, accelerator, several
	Free        uint64 `json:"free"`        // bytes of memory, 0 if the library does not know
	Total       uint64 `json:"total"`
}

// GPU reports whether the device computes apart from the processor: a GPU or an NPU.
func (i Info) GPU() bool { return i.Kind == kinds[1] || i.Kind == kinds[2] }

// Report says which libraries were found, in which folders, and which devices they offer.
type Report struct {
	Version string   `json:"version,omitempty"` // of ggml
	Folder  string   `json:"folder,omitempty"`  // of the libraries
	Tried   []string `json:"tried"`             // folders that were searched, in order
	Devices []Info   `json:"devices"`
	Idle    []string `json:"idle,omitempty"` // libraries for GPUs and NPUs in the folder that offer no device, and why
}

// Probe loads the libraries, unless they are loaded, and lists what they offer. On an error the report says where it
// searched.
func Probe() (Report, error) {
	l, err := load()
	if l == nil {
		return Report{Devices: []Info{}}, err
	}
	return l.report, err
}

// Open returns the device of that name, as Probe lists it. Case does not matter. A processor computes with up to the given
// number of threads; 0 is one for each core (see pace).
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
