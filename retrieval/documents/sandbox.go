package documents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"tandem/retrieval/internal/english"
)

// A PDF of a few hundred bytes can cause any amount of memory, a deep stack or an endless loop. Nothing stops a library
// from that, but a process can be stopped. So a child process reads PDFs: this program, started again.

const (
	sandboxEnv = "TANDEM_READ_PDF" // set for the child
	pdfTime    = 20 * time.Second
	pdfMemory  = 512 << 20 // bytes
	// Exit codes of the child.
	exitLarge = 3
	exitLate  = 4
)

var (
	errTooLarge = fmt.Errorf("reading it takes more than %d MB of memory (split it into parts)", pdfMemory>>20)
	errTooLate  = fmt.Errorf("not read within %v", pdfTime)
)

// ErrSandbox is wrapped by the errors that are not the file's fault: reading it again may succeed.
var ErrSandbox = errors.New("the process that reads PDFs failed")

// sandboxed reports whether this program has called SandboxPDFs.
var sandboxed bool

// SandboxPDFs makes Parse read each PDF in a child process whose time and memory are bounded. Call it first in main: the
// child runs the same program, and there the call reads the PDF and exits. Without the call, Parse reads PDFs in the
// calling process, with no bound on memory.
func SandboxPDFs() {
	if os.Getenv(sandboxEnv) == "" {
		sandboxed = true
		return
	}
	bound(2 * pdfMemory)
	go guard()
	debug.SetMemoryLimit(pdfMemory * 3 / 4)
	debug.SetMaxStack(64 << 20)
	data, err := io.ReadAll(io.LimitReader(os.Stdin, pdfLimit))
	if err == nil {
		var out result
		if out.Document, err = readPDF(context.Background(), data); err != nil {
			out.Reason = err.Error()
		}
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// guard ends the process if it takes too much time or memory.
func guard() {
	late, tick := time.After(pdfTime), time.NewTicker(10*time.Millisecond)
	memory := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		select {
		case <-late:
			os.Exit(exitLate)
		case <-tick.C:
		}
		metrics.Read(memory)
		if memory[0].Value.Uint64()-memory[1].Value.Uint64() > pdfMemory {
			os.Exit(exitLarge)
		}
	}
}

// result is what the child writes: a document, or the reason why there is none.
type result struct {
	Document Document
	Reason   string
}

// readInSandbox is readPDF in a child process.
func readInSandbox(ctx context.Context, data []byte) (Document, error) {
	self, err := os.Executable()
	if err != nil {
		return Document{}, fmt.Errorf("%w: %v", ErrSandbox, err)
	}
	ctx, cancel := context.WithTimeout(ctx, pdfTime+time.Second) // the child's own guard ends it first
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), sandboxEnv+"=1", "GOTRACEBACK=single")
	cmd.Stdin = bytes.NewReader(data)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output() // on failure, err holds up to 64 kB of stderr
	var read result
	if err == nil {
		err = json.Unmarshal(out, &read)
	}
	switch {
	case ctx.Err() != nil:
		return Document{}, errTooLate
	case err != nil:
		return Document{}, exitError(err)
	case read.Reason != "":
		return Document{}, errors.New(read.Reason)
	}
	return read.Document, nil
}

// exitError explains why the child ended: by its exit code, or by what the runtime printed.
func exitError(err error) error {
	exit, ok := err.(*exec.ExitError)
	if !ok {
		return fmt.Errorf("%w: %v", ErrSandbox, err)
	}
	stderr := string(exit.Stderr)
	switch {
	case exit.ExitCode() == exitLate:
		return errTooLate
	case exit.ExitCode() == exitLarge, strings.Contains(stderr, "out of memory"),
		strings.Contains(stderr, "failed to allocate"): // the race detector's words
		return errTooLarge
	case strings.Contains(stderr, "stack overflow"), strings.Contains(stderr, "stack exceeds"):
		return errors.New("damaged PDF (it nests too deeply)")
	}
	first, _, _ := strings.Cut(stderr, "\n")
	return fmt.Errorf("%w: %s", ErrSandbox, cmp.Or(english.Collapse(first), exit.Error()))
}
