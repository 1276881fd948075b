package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/doctor"
)

// Doctor reports the parts of a phone. On a laptop, missing ones are notes.
func TestPhoneChecks(t *testing.T) {
	root := t.TempDir()
	find := func() map[string]doctor.Check {
		found := map[string]doctor.Check{}
		for _, c := range phoneChecks(root) {
			if c.State == doctor.Broken || c.Detail == "" {
				t.Errorf("%+v", c)
			}
			found[c.Name] = c
		}
		return found
	}
	for name, c := range find() {
		if c.State != doctor.Noted {
			t.Errorf("%s of an empty machine: %+v", name, c)
		}
	}
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(chipFile, "SM8750\n")
	put("dev/fastrpc-cdsp", "")
	if c := find()["npu"]; c.State != doctor.Noted || !strings.Contains(c.Detail, "libcdsprpc") {
		t.Errorf("without the vendor's library: %+v", c)
	}
	put("vendor/lib64/libcdsprpc.so", "")
	for f, text := range map[string]string{"type": "Battery", "status": "Charging", "power_now": "3500000"} {
		put(filepath.Join("sys/class/power_supply/battery", f), text)
	}
	found := find()
	if c := found["chip"]; c.State != doctor.OK || !strings.Contains(c.Detail, "Snapdragon 8 Elite") {
		t.Errorf("%+v", c)
	}
	if c := found["npu"]; c.State != doctor.OK || !strings.Contains(c.Hint, "docs/phone.md") {
		t.Errorf("%+v", c)
	}
	if c := found["battery"]; c.State != doctor.OK || !strings.Contains(c.Detail, "3.50 W") || c.Hint == "" {
		t.Errorf("%+v", c)
	}
}
