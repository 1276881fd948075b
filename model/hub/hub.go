// Package hub fetches models from the Hugging Face hub, or from any server that speaks its HTTP, into the
// cache folder that all of the hub's tools share:
//
//	HF_HOME/hub/models--OWNER--REPO/blobs/SHA256          the data, once
//	                                blobs/SHA256.incomplete    what a download left, to go on from
//	                                snapshots/COMMIT/FILE      links to blobs, under the names of the repository
//	                                refs/main                  the commit that a name stood for
//
// A file is there whole and verified or not at all. The room knows HTTP, repositories and files on disk; it
// must not know what is in them (packages model/gguf and model/convert do). What a server says is
// hostile: sizes are bounded, names cannot leave the folder, and the access token goes to the endpoint
// alone, not to where it redirects.
package hub

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// DefaultEndpoint is the public hub.
const DefaultEndpoint = "https://huggingface.co"

// A Client fetches files. Its fields must not change while it is in use.
type Client struct {
	Endpoint *url.URL
	Token    string // access token; empty for none
	Cache    string // the folder that holds models--OWNER--REPO
	Agent    string // User-Agent
	Offline  bool   // take only what is in the cache

	// Progress, when set, is called now and then while a file downloads, from one goroutine.
	Progress func(Progress)
	// Waiting, when set, is told why and how long it waits before another attempt.
	Waiting func(err error, d time.Duration)

	http *http.Client
	wait func(context.Context, time.Duration) error // between attempts
	free func(dir string) (uint64, error)           // bytes of disk left
}

// Progress says how far a download is.
type Progress struct {
	File        string
	Done, Total int64 // bytes, what was there before included
	Resumed     int64 // bytes that were there before
}

// FromEnv makes a client as the environment asks: HF_ENDPOINT, HF_TOKEN (or HF_TOKEN_PATH, or the file token
// in HF_HOME), HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE.
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
	home := first("HF_HOME")
	if home == "" {
		if cache := first("XDG_CACHE_HOME"); cache != "" {
			home = filepath.Join(cache, "huggingface")
		} else if user := first("HOME", "USERPROFILE"); user != "" {
			home = filepath.Join(user, ".cache", "huggingface")
		}
	}
	cache := first("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
	if cache == "" {
		if home == "" {
			return nil, fmt.Errorf("no folder for downloads: set HOME or HF_HOME")
		}
		cache = filepath.Join(home, "hub")
	}
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
		return nil, fmt.Errorf("the hub's access token holds white space: set HF_TOKEN to the token alone")
	}
	c := New(u, cache)
	c.Token = token
	switch strings.ToLower(first("HF_HUB_OFFLINE")) {
	case "1", "true", "yes", "on":
		c.Offline = true
	}
	return c, nil
}

// New makes a client without a token.
func New(endpoint *url.URL, cache string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = stall
	return &Client{
		Endpoint: endpoint, Cache: cache, Agent: "tandem",
		http: &http.Client{Transport: transport,
			// Redirects are followed in request.go, which knows who may see the token.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		wait: sleep,
		free: freeSpace,
	}
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
