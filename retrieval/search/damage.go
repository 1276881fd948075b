package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/internal/atomicfile"
	"tandem/retrieval/passages"
)

// DamagedError says that the files of an index are not what a writer left. Rebuild makes the index again.
type DamagedError struct {
	Dir  string // of the index
	File string // the damaged file, if it is known
	Err  error
}

func (e *DamagedError) Error() string {
	where := e.Dir
	if e.File != "" {
		where = e.File
	}
	return fmt.Sprintf("index is damaged: %s: %v (index rebuild makes it again from the files)", where, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Names of what guards an index.
const (
	sumsName    = "sums"    // in a generation: checksums of its other files
	sourcesName = "sources" // next to the generations: what Rebuild reads
)

// sum is the length and the CRC-32C of a file. It finds damage, not forgery: who can write an index needs no flipped bits.
type sum struct {
	size int64
	crc  uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumOf(path string) (sum, error) {
	f, err := os.Open(path)
	if err != nil {
		return sum{}, err
	}
	defer f.Close()
	h := crc32.New(castagnoli)
	n, err := io.Copy(h, f)
	return sum{n, h.Sum32()}, err
}

// filesOf lists the files of a generation by their names with slashes, without its checksums.
func filesOf(gen string) (names []string, err error) {
	err = filepath.WalkDir(gen, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(gen, path)
		if rel != sumsName {
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	return names, err
}

// seal writes the checksums of a generation that is about to be published, and leaves its files to their owner. Segments
// that the generation shares with base keep the sums that base has for them, so that damage since then stays visible.
func seal(gen string, base map[string]sum) error {
	names, err := filesOf(gen)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, name := range names {
		path := filepath.Join(gen, filepath.FromSlash(name))
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		s, known := base[name]
		if !known || !strings.HasSuffix(name, ".zap") {
			if s, err = sumOf(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&out, "%08x %d %s\n", s.crc, s.size, name)
	}
	fmt.Fprintf(&out, "%08x\n", crc32.Checksum(out.Bytes(), castagnoli))
	return atomicfile.Write(filepath.Join(gen, sumsName), out.Bytes(), 0o600)
}

// readSums returns the checksums of a generation, or nil if an earlier version wrote it without.
func readSums(gen string) (map[string]sum, error) {
	raw, err := os.ReadFile(filepath.Join(gen, sumsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, ok := strings.CutSuffix(string(raw), "\n")
	cut := strings.LastIndexByte(list, '\n') + 1
	own, bad := strconv.ParseUint(list[cut:], 16, 32)
	if !ok || bad != nil || uint32(own) != crc32.Checksum(raw[:cut], castagnoli) {
		return nil, errors.New("its own checksum differs")
	}
	out := make(map[string]sum)
	for line := range strings.Lines(list[:cut]) {
		var s sum
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("%q is not a checksum", line)
		}
		crc, err := hex.DecodeString(fields[0])
		size, err2 := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || err2 != nil || len(crc) != 4 {
			return nil, fmt.Errorf("%q is not a checksum", line)
		}
		s.size, s.crc = size, uint32(crc[0])<<24|uint32(crc[1])<<16|uint32(crc[2])<<8|uint32(crc[3])
		out[fields[2]] = s
	}
	return out, nil
}

// verify compares the files of a generation with its checksums. An error names the file.
func verify(gen string) error {
	sums, err := readSums(gen)
	if errors.Is(err, fs.ErrPermission) { // a file that may not be read is not damaged
		return err
	}
	if err != nil {
		return &DamagedError{File: filepath.Join(gen, sumsName), Err: err}
	}
	for name, want := range sums {
		path := filepath.Join(gen, filepath.FromSlash(name))
		got, err := sumOf(path)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return err
		case err != nil:
			return &DamagedError{File: path, Err: cause(err)}
		case got.size != want.size:
			return &DamagedError{File: path, Err: fmt.Errorf("%d bytes, %d were written", got.size, want.size)}
		case got != want:
			return &DamagedError{File: path, Err: errors.New("its checksum differs")}
		}
	}
	return nil
}

// caught turns a panic of the index library into an error. The library trusts the files that it maps from disk, so
// damage can make it panic.
func caught(dir string, err *error) {
	if p := recover(); p != nil {
		*err = &DamagedError{Dir: dir, Err: fmt.Errorf("the index library gave up: %v", p)}
	}
}

// sources is what Rebuild reads.
type sources struct {
	rootSet
	Words int `json:"words"` // length of passages
}

// saveSources writes what was added, and what was removed from that.
func saveSources(dir string, s sources) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	path := filepath.Join(dir, sourcesName)
	data := fmt.Appendf(raw, "%08x\n", crc32.Checksum(raw, castagnoli))
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return atomicfile.Write(path, data, 0o600)
}

// loadSources reads what saveSources wrote.
func loadSources(dir string) (s sources, err error) {
	data, err := os.ReadFile(filepath.Join(dir, sourcesName))
	if err != nil {
		return s, err
	}
	raw, check, _ := strings.Cut(string(data), "\n")
	own, err := strconv.ParseUint(strings.TrimSpace(check), 16, 32)
	if err != nil || uint32(own) != crc32.Checksum([]byte(raw+"\n"), castagnoli) {
		return s, errors.New("its checksum differs")
	}
	return s, json.Unmarshal([]byte(raw), &s)
}

// sourcesOf returns what was added to the index in dir. An index of an earlier version has that only in its generation.
func sourcesOf(ctx context.Context, dir string) (sources, error) {
	s, err := loadSources(dir)
	if err == nil {
		return s, nil
	}
	old := &Index{dir: dir, readOnly: true}
	defer old.Close()
	if r, again := old.records(ctx); again == nil && len(r.roots.Roots) > 0 {
		return sources{rootSet: r.roots}, nil
	}
	return s, fmt.Errorf("rebuild index: the list of what was added is lost (%s: %w): delete the directory %s and add the files again",
		filepath.Join(dir, sourcesName), cause(err), dir)
}

// Rebuild makes the index in dir again from the files and folders that were added to it, whatever state it is in. Until
// it is complete, the index stays as it was. Without opt.Words, passages have the length that they had. A file or
// folder that is gone loses its passages; Refresh finds it when it is back.
func Rebuild(ctx context.Context, dir string, opt Options, progress func(Progress)) (report Report, err error) {
	if _, err := opt.length(); err != nil {
		return report, fmt.Errorf("rebuild index: %w", err)
	}
	if !Exists(dir) {
		return report, fmt.Errorf("rebuild index: nothing has been indexed in %s", dir)
	}
	x := &Index{dir: dir, batch: defaultBatch, checkpoint: math.MaxInt}
	defer x.Close()
	unlock, err := x.lock(ctx)
	if err != nil {
		return report, err
	}
	defer unlock()
	from, err := sourcesOf(ctx, dir)
	if err != nil {
		return report, err
	}
	x.words = cmp.Or(opt.Words, from.Words, passages.DefaultWords)
	w := &writer{x: x}
	u := &update{records: records{files: make(map[string]record)}, words: x.words, to: w}
	if err = w.ready(); err == nil { // also if nothing is left to read
		err = u.setRoots(from.rootSet)
	}
	if err == nil {
		err = u.addRoots(ctx, "not accessible (%v); run index add when it is back", progress)
	}
	if err == nil {
		err = w.commit()
	}
	if err != nil {
		if w.gen != nil {
			w.gen.discard()
		}
		return u.report, fmt.Errorf("rebuild index: %w", err)
	}
	u.report.Passages = u.passages()
	return u.report, nil
}
