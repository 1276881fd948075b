package specdec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/internal/filelock"
)

// History remembers earlier answers and contexts of one user as tokens of one vocabulary, in a file of bounded
// size, and finds what is said again (CoordGen §3.3 keeps answers "as historical context for future requests").
//
// The file is a head and records with checksums, appended one by one. A record that a crash or a full disk cut
// short is left out and overwritten by the next. When the file would outgrow its limit, the older half is dropped:
// a new file takes the old one's place in one step. Who writes holds a lock and reads the file again first, so that
// processes may share a history: nothing that one of them added is lost but to the limit, and what was cleared stays
// cleared. What others add is drafted from after the next opening or shortening.
type History struct {
	path    string
	limit   int64
	index   *automaton
	entries []Entry
	size    int64 // of the file, up to the end of the last good record

	// failpoint, when a test sets it, is called before each step of a write; its error is that of the step.
	failpoint func(step string) error
}

// Entry is one remembered text.
type Entry struct {
	When   time.Time
	Kind   string // "answer" or "context"
	Tokens []tandem.Token
}

const (
	historyMagic = "TandemHistory1\n"
	// DefaultHistory is the size that a history may have unless told otherwise.
	DefaultHistory = 1 << 20
	historySuffix  = ".history"
	lockName       = ".lock"     // an empty file beside the histories: they are replaced and removed, it never is
	unfinished     = ".history-" // how the name of a new file begins that is to replace an old one
	maxEntry       = 1 << 20     // bytes of a record
)

var kinds = []string{"answer", "context"}

// OpenHistory reads or begins the history in dir of the vocabulary with the given name (letters, digits,
// "-" and "_" only), of at most limit bytes.
func OpenHistory(dir, vocabulary string, limit int64) (*History, error) {
	if vocabulary == "" || strings.ContainsFunc(vocabulary, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	}) {
		return nil, fmt.Errorf("history: %q is no name for a vocabulary", vocabulary)
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
	if _, err := removeAll(dir, unfinished+"*"); err != nil { // a crash left it
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
	h.relearn()
	return h, nil
}

// lockHistories keeps others from writing to the histories in dir until unlock is called. It waits for those that
// are writing: that takes moments.
func lockHistories(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	if err := filelock.Lock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("history: lock %s, which needs a file system with locks: %w", f.Name(), err)
	}
	return func() { f.Close() }, nil
}

// removeAll removes the files in dir whose names match, and returns how many it removed.
func removeAll(dir, pattern string) (int, error) {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return i, fmt.Errorf("history: %w", err)
		}
	}
	return len(names), err
}

// read returns what the file holds and where its last good record ends; 0 where there is no file yet.
func (h *History) read() (entries []Entry, good int64, err error) {
	data, err := readBounded(h.path, 64<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("history: %w: remove %s to begin anew", err, h.path)
	}
	if !bytes.HasPrefix(data, []byte(historyMagic)) && !strings.HasPrefix(historyMagic, string(data)) {
		return nil, 0, fmt.Errorf("history: %s is no history of this program: remove it to begin anew", h.path)
	}
	entries, good = parseHistory(data)
	return entries, good, nil
}

func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, at most %d can be", path, info.Size(), most)
	}
	return os.ReadFile(path)
}

// relearn makes the index anew. Drafters that began with the old one keep it.
func (h *History) relearn() {
	h.index = newAutomaton()
	for _, e := range h.entries {
		h.learn(e)
	}
}

func (h *History) learn(e Entry) {
	for _, t := range e.Tokens {
		h.index.extend(t)
	}
	h.index.extend(separator)
}

// Entries returns what was remembered when the file was read or written last, the oldest first.
func (h *History) Entries() []Entry { return h.entries }

// Size returns the bytes of the file then.
func (h *History) Size() int64 { return h.size }

// Add remembers a text. Matches that are under way go on in what was there before.
func (h *History) Add(kind string, tokens []tandem.Token, now time.Time) error {
	if len(tokens) == 0 {
		return nil
	}
	e := Entry{When: now.Truncate(time.Second).UTC(), Kind: kind, Tokens: slices.Clone(tokens)}
	if !slices.Contains(kinds, kind) || slices.ContainsFunc(tokens, func(t tandem.Token) bool { return t < 0 }) {
		return fmt.Errorf("history: cannot remember a %q of %d tokens", kind, len(tokens))
	}
	record := appendEntry(nil, e)
	if len(record) > maxEntry || int64(len(record)) > h.limit/2 {
		return nil // it would push out everything else
	}
	unlock, err := lockHistories(filepath.Dir(h.path))
	if err != nil {
		return err
	}
	defer unlock()
	entries, size, err := h.read() // others may have added, shortened or cleared
	if err != nil {
		return err
	}
	entries = append(entries, e)
	if size+int64(len(record)) > h.limit {
		if err := h.shorten(entries); err != nil {
			return err
		}
		h.relearn()
		return nil
	}
	if size == 0 {
		record = append([]byte(historyMagic), record...)
	}
	if err := h.write(record, size); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	h.entries, h.size = entries, size+int64(len(record))
	h.learn(e)
	return nil
}

func (h *History) fail(step string) error {
	if h.failpoint == nil {
		return nil
	}
	return h.failpoint(step)
}

// write puts a record behind the last good one, over what a crash left there.
func (h *History) write(record []byte, at int64) error {
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

// shorten keeps the newest of the entries, as many as half of the limit holds, in a new file.
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

// replace puts a file with the data into the old one's place in one step.
func (h *History) replace(data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(h.path), unfinished+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = h.fail("rename")
	}
	if err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// appendEntry appends the record of an entry: length and CRC-32C of what follows, seconds since 1970, kind,
// tokens as differences.
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

// parseHistory returns the good records from the beginning of a file, and where they end; 0 if the file is not
// a history.
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

// HistoryFile describes a history for people.
type HistoryFile struct {
	Vocabulary string    `json:"vocabulary"`
	Entries    int       `json:"entries"`
	Tokens     int       `json:"tokens"`
	Bytes      int64     `json:"bytes"`
	Oldest     time.Time `json:"oldest,omitzero"`
	Newest     time.Time `json:"newest,omitzero"`
}

// Histories lists the histories in dir; none if it does not exist.
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

// ClearHistories removes the histories in dir, also what a crash left of one, and returns how many there were.
func ClearHistories(dir string) (int, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	unlock, err := lockHistories(dir)
	if err != nil {
		return 0, err
	}
	defer unlock()
	n, err := removeAll(dir, "*"+historySuffix)
	_, left := removeAll(dir, unfinished+"*")
	return n, errors.Join(err, left)
}
