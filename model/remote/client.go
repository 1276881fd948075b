package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Bounds of an answer. A row has up to Top+1 tokens, each with its id, its number, its text, and the bytes of that.
const (
	bytesOfAnswer = 64 << 10
	bytesOfRow    = 256 << 10
	bytesOfToken  = 64 // of a prompt that is repeated
	bytesOfError  = 1 << 10
)

// pauses come before the second attempt and the next ones.
var pauses = [...]time.Duration{100 * time.Millisecond, 500 * time.Millisecond}

// client sends requests to a server.
type client struct {
	http    http.Client
	base    string // URL
	key     string
	within  time.Duration
	retried func()
}

func newClient(base, key string, within time.Duration, retried func()) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = transport.MaxIdleConns // answers are computed at the same time
	return &client{base: strings.TrimSuffix(base, "/"), key: key, within: within, retried: retried,
		http: http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // key and prompts are for this server
		}}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

var errSlow = errors.New("no answer in time")

// statusError is the answer of a server that does not do what it was asked.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return fmt.Sprintf("it answers %d: %s", e.status, e.text) }

// passing is a temporary failure, after which another attempt may succeed.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// do sends a request, repeats it after temporary failures, and returns the body of the answer, of at most limit bytes.
func (c *client) do(ctx context.Context, method, path string, body any, limit int64) ([]byte, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.within, fmt.Errorf("%w (%v)", errSlow, c.within))
	defer cancel()
	for n := 0; ; n++ {
		answer, err := c.once(ctx, method, path, data, limit)
		var again passing
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.As(err, &again) || n == len(pauses):
			return answer, err
		}
		c.retried()
		if err := pause(ctx, pauses[n]); err != nil {
			return nil, err
		}
	}
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// once sends a request.
func (c *client) once(ctx context.Context, method, path string, body []byte, limit int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, passing{err}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, bytesOfError))
		err := &statusError{answer.StatusCode, strings.ToValidUTF8(string(text), "?")}
		if err.status >= 500 || err.status == http.StatusTooManyRequests {
			return nil, passing{err}
		}
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	switch {
	case err != nil: // it ended in mid-answer
		return nil, passing{err}
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("it answers %s with more than %d bytes", path, limit)
	}
	return data, nil
}

// get sends a request that has no rows as its answer, and decodes that into out.
func (c *client) get(ctx context.Context, method, path string, body, out any) error {
	data, err := c.do(ctx, method, path, body, 4<<20)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s: its answer cannot be read: %w", path, err)
	}
	return nil
}
