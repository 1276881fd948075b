package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/internal/atomicfile"
)

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
	old := &Index{dir: dir, opt: Options{ReadOnly: true}}
	defer old.Close()
	if r, again := old.records(ctx); again == nil && len(r.roots.Roots) > 0 {
		return sources{rootSet: r.roots}, nil
	}
	return s, fmt.Errorf("rebuild index: the list of what was added is lost (%s: %w): delete the directory %s and add the files again",
		filepath.Join(dir, sourcesName), cause(err), dir)
}
