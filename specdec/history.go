package specdec

import (
	"bytes"
	"encoding/binary"
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

	"tandem"
	"tandem/internal/atomicfile"
	"tandem/internal/filelock"
)

// A History keeps earlier answers and contexts of one user as tokens of one vocabulary, in a file of bounded size,
// so that SAM can draft repeated text. CoordGen (§3.1) and sd.npu (§4.1) keep finished answers for later requests, too.
//
// The file is a header and records with checksums, appended one by one. A record cut short by a crash or a full disk
// is ignored, and the next one overwrites it. When the file would outgrow its limit, a new file with the newer half
// replaces it atomically. A writer holds a lock and reads the file again first, so processes may share a history:
// only the limit removes records, and cleared records stay cleared. Records of other processes are used for drafts
// after the history is next opened or shortened.
//
// A History may be used by several goroutines at once.
type History struct {
	path  string // empty if it is kept in memory only
	limit int64

	mu      sync.Mutex
	index   *index
	entries []Entry
	size    int64 // of the file, up to the end of the last good record

	// failpoint, if a test sets it, is called before each step of a write. The step fails with its error.
	failpoint func(step string) error
}

// An index is the automaton of a history, which grows while drafters read it.
type index struct {
	mu sync.RWMutex
	automaton
}

// An Entry is one remembered text.
type Entry struct {
	When   time.Time
	Kind   string // "answer" or "context"
	Tokens []tandem.Token
}

const (
	historyMagic = "TandemHistory1\n"
	// DefaultHistory is the default limit of a history in bytes.
	DefaultHistory = 1 << 20
	historySuffix  = ".history"
	lockName       = ".lock" // an empty file; unlike the histories, it is never replaced or removed
	maxEntry       = 1 << 20 // bytes of a record
)

var kinds = []string{"answer", "context"}

// NewHistory returns an empty history that is kept in memory only. Its records would take at most limit bytes of a file, or 4096
// if limit is less.
func NewHistory(limit int64) *History {
	h := &History{limit: max(limit, 4096)}
	h.reindex()
	return h
}

// OpenHistory opens or creates the history of a vocabulary in dir. The vocabulary's name consists of letters,
// digits, "-" and "_". The file holds at most limit bytes, or 4096 if limit is less.
func OpenHistory(dir, vocabulary string, limit int64) (*History, error) {
	if vocabulary == "" || strings.ContainsFunc(vocabulary, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	}) {
		return nil, fmt.Errorf("history: %q is not a valid name of a vocabulary: use letters, digits, - and _", vocabulary)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	h := &History{path: filepath.Join(dir, vocabulary+historySuffix), limit: max(limit, 4096)}
	unlock, err := lockHistories(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := removeMatching(dir, atomicfile.Unfinished+"*"); err != nil { // left by a crash
		return nil, err
	}
	if h.entries, h.size, err = h.read(); err != nil {
		return nil, err
	}
	if h.size > h.limit { // the limit was lowered
		if err := h.shorten(h.entries); err != nil {
			return nil, err
		}
	}
	h.reindex()
	return h, nil
}

// lockHistories keeps other processes from writing to the histories in dir until unlock is called. It waits while
// one is writing.
func lockHistories(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	if err := filelock.Lock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("history: lock %s: %w (the file system must support locks)", f.Name(), err)
	}
	return func() { f.Close() }, nil
}

// removeMatching removes the files in dir whose names match a pattern, and returns how many it removed.
func removeMatching(dir, pattern string) (int, error) {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return i, fmt.Errorf("history: %w", err)
		}
	}
	return len(names), err
}

// read returns the entries of the file and the offset at which its last valid record ends: 0 if there is no file.
func (h *History) read() (entries []Entry, good int64, err error) {
	if h.path == "" {
		return h.entries, h.size, nil
	}
	data, err := readBounded(h.path, 64<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("history: %w: remove %s to start over", err, h.path)
	}
	if !bytes.HasPrefix(data, []byte(historyMagic)) && !strings.HasPrefix(historyMagic, string(data)) {
		return nil, 0, fmt.Errorf("history: %s is not a history of this program: remove it to start over", h.path)
	}
	entries, good = parseHistory(data)
	return entries, good, nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), limit)
	}
	return os.ReadFile(path)
}

// reindex builds a new index. Drafters that started with the old one keep it.
func (h *History) reindex() {
	h.index = &index{automaton: *newAutomaton(0)}
	for _, e := range h.entries {
		h.indexEntry(e)
	}
}

// current returns the index as it is now.
func (h *History) current() *index {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.index
}

func (h *History) indexEntry(e Entry) {
	h.index.mu.Lock()
	defer h.index.mu.Unlock()
	for _, t := range e.Tokens {
		h.index.extend(t)
	}
	h.index.extend(Separator)
}

// Entries returns the entries of the file when it was last read or written, the oldest first.
func (h *History) Entries() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entries
}

// Size returns the size of the file in bytes at that time.
func (h *History) Size() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size
}

