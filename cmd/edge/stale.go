package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tandem/cmd/internal/cli"
)

// stale says which of the device's files that support an answer have changed or gone since anything was last indexed: the
// answer is from what they said then.
func (s *session) stale(parts []partJSON) (remarks []string) {
	if s.own.index == nil || s.own.sample {
		return nil
	}
	written, err := s.own.index.Written()
	if err != nil || written.IsZero() {
		return nil
	}
	for _, p := range parts {
		for _, c := range p.Citations {
			if !filepath.IsAbs(c.File) {
				continue
			}
			remark := ""
			switch info, err := os.Stat(c.File); {
			case errors.Is(err, fs.ErrNotExist):
				remark = fmt.Sprintf("%s is no longer there: edge index add, or edge index remove, makes the index forget it", cli.Escape(c.File))
			case err == nil && info.ModTime().After(written):
				remark = fmt.Sprintf("%s has changed since it was indexed: edge index add reads it again", cli.Escape(c.File))
			}
			if remark != "" && !slices.Contains(remarks, remark) {
				remarks = append(remarks, remark)
			}
		}
	}
	return remarks
}
