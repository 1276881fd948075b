package prompt

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/cmd/internal/cli"
)

// History is what was typed, in a file that only its owner can read: a JSON string on each line, the oldest first. It is a
// history of the line editor, which calls it on one goroutine.
type History struct {
	path string
	keep func(text string) bool
	list []string
}

const (
	maxInputs = 1000    // kept
	maxFile   = 4 << 20 // bytes read, the last of the file
)

// OpenHistory reads the history in a file, which need not exist. Of what is typed from now on, the file gets what keep accepts.
// After an error, the history has what could be read.
func OpenHistory(path string, keep func(text string) bool) (*History, error) {
	h := &History{path: path, keep: keep}
	return h, h.load()
}

// load reads the file, corrects its permissions and, if it has grown long, leaves the newest inputs in it.
func (h *History) load() error {
	f, err := os.Open(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxFile+1)
	long := info.Size() > maxFile
	if long {
		if _, err := f.Seek(-maxFile, io.SeekEnd); err != nil {
			return err
		}
		in.Scan() // the rest of a line
	}
	for in.Scan() {
		var text string
		if json.Unmarshal(in.Bytes(), &text) == nil && text != "" {
			h.list = append(h.list, text)
		}
	}
	if err := errors.Join(in.Err(), os.Chmod(h.path, 0o600)); err != nil {
		return err
	}
	long = long || len(h.list) > maxInputs+maxInputs/4
	h.list = h.list[max(0, len(h.list)-maxInputs):]
	if long {
		return h.store() // rarely, because another process may add to the file
	}
	return nil
}

// store writes the whole file.
func (h *History) store() error {
	var text strings.Builder
	for _, input := range h.list {
		line, err := json.Marshal(input)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	return cli.WriteFile(h.path, []byte(text.String()))
}

// Write adds what was typed, unless it is what was typed before.
func (h *History) Write(text string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" || len(h.list) > 0 && h.list[len(h.list)-1] == text {
		return len(h.list), nil
	}
	h.list = append(h.list, text)
	if !h.keep(text) {
		return len(h.list), nil // for this process alone
	}
	line, err := json.Marshal(text)
	if err == nil {
		err = appendLine(h.path, append(line, '\n'))
	}
	return len(h.list), err
}

// appendLine adds a line to a file, which it makes for the user alone. Processes that run at the same time all add theirs. A line
// that was written in part, because the disk was full, stays on its own.
func appendLine(path string, line []byte) error {
	if err := cli.MakePrivateDir(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	if size, err := f.Seek(0, io.SeekEnd); err == nil && size > 0 {
		f.ReadAt(last, size-1)
	}
	if last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// GetLine returns an earlier text; 0 is the oldest.
func (h *History) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.list) {
		return "", fmt.Errorf("input %d of %d", i, len(h.list))
	}
	return h.list[i], nil
}

// Len returns how many texts are kept.
func (h *History) Len() int { return len(h.list) }

// Dump returns all texts. The editor does not use it.
func (h *History) Dump() any { return h.list }
