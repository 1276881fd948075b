// Package hub downloads models from the Hugging Face hub, or a server with the same API, into the cache folder that all
// of the hub's tools share:
//
//	HF_HOME/hub/models--OWNER--REPO/blobs/SHA256          the data, once
//	                                blobs/SHA256.incomplete    an unfinished download, to be resumed
//	                                snapshots/COMMIT/FILE      links to blobs, under the names of the repository
//	                                refs/main                  the commit of a revision
//
// A file in the cache is complete and verified, and can be verified again. The package knows HTTP, repositories and files, but
// not what is in the files (see packages model/gguf and model/convert). It treats a server as hostile: sizes are bounded, names
// cannot leave the folder, and the access token is sent only to the endpoint, never to a host that the endpoint redirects to.
package hub

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// DefaultEndpoint is the public hub.
const DefaultEndpoint = "https://huggingface.co"

// A Client downloads files. Its fields must not change while it is in use.
type Client struct {
	Endpoint *url.URL
	Token    string // access token; empty for none
	Cache    string // the folder that holds models--OWNER--REPO
	Agent    string // User-Agent
	Offline  bool   // use only the cache

	// Progress, if set, is called during a download, from one goroutine.
	Progress func(Progress)
	// Waiting, if set, is called before another attempt, with the reason and the time to wait.
	Waiting func(err error, d time.Duration)

	http    *http.Client
	reached atomic.Bool                                // a server has answered
	wait    func(context.Context, time.Duration) error // between attempts
	free    func(dir string) (uint64, error)           // free bytes on the disk
}

// Progress says how far a download is.
type Progress struct {
	File        string
	Done, Total int64 // bytes, with those that were there before
	Resumed     int64 // bytes that were there before
}

// FromEnv makes a client from the environment variables HF_ENDPOINT, HF_TOKEN (or HF_TOKEN_PATH, or the file token in
// HF_HOME), HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE.
func FromEnv(getenv func(string) string) (*Client, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if v := getenv(n); v != "" {
				return v
			}
		}
		return ""
	}
	endpoint := first("HF_ENDPOINT")
	if endpoint == "" {
		endpoint = DefaultEndpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("HF_ENDPOINT is %q: want a URL such as %s", endpoint, DefaultEndpoint)
	}
	home := homeFolder(first)
	cache := first("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
	if cache == "" {
		if home == "" {
			return nil, fmt.Errorf("no folder for downloads: set HOME or HF_HOME")
		}
		cache = filepath.Join(home, "hub")
	}
	c := newClient(u, cache)
	if c.Token, err = accessToken(first, home); err != nil {
		return nil, err
	}
	switch strings.ToLower(first("HF_HUB_OFFLINE")) {
	case "1", "true", "yes", "on":
		c.Offline = true
	}
	return c, nil
}

// homeFolder returns the folder of the hub's tools, "" if there is none. first returns the first of some variables that is set.
func homeFolder(first func(names ...string) string) string {
	if home := first("HF_HOME"); home != "" {
		return home
	}
	if cache := first("XDG_CACHE_HOME"); cache != "" {
		return filepath.Join(cache, "huggingface")
	}
	if user := first("HOME", "USERPROFILE"); user != "" {
		return filepath.Join(user, ".cache", "huggingface")
	}
	return ""
}

// accessToken returns the token in the environment or in a file, "" if there is none.
func accessToken(first func(names ...string) string, home string) (string, error) {
	token := first("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
	if token == "" {
		path := first("HF_TOKEN_PATH")
		if path == "" && home != "" {
			path = filepath.Join(home, "token")
		}
		if b, err := os.ReadFile(path); err == nil {
			token = string(b)
		}
	}
	token = strings.TrimSpace(token)
	if strings.ContainsAny(token, "\r\n\t ") {
		return "", fmt.Errorf("the hub's access token holds white space: set HF_TOKEN to the token alone")
	}
	return token, nil
}

// newClient makes a client without a token.
func newClient(endpoint *url.URL, cache string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = stall
	c := &Client{
		Endpoint: endpoint, Cache: cache, Agent: "tandem",
		http: &http.Client{Transport: transport,
			// get follows redirects, because it knows which host may see the token.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		wait: sleep,
		free: freeSpace,
	}
	transport.DialContext = c.dial
	return c
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
