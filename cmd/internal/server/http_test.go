package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/api"
	"tandem/model"
	"tandem/model/span"
	"tandem/models"
	"tandem/npu/native"
)

// pipes is a listener whose connections stay in the process.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
	err   error // of Accept, once it is closed
}

func newPipes() *pipes {
	return &pipes{conns: make(chan net.Conn), done: make(chan struct{}), err: net.ErrClosed}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, p.err
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// get sends a request and returns how its response ends.
func (p *pipes) get(t *testing.T) <-chan error {
	client, server := net.Pipe()
	p.conns <- server
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		defer client.Close()
		r, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err == nil {
			_, err = io.ReadAll(r.Body)
		}
		ended <- err
	}()
	return ended
}

// A server that ends lets requests continue for some time, then ends them, and returns when none is left: what they use is
// closed then. That also holds for a server that fails.
func TestRunWaitsForRequests(t *testing.T) {
	for _, test := range []struct {
		name  string
		takes time.Duration // a request that nobody ends
		fails bool
		want  time.Duration // when the server has ended
		whole bool          // the client has the response
	}{
		{"short", 7 * time.Second, false, 7 * time.Second, true},
		{"long", time.Hour, false, 12 * time.Second, false},
		{"failure", 7 * time.Second, true, 7 * time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left := false
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.(http.Flusher).Flush()
					select {
					case <-time.After(test.takes):
					case <-r.Context().Done():
						time.Sleep(2 * time.Second) // a pass that cannot be stopped
					}
					left = true
				})
				l := newPipes()
				ctx, end := context.WithCancel(t.Context())
				defer end()
				ended := make(chan error, 1)
				go func() { ended <- Run(ctx, l, h, func() time.Duration { return 10 * time.Second }) }()
				response := l.get(t)
				synctest.Wait()
				began, broken := time.Now(), errors.New("broken")
				if test.fails {
					l.err = broken
					l.Close()
				} else {
					end()
				}
				err := <-ended
				if took := time.Since(began); !left || took.Truncate(time.Second) != test.want {
					t.Errorf("the server ended after %v, its request had ended: %v", took, left)
				}
				if test.fails != errors.Is(err, broken) || !test.fails && err != nil {
					t.Error(err)
				}
				if err := <-response; (err == nil) != test.whole {
					t.Errorf("the response: %v", err)
				}
			})
		})
	}
}

// A request whose time is up learns why, and its client gets what it then writes.
func TestRunSaysWhyItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			if cause := context.Cause(r.Context()); cause != api.ErrEnding {
				t.Errorf("the request ends with: %v", cause)
			}
			io.WriteString(w, "the server ends")
		})
		l := newPipes()
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Run(ctx, l, h, func() time.Duration { return time.Second }) }()
		response := l.get(t)
		synctest.Wait()
		end()
		if err := errors.Join(<-response, <-ended); err != nil {
			t.Error(err)
		}
	})
}

// While a request is given to its end, others reach the handler, which says that the server ends. Once the last has left, or its
// time is up, nobody gets in.
func TestRunRefusesWhileItDrains(t *testing.T) {
	for takes, want := range map[time.Duration]time.Duration{7 * time.Second: 7 * time.Second, time.Hour: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var came atomic.Int64
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if came.Add(1) > 1 {
					return
				}
				select {
				case <-time.After(takes):
				case <-r.Context().Done():
				}
			})
			l := newPipes()
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- Run(ctx, l, h, func() time.Duration { return 10 * time.Second }) }()
			first := l.get(t)
			synctest.Wait()
			began := time.Now()
			end()
			for range 3 {
				time.Sleep(2 * time.Second)
				select {
				case <-l.done:
					t.Fatalf("after %v, nobody is let in", time.Since(began))
				default:
				}
				if err := <-l.get(t); err != nil {
					t.Error(err)
				}
			}
			<-first
			if err := <-ended; err != nil || time.Since(began).Truncate(time.Second) != want || came.Load() != 4 {
				t.Errorf("%v after %v, %d requests; want %v", err, time.Since(began), came.Load(), want)
			}
		})
	}
}

// A file without a key, as a full disk leaves it, is named as such.
func TestEmptyAPIKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"", "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := apiKey(nil, path)
		if want := "--api-key: " + path + " is empty, as a full disk leaves it: remove it to have a key created"; key != "" || err == nil || err.Error() != want {
			t.Errorf("of %q: %q, %v; want %s", text, key, err, want)
		}
	}
}

// An origin is compared with what a browser sends, so one that no browser sends is refused.
func TestOrigins(t *testing.T) {
	for given, want := range map[string]string{
		"http://localhost:3000": "http://localhost:3000", "https://App.example/": "https://app.example", "http://a:80": "http://a",
		"https://a:443/": "https://a", "app://obsidian.md": "app://obsidian.md", "*": "*", "null": "null",
		"foo": "", "localhost:3000": "", "http://a/page": "", "http://u@a/?": "", "": "", "//a": "", "http://:80": "",
		"http://localhost:*": "http://localhost:*", "HTTPS://LocalHost:*/": "https://localhost:*", "http://[::1]:*": "http://[::1]:*",
		"http://a:80:*": "", "http://a::*": "", "http://a:*:*": "", "http://:*": "", "*:*": "", "localhost:*": "", "null:*": "", "http://u@a:*": "",
		"http://*": "", "http://*.example": "", "http://*:*": "", "http://*.example:*": "", "http://a:3*": "", "*://a:*": "", "http://a*:*": "", "http://[::1:*": "",
	} {
		got, err := origins([]string{given})
		if (err != nil) != (want == "") || err == nil && got[0] != want {
			t.Errorf("%q is %q, %v; want %q", given, got, err, want)
		}
	}
}

// The API is told what a model is stored as: the built-in reader by its type of most parameters, another by its file's type.
func TestQuantization(t *testing.T) {
	m, err := model.OpenBytes("tandem-reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := ModelInfo(m, nil, "").Quantization; got != "Q8_0" {
		t.Errorf("the built-in decoder is %q", got)
	}
	if got := ModelInfo(m, &span.Reader{}, "").Quantization; got != "Q5_0" {
		t.Errorf("the built-in reader is %q", got)
	}
}
