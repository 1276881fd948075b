package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// This file runs PDFium as WebAssembly. A fault in it ends the reading of one file and nothing else.
//
// wazero compiles PDFium for amd64 and arm64 on Linux, macOS, Windows and some BSDs. That takes seconds, so the result is
// kept in a folder if the program names one. Elsewhere, on Android for example, wazero interprets PDFium: it starts at once
// and takes about ten times as long for a page.

// keptMemory is the number of bytes of PDFium's memory, which never shrinks, above which the next file gets a new one.
const keptMemory = 64 << 20

// ErrStart is wrapped by the errors that are not the file's fault: reading it again may succeed.
var ErrStart = errors.New("the PDF reader could not be started")

// Configure says how Parse reads PDFs. The compiled code of PDFium is kept in the folder cache, which is created; with an
// empty name it is compiled once for each process. If preparing is not nil, it is called when the first PDF has to wait for
// that. Call Configure before Parse.
func Configure(cache string, preparing func()) {
	shared = newHost(cache, preparing)
}

// shared reads the PDFs of this process.
var shared = newHost("", nil)

// host starts PDFium when a file needs it, and keeps it for the next.
type host struct {
	cache     string
	preparing func()
	pageTime  time.Duration // for opening a file, and for each page
	fileTime  time.Duration

	turn     chan struct{} // held while PDFium works
	compiled wazero.CompilationCache
	running  *process // nil before the first file and after one that stopped PDFium
}

// process is PDFium with its memory.
type process struct {
	lib     pdfium.Pdfium
	pool    pdfium.Pool
	memory  boundedMemory
	objects int                // that go-pdfium remembers: those of pages and paths, until it is closed
	stop    context.CancelFunc // ends any call at once
}

func newHost(cache string, preparing func()) *host {
	return &host{cache: cache, preparing: preparing, pageTime: maxPageTime, fileTime: maxTime, turn: make(chan struct{}, 1)}
}

// use calls read with PDFium, alone. PDFium is stopped when ctx ends and when read works too long without a call of tick.
func (h *host) use(ctx context.Context, read func(lib pdfium.Pdfium, tick func()) error) error {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.turn }()
	p, err := h.start()
	if err != nil {
		return fmt.Errorf("%w: %v", ErrStart, err)
	}
	bounded, cancel := context.WithTimeout(ctx, h.fileTime)
	defer cancel()
	unwatch := context.AfterFunc(bounded, p.stop)
	var late atomic.Bool
	timer := time.AfterFunc(h.pageTime, func() { late.Store(true); p.stop() })
	sound := false
	defer func() {
		if !sound { // read panicked: cancel stops PDFium
			timer.Stop()
			h.running = nil
			p.close()
		}
	}()
	err = read(p.lib, func() { timer.Reset(h.pageTime) })
	sound = true
	timer.Stop()
	stopped := !unwatch() || late.Load()
	if stopped || crashed(err) || p.memory.full || cap(p.memory.bytes) > keptMemory || p.objects > maxFileObjects {
		h.running = nil
		p.close()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case late.Load():
		return errTooLate
	case bounded.Err() != nil:
		return errTooMany
	case p.memory.full:
		return errTooLarge
	case crashed(err):
		return errCrashed
	}
	return err
}

// errCrashed is the error for a file that makes PDFium fail.
var errCrashed = errors.New("damaged PDF (reading it failed)")

// crashed reports whether an error came from WebAssembly rather than from PDFium: PDFium cannot be used any more.
func crashed(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "wasm error") || strings.Contains(text, "module closed") || strings.Contains(text, "panic occurred")
}

// start returns PDFium as the last file left it, or starts it.
func (h *host) start() (*process, error) {
	if h.running != nil {
		return h.running, nil
	}
	if h.compiled == nil {
		if h.preparing != nil {
			h.preparing()
		}
		if h.compiled = wazero.NewCompilationCache(); h.cache != "" {
			if kept, err := wazero.NewCompilationCacheWithDir(h.cache); err == nil {
				h.compiled = kept
			}
		}
	}
	p, err := newProcess(h.compiled)
	if err != nil { // the folder may hold a damaged file
		h.compiled = wazero.NewCompilationCache()
		p, err = newProcess(h.compiled)
	}
	if err != nil {
		return nil, err
	}
	h.running = p
	return p, nil
}

func newProcess(compiled wazero.CompilationCache) (*process, error) {
	p := &process{}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(
		func(uint64, uint64) experimental.LinearMemory { return &p.memory }))
	var err error
	p.pool, err = webassembly.Init(webassembly.Config{
		Context: ctx, MaxIdle: 1, MaxTotal: 1, ReuseWorkers: true,
		FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
		RuntimeConfig: wazero.NewRuntimeConfig().
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling). // as webassembly.Init says
			WithCompilationCache(compiled).
			WithCloseOnContextDone(true), // boundedMemory bounds the memory; WithMemoryLimitPages would not say that it did
	})
	if err != nil {
		stop()
		return nil, err
	}
	if p.lib, err = p.pool.GetInstanceWithContext(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// close releases PDFium's memory, at once if it is much. The compiled code stays.
func (p *process) close() {
	large := cap(p.memory.bytes) > keptMemory
	p.stop()
	p.pool.Close()
	if p.pool, p.lib = nil, nil; large {
		debug.FreeOSMemory()
	}
}

// boundedMemory is the memory of PDFium. It remembers whether PDFium asked for more than it may have.
type boundedMemory struct {
	bytes []byte
	full  bool
}

// Reallocate implements experimental.LinearMemory.
func (m *boundedMemory) Reallocate(size uint64) []byte {
	if size > maxMemory {
		m.full = true
		return nil
	}
	if size > uint64(cap(m.bytes)) {
		grown := make([]byte, len(m.bytes), min(2*size, maxMemory))
		copy(grown, m.bytes)
		m.bytes = grown
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free implements experimental.LinearMemory.
func (m *boundedMemory) Free() { m.bytes = nil }
