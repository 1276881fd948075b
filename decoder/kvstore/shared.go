package kvstore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// shared exchanges a Store's blobs with a bucket. A failed request counts as a miss, and no further requests are made for some
// time, so that an unreachable bucket costs little.
type shared struct {
	bucket *Bucket
	path   func(key [32]byte) string
	log    *slog.Logger
	ctx    context.Context
	stop   context.CancelFunc
	sender sync.WaitGroup

	mu     sync.Mutex
	queue  chan [32]byte // nil once closed
	until  time.Time     // no requests before this time
	shares Shares
}

// Shares counts what a Store exchanged with its bucket.
type Shares struct {
	Fetched int // blobs that came from it
	Missed  int // blobs that it does not have, or has damaged
	Sent    int
	Failed  int // requests
	Left    int // blobs that were not asked for, kept or sent, because requests or the disk failed or many wait
}

const (
	sendQueue   = 64
	sendAtOnce  = 2
	restAfter   = 30 * time.Second // a failure
	sendAtClose = 5 * time.Second  // how long Close waits
)

// Share makes the store exchange blobs with a bucket: it requests blobs that it lacks, and sends those that are put. Share must
// be called before the store is used. Failures are logged to log.
func (s *Store) Share(b *Bucket, log *slog.Logger) {
	queue := make(chan [32]byte, sendQueue)
	h := &shared{bucket: b, path: s.path, log: log, queue: queue}
	h.ctx, h.stop = context.WithCancel(context.Background())
	for range sendAtOnce {
		h.sender.Go(func() { h.send(queue) })
	}
	s.shared = h
}

// Shares returns what the store has exchanged with its bucket so far.
func (s *Store) Shares() Shares {
	if s.shared == nil {
		return Shares{}
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	return s.shared.shares
}

// fetch takes a blob from the bucket into the store, and reports whether it is there now.
func (s *Store) fetch(ctx context.Context, key [32]byte) bool {
	h := s.shared
	if ctx.Err() != nil || h.rests() {
		return false
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(h.ctx, stop)()
	err := s.place(key, func(f *os.File) (int64, error) {
		n, err := h.bucket.get(asking, nameOf(key), f, s.budget)
		if err != nil {
			return 0, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		_, err = checkBlob(f, key)
		return n, err
	})
	if err != nil && errors.Is(ctx.Err(), context.Canceled) { // nobody waits any more, which is not the bucket's fault
		return false
	}
	return h.ended(err, func(c *Shares) { c.Fetched++ })
}

// rests reports whether requests are suspended after a failure.
func (h *shared) rests() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	rests := time.Now().Before(h.until)
	if rests {
		h.shares.Left++
	}
	return rests
}

// ended counts a finished request, and reports whether it succeeded.
func (h *shared) ended(err error, fine func(*Shares)) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		fine(&h.shares)
		return true
	case errors.Is(err, errNone), errors.Is(err, errCorrupt), errors.Is(err, ErrTooLarge): // computed again, it is sent again
		h.shares.Missed++
	case ofDisk(err):
		h.shares.Left++
		h.log.Warn("a computed passage cannot be exchanged with the bucket: the disk fails", "error", err)
	case h.ctx.Err() == nil:
		h.shares.Failed++
		h.until = time.Now().Add(restAfter)
		h.log.Warn("the bucket of computed passages fails and is left alone for a while", "for", restAfter, "error", err)
	}
	return false
}

// ofDisk reports whether an error is of this machine's files, and so not the bucket's.
func ofDisk(err error) bool {
	return errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError))
}

// offer sends a blob in the background, or leaves it if many wait.
func (h *shared) offer(key [32]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case h.queue <- key: // never, once it is nil
	default:
		h.shares.Left++
	}
}

// send sends blobs until the queue is closed.
func (h *shared) send(queue <-chan [32]byte) {
	for key := range queue {
		if h.rests() {
			continue
		}
		err := h.bucket.put(h.ctx, nameOf(key), h.path(key))
		if errors.Is(err, os.ErrNotExist) {
			continue // it was evicted
		}
		h.ended(err, func(c *Shares) { c.Sent++ })
	}
}

// close waits until the queue is sent, for a moment.
func (h *shared) close() {
	h.mu.Lock()
	if h.queue != nil {
		close(h.queue)
		h.queue = nil
	}
	h.mu.Unlock()
	defer time.AfterFunc(sendAtClose, h.stop).Stop()
	h.sender.Wait()
	h.stop()
	h.bucket.http.CloseIdleConnections()
}
