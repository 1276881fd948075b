package indexcmd

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"tandem/retrieval/search"
)

// SampleMark is what citations add to the titles of sample documents.
const SampleMark = " (sample document)"

// ReadSamples indexes an embedded corpus in memory.
func ReadSamples(ctx context.Context, corpus fs.FS, cut PassageFlags) (*search.Index, error) {
	x, err := search.Memory(cut.options())
	if err != nil {
		return nil, err
	}
	if _, err := x.AddFS(ctx, corpus, "."); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// SameFiles reports whether a folder holds the same files as a corpus has below a folder of its own, as where a container mounts
// the sample documents. It stops at the first file that differs.
func SameFiles(dir string, corpus fs.FS, below string) bool {
	corpus, err := fs.Sub(corpus, below)
	if err != nil {
		return false
	}
	missing := map[string]bool{}
	list := fs.WalkDir(corpus, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			missing[name] = true
		}
		return err
	})
	folder := os.DirFS(dir)
	err = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case !missing[name] || !d.Type().IsRegular():
			return fs.ErrInvalid
		}
		delete(missing, name)
		return equalFiles(folder, corpus, name)
	})
	return list == nil && err == nil && len(missing) == 0
}

// equalFiles returns an error unless a file is the same in two file systems.
func equalFiles(a, b fs.FS, name string) error {
	infoA, err := fs.Stat(a, name)
	if err != nil {
		return err
	}
	infoB, err := fs.Stat(b, name)
	if err != nil {
		return err
	}
	if infoA.Size() != infoB.Size() {
		return fs.ErrInvalid
	}
	dataA, err := fs.ReadFile(a, name)
	if err != nil {
		return err
	}
	dataB, err := fs.ReadFile(b, name)
	if err == nil && !bytes.Equal(dataA, dataB) {
		err = fs.ErrInvalid
	}
	return err
}
