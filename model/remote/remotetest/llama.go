package remotetest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// LlamaVariable names the program llama-server for tests with a real one.
const LlamaVariable = "TANDEM_LLAMA_SERVER"

// A Process is a llama-server that runs.
type Process struct {
	Address string // HOST:PORT
	cmd     *exec.Cmd
	ended   chan struct{}
	end     sync.Once
}

// StartLlamaServer starts a real llama-server for a model file, with eight slots of 512 tokens, and waits until it
// listens; it may still be loading. It skips the test where there is none. The server ends with the test.
func StartLlamaServer(t testing.TB, file string, flags ...string) *Process {
	t.Helper()
	program := os.Getenv(LlamaVariable)
	if program == "" {
		var err error
		if program, err = exec.LookPath("llama-server"); err != nil {
			t.Skipf("there is no llama-server to test with: set %s to its path, or see lab/peers/llama_server.sh", LlamaVariable)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{Address: l.Addr().String(), ended: make(chan struct{})}
	l.Close()
	host, port, _ := net.SplitHostPort(p.Address)
	p.cmd = exec.Command(program, append([]string{"-m", file, "--host", host, "--port", port, "-c", "4096", "-np", "8"}, flags...)...)
	var said bytes.Buffer
	p.cmd.Stdout, p.cmd.Stderr = &said, &said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		if p.Kill(); t.Failed() {
			t.Logf("llama-server said:\n%s", said.Bytes())
		}
	})
	for range 1200 { // two minutes
		if c, err := net.Dial("tcp", p.Address); err == nil {
			c.Close()
			return p
		}
		select {
		case <-p.ended:
			t.Fatal("llama-server has ended before it listened")
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatal("llama-server does not listen")
	return nil
}

// Kill ends the server at once.
func (p *Process) Kill() {
	p.end.Do(func() { p.cmd.Process.Kill() })
	<-p.ended
}
