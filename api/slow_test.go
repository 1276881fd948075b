package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/node"
)

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A client that asks and does not read is dropped, and gives up its turn.
func TestClientThatDoesNotRead(t *testing.T) {
	for _, more := range []string{"", `,"stream":true`} {
		synctest.Test(t, func(t *testing.T) {
			s := New(config(&echo{}))
			l := make(pipes, 1)
			server := &http.Server{Handler: s.Handler()}
			go server.Serve(l)
			client, conn := net.Pipe()
			l <- conn
			body := ask(strings.Repeat("long ", 4000), more)
			fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
			synctest.Wait()
			if len(s.slots) != 1 {
				t.Errorf("%d answers run, want the one that nobody reads", len(s.slots))
			}
			time.Sleep(stallAfter + time.Second)
			synctest.Wait()
			if len(s.slots) != 0 {
				t.Errorf("request%s: after %v the answer still has its turn", more, stallAfter)
			}
			client.Close()
			close(l)
			server.Close()
		})
	}
}

// An answer that has no end stops if its client does not read.
func TestStreamThatNobodyReads(t *testing.T) {
	for path, body := range map[string]string{
		chatPath: ask("x", `,"stream":true`), "/v1/completions": `{"prompt":"x","stream":true}`,
		"/v1/responses": `{"input":"x","stream":true}`, "/api/generate": `{"prompt":"x"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := New(config(endless{}))
			l := make(pipes, 1)
			server := &http.Server{Handler: s.Handler()}
			go server.Serve(l)
			client, conn := net.Pipe()
			l <- conn
			fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
			synctest.Wait()
			if len(s.slots) != 1 {
				t.Errorf("%s: %d answers run, want the one that nobody reads", path, len(s.slots))
			}
			time.Sleep(stallAfter + time.Second)
			synctest.Wait()
			if len(s.slots) != 0 {
				t.Errorf("%s: after %v the answer still has its turn", path, stallAfter)
			}
			client.Close()
			close(l)
			server.Close()
		})
	}
}

// endless writes words until its context ends.
type endless struct{}

func (endless) Sides() Sides { return Sides{} }

func (endless) Answer(ctx context.Context, _ Query, emit func(node.Token), _ func(node.Line)) (node.Answer, error) {
	for ctx.Err() == nil {
		emit(node.Token{Text: "word "})
		time.Sleep(time.Millisecond)
	}
	return node.Answer{}, ctx.Err()
}

// slowPapers is a library that takes a second to read a document.
type slowPapers struct {
	papers
	running, most int
}

func (p *slowPapers) Add(ctx context.Context, name string, r io.Reader) (Document, string, error) {
	p.mu.Lock()
	p.running++
	p.most = max(p.most, p.running)
	p.mu.Unlock()
	time.Sleep(time.Second)
	p.mu.Lock()
	p.running--
	p.mu.Unlock()
	return p.papers.Add(ctx, name, r)
}

// Of many uploads a few are read at a time, and the others wait.
func TestUploadsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		library := &slowPapers{papers: papers{held: map[string]string{}}}
		cfg := config(&echo{})
		cfg.Library = library
		s := New(cfg)
		var all sync.WaitGroup
		for i := range 7 {
			all.Go(func() {
				if w := send(t, s, "POST", fmt.Sprintf("/v1/documents?name=%d.md", i), "text", "Content-Type", "text/plain"); w.Code != http.StatusOK {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		all.Wait()
		if library.most != uploadsAtOnce || len(library.held) != 7 {
			t.Errorf("%d uploads at once, want %d; %d documents", library.most, uploadsAtOnce, len(library.held))
		}
	})
}

// Clients that send nothing, too little, or much and then nothing, lose their places to one that waits. A client that is slow, but
// not too slow, does not.
func TestSlowUploads(t *testing.T) {
	const head = "POST /v1/documents?name=%s.md HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
	for name, c := range map[string]struct {
		chunk, chunks int
		every         time.Duration
		kept          bool
	}{
		"nothing":        {0, 1, time.Hour, false},
		"a little":       {1, 100, 10 * time.Second, false},
		"too little":     {16 * slowestUpload, 40, 20 * time.Second, false},
		"much, at first": {20 << 20, 2, time.Hour, false},
		"slowly":         {22 * slowestUpload, 4, 20 * time.Second, true},
		"too long":       {14 * slowestUpload, 27, 12 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				library := &slowPapers{papers: papers{held: map[string]string{}}}
				cfg := config(&echo{})
				cfg.Library = library
				s := New(cfg)
				l := make(pipes, uploadsAtOnce+1)
				server := &http.Server{Handler: s.Handler(), ReadTimeout: longestUpload}
				go server.Serve(l)
				var all sync.WaitGroup
				for i := range uploadsAtOnce {
					client, conn := net.Pipe()
					l <- conn
					all.Go(func() {
						checkStatus(t, client, map[bool]int{true: http.StatusOK, false: http.StatusRequestTimeout}[c.kept])
					})
					all.Go(func() {
						fmt.Fprintf(client, head, fmt.Sprint(i), max(1, c.chunk*c.chunks))
						for range c.chunks {
							client.Write(make([]byte, c.chunk)) // fails once the server gives up
							time.Sleep(c.every)
						}
					})
				}
				synctest.Wait()
				client, conn := net.Pipe()
				l <- conn
				begun := time.Now()
				go fmt.Fprintf(client, head+"text", "last", len("text"))
				checkStatus(t, client, http.StatusOK)
				if took := time.Since(begun); took > longestUpload+2*time.Second {
					t.Errorf("an upload waited for %v", took)
				}
				all.Wait()
				close(l)
				server.Close()
			})
		})
	}
}

// checkStatus reads a response, whose status must be want, and closes the connection.
func checkStatus(t *testing.T, client net.Conn, want int) {
	defer client.Close()
	r, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Error(err)
		return
	}
	if body, err := io.ReadAll(r.Body); r.StatusCode != want || err != nil {
		t.Errorf("%s %s (%v), want %d", r.Status, body, err, want)
	}
}