// Add appends a text, "answer" or "context". A text that exceeds half of the limit is ignored. Drafts in progress
// may still use the old entries.
func (h *History) Add(kind string, tokens []tandem.Token, now time.Time) error {
	if len(tokens) == 0 {
		return nil
	}
	e := Entry{When: now.Truncate(time.Second).UTC(), Kind: kind, Tokens: slices.Clone(tokens)}
	if !slices.Contains(kinds, kind) || slices.ContainsFunc(tokens, func(t tandem.Token) bool { return t < 0 }) {
		return fmt.Errorf("history: cannot remember a %q of %d tokens", kind, len(tokens))
	}
	record := appendEntry(nil, e)
	if len(record) > maxEntry || int64(len(historyMagic)+len(record)) > h.limit/2 {
		return nil // it would displace everything else
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.path != "" {
		unlock, err := lockHistories(filepath.Dir(h.path))
		if err != nil {
			return err
		}
		defer unlock()
	}
	entries, size, err := h.read() // others may have added, shortened or cleared
	if err != nil {
		return err
	}
	entries = append(entries, e)
	if size+int64(len(record)) > h.limit {
		if err := h.shorten(entries); err != nil {
			return err
		}
		h.reindex()
		return nil
	}
	if size == 0 {
		record = append([]byte(historyMagic), record...)
	}
	if err := h.write(record, size); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	h.entries, h.size = entries, size+int64(len(record))
	h.indexEntry(e)
	return nil
}

func (h *History) fail(step string) error {
	if h.failpoint == nil {
		return nil
	}
	return h.failpoint(step)
}

// write writes a record at the end of the last valid one, over what a crash left there.
func (h *History) write(record []byte, at int64) error {
	if h.path == "" {
		return nil
	}
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err = f.Truncate(at); err == nil {
		err = h.fail("append")
	}
	if err == nil {
		_, err = f.WriteAt(record, at)
	}
	return errors.Join(err, f.Close())
}

// shorten writes a new file with the newest entries that fit into half of the limit.
func (h *History) shorten(entries []Entry) error {
	size, keep := int64(len(historyMagic)), len(entries)
	for keep > 0 {
		n := int64(len(appendEntry(nil, entries[keep-1])))
		if size+n > h.limit/2 {
			break
		}
		size, keep = size+n, keep-1
	}
	entries = slices.Clone(entries[keep:])
	data := []byte(historyMagic)
	for _, e := range entries {
		data = appendEntry(data, e)
	}
	if err := h.replace(data); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	h.entries, h.size = entries, int64(len(data))
	return nil
}

// replace replaces the file atomically with one that holds data.
func (h *History) replace(data []byte) error {
	if h.path == "" {
		return nil
	}
	return atomicfile.WriteFunc(h.path, 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return errors.Join(err, h.fail("replace"))
	})
}

// appendEntry appends the record of an entry: length and CRC-32C of the rest; then seconds since 1970, kind, and
// tokens as differences from the previous one.
func appendEntry(b []byte, e Entry) []byte {
	body := binary.AppendVarint(nil, e.When.Unix())
	body = append(body, byte(slices.Index(kinds, e.Kind)))
	before := int64(0)
	for _, t := range e.Tokens {
		body = binary.AppendVarint(body, int64(t)-before)
		before = int64(t)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(b, body...)
}

// parseHistory returns the valid records at the beginning of a file and the offset at which they end: 0 if the file
// is not a history.
func parseHistory(data []byte) (entries []Entry, good int64) {
	rest, ok := bytes.CutPrefix(data, []byte(historyMagic))
	if !ok {
		return nil, 0
	}
	good = int64(len(historyMagic))
	for len(rest) >= 8 {
		n := binary.LittleEndian.Uint32(rest)
		if n > maxEntry || int(n) > len(rest)-8 {
			break
		}
		body := rest[8:][:n]
		if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(rest[4:]) {
			break
		}
		e, ok := parseEntry(body)
		if !ok {
			break
		}
		entries = append(entries, e)
		rest, good = rest[8+n:], good+8+int64(n)
	}
	return entries, good
}

func parseEntry(body []byte) (e Entry, ok bool) {
	when, n := binary.Varint(body)
	if n <= 0 || n >= len(body) || int(body[n]) >= len(kinds) || when < 0 || when > 1<<40 {
		return e, false
	}
	e = Entry{When: time.Unix(when, 0).UTC(), Kind: kinds[body[n]]}
	body = body[n+1:]
	before := int64(0)
	for len(body) > 0 {
		d, n := binary.Varint(body)
		if n <= 0 || d < -1<<31 || d > 1<<31 || before+d < 0 || before+d >= 1<<31 {
			return e, false
		}
		before += d
		e.Tokens = append(e.Tokens, tandem.Token(before))
		body = body[n:]
	}
	return e, true
}

// A HistoryFile describes a history.
type HistoryFile struct {
	Vocabulary string    `json:"vocabulary"`
	Entries    int       `json:"entries"`
	Tokens     int       `json:"tokens"`
	Bytes      int64     `json:"bytes"`
	Oldest     time.Time `json:"oldest,omitzero"`
	Newest     time.Time `json:"newest,omitzero"`
}

// Histories lists the histories in dir. It returns none if dir does not exist.
func Histories(dir string) ([]HistoryFile, error) {
	names, err := fs.Glob(os.DirFS(dir), "*"+historySuffix)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	var out []HistoryFile
	for _, name := range names {
		data, err := readBounded(filepath.Join(dir, name), 64<<20)
		if err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		f := HistoryFile{Vocabulary: strings.TrimSuffix(name, historySuffix), Bytes: int64(len(data))}
		entries, _ := parseHistory(data)
		for i, e := range entries {
			f.Entries, f.Tokens = f.Entries+1, f.Tokens+len(e.Tokens)
			if i == 0 {
				f.Oldest = e.When
			}
			f.Newest = e.When
		}
		out = append(out, f)
	}
	return out, nil
}

// ClearHistories removes the histories in dir, with files left by crashes, and returns how many histories it removed.
func ClearHistories(dir string) (int, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	unlock, err := lockHistories(dir)
	if err != nil {
		return 0, err
	}
	defer unlock()
	n, err := removeMatching(dir, "*"+historySuffix)
	_, left := removeMatching(dir, atomicfile.Unfinished+"*")
	return n, errors.Join(err, left)
}
