package cli

import (
	"fmt"
	"path/filepath"

	"tandem/decoder/kvstore"
	"tandem/model/span"
)

// CacheFlags bound the store of computed passages (KV caches, and what a span reader encoded).
type CacheFlags struct {
	CacheMB int64 `name:"cache-mb" help:"Megabytes of disk for the computed states of passages; 0 for none." default:"512" hidden:""`
}

// Validate is called by kong.
func (f CacheFlags) Validate() error {
	if f.CacheMB < 0 || f.CacheMB > 1<<24 {
		return fmt.Errorf("--cache-mb %d: want 0 (none) to %d", f.CacheMB, 1<<24)
	}
	return nil
}

// OpenKV opens the store of computed passages, in which a span reader keeps its encodings, too. It returns nil if it
// cannot. That costs time but no answer, so it only logs the error.
func (f CacheFlags) OpenKV(a *App, r *span.Reader) *kvstore.Store {
	dirs, err := a.Dirs()
	if err != nil || f.CacheMB <= 0 {
		return nil
	}
	store, err := kvstore.Open(filepath.Join(dirs.Cache, "kv"), f.CacheMB<<20)
	if err != nil {
		a.Log.Warn("passages are computed again for each question", "error", err)
		return nil
	}
	if r != nil {
		r.Keep(store.Disk())
	}
	return store
}
