package ggml

import (
	"os"
	"testing"
)

// TestMain lets these tests use the libraries of other packages' tests.
func TestMain(m *testing.M) {
	if os.Getenv(PathVariable) == "" && os.Getenv("TANDEM_LLAMA_PATH") != "" {
		os.Setenv(PathVariable, os.Getenv("TANDEM_LLAMA_PATH"))
	}
	os.Exit(m.Run())
}

// need opens the libraries' processor. It skips the test if there are no libraries. If TANDEM_GGML_PATH is set, libraries that
// are found but refused are a failure, because it is this package that refuses them.
func need(t testing.TB, threads int) *Device {
	t.Helper()
	found(t)
	return open(t, "cpu", threads)
}

// found returns the libraries' devices. See need.
func found(t testing.TB) []Info {
	t.Helper()
	r, err := Probe()
	if err != nil && r.Folder != "" && os.Getenv(PathVariable) != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skipf("there are no ggml libraries to test with: %v", err)
	}
	return r.Devices
}

func open(t testing.TB, name string, threads int) *Device {
	t.Helper()
	d, err := Open(name, threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// each runs the test on every device of the libraries: on the processor and, if they are built for GPUs, on each GPU. Vulkan's
// software driver can stand in for a GPU (docs/ggml.md).
func each(t *testing.T, threads int, test func(t *testing.T, d *Device)) {
	t.Helper()
	for _, info := range found(t) {
		t.Run(info.Name, func(t *testing.T) { test(t, open(t, info.Name, threads)) })
	}
}

func TestProbe(t *testing.T) {
	need(t, 1)
	r, err := Probe()
	if err != nil || r.Version == "" || len(r.Devices) == 0 || len(r.Tried) == 0 || r.Devices[0].Total == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	t.Logf("%+v", r)
}
