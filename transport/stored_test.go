package transport

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What stands in a peer's file is read or refused with an error that names the file, and never becomes another peer.
func FuzzStoredPeer(f *testing.F) {
	id := ID(bytes.Repeat([]byte{7}, len(ID{})))
	dir := f.TempDir()
	p := OpenPeers(dir)
	if err := p.Add(Peer{ID: id, Name: "cloud", Addrs: []string{"10.0.0.1:4433"}, Paired: time.Unix(0, 0)}); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(p.path(id))
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range [][]byte{data, []byte(`{"name":"\u001b[2J"}`), []byte(`{"addrs":[null]}`), []byte("[]"), nil} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := OpenPeers(t.TempDir())
		if err := os.WriteFile(p.path(id), b, 0o600); err != nil {
			t.Fatal(err)
		}
		peer, err := p.Lookup(id)
		if err == nil && (peer.ID != id || strings.ContainsRune(peer.Name, '\x1b')) || err != nil && !strings.Contains(err.Error(), "pair again") {
			t.Errorf("%+v, %v", peer, err)
		}
		if list, err := p.List(); err == nil && len(list) > 1 {
			t.Errorf("one file became %d peers", len(list))
		}
	})
}

// A damaged file of an open pairing code pairs nobody.
func FuzzStoredInvite(f *testing.F) {
	for _, s := range []string{`{"secret":"AAAA","expires":"2100-01-01T00:00:00Z"}`, `{"secret":"` + strings.Repeat("A", 24) + `"}`, `{"until":-1,"run":"x"}`, "[]", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		v := OpenInvites(dir)
		if secret, ok, err := v.redeem(time.Now(), []byte("binding"), []byte("no proof")); ok || secret != nil || err != nil {
			t.Errorf("%x, %v, %v", secret, ok, err)
		}
		if open, err := v.open(time.Now()); err != nil || len(open) > 1 {
			t.Errorf("%d open, %v", len(open), err)
		}
	})
}
