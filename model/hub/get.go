package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandem/internal/atomicfile"
	"tandem/internal/filelock"
)

// Get returns the path in the snapshot of a file of the repository. It reads and verifies a file that is in the cache, and
// downloads one that is not, or is damaged. It resumes an interrupted download.
func (c *Client) Get(ctx context.Context, r *Repo, f File) (string, error) {
	path := c.Cached(r, f)
	if f.Sum == "" {
		if c.Offline { // see cachedFile
			if _, err := os.Stat(path); err != nil {
				return "", c.absent(f)
			}
			return path, nil
		}
		var err error
		if f, err = c.identify(ctx, r, f); err != nil {
			return "", fmt.Errorf("download %s: %w", f.Name, err)
		}
	}
	blob := filepath.Join(c.Folder(r.Name), "blobs", f.Sum)
	whole, err := f.is(ctx, blob)
	if err != nil {
		return "", err
	}
	if !whole {
		if c.Offline {
			return "", c.absent(f)
		}
		if err := c.download(ctx, r, f, blob); err != nil {
			return "", fmt.Errorf("download %s: %w", f.Name, err)
		}
	}
	return path, Link(blob, path)
}

// Cached returns the path in the snapshot of a file that List found in the cache. It does not read the file; Verify does.
func (c *Client) Cached(r *Repo, f File) string {
	return filepath.Join(c.Snapshot(r), filepath.FromSlash(f.Name))
}

// is reports whether the file at path has the size and the checksum of f.
func (f File) is(ctx context.Context, path string) (bool, error) {
	in, err := os.Open(path)
	if err != nil {
		return false, nil // a download will show it
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || info.Size() != f.Size {
		return false, err
	}
	sum, err := sumFile(ctx, in, newHash(len(f.Sum), f.Size))
	return sum == f.Sum, err
}

// Head returns the first n bytes of a file that is not in the cache yet, or all of a shorter one; nil if it is there.
func (c *Client) Head(ctx context.Context, r *Repo, f File, n int64) (b []byte, err error) {
	if info, err := os.Stat(filepath.Join(c.Folder(r.Name), "blobs", f.Sum)); c.Offline || f.Sum != "" && err == nil && info.Size() == f.Size {
		return nil, nil
	}
	address := c.fileAddress(r, f)
	err = c.retry(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, stall)
		defer cancel()
		res, err := c.get(ctx, address, fmt.Sprintf("bytes=0-%d", n-1))
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusPartialContent {
			return c.statusError(res, r.Name, r.Name+"/"+f.Name)
		}
		b, err = io.ReadAll(io.LimitReader(res.Body, n))
		return temporary(err)
	})
	return b, err
}

// absent returns the error for a file that is not in the cache when offline.
func (c *Client) absent(f File) error {
	return fmt.Errorf("%s is not in %s, or it is damaged, and HF_HUB_OFFLINE is set: unset it to download", f.Name, c.Cache)
}

// identify requests a file's checksum and size if the listing does not give them.
func (c *Client) identify(ctx context.Context, r *Repo, f File) (File, error) {
	address := c.fileAddress(r, f)
	err := c.retry(ctx, func() error {
		res, err := c.request(ctx, http.MethodHead, address, "")
		if err != nil {
			return err
		}
		res.Body.Close()
		if res.StatusCode >= 400 {
			return c.statusError(res, r.Name, r.Name+"/"+f.Name)
		}
		sum, size := res.Header.Get("X-Linked-Etag"), res.Header.Get("X-Linked-Size")
		if sum == "" {
			sum, size = res.Header.Get("ETag"), res.Header.Get("Content-Length")
		}
		f.Sum = strings.Trim(strings.TrimPrefix(sum, "W/"), `"`)
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || !hexSum.MatchString(f.Sum) || n < 0 || n > maxSize {
			return fmt.Errorf("%s gives no checksum and size for it", c.Endpoint.Host)
		}
		f.Size = n
		return nil
	})
	return f, err
}

