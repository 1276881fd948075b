package ggml

import (
	"os"
	"testing"
)

// TestMain lets the tests use the libraries that other tests of the house are told of.
func TestMain(m *testing.M) {
	if os.Getenv(PathVariable) == "" && os.Getenv("TANDEM_LLAMA_PATH") != "" {
		os.Setenv(PathVariable, os.Getenv("TANDEM_LLAMA_PATH"))
	}
	os.Exit(m.Run())
}

// need opens the processor of the libraries, or skips the test with the reason. Libraries that the tests were
// told of and that were found but refused are a failure: what refuses them is this package.
func need(t testing.TB, threads int) *Device {
	t.Helper()
	d, err := Open("cpu", threads)
	if r, _ := Probe(); err != nil && r.Folder != "" && os.Getenv(PathVariable) != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skipf("there are no ggml libraries to test with: %v", err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestProbe(t *testing.T) {
	need(t, 1)
	r, err := Probe()
	if err != nil || r.Version == "" || len(r.Devices) == 0 || len(r.Tried) == 0 || r.Devices[0].Total == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	t.Logf("%+v", r)
}
