package api

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
			if len(s.turns) != 1 {
				t.Errorf("%d answers run, want the one that nobody reads", len(s.turns))
			}
			time.Sleep(stallAfter + time.Second)
			synctest.Wait()
			if len(s.turns) != 0 {
				t.Errorf("request%s: after %v the answer still has its turn", more, stallAfter)
			}
			client.Close()
			close(l)
			server.Close()
		})
	}
}