// download downloads a file to blob.incomplete and renames it to blob.
func (c *Client) download(ctx context.Context, r *Repo, f File, blob string) error {
	dir := filepath.Dir(blob)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(blob+".incomplete", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	switch locked, err := filelock.Try(out); {
	case err != nil:
		return fmt.Errorf("lock %s: %w: set HF_HOME to a folder on a disk that supports locks", out.Name(), err)
	case !locked:
		return fmt.Errorf("another program is downloading it (%s is locked): wait for it", out.Name())
	}
	if whole, err := f.is(ctx, blob); whole || err != nil {
		// Another program has finished the download.
		out.Close()
		os.Remove(blob + ".incomplete")
		return err
	}
	d := &transfer{c: c, repo: r, file: f, out: out}
	if err := d.begin(); err != nil {
		return err
	}
	if err := d.checkSpace(dir); err != nil {
		return err
	}
	if err := d.fetchAll(ctx); err != nil {
		return err
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return diskError(err, dir)
	}
	return os.Rename(blob+".incomplete", blob)
}

// A transfer is the download of one file.
type transfer struct {
	c       *Client
	repo    *Repo
	file    File
	out     *os.File
	sum     hash.Hash // of what is in out
	done    int64     // bytes in out
	resumed int64
}

// begin hashes the part that is there.
func (d *transfer) begin() error {
	d.sum, d.done = newHash(len(d.file.Sum), d.file.Size), 0
	info, err := d.out.Stat()
	if err != nil || info.Size() > d.file.Size {
		return d.restart(err)
	}
	n, err := io.Copy(d.sum, io.LimitReader(d.out, info.Size()))
	d.done, d.resumed = n, n
	return err
}

// newHash returns the hash that makes a checksum with that number of hex digits, for a file of size bytes.
func newHash(digits int, size int64) hash.Hash {
	if digits == 2*sha256.Size {
		return sha256.New()
	}
	h := sha1.New() // git's name of a blob
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// restart drops the part that is there.
func (d *transfer) restart(err error) error {
	d.sum, d.done, d.resumed = newHash(len(d.file.Sum), d.file.Size), 0, 0
	if err == nil {
		err = d.out.Truncate(0)
	}
	if err == nil {
		_, err = d.out.Seek(0, io.SeekStart)
	}
	return err
}

// checkSpace checks that the rest fits on the disk.
func (d *transfer) checkSpace(dir string) error {
	free, err := d.c.free(dir)
	if err != nil {
		return nil // writing will show it
	}
	if rest := uint64(d.file.Size - d.done); rest > free {
		return fmt.Errorf("%d MB are missing on the disk of %s (%d needed, %d free): make room, or set HF_HOME to a folder on another disk",
			(rest-free)>>20+1, dir, rest>>20+1, free>>20)
	}
	return nil
}

// fetchAll downloads and verifies the file. Progress resets the number of attempts, so that a poor connection succeeds
// in the end. If the checksum of a resumed download is wrong, it starts over once.
func (d *transfer) fetchAll(ctx context.Context) error {
	for {
		for d.done < d.file.Size {
			before := d.done
			err := d.c.retry(ctx, func() error {
				err := d.fetch(ctx)
				if d.done > before && isTemporary(err) {
					return nil // progress: request the rest
				}
				return err
			})
			if err != nil && d.done > 0 && ctx.Err() == nil {
				return fmt.Errorf("%w; %d of %d bytes are kept: run the command again to continue", err, d.done, d.file.Size)
			}
			if err != nil {
				return err
			}
		}
		got := hex.EncodeToString(d.sum.Sum(nil))
		if got == d.file.Sum {
			return nil
		}
		again := d.resumed > 0
		if err := d.restart(nil); err != nil {
			return err
		}
		if !again {
			return fmt.Errorf("its checksum is %s, but the hub says %s: the data is damaged and was removed; try again", got, d.file.Sum)
		}
	}
}

func isTemporary(err error) bool {
	var t *temporaryError
	return errors.As(err, &t)
}

// fetch requests the missing part once, and appends what arrives.
func (d *transfer) fetch(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no data arrived for %v", stall)) })
	defer watch.Stop()

	res, err := d.c.get(ctx, d.c.fileAddress(d.repo, d.file), from(d.done))
	if err != nil {
		return stalled(ctx, err)
	}
	defer res.Body.Close()
	known := int64(0)
	switch res.StatusCode {
	case http.StatusOK: // from the start, whatever was requested: perhaps not the file but a proxy's page
		known = d.done
		if res.ContentLength >= 0 && res.ContentLength != d.file.Size {
			return fmt.Errorf("%s sends %d bytes, but the hub says %d: try again later", res.Request.URL.Host, res.ContentLength, d.file.Size)
		}
	case http.StatusPartialContent:
		want := fmt.Sprintf("bytes %d-%d/%d", d.done, d.file.Size-1, d.file.Size)
		if got := res.Header.Get("Content-Range"); got != want {
			return fmt.Errorf("%s sends %q, not %q: try again later", res.Request.URL.Host, got, want)
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if d.done == 0 {
			return d.c.statusError(res, d.repo.Name, d.repo.Name+"/"+d.file.Name)
		}
		return temporary(d.restart(nil))
	default:
		return d.c.statusError(res, d.repo.Name, d.repo.Name+"/"+d.file.Name)
	}
	return stalled(ctx, d.receive(ctx, res.Body, known, watch))
}

// stalled returns the cause of a cancelled request. If it was the timer, the error is temporary.
func stalled(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return temporary(cause)
	}
	return err
}

// receive appends what arrives, after the first known bytes, which are there already.
func (d *transfer) receive(ctx context.Context, body io.Reader, known int64, watch *time.Timer) error {
	body = io.LimitReader(body, known+d.file.Size-d.done)
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := body.Read(buf)
		if n > 0 {
			watch.Reset(stall)
		}
		again := min(known, int64(n))
		known -= again
		if err := d.add(buf[again:n]); err != nil {
			return err
		}
		switch {
		case err == io.EOF && d.done < d.file.Size, errors.Is(err, io.ErrUnexpectedEOF):
			return temporary(fmt.Errorf("the connection ended after %d of %d bytes", d.done, d.file.Size))
		case err == io.EOF:
			return nil
		case err != nil:
			return temporary(fmt.Errorf("the connection broke after %d of %d bytes: %w", d.done, d.file.Size, unwrapURL(err)))
		}
	}
}

// add appends bytes to the file.
func (d *transfer) add(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := d.out.Write(b); err != nil {
		// The hash does not cover a partial write: remove it.
		d.out.Truncate(d.done)
		return diskError(err, filepath.Dir(d.out.Name()))
	}
	d.sum.Write(b)
	d.done += int64(len(b))
	if d.c.Progress != nil {
		d.c.Progress(Progress{File: d.file.Name, Done: d.done, Total: d.file.Size, Resumed: d.resumed})
	}
	return nil
}

func diskError(err error, dir string) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk of %s is full: make room, or set HF_HOME to a folder on another disk: %w", dir, err)
	}
	return err
}

// Link makes path a relative symbolic link to target, or else a hard link or a copy. It replaces a link at path, but not
// a file.
func Link(target, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil {
		if same(path, target) {
			return nil
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return fmt.Errorf("%s exists and is another file: move it away", path)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	to := target
	// A link is relative to the real folder that holds it.
	from, err := filepath.EvalSymlinks(filepath.Dir(path))
	in, e := filepath.EvalSymlinks(filepath.Dir(target))
	if err == nil && e == nil {
		if rel, err := filepath.Rel(from, filepath.Join(in, filepath.Base(target))); err == nil {
			to = rel
		}
	}
	if os.Symlink(to, path) == nil || os.Link(target, path) == nil {
		return nil
	}
	return copyFile(target, path)
}

func same(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	err = atomicfile.WriteFunc(to, 0o600, func(out io.Writer) error {
		_, err := io.Copy(out, in)
		return err
	})
	return diskError(err, filepath.Dir(to))
}
