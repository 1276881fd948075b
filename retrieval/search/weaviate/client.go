package weaviate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// client speaks to the nodes of a cluster.
type client struct {
	http  http.Client
	nodes []string // URLs
	key   string
	next  atomic.Uint32 // the node that answered last
}

const (
	within    = 20 * time.Second // for one node to answer: it may wait long for another that has just died
	patience  = 3 * time.Second  // with a node before a search is sent to the next one as well
	again     = 6                // searches that are sent once more, when all nodes were asked
	maxAnswer = 64 << 20         // bytes
	maxError  = 1 << 10          // bytes of an answer that an error repeats
)

func newClient(nodes []string, key string) *client {
	return &client{http: http.Client{Timeout: within, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the key is for these nodes
	}}, nodes: nodes, key: key}
}

// statusError is the answer of a node that does not do what it was asked.
type statusError struct {
	node   string
	status int
	text   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s answers %d: %s", e.node, e.status, e.text)
}

// Public describes the failure without naming the node, for others than the operator.
func (e *statusError) Public() string {
	return "the cluster with the documents does not answer as it should"
}

// do sends a request to the node that answered last, or to the next one if that does not answer, and decodes the answer into
// out, which may be nil. A node may wait long for another node that has just died, until it learns of that. So a request that
// only reads is after a while also sent to the next node, and finally once more to all nodes. Any request may be sent twice.
func (c *client) do(ctx context.Context, method, path string, body, out any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	wait, most := within, len(c.nodes)
	if method == http.MethodGet || strings.HasPrefix(path, "/v1/graphql") {
		wait, most = patience, most+again
	}
	answer, err := c.first(ctx, wait, most, func(ctx context.Context, node string) ([]byte, error) {
		return c.ask(ctx, node, method, path, data)
	})
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer to %s: %w", path, err)
	}
	return nil
}

// first asks one node after the other, up to limit times, and returns the first answer. It asks the next node when the one
// before has failed or has not answered within wait. An error that says that the request is wrong counts as an answer.
func (c *client) first(ctx context.Context, wait time.Duration, limit int, ask func(context.Context, string) ([]byte, error)) ([]byte, error) {
	type result struct {
		at     int
		answer []byte
		err    error
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	from, asked := int(c.next.Load()), 0
	results := make(chan result, limit)
	next := func() {
		if asked == limit {
			return
		}
		at := (from + asked) % len(c.nodes)
		asked++
		go func() {
			answer, err := ask(asking, c.nodes[at])
			results <- result{at, answer, err}
		}()
	}
	next()
	slow := time.NewTicker(wait)
	defer slow.Stop()
	var errs []error
	for len(errs) < limit {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-slow.C:
			next()
		case r := <-results:
			var refused *statusError
			if r.err == nil || errors.As(r.err, &refused) && refused.status < 500 {
				c.next.Store(uint32(r.at))
				return r.answer, r.err
			}
			errs = append(errs, r.err)
			next()
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnreachable, errors.Join(errs...))
}

// ask sends a request to one node and returns its answer.
func (c *client) ask(ctx context.Context, node, method, path string, body []byte) ([]byte, error) {
	var in io.Reader
	if method != http.MethodGet && method != http.MethodHead {
		in = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, node+path, in)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", node, err)
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("%s answers with more than %d bytes", node, maxAnswer)
	case answer.StatusCode >= 300:
		return nil, &statusError{node, answer.StatusCode, strings.ToValidUTF8(string(data[:min(len(data), maxError)]), "?")}
	case len(data) > 0 && !json.Valid(data):
		return nil, fmt.Errorf("%s: %s answers with something other than JSON", node, path)
	}
	return data, nil
}

// least is the oldest version that is safe. Earlier ones may miss recently written passages, and a node that was down serves
// stale passages for a long time.
var least = [2]int{1, 39}

// checkVersions asks all nodes for their versions. It is enough if one answers, but none may be too old.
func (c *client) checkVersions(ctx context.Context) error {
	errs := make([]error, len(c.nodes))
	var asks sync.WaitGroup
	for i, node := range c.nodes {
		asks.Go(func() {
			var meta struct{ Version string }
			var answer []byte
			if answer, errs[i] = c.ask(ctx, node, http.MethodGet, "/v1/meta", nil); errs[i] == nil {
				errs[i] = json.Unmarshal(answer, &meta)
			}
			if errs[i] == nil {
				errs[i] = checkVersion(node, meta.Version)
			}
		})
	}
	asks.Wait()
	silent := 0
	for i, err := range errs {
		var old *versionError
		var refused *statusError
		switch {
		case errors.As(err, &old), errors.As(err, &refused) && refused.status < 500:
			return err
		case err != nil:
			silent++
		default:
			c.next.Store(uint32(i))
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case silent == len(c.nodes):
		return fmt.Errorf("%w: %w", ErrUnreachable, errors.Join(errs...))
	}
	return nil
}

type versionError struct{ node, version string }

func (e *versionError) Error() string {
	return fmt.Sprintf("%s runs Weaviate %q, which can miss passages that were just written: %d.%d or later is needed", e.node, e.version, least[0], least[1])
}

// checkVersion returns a *versionError if a version is too old, or cannot be read.
func checkVersion(node, version string) error {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) >= 2 {
		major, err1 := strconv.Atoi(parts[0])
		minor, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil && (major > least[0] || major == least[0] && minor >= least[1]) {
			return nil
		}
	}
	return &versionError{node, version}
}
