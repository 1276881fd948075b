// Package kvstore stores on disk what models have computed from passages, the KV caches of decoders and the encodings of
// span readers, so that a passage is computed once and not for every question (DRAGON §2.1).
package kvstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Store keeps blobs in a directory, within a budget of bytes. The key of a blob must cover everything that the blob depends
// on. A Store is a cache: any error is a miss, and never yields a wrong blob. Several processes may use one directory.
//
// A blob is a file that appears by a rename and carries its key, length and checksum. When the files exceed the budget, those
// that any process used longest ago go first.
type Store struct {
	dir    string
	budget int64

	mu    sync.Mutex
	size  int64 // of all files, as this process knows them
	since int64 // bytes put by this process since it last counted all files

	shared *shared // with other machines; nil if with none
}

// The file of a blob has a header, a payload and a trailer. The last byte of the magic is the version of this layout.
const (
	kvMagic   = "tandemkv\x01"
	kvHeader  = len(kvMagic) + 32
	kvTrailer = 8 + 4 // length of the payload, CRC-32C of header and payload
	kvSuffix  = ".kv"
	kvTemp    = ".new-"
)

// staleAfter is the age from which an unfinished file is taken to belong to a dead process.
const staleAfter = time.Hour

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Open opens the store in dir, with a budget in bytes. It creates the directory if necessary.
func Open(dir string, budget int64) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open kv store: %w", err)
	}
	s := &Store{dir: dir, budget: max(budget, 0)}
	s.evict()
	return s, nil
}

// Close waits briefly until pending blobs are sent to the bucket. Without a bucket it does nothing, because a Store
// keeps no files open between calls.
func (s *Store) Close() error {
	if s.shared != nil {
		s.shared.close()
	}
	return nil
}

// nameOf returns a blob's name in the store's directory and in a bucket.
func nameOf(key [32]byte) string { return hex.EncodeToString(key[:]) + kvSuffix }

func (s *Store) path(key [32]byte) string {
	name := nameOf(key)
	return filepath.Join(s.dir, name[:2], name)
}

// Get returns the checked blob under key and marks it as used. The caller closes it. ctx ends a request to the bucket.
func (s *Store) Get(ctx context.Context, key [32]byte) (io.ReadCloser, bool) {
	b, ok := s.get(key)
	if !ok && s.shared != nil && s.fetch(ctx, key) {
		b, ok = s.get(key)
	}
	if !ok {
		return nil, false
	}
	return b, true
}

func (s *Store) get(key [32]byte) (blob, bool) {
	path := s.path(key)
	f, err := os.Open(path)
	if err != nil {
		return blob{}, false
	}
	payload, err := checkBlob(f, key)
	if err != nil {
		f.Close()
		if errors.Is(err, errCorrupt) {
			s.remove(path)
		}
		return blob{}, false
	}
	now := time.Now()
	os.Chtimes(path, now, now) // on failure the blob is only evicted sooner
	return blob{payload, f}, true
}

// blob is an open file's checked payload.
type blob struct {
	*io.SectionReader
	f *os.File
}

func (b blob) Close() error { return b.f.Close() }

var errCorrupt = errors.New("corrupt")

// checkBlob reads all of f and returns its payload.
func checkBlob(f *os.File, key [32]byte) (*io.SectionReader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	length := info.Size() - int64(kvHeader+kvTrailer)
	if length < 0 {
		return nil, errCorrupt
	}
	var head [kvHeader]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return nil, err
	}
	sum := crc32.New(castagnoli)
	sum.Write(head[:])
	if _, err := io.CopyN(sum, f, length); err != nil {
		return nil, err
	}
	var tail [kvTrailer]byte
	if _, err := io.ReadFull(f, tail[:]); err != nil {
		return nil, err
	}
	if string(head[:len(kvMagic)]) != kvMagic || !bytes.Equal(head[len(kvMagic):], key[:]) ||
		binary.LittleEndian.Uint64(tail[:]) != uint64(length) || binary.LittleEndian.Uint32(tail[8:]) != sum.Sum32() {
		return nil, errCorrupt
	}
	return io.NewSectionReader(f, int64(kvHeader), length), nil
}

// Disk is a Store without its bucket, for blobs that take less time to recompute than a request to the bucket.
type Disk struct{ store *Store }

// Disk returns the store without its bucket.
func (s *Store) Disk() Disk { return Disk{s} }

