package transport

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/internal/filelock"
)

// Peer is a side whose key is trusted.
type Peer struct {
	ID     ID        `json:"-"`
	Name   string    `json:"name"`
	Addrs  []string  `json:"addrs,omitempty"` // where to dial it, in order of preference
	More   []string  `json:"more,omitempty"`  // where else it says that its replicas can be reached
	Paired time.Time `json:"paired"`
	// Priority is for whoever serves the peer: above 0 it goes before others, below 0 after them.
	Priority int `json:"priority,omitempty"`
	// Private says that this side sends the peer, a cloud, no draft. It is the user's choice, and never sent.
	Private bool `json:"private,omitempty"`
}

// Addresses returns all addresses of a peer.
func (p Peer) Addresses() []string { return slices.Concat(p.Addrs, p.More) }

// Peers holds the trusted keys, either in memory or in a directory with one file per key, which several processes can share.
// Reading needs no lock.
type Peers struct {
	dir string // "" for memory

	mu  sync.Mutex
	mem map[ID]Peer
}

// OpenPeers uses the directory dir, which need not exist yet.
func OpenPeers(dir string) *Peers { return &Peers{dir: dir} }

// NewPeers returns a store in memory that trusts the given keys.
func NewPeers(ids ...ID) *Peers {
	p := &Peers{mem: map[ID]Peer{}}
	for _, id := range ids {
		p.mem[id] = Peer{ID: id, Name: id.Short()}
	}
	return p
}

func (p *Peers) path(id ID) string { return filepath.Join(p.dir, id.String()+".json") }

// changing runs change while nobody else changes the peers.
func (p *Peers) changing(change func() error) error {
	if p.dir == "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		return change()
	}
	f, err := os.OpenFile(filepath.Join(p.dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock the peers: %w", err)
	}
	defer f.Close()
	filelock.Lock(f) // on a file system without locks, two changes at the same moment may undo each other
	return change()
}

// Lookup returns the peer with that key. The error is fs.ErrNotExist when there is none.
func (p *Peers) Lookup(id ID) (Peer, error) {
	if p.dir == "" {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	return p.lookup(id)
}

func (p *Peers) lookup(id ID) (Peer, error) {
	if p.dir == "" {
		peer, ok := p.mem[id]
		if !ok {
			return Peer{}, fmt.Errorf("peer %s: %w", id.Short(), fs.ErrNotExist)
		}
		return peer, nil
	}
	data, err := os.ReadFile(p.path(id))
	if err != nil {
		return Peer{}, fmt.Errorf("peer %s: %w", id.Short(), err)
	}
	peer := Peer{ID: id}
	if err := json.Unmarshal(data, &peer); err != nil {
		return Peer{}, fmt.Errorf("peer %s: %s is damaged (remove it and pair again): %w", id.Short(), p.path(id), err)
	}
	peer.Name = clean(peer.Name) // older releases stored it uncleaned
	return peer, nil
}

// removed reports whether the key is certainly not trusted any more. Where the directory itself is away, as a shared one may be
// for a moment, nobody knows.
func (p *Peers) removed(id ID) bool {
	_, err := p.Lookup(id)
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if p.dir == "" {
		return true
	}
	_, err = os.Stat(p.dir)
	return err == nil
}

// Add stores a peer. It replaces an entry with the same key.
func (p *Peers) Add(peer Peer) error {
	if p.dir != "" {
		if err := os.MkdirAll(p.dir, 0o700); err != nil {
			return fmt.Errorf("store peer %s: %w", peer.ID.Short(), err)
		}
	}
	return p.changing(func() error { return p.put(peer) })
}

// Update changes the peer with that key, and returns what it is now; no other change comes in between. The error is
// fs.ErrNotExist when there is none, or none any more.
func (p *Peers) Update(id ID, change func(*Peer)) (peer Peer, err error) {
	err = p.changing(func() error {
		if peer, err = p.lookup(id); err != nil {
			return err
		}
		change(&peer)
		return p.put(peer)
	})
	return peer, err
}

func (p *Peers) put(peer Peer) error {
	if p.dir == "" {
		p.mem[peer.ID] = peer
		return nil
	}
	data, err := json.MarshalIndent(peer, "", "\t")
	if err != nil {
		return fmt.Errorf("store peer %s: %w", peer.ID.Short(), err)
	}
	if err := writeFile(p.path(peer.ID), append(data, '\n')); err != nil {
		return fmt.Errorf("store peer %s: %w", peer.ID.Short(), err)
	}
	return nil
}

// Remove removes the peer with that key. The error is fs.ErrNotExist when there is none.
func (p *Peers) Remove(id ID) error {
	return p.changing(func() error {
		if p.dir == "" {
			if _, ok := p.mem[id]; !ok {
				return fmt.Errorf("remove peer %s: %w", id.Short(), fs.ErrNotExist)
			}
			delete(p.mem, id)
			return nil
		}
		if err := os.Remove(p.path(id)); err != nil {
			return fmt.Errorf("remove peer %s: %w", id.Short(), err)
		}
		return nil
	})
}

// DamagedError is the error of List if some peers cannot be read.
type DamagedError struct{ errs []error }

func (e *DamagedError) Error() string {
	return strings.ReplaceAll(errors.Join(e.errs...).Error(), "\n", "; ")
}

// List returns all peers, the newest first. If some cannot be read, it returns the others with a *DamagedError.
func (p *Peers) List() ([]Peer, error) {
	var list []Peer
	var damaged []error
	if p.dir == "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, peer := range p.mem {
			list = append(list, peer)
		}
	} else {
		entries, err := os.ReadDir(p.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("list peers: %w", err)
		}
		for _, e := range entries {
			id, err := parseID(strings.TrimSuffix(e.Name(), ".json"))
			if err != nil {
				continue // another program's file
			}
			switch peer, err := p.Lookup(id); {
			case err == nil:
				list = append(list, peer)
			case !errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
				damaged = append(damaged, err)
			}
		}
	}
	slices.SortFunc(list, func(a, b Peer) int {
		return cmp.Or(b.Paired.Compare(a.Paired), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	if len(damaged) > 0 {
		return list, &DamagedError{damaged}
	}
	return list, nil
}
