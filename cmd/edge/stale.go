package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/node"
)

// stale says which of the device's files that support an answer have changed or gone since anything was last indexed: the
// answer is from what they said then.
func (s *session) stale(answer node.Answer) (remarks []string) {
	if s.own.index == nil || s.own.sample {
		return nil
	}
	written, err := s.own.index.Written()
	if err != nil || written.IsZero() {
		return nil
	}
	var checked []string
	for _, p := range answer.Parts {
		for _, q := range p.Quotes {
			if !filepath.IsAbs(q.Source) || slices.Contains(checked, q.Source) {
				continue
			}
			checked = append(checked, q.Source)
			switch info, err := os.Stat(q.Source); {
			case errors.Is(err, fs.ErrNotExist):
				remarks = append(remarks, s.gone(q.Source))
			case err == nil && info.ModTime().After(written) && !(info.ModTime().After(time.Now()) && s.isIndexed(q.Source, info)):
				remarks = append(remarks, fmt.Sprintf("%s has changed since it was indexed: edge index add reads it again", cli.Escape(q.Source)))
			}
		}
	}
	return remarks
}

// gone says that a file is gone, and what makes the index forget it: index add keeps what was below a folder that is gone, since
// that may be on a disk that is not mounted.
func (s *session) gone(file string) string {
	root, err := s.own.index.Root(context.Background(), file)
	if err == nil && root != "" {
		if _, err := os.Lstat(root); err != nil {
			return fmt.Sprintf("%s is no longer there: edge index remove %s makes the index forget it", cli.Escape(file), cli.Escape(root))
		}
	}
	return fmt.Sprintf("%s is no longer there: edge index add, or edge index remove, makes the index forget it", cli.Escape(file))
}

// isIndexed reports whether a file is as the index knows it, whatever its date. It reads what the index knows of all files, so only
// those are looked up whose date, in the future, does not say when they were written.
func (s *session) isIndexed(file string, info fs.FileInfo) bool {
	known, err := s.own.index.Info(context.Background(), file)
	return err == nil && known.Size == info.Size() && known.Modified.Equal(info.ModTime())
}