// Get returns the checked blob under key and marks it as used.
func (d Disk) Get(key [32]byte) ([]byte, bool) {
	b, ok := d.store.get(key)
	if !ok {
		return nil, false
	}
	defer b.Close()
	payload := make([]byte, b.Size())
	_, err := io.ReadFull(b, payload)
	return payload, err == nil
}

// Put stores a blob under key. Its errors are those of Store.Put.
func (d Disk) Put(key [32]byte, payload []byte) error {
	return d.store.put(key, func(w io.Writer) error {
		_, err := w.Write(payload)
		return err
	})
}

// ErrTooLarge is wrapped by the error of a Put whose blob alone exceeds the budget.
var ErrTooLarge = errors.New("larger than the budget of the KV store")

// Put stores what write writes under key, replacing an earlier blob. If the files then exceed the budget, it evicts
// those used longest ago. After an error, such as a full disk, the store is unchanged. What is stored is also sent to
// the bucket, if there is one.
func (s *Store) Put(key [32]byte, write func(io.Writer) error) error {
	if err := s.put(key, write); err != nil {
		return err
	}
	if s.shared != nil {
		s.shared.offer(key)
	}
	return nil
}

func (s *Store) put(key [32]byte, write func(io.Writer) error) error {
	err := s.place(key, func(f *os.File) (int64, error) { return writeBlob(f, key, write, s.budget) })
	if err != nil {
		return fmt.Errorf("store kv: %w", err)
	}
	return nil
}

// place makes a blob's file. fill writes it and returns its size. If it fails or panics, nothing is left of the file.
func (s *Store) place(key [32]byte, fill func(*os.File) (int64, error)) error {
	path := s.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), kvTemp)
	if err != nil {
		return err
	}
	placed := false
	defer func() {
		if !placed {
			f.Close() // again, unless fill panicked: some systems remove no open file
			os.Remove(f.Name())
		}
	}()
	size, err := fill(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if old, err := os.Stat(path); err == nil {
		size -= old.Size()
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	placed = true
	s.mu.Lock()
	s.size += size
	s.since += size
	full := s.size > s.budget || s.since > s.budget/16 // other processes may have put as much
	s.mu.Unlock()
	if full {
		s.evict()
	}
	return nil
}

// writeBlob writes the file of a blob and returns its size.
func writeBlob(f *os.File, key [32]byte, write func(io.Writer) error, budget int64) (int64, error) {
	w := &blobWriter{f: f, left: budget - int64(kvTrailer)}
	if _, err := w.Write(append([]byte(kvMagic), key[:]...)); err != nil {
		return 0, err
	}
	if err := write(w); err != nil {
		return 0, err
	}
	tail := binary.LittleEndian.AppendUint64(nil, uint64(w.n-int64(kvHeader)))
	tail = binary.LittleEndian.AppendUint32(tail, w.sum)
	_, err := f.Write(tail)
	return w.n + int64(kvTrailer), err
}

type blobWriter struct {
	f    io.Writer
	n    int64
	left int64
	sum  uint32
}

func (w *blobWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > w.left {
		return 0, ErrTooLarge
	}
	n, err := w.f.Write(p)
	w.n += int64(n)
	w.left -= int64(n)
	w.sum = crc32.Update(w.sum, castagnoli, p[:n])
	return n, err
}

type kvFile struct {
	path string
	size int64
	used time.Time
}

// files lists the blobs, and removes unfinished files of dead processes.
func (s *Store) files() []kvFile {
	var out []kvFile
	filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // unreadable files do not count
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		switch {
		case strings.HasPrefix(d.Name(), kvTemp):
			if time.Since(info.ModTime()) > staleAfter {
				os.Remove(path)
			}
		case strings.HasSuffix(d.Name(), kvSuffix):
			out = append(out, kvFile{path, info.Size(), info.ModTime()})
		}
		return nil
	})
	return out
}

// evict counts the blobs. If they exceed the budget, it removes those used longest ago until the rest fill nine tenths of it,
// so that not every Put has to evict.
func (s *Store) evict() {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.files()
	slices.SortFunc(files, func(a, b kvFile) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path)) })
	s.size, s.since = 0, 0
	for _, f := range files {
		s.size += f.size
	}
	if s.size <= s.budget {
		return
	}
	for _, f := range files {
		if s.size <= s.budget-s.budget/10 {
			return
		}
		if os.Remove(f.path) == nil {
			s.size -= f.size
		}
	}
}

func (s *Store) remove(path string) {
	info, err := os.Stat(path)
	if err != nil || os.Remove(path) != nil {
		return
	}
	s.mu.Lock()
	s.size -= info.Size()
	s.mu.Unlock()
}
