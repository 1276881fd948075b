package retrieval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"
)

// A few hundred bytes of a PDF can ask for any amount of memory, a deep stack or an endless loop. A library cannot be
// stopped in any of that, a process can: so PDFs are read by a process of their own, which is this program started anew.

const (
	apartEnv  = "TANDEM_READ_PDF" // set for that process
	pdfTime   = 20 * time.Second
	pdfMemory = 512 << 20 // bytes
	// Exit codes of that process.
	exitLarge = 3
	exitLate  = 4
)

var (
	tooLarge = fmt.Sprintf("reading it takes more than %d MB of memory (save it anew, in parts)", pdfMemory>>20)
	tooLate  = fmt.Sprintf("not read within %v", pdfTime)
)

// noReader begins the reasons that are not the file's fault: it is read again next time.
const noReader = "the process that reads PDFs failed"

// apart says whether this program has called ReadPDFsApart.
var apart bool

// ReadPDFsApart lets PDFs be read by a process of their own, whose time and memory are bounded. It is to be called first in
// main: in that process, which runs the same program, it reads the PDF and does not return. Without the call they are read
// by the process that parses them, without such bounds.
func ReadPDFsApart() {
	if os.Getenv(apartEnv) == "" {
		apart = true
		return
	}
	bound(2 * pdfMemory)
	go guard()
	debug.SetMemoryLimit(pdfMemory * 3 / 4)
	debug.SetMaxStack(64 << 20)
	data, err := io.ReadAll(io.LimitReader(os.Stdin, pdfLimit))
	if err == nil {
		doc, reason := readPDF(context.Background(), data)
		err = json.NewEncoder(os.Stdout).Encode(wirePDF{reason, doc.title, wireBlocks(doc.blocks)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// guard ends the process when it takes too much time or memory.
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

// wirePDF is what the process writes: why there is no document, or one.
type wirePDF struct {
	Reason string
	Title  string
	Blocks []wireBlock
}

type wireBlock struct {
	Kind blockKind
	Text string
}

func wireBlocks(blocks []block) []wireBlock {
	out := make([]wireBlock, len(blocks))
	for i, b := range blocks {
		out[i] = wireBlock{b.kind, b.text}
	}
	return out
}

// readPDFApart is readPDF in a process of its own.
func readPDFApart(ctx context.Context, data []byte) (document, string) {
	self, err := os.Executable()
	if err != nil {
		return document{}, fmt.Sprintf("%s: %v", noReader, err)
	}
	ctx, cancel := context.WithTimeout(ctx, pdfTime+time.Second) // its own guard comes first
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), apartEnv+"=1", "GOTRACEBACK=single")
	cmd.Stdin = bytes.NewReader(data)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output() // its last words are in the error, at most 64 kB
	var read wirePDF
	if err == nil {
		err = json.Unmarshal(out, &read)
	}
	switch {
	case ctx.Err() != nil:
		return document{}, tooLate
	case err != nil:
		return document{}, whyItEnded(err)
	case read.Reason != "":
		return document{}, read.Reason
	}
	doc := document{title: read.Title}
	for _, b := range read.Blocks {
		doc.blocks = append(doc.blocks, block{b.Kind, b.Text})
	}
	return doc, ""
}

// whyItEnded says what became of the process, by its exit code or by what the runtime says when it gives up.
func whyItEnded(err error) string {
	ended, ok := err.(*exec.ExitError)
	if !ok {
		return fmt.Sprintf("%s: %v", noReader, err)
	}
	words := string(ended.Stderr)
	switch {
	case ended.ExitCode() == exitLate:
		return tooLate
	case ended.ExitCode() == exitLarge, strings.Contains(words, "out of memory"), strings.Contains(words, "failed to allocate"): // the latter says the race detector
		return tooLarge
	case strings.Contains(words, "stack overflow"), strings.Contains(words, "stack exceeds"):
		return "damaged PDF (it nests too deeply)"
	}
	first, _, _ := strings.Cut(words, "\n")
	return fmt.Sprintf("%s: %s", noReader, cmp.Or(collapse(first), ended.Error()))
}
