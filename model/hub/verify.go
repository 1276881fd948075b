package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/atomicfile"
)

// ErrNoSum says that no checksum of a file is on record.
var ErrNoSum = errors.New("no checksum is recorded")

// ErrDamaged says that a file has another checksum than the one on record.
var ErrDamaged = errors.New("it is damaged, or another file was put in its place")

// sumExt is added to a file's name for the file that holds its checksum.
const sumExt = ".sha256"

// Verify reads a file and compares it with its checksum on record: the name of its blob, if it leads into the cache, or else
// the one in the file of the same name with .sha256 added, as sha256sum writes it. It returns ErrNoSum if there is neither, and
// an error that is ErrDamaged if they differ. That finds damage, not forgery: whoever can write the file can write its checksum.
func Verify(ctx context.Context, path string) error {
	want, err := recorded(path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	got, err := sumFile(ctx, f, newHash(len(want), info.Size()))
	if err == nil && got != want {
		err = fmt.Errorf("%s: %w: its checksum is %s, but the recorded one is %s", path, ErrDamaged, got, want)
	}
	return err
}

// Record writes the checksum of a file next to it, for Verify. sum is its SHA-256 in hexadecimal, or "" to read the file. It does
// nothing for a file that leads into the cache.
func Record(ctx context.Context, path, sum string) error {
	if inCache(path) != "" {
		return nil
	}
	if sum == "" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if sum, err = sumFile(ctx, f, sha256.New()); err != nil {
			return err
		}
	}
	return atomicfile.Write(path+sumExt, fmt.Appendf(nil, "%s  %s\n", sum, filepath.Base(path)), 0o644)
}

// Recordable reports whether Record can write the checksum of a file. It cannot for a link into the cache, whose names
// already contain the checksum.
func Recordable(path string) bool { return inCache(path) == "" }

// HasSum reports whether a checksum of a file is on record.
func HasSum(path string) bool {
	_, err := recorded(path)
	return err == nil
}

// Forget removes what Record wrote for a file.
func Forget(path string) error {
	if err := os.Remove(path + sumExt); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// recorded returns the checksum on record for a file.
func recorded(path string) (string, error) {
	if sum := inCache(path); sum != "" {
		return sum, nil
	}
	f, err := os.Open(path + sumExt)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoSum
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return "", err
	}
	sum, _, _ := strings.Cut(string(line), " ")
	if sum = strings.ToLower(strings.TrimSpace(sum)); len(sum) != 2*sha256.Size || !hexSum.MatchString(sum) {
		return "", fmt.Errorf("%s does not begin with a SHA-256 as sha256sum writes it: remove it, or write it again", f.Name())
	}
	return sum, nil
}

// inCache returns the checksum that a file's place in a cache gives, or "" if it is in none.
func inCache(path string) string {
	blob, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.Base(filepath.Dir(blob)) != "blobs" || !hexSum.MatchString(filepath.Base(blob)) {
		return ""
	}
	return filepath.Base(blob)
}

// sumFile returns what h says of a file's bytes.
func sumFile(ctx context.Context, f io.Reader, h hash.Hash) (string, error) {
	buf := make([]byte, 1<<20)
	for {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
	}
}
