package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/server"
	"tandem/internal/atomicfile"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// library is the device's documents, as the API lists and changes them. Files that it is given are kept in the data folder.
type library struct{ *serving }

// documents lists the documents that a session answers from.
func (s *session) documents() ([]api.Document, error) {
	x, ok := s.device.Local.Documents.(*search.Index)
	if !ok {
		return nil, nil // the cloud's alone
	}
	return server.Documents(x, s.own.sample)
}

// List implements api.Library.
func (s *library) List(context.Context) ([]api.Document, error) {
	ss, leave := s.current()
	defer leave()
	return ss.documents()
}

// Search implements api.Library.
func (s *library) Search(ctx context.Context, question string, k int) (out []api.Found, err error) {
	ss, leave := s.current()
	defer leave()
	if ss.device.Local.Documents == nil {
		return nil, nil
	}
	found, err := ss.device.Local.Documents.Search(ctx, passages.QueryOf(question), k)
	for _, p := range found {
		out = append(out, api.Found{Passage: p, Words: search.SharedWords(question, p)})
	}
	return out, err
}

// fixed reports why the documents cannot be changed.
func (s *library) fixed() error {
	f := s.flags
	if f.Notes != "" || f.Sample || f.Side == "cloud" {
		return &api.Error{Status: 409, Type: "invalid_request_error", Code: "fixed", Message: "the documents of this server cannot be changed: it was started with --notes, --sample or --side cloud"}
	}
	return nil
}

// Add implements api.Library.
func (s *library) Add(ctx context.Context, name string, r io.Reader) (d api.Document, skipped string, err error) {
	if err := s.fixed(); err != nil {
		return d, "", err
	}
	dir, err := s.uploads()
	if err != nil {
		return d, "", err
	}
	file := filepath.Join(dir, name)
	b, err := io.ReadAll(r) // the API bounds it
	if err != nil {
		return d, "", err
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	before, err := os.ReadFile(file)
	restore := func() error { return cli.WriteFile(file, before) }
	if errors.Is(err, fs.ErrNotExist) {
		restore, err = func() error { return os.RemoveAll(file) }, nil
	}
	if err == nil {
		err = cli.WriteFile(file, b)
	}
	if err != nil {
		return d, "", err
	}
	err = s.edit(func(x *search.Index) error {
		report, err := x.Add(ctx, file, nil)
		if err != nil {
			return err
		}
		if len(report.Skipped) == 0 {
			d, err = documentAt(x, file)
			return err
		}
		skipped = report.Skipped[0].Reason
		return undo(context.WithoutCancel(ctx), x, file, restore)
	})
	switch {
	case err != nil: // what was refused does not stay
		return d, "", errors.Join(err, restore())
	case skipped != "":
		return d, skipped, nil
	}
	return d, "", s.leaveSamples()
}

// adopt indexes the uploaded files that a server before this one, which was killed, has written and not indexed. What cannot be
// read stays, since that may be so for a time only.
func (s *library) adopt(ctx context.Context) error {
	if s.fixed() != nil {
		return nil
	}
	left, err := s.unindexed(ctx)
	if err != nil || len(left) == 0 {
		return err
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	var reports []search.Report
	err = s.edit(func(x *search.Index) (err error) {
		reports, err = x.AddAll(ctx, left, nil)
		return err
	})
	added := 0
	for _, r := range reports {
		added += r.Added + r.Updated
		for _, skip := range r.Skipped {
			s.app.Log.Warn("an uploaded file is not indexed", "file", skip.Path, "reason", skip.Reason)
		}
	}
	if added > 0 {
		s.app.Remark("uploaded to an earlier server, and only now indexed: %s", cli.Count(added, "file"))
		err = errors.Join(err, s.leaveSamples())
	}
	return err
}

// unindexed returns the uploaded files that the index does not know as they are. It removes what writers left unfinished.
func (s *library) unindexed(ctx context.Context) (left []string, err error) {
	dir, err := indexcmd.UploadsDir(s.app)
	if err != nil {
		return nil, err
	}
	atomicfile.Sweep(dir)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	known, unlisted := s.List(ctx)
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(f.Name(), ".") { // names of uploads begin otherwise
			continue
		}
		path := filepath.Join(dir, f.Name())
		if !slices.ContainsFunc(known, func(d api.Document) bool {
			return d.Path == path && d.Bytes == info.Size() && d.Modified.Equal(info.ModTime())
		}) {
			left = append(left, path)
		}
	}
	return left, errors.Join(err, unlisted)
}

// documentAt returns what an index says of a file.
func documentAt(x *search.Index, file string) (api.Document, error) {
	list, err := server.Documents(x, false)
	if i := slices.IndexFunc(list, func(d api.Document) bool { return d.Path == file }); i >= 0 {
		return list[i], err
	}
	return api.Document{Path: file}, err
}

// undo makes the index forget a file that was skipped, and read what was there before.
func undo(ctx context.Context, x *search.Index, file string, restore func() error) error {
	if err := restore(); err != nil {
		return err
	}
	if _, err := os.Stat(file); err == nil {
		_, err = x.Add(ctx, file, nil)
		return err
	}
	if _, err := x.Remove(ctx, file); !errors.Is(err, search.ErrNotIndexed) {
		return err
	}
	return nil
}

// Remove implements api.Library.
func (s *library) Remove(ctx context.Context, path string) error {
	if err := s.fixed(); err != nil {
		return err
	}
	list, err := s.List(ctx)
	if err != nil {
		return err
	}
	dir, err := s.uploads()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(d api.Document) bool { return !d.Sample && (d.Path == path || d.Path == filepath.Join(dir, path)) })
	if at < 0 {
		return fmt.Errorf("%s: %w", path, api.ErrNoDocument)
	}
	path = list[at].Path
	s.changes.Lock()
	defer s.changes.Unlock()
	err = s.edit(func(x *search.Index) error {
		_, err := x.Remove(ctx, path)
		return err
	})
	if errors.Is(err, search.ErrNotIndexed) { // another request or program was faster
		return fmt.Errorf("%s: %w", path, api.ErrNoDocument)
	}
	if err != nil {
		return err
	}
	if filepath.Dir(path) == dir {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// uploads returns the folder of files that were uploaded.
func (s *library) uploads() (string, error) {
	dir, err := indexcmd.UploadsDir(s.app)
	if err != nil {
		return "", err
	}
	return dir, cli.MakePrivateDir(dir)
}

// edit changes the index.
func (s *library) edit(change func(*search.Index) error) error {
	x, err := indexcmd.OpenWritable(s.app, s.flags.PassageFlags) // cut as by index add
	if err != nil {
		return err
	}
	err = change(x)
	if errors.Is(err, search.ErrLocked) {
		err = &api.Error{Status: 409, Type: "invalid_request_error", Code: "busy", Message: "the index is being written: try again in a moment"}
	}
	return errors.Join(err, x.Close())
}

// leaveSamples answers from the index from now on, if it answered from the samples before. Answers from the samples continue.
// The caller holds changes.
func (s *library) leaveSamples() error {
	ss, leave := s.current()
	defer leave()
	if !ss.own.sample {
		return nil
	}
	next, err := s.open()
	if err == nil {
		s.replace(next)
	}
	return err
}
