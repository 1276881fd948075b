package transport

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A replica is listed from its start to its end, or until it has not written for a while.
func TestReplicasAreListed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "replicas")
	r := OpenReplicas(dir)
	if list, err := r.List(); err != nil || len(list) != 0 {
		t.Fatalf("before any: %q, %v", list, err)
	}
	leave := map[string]func() error{}
	all := []string{"10.0.0.1:4433", "[2001:db8::1]:4433", "cloud-b.example:4433"}
	for _, addr := range all {
		var err error
		if leave[addr], err = OpenReplicas(dir).Enter(addr); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".nfs0001"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := r.List()
	if err != nil || !slices.Equal(list, all) {
		t.Fatalf("%q, %v", list, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "[0-9a-f]*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	old := time.Now().Add(-time.Minute)
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(data), all[0]) {
			os.Chtimes(f, old, old)
		}
	}
	if err := leave[all[1]](); err != nil {
		t.Fatal(err)
	}
	if list, err := r.List(); err != nil || !slices.Equal(list, all[2:]) {
		t.Errorf("after one left and one died: %q, %v", list, err)
	}
	for _, addr := range all {
		if err := leave[addr](); err != nil { // again, for one
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "nowhere", "10.0.0.1:0", "a b:1", ":4433"} {
		if _, err := r.Enter(bad); err == nil {
			t.Errorf("%q was entered", bad)
		}
	}
}
