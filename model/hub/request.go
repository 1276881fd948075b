package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	stall        = 60 * time.Second // without data, after which a connection counts as dead
	maxRedirects = 8
	maxAttempts  = 6 // without progress
	maxWait      = 5 * time.Minute

	firstContact = 3 * time.Second  // to reach a server while none was reached yet
	nextContact  = 30 * time.Second // to reach one later
)

// from is the range of a file's bytes from n on; the whole file for 0.
func from(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("bytes=%d-", n)
}

// fileAddress returns the address of a file. JoinPath takes escaped parts.
func (c *Client) fileAddress(r *Repo, f File) *url.URL {
	return c.Endpoint.JoinPath(r.Name, "resolve", r.Commit, (&url.URL{Path: f.Name}).EscapedPath())
}

// get requests a range of an address, all for "", and follows redirects. It sends the token only if scheme, host and port
// are the endpoint's.
func (c *Client) get(ctx context.Context, address *url.URL, bytes string) (*http.Response, error) {
	for range maxRedirects {
		res, err := c.request(ctx, http.MethodGet, address, bytes)
		if err != nil {
			return nil, err
		}
		next, err := redirect(res, address)
		if err != nil || next == nil {
			return res, err
		}
		address = next
	}
	return nil, fmt.Errorf("%s redirects more than %d times", c.Endpoint.Host, maxRedirects)
}

// request sends one request, without following a redirect.
func (c *Client) request(ctx context.Context, method string, address *url.URL, bytes string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.Agent)
	req.Header.Set("Accept-Encoding", "identity") // lengths and checksums are those of the file
	if bytes != "" {
		req.Header.Set("Range", bytes)
	}
	if c.Token != "" && address.Scheme == c.Endpoint.Scheme && address.Host == c.Endpoint.Host {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	res, err := c.http.Do(req)
	switch {
	case err == nil:
		c.reached.Store(true)
	case ctx.Err() == nil && !c.reached.Load() && unreachable(err):
		return nil, fmt.Errorf("cannot reach %s: %w; is this machine online?", address.Host, unwrapURL(err))
	case ctx.Err() == nil:
		return nil, temporary(fmt.Errorf("reach %s: %w", address.Host, unwrapURL(err)))
	}
	return res, err
}

// dial connects to a server. Without a network it gives up soon, unless a server was reached before: then the connection is
// poor, and worth waiting for.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	within := firstContact
	if c.reached.Load() {
		within = nextContact
	}
	return (&net.Dialer{Timeout: within, KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
}

// unreachable reports whether no connection could be made at all.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// unwrapURL removes the address from an error: signed addresses are long, and grant access.
func unwrapURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// redirect returns the target of a redirect, after closing its body, or nil for another response.
func redirect(res *http.Response, from *url.URL) (*url.URL, error) {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	res.Body.Close()
	next, err := from.Parse(res.Header.Get("Location"))
	switch {
	case err != nil || next.Host == "" || res.Header.Get("Location") == "":
		return nil, fmt.Errorf("%s redirects to nowhere", from.Host)
	case next.Scheme != "https" && (from.Scheme == "https" || next.Scheme != "http"):
		return nil, fmt.Errorf("%s redirects to %s://%s: only https is followed from https", from.Host, next.Scheme, next.Host)
	}
	return next, nil
}

// A temporaryError is worth another attempt, after a pause.
type temporaryError struct {
	err   error
	after time.Duration
}

func (e *temporaryError) Error() string { return e.err.Error() }
func (e *temporaryError) Unwrap() error { return e.err }

func temporary(err error) error {
	if err == nil {
		return nil
	}
	return &temporaryError{err: err}
}

// retry calls f until it succeeds or fails permanently. It waits longer each time.
func (c *Client) retry(ctx context.Context, f func() error) error {
	for attempt := 1; ; attempt++ {
		err := f()
		var t *temporaryError
		if !errors.As(err, &t) || ctx.Err() != nil {
			return err
		}
		if attempt == maxAttempts {
			return fmt.Errorf("%w (%d attempts)", err, attempt)
		}
		pause := max(t.after, time.Second<<min(attempt-1, 5))
		if c.Waiting != nil {
			c.Waiting(err, pause)
		}
		if err := c.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// An AccessError reports that the hub refuses access to a repository or file.
type AccessError struct {
	Status int
	What   string // repository, or repository and file
	Reason string
}

func (e *AccessError) Error() string {
	return fmt.Sprintf("%s: %s (HTTP %d)", e.What, e.Reason, e.Status)
}

// statusError returns the error for a response without success.
func (c *Client) statusError(res *http.Response, repo, what string) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	code := res.Header.Get("X-Error-Code")
	refuse := func(format string, args ...any) error {
		return &AccessError{Status: res.StatusCode, What: what, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case code == "GatedRepo" || res.StatusCode == http.StatusForbidden:
		return refuse("access is not granted: accept the model's terms at %s and set HF_TOKEN to a token of that account", c.Endpoint.JoinPath(repo))
	case res.StatusCode == http.StatusUnauthorized && c.Token == "":
		return refuse("it does not exist, or is private or gated: check the name, or set HF_TOKEN to a token that may read it")
	case res.StatusCode == http.StatusUnauthorized:
		return refuse("it does not exist, or the token may not read it: check the name and HF_TOKEN")
	case code == "EntryNotFound":
		return refuse("there is no such file in the repository")
	case code == "RevisionNotFound":
		return refuse("there is no such revision: leave the part after @ out for the newest")
	case res.StatusCode == http.StatusNotFound:
		return refuse("%s does not have it: check the name", c.Endpoint.Host)
	case res.StatusCode == http.StatusTooManyRequests:
		return &temporaryError{fmt.Errorf("%s asks to come back later (HTTP 429): wait, or set HF_TOKEN for higher limits", c.Endpoint.Host), retryAfter(res)}
	case res.StatusCode >= 500 || res.StatusCode == http.StatusRequestTimeout:
		return &temporaryError{fmt.Errorf("%s is not working (HTTP %d)", res.Request.URL.Host, res.StatusCode), retryAfter(res)}
	}
	message := res.Header.Get("X-Error-Message")
	if message == "" {
		message = strings.ToValidUTF8(string(body[:min(len(body), 200)]), "")
	}
	return fmt.Errorf("%s: unexpected answer of %s: HTTP %d %.200q", what, res.Request.URL.Host, res.StatusCode, message)
}

// retryAfter returns how long the server asks to wait. The header holds seconds or a date.
func retryAfter(res *http.Response) time.Duration {
	v := res.Header.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s > 0 {
		return min(time.Duration(min(s, 1<<20))*time.Second, maxWait)
	}
	if at, err := http.ParseTime(v); err == nil {
		return min(max(0, time.Until(at)), maxWait)
	}
	return 0
}
