package api

import (
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
