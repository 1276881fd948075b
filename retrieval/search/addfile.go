package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"tandem/retrieval/documents"
	"tandem/retrieval/passages"
)

// noText is the reason for a file without passages. The index keeps such reasons as text.
const noText = "no text in it"

// addFile indexes one file unless it is unchanged.
func (u *update) addFile(ctx context.Context, f file) error {
	old, known := u.files[f.source]
	current := known && old.Words == u.words && old.Parsers == documents.Version // by today's parsers, into passages of the right length
	if current && old.unchanged(f.size, f.modified) {
		u.keep(old)
		return nil
	}
	now := time.Now()
	data, err := f.read()
	if err != nil {
		u.skip(f.source, Unreadable, unreadable(err, len(old.Passages) > 0))
		return nil
	}
	sum := sha256.Sum256(data)
	r := record{
		Path: f.source, Size: f.size, Modified: f.modified, Hash: hex.EncodeToString(sum[:]),
		Settled: now.Sub(f.modified) > settle, Words: u.words, Parsers: documents.Version,
	}
	same := current && old.Hash == r.Hash
	if same && old.Size == r.Size && old.Modified.Equal(r.Modified) {
		u.keep(old)
		return nil
	}
	cut, err := r.cutPassages(ctx, data)
	if err != nil {
		return err
	}
	switch {
	case r.Skip != "":
		u.skip(r.Path, r.kind(), r.Skip)
		if known && len(old.Passages) > 0 {
			u.report.Removed++
		}
	case same:
		u.report.Unchanged++
	case known && len(old.Passages) > 0:
		u.report.Updated++
	default:
		u.report.Added++
	}
	return u.put(r, cut)
}

// keep reports a file that has not changed.
func (u *update) keep(r record) {
	if r.Skip != "" {
		u.skip(r.Path, r.kind(), r.Skip)
	} else {
		u.report.Unchanged++
	}
}

// cutPassages returns the passages of a file, and notes them or why there are none. The error is that of ctx.
func (r *record) cutPassages(ctx context.Context, data []byte) ([]passages.Passage, error) {
	title, cut, err := passages.FromFile(ctx, r.Path, data, r.Words)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		r.Skip = err.Error()
	case len(cut) == 0:
		r.Skip = noText
	}
	if r.Title = title; errors.Is(err, documents.ErrPDFium) {
		r.Parsers = 0 // read it again next time
	}
	for _, p := range cut {
		r.Passages = append(r.Passages, p.ID)
	}
	return cut, nil
}

// kind returns the kind of reason why r has no passages.
func (r record) kind() Kind {
	if r.Skip == noText {
		return NoText
	}
	return Unusable
}

// unreadable says why a file or folder cannot be read, and that what it had in the index stays, if it had anything.
func unreadable(err error, had bool) string {
	reason := fmt.Sprintf("unreadable (%v)", cause(err))
	if had {
		reason += "; passages it had are kept"
	}
	return reason
}

// cause removes the path from an error of the file system.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
