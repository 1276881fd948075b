//go:build unix

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe gets the data and stays a pipe. Writing to one that nobody reads can be interrupted. A socket is refused.
func TestWriteOutputToPipes(t *testing.T) {
	a, _, _ := testApp(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	read := make(chan string)
	go func() {
		f, err := os.Open(pipe)
		if err != nil {
			t.Error(err)
			close(read)
			return
		}
		defer f.Close()
		text, _ := io.ReadAll(f)
		read <- string(text)
	}()
	if err := a.WriteOutput(pipe, []byte("rows"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text := <-read; text != "rows" {
		t.Errorf("the reader got %q", text)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v, %v", info, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.Context = ctx
	if err := a.WriteOutput(pipe, []byte("rows"), 0o644); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody reads: %v", err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: socket}); err != nil {
		t.Skip(err) // the path may be too long
	}
	if err := a.WriteOutput(socket, []byte("rows"), 0o644); err == nil || !strings.Contains(err.Error(), "socket") {
		t.Errorf("a socket: %v", err)
	}
}
