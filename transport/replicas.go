package transport

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tandem/internal/atomicfile"
)

// Replicas is the list of the running replicas of a cloud: a directory that they share, with one file per replica that holds
// its address and is written again while the replica runs.
type Replicas struct{ dir string }

// OpenReplicas uses the directory dir, which need not exist yet.
func OpenReplicas(dir string) *Replicas { return &Replicas{dir} }

// A replica whose file is this much older than the newest is taken for dead. The times are those of the file server, so the
// clocks of the replicas do not matter.
const (
	enterEvery = 5 * time.Second
	replicaAge = 30 * time.Second
)

// Enter adds the replica at an address that devices can dial, until leave is called. It makes the directory, but not the one
// that this is in, and later neither of them: where a share is away, its replicas must leave nothing in its place. While the
// directory cannot be written to, the log says so.
func (r *Replicas) Enter(addr string, log *slog.Logger) (leave func() error, err error) {
	if err := checkAddr(addr); err != nil {
		return nil, err
	}
	path := filepath.Join(r.dir, hex.EncodeToString([]byte(addr)))
	write := func() error { return atomicfile.Write(path, []byte(addr+"\n"), 0o600) }
	if err = os.Mkdir(r.dir, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
		err = write()
	}
	if err != nil {
		return nil, fmt.Errorf("enter the list of replicas: %w", err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		renew(write, stop, log)
	}()
	return sync.OnceValue(func() error {
		close(stop)
		<-stopped
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("leave the list of replicas: %w", err)
		}
		return nil
	}), nil
}

// renew writes a replica's file again and again, and logs when it becomes impossible or possible.
func renew(write func() error, stop <-chan struct{}, log *slog.Logger) {
	tick := time.NewTicker(enterEvery)
	defer tick.Stop()
	away := false
	for {
		select {
		case <-tick.C:
		case <-stop:
			return
		}
		switch err := write(); {
		case err != nil && !away:
			log.Warn("the replicas' folder cannot be written to: others will soon take this replica for gone", "error", err)
			away = true
		case err == nil && away:
			log.Info("the replicas' folder can be written to again")
			away = false
		}
	}
}

// List returns the addresses of the replicas that run, sorted; at most MaxReplicas.
func (r *Replicas) List() ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list replicas: %w", err)
	}
	written, newest := map[string]time.Time{}, time.Time{}
	for _, e := range entries {
		addr, err := hex.DecodeString(e.Name())
		if err != nil || checkAddr(string(addr)) != nil {
			continue // another program's file
		}
		info, err := e.Info()
		if err != nil {
			continue // it left in the meantime
		}
		written[string(addr)] = info.ModTime()
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	var list []string
	for addr, at := range written {
		if newest.Sub(at) <= replicaAge {
			list = append(list, addr)
		}
	}
	slices.Sort(list)
	return list[:min(len(list), MaxReplicas)], nil
}
