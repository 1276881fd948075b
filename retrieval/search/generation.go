package search

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"

	"tandem/internal/atomicfile"
)

// generation is a copy of an index that a writer changes before it publishes it.
type generation struct {
	dir   string // of the index
	name  string
	base  map[string]sum // checksums of the generation that it is a copy of
	bleve bleve.Index
}

// newGeneration makes a writable copy of the generation named base, or an empty one if base is "".
func newGeneration(dir, base string) (*generation, error) {
	g := &generation{dir: dir, name: nextName(base)}
	path := g.path()
	if err := os.RemoveAll(path); err != nil { // left by a writer that died
		return nil, fmt.Errorf("new generation: %w", err)
	}
	var err error
	if base == "" {
		g.bleve, err = bleve.NewUsing(path, indexMapping(), scorch.Name, scorch.Name, map[string]any{"numSnapshotsToKeep": 1})
	} else if err = g.clone(filepath.Join(dir, base)); err == nil {
		g.bleve, err = openGeneration(path, false)
	}
	if err != nil {
		os.RemoveAll(path)
		return nil, fmt.Errorf("new generation: %w", err)
	}
	return g, nil
}

// nextName numbers generations, for people who look into the directory. A random part makes every name unique, even if
// the directory is deleted and made again while a reader has it open.
func nextName(base string) string {
	count, _, _ := strings.Cut(strings.TrimPrefix(base, genPrefix), "-")
	n, _ := strconv.ParseUint(count, 10, 64) // "" counts as 0
	return fmt.Sprintf("%s%d-%08x", genPrefix, n+1, rand.Uint32())
}

// path returns the generation's own directory.
func (g *generation) path() string { return filepath.Join(g.dir, g.name) }

// discard removes the generation.
func (g *generation) discard() {
	g.bleve.Close()
	os.RemoveAll(g.path())
}

// publish makes the generation the current one. Afterwards it survives a crash of the machine. If publish fails, it
// removes the generation.
func (g *generation) publish() (err error) {
	defer func() {
		if err != nil {
			os.RemoveAll(g.path())
		}
	}()
	if err := g.bleve.Close(); err != nil {
		return fmt.Errorf("close generation: %w", err)
	}
	if err := seal(g.path(), g.base); err != nil {
		return fmt.Errorf("write the checksums of a generation: %w", err)
	}
	syncDir(filepath.Join(g.path(), "store"))
	syncDir(g.path())
	if err := atomicfile.Write(filepath.Join(g.dir, currentName), []byte(g.name+"\n"), 0o600); err != nil {
		return fmt.Errorf("publish generation: %w", err)
	}
	return nil
}

// sweep removes every generation but keep, and what a killed writer began. Where the system allows removing open files,
// readers can go on reading an old generation; elsewhere it stays until a later sweep.
func sweep(dir, keep string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), anyGenPrefix) && e.Name() != keep || strings.HasPrefix(e.Name(), atomicfile.Unfinished) {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// clone copies the generation at from. What it copies must be what was published.
func (g *generation) clone(from string) (err error) {
	if g.base, err = readSums(from); err != nil {
		return &DamagedError{File: filepath.Join(from, sumsName), Err: err}
	}
	if err := cloneTree(from, g.path()); err != nil {
		return err
	}
	for name, want := range g.base {
		if strings.HasSuffix(name, segmentSuffix) { // seal keeps its checksum, so damage shows when it is opened
			continue
		}
		if got, err := sumOf(filepath.Join(g.path(), filepath.FromSlash(name))); err != nil || got != want {
			return &DamagedError{File: filepath.Join(from, filepath.FromSlash(name)), Err: errors.Join(errors.New("its checksum differs"), err)}
		}
	}
	return nil
}

// cloneTree copies a published generation except its checksums. Segments never change, so it links them if the file
// system can; it copies everything else.
func cloneTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case rel == sumsName:
			return nil
		case strings.HasSuffix(path, segmentSuffix) && os.Link(path, target) == nil:
			return nil
		}
		return copyFile(path, target)
	})
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err = io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}

// syncDir makes renames and new names in dir durable, if the system can.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
