package answers

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Bounds of what is read: a whole file, unpacked, and a line of it.
const (
	maxBytes = 256 << 20
	maxLine  = 16 << 20
)

// Lines calls f for every line of JSON that is not blank, with its number from 1. The lines may be gzipped. Errors,
// those of f too, name the file and the line.
func Lines(name string, in io.Reader, f func(n int, line []byte) error) error {
	raw := bufio.NewReader(in)
	in = raw
	if magic, _ := raw.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
		in = z
	}
	bounded := &io.LimitedReader{R: in, N: maxBytes + 1}
	lines := bufio.NewScanner(bounded)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() && bounded.N > 0 {
		n++
		switch line := bytes.TrimSpace(lines.Bytes()); {
		case len(line) == 0:
		case !utf8.Valid(line):
			return fmt.Errorf("%s, line %d: not UTF-8", name, n)
		default:
			if err := f(n, line); err != nil {
				return fmt.Errorf("%s, line %d: %w", name, n, err)
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s, line %d: longer than %d MB", name, n+1, maxLine>>20)
	case err != nil:
		return fmt.Errorf("read %s after line %d: %w", name, n, err)
	case bounded.N == 0:
		return fmt.Errorf("%s holds more than %d MB; split it", name, maxBytes>>20)
	}
	return nil
}
