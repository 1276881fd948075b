package cli

import (
	"fmt"
	"path/filepath"

	"tandem/retrieval/search"
)

// indexDir returns the folder of the program's own index.
func (a *App) indexDir() (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.Data, "index"), err
}

// HasIndex reports whether anything was ever indexed. Where the folders are unknown, so is that: samples must not answer in
// the place of documents that are there.
func (a *App) HasIndex() (bool, error) {
	dir, err := a.indexDir()
	if err != nil {
		return false, fmt.Errorf("the index cannot be found: %w", err)
	}
	return search.Exists(dir), nil
}

// OpenOwnIndex opens the index that "index add" made, for reading. It returns nil if nothing was ever indexed. The index may be
// empty, if everything was removed from it. Of cut it takes what concerns searching alone.
func (a *App) OpenOwnIndex(cut PassageFlags) (*search.Index, error) {
	if has, err := a.HasIndex(); !has {
		return nil, err
	}
	dir, err := a.indexDir()
	if err != nil {
		return nil, err
	}
	return search.Open(dir, search.Options{ReadOnly: true, Related: cut.Related, Rerank: cut.Rerank})
}

// EditIndex opens the program's own index for writing. It makes the index on first use.
func (a *App) EditIndex(cut PassageFlags) (*search.Index, error) {
	dir, err := a.indexDir()
	if err != nil {
		return nil, err
	}
	if err := MakePrivateDir(dir); err != nil {
		return nil, err
	}
	return search.Open(dir, cut.options())
}

// UploadsDir returns the folder of files that were uploaded to a server.
func (a *App) UploadsDir() (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.Data, "uploads"), err
}
