package transport

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Changes to a peer at the same time all count, and none brings back a peer that is removed.
func TestUpdatePeer(t *testing.T) {
	dir := t.TempDir()
	for name, open := range map[string]func() *Peers{
		"disk":   func() *Peers { return OpenPeers(dir) },
		"memory": sync.OnceValue(func() *Peers { return NewPeers() }),
	} {
		t.Run(name, func(t *testing.T) {
			id := ID{7}
			if _, err := open().Update(id, func(*Peer) {}); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("before it was added: %v", err)
			}
			if err := open().Add(Peer{ID: id, Name: "cloud"}); err != nil {
				t.Fatal(err)
			}
			var changes sync.WaitGroup
			for i := range 20 {
				changes.Go(func() {
					if _, err := open().Update(id, func(p *Peer) { p.More = append(p.More, strconv.Itoa(i)) }); err != nil {
						t.Error(err)
					}
				})
			}
			changes.Wait()
			p, err := open().Lookup(id)
			slices.Sort(p.More)
			if err != nil || len(slices.Compact(p.More)) != 20 || p.Name != "cloud" {
				t.Errorf("%+v, %v", p, err)
			}
			for range 20 {
				changes.Go(func() {
					if _, err := open().Update(id, func(p *Peer) { p.Private = true }); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Error(err)
					}
				})
			}
			if err := open().Remove(id); err != nil {
				t.Error(err)
			}
			changes.Wait()
			if list, err := open().List(); err != nil || len(list) != 0 {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

// A damaged file hides no other peer.
func TestListWithADamagedPeer(t *testing.T) {
	dir := t.TempDir()
	p := OpenPeers(dir)
	if err := p.Add(Peer{ID: ID{1}, Name: "pixel"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path(ID{2}), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := p.List()
	if len(list) != 1 || list[0].Name != "pixel" || !errors.As(err, new(*DamagedError)) || !strings.Contains(err.Error(), p.path(ID{2})) {
		t.Errorf("%v, %v", list, err)
	}
}
