package hub

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testfile"
)

// Each flipped bit of a file in the cache is found, of a large file by its SHA-256 and of a small one by git's name; through
// links, too.
func TestVerifyPulled(t *testing.T) {
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": random(3000), "config.json": []byte(`{"a": 1}`)})
	for _, name := range []string{"m.gguf", "config.json"} {
		if err := pull(t, f, c, name); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), name)
		if err := Link(filepath.Join(c.Snapshot(list(t, c)), name), link); err != nil {
			t.Fatal(err)
		}
		if err := Verify(t.Context(), link); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if Recordable(link) || !HasSum(link) {
			t.Errorf("%s: the cache knows its checksum", name)
		}
		for bit := 0; bit < 60; bit += 7 {
			testfile.Flip(t, link, int64(bit))
			if err := Verify(t.Context(), link); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), link) {
				t.Errorf("%s, bit %d: %v", name, bit, err)
			}
			testfile.Flip(t, link, int64(bit))
		}
	}
}

// A file elsewhere has its checksum next to it, as sha256sum writes it.
func TestVerifyRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, random(3000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.Context(), path); err != ErrNoSum {
		t.Errorf("without a checksum: %v", err)
	}
	if err := Record(t.Context(), path, ""); err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.Context(), path); err != nil {
		t.Error(err)
	}
	for bit := 0; bit < 8*3000; bit += 999 {
		testfile.Flip(t, path, int64(bit))
		if err := Verify(t.Context(), path); !errors.Is(err, ErrDamaged) {
			t.Errorf("bit %d: %v", bit, err)
		}
		testfile.Flip(t, path, int64(bit))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := Verify(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	sum, err := os.ReadFile(path + ".sha256")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "deadbeef  m.gguf\n", strings.Repeat("x", 1<<20), strings.Replace(string(sum), string(sum[:8]), "gggggggg", 1)} {
		if err := os.WriteFile(path+".sha256", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Verify(t.Context(), path); err == nil || errors.Is(err, ErrNoSum) || !strings.Contains(err.Error(), "m.gguf.sha256") {
			t.Errorf("a record of %.20q: %v", text, err)
		}
	}
	if err := Forget(path); err != nil || Forget(path) != nil {
		t.Error(err)
	}
	if err := Verify(t.Context(), path); err != ErrNoSum {
		t.Errorf("forgotten: %v", err)
	}
}
