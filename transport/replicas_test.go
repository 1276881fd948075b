package transport

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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
		if leave[addr], err = OpenReplicas(dir).Enter(addr, slog.New(slog.DiscardHandler)); err != nil {
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
		if _, err := r.Enter(bad, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%q was entered", bad)
		}
	}
}

// While the share is away, a replica writes nothing in its place, and says once that it cannot be found. Then it is listed again.
func TestReplicaWithoutItsShare(t *testing.T) {
	share := filepath.Join(t.TempDir(), "share")
	if err := os.Mkdir(share, 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := OpenReplicas(filepath.Join(share, "replicas"))
		leave, err := r.Enter("10.0.0.1:4433", slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		wait(time.Second)
		for _, mountPoint := range []bool{false, true} { // is nothing there, or the empty folder that the share was mounted on?
			log.Reset()
			if err := os.Rename(share, share+".away"); err != nil {
				t.Fatal(err)
			}
			if mountPoint {
				err = os.Mkdir(share, 0o700)
			}
			wait(3 * enterEvery)
			if left, _ := os.ReadDir(share); err != nil || len(left) > 0 {
				t.Errorf("in place of the share are %v, %v", left, err)
			}
			os.RemoveAll(share)
			if err := os.Rename(share+".away", share); err != nil {
				t.Fatal(err)
			}
			wait(3 * enterEvery)
			if said := log.String(); strings.Count(said, "level=WARN") != 1 || strings.Count(said, "level=INFO") != 1 {
				t.Errorf("it logs %q", said)
			}
			if list, err := r.List(); err != nil || len(list) != 1 {
				t.Errorf("back are %q, %v", list, err)
			}
		}
		if _, err := os.Stat(share + ".away"); err == nil {
			t.Error("the share is still away")
		}
		if err := leave(); err != nil {
			t.Error(err)
		}
	})
}
