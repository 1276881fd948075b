// Package ggml is the device for whatever the ggml libraries can drive: processors, and with the matching
// builds of the libraries GPUs (CUDA, Vulkan, Metal) and Hexagon NPUs (DESIGN §4). The libraries are found
// at run time and called without cgo; where there are none, everything else works as before.
//
// A program is the static graph of a few of a model's layers, of all on a GPU, as a ggml graph, built and allocated once for each number of
// rows and each size of the cache that occur; a run sets its inputs. Weights stay where the model file is
// mapped when the processor can read them there; otherwise, and where ggml has a faster layout for them,
// they are copied to the device once. Keys and values live in npu.KV, as for every device; the device
// keeps copies of those that it attends to (see pages.go), so a sequence can be forked, truncated, saved or
// taken to another device at any time.
//
// What differs from the native device: ggml sums in another order for another batch, and rounds
// activations its own way, so a token decoded again in other company may differ in the last bits. The
// distributions of two sides never have to agree for the pair to agree: what a side sends is what both
// compute with. But the same seed gives the same text again only as far as rounding does not tip a draw.
//
// What is compiled in is decided by build tags: on macOS always, on Linux where cgo is enabled (so the
// program depends on the system's C library anyway) or with the tag ggml, nowhere with the tag static.
// Only dlopen.go calls into C; the rest of the package is ordinary Go over a table of functions.
package ggml

import (
	"fmt"
	"strings"
)

// Info describes one device that the libraries offer.
type Info struct {
	Name        string `json:"name"`        // as for Open: "cpu", "cuda0"
	Description string `json:"description"` // as the library says it
	Kind        string `json:"kind"`        // cpu, gpu, integrated gpu, accelerator, several
	Free        uint64 `json:"free"`        // bytes of memory, 0 where the library does not know
	Total       uint64 `json:"total"`
}

// GPU reports whether the device computes by itself what a processor would: a GPU or an NPU.
func (i Info) GPU() bool { return i.Kind == kinds[1] || i.Kind == kinds[2] }

// Report says which libraries were found, where was looked, and what they offer.
type Report struct {
	Version string   `json:"version,omitempty"` // of ggml
	Folder  string   `json:"folder,omitempty"`  // that the libraries lie in
	Tried   []string `json:"tried"`             // folders, in order, up to that one
	Devices []Info   `json:"devices"`
	Idle    []string `json:"idle,omitempty"` // libraries for GPUs and NPUs beside them that bring no device, and why
}

// Probe loads the libraries, if that has not been done, and says what there is. On an error the report
// says what was tried.
func Probe() (Report, error) {
	l, err := load()
	if l == nil {
		return Report{Devices: []Info{}}, err
	}
	return l.report, err
}

// Open returns the device of that name, as Probe lists it; case does not matter. A processor computes with
// up to the given number of threads, 0 for one on each (see pace).
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
