package search

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/internal/atomicfile"
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
		if !known || !strings.HasSuffix(name, segmentSuffix) {
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
	text, ended := strings.CutSuffix(string(raw), "\n")
	lastLine := strings.LastIndexByte(text, '\n') + 1
	own, err := strconv.ParseUint(text[lastLine:], 16, 32)
	if !ended || err != nil || uint32(own) != crc32.Checksum(raw[:lastLine], castagnoli) {
		return nil, errors.New("its own checksum differs")
	}
	sums := make(map[string]sum)
	for line := range strings.Lines(text[:lastLine]) {
		name, s, err := parseSum(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		sums[name] = s
	}
	return sums, nil
}

// parseSum reads a line that seal wrote.
func parseSum(line string) (name string, s sum, err error) {
	fields := strings.SplitN(line, " ", 3)
	if len(fields) != 3 {
		return "", s, fmt.Errorf("%q is not a checksum", line)
	}
	crc, errCRC := strconv.ParseUint(fields[0], 16, 32)
	size, errSize := strconv.ParseInt(fields[1], 10, 64)
	if errCRC != nil || errSize != nil {
		return "", s, fmt.Errorf("%q is not a checksum", line)
	}
	return fields[2], sum{size, uint32(crc)}, nil
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
