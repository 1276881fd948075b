// Package server is what "edge serve" and "cloud serve" share: the flags of a server over HTTP, its life from the first request
// to the last, and what it counts. What is answered is for package api.
package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/cmd/internal/quote"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/models"
	"tandem/retrieval/search"
)

// Flags say who may ask over HTTP.
type Flags struct {
	APIKey  string   `name:"api-key" help:"File with the key that requests must carry (Authorization: Bearer KEY). It is created, with a random key, if it does not exist. Required to listen beyond this machine." type:"path" placeholder:"FILE"`
	Host    []string `help:"Other names under which requests may address the server, such as edge.home." placeholder:"NAME"`
	CORS    []string `name:"cors" help:"Origins of pages that may call the server, such as http://localhost:3000, or http://localhost:* for any port. Default: its own page only." placeholder:"ORIGIN"`
	Encoder string   `help:"GGUF of an encoder (bert, nomic-bert, modern-bert), or its name in the models folder, for /v1/embeddings and /api/embed." placeholder:"FILE"`
	AtOnce  int      `help:"Maximum number of answers over HTTP at the same time; other requests wait." default:"8"`
}

// Configure completes a server's configuration with the flags, for a server that listens at address.
func (f Flags) Configure(a *cli.App, address string, cfg *api.Config) (err error) {
	if f.AtOnce < 1 {
		return fmt.Errorf("--at-once %d: want 1 or more", f.AtOnce)
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return ListenError("--http", address, err)
	}
	for _, name := range f.Host {
		if u, err := url.Parse("http://" + name); (err != nil || u.Host != name || u.Port() != "" || name == "") && net.ParseIP(name) == nil {
			return fmt.Errorf("--host %q: want the name of a machine alone, such as edge.home", name)
		}
		cfg.Hosts = append(cfg.Hosts, strings.ToLower(name))
	}
	if cfg.Origins, err = origins(f.CORS); err != nil {
		return err
	}
	cfg.Nearest = quote.Nearest
	cfg.AtOnce, cfg.Version, cfg.Log, cfg.Ending = f.AtOnce, cli.Version(), a.Log, a.Done()
	if f.APIKey != "" {
		cfg.Key, err = apiKey(a, f.APIKey)
	} else if !api.OnLoopback(address) {
		err = fmt.Errorf("--http %s can be reached from other machines: give --api-key FILE, or listen on 127.0.0.1", address)
	}
	if err == nil && !api.OnLoopback(address) {
		a.Remark("--http %s: HTTP is not encrypted: others on the network can read the key and the answers; put a proxy with TLS in front", cli.Escape(address))
	}
	return err
}

// CheckUnused refuses flags that say nothing without a server over HTTP.
func (f Flags) CheckUnused() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--encoder", f.Encoder != ""}, {"--cors", len(f.CORS) > 0}, {"--api-key", f.APIKey != ""}, {"--host", len(f.Host) > 0},
		{"--at-once", f.AtOnce != api.DefaultAtOnce},
	} {
		if flag.given {
			return fmt.Errorf("%s is for requests over HTTP: give --http, too", flag.name)
		}
	}
	return nil
}

// origins returns origins as browsers send them: in small letters, without a slash at the end, and without the port that the
// scheme implies. Those for all ports end in api.AnyPort.
func origins(given []string) (list []string, err error) {
	for _, text := range given {
		origin := strings.ToLower(strings.TrimRight(text, "/"))
		site, any := strings.CutSuffix(origin, api.AnyPort)
		u, err := url.Parse(site)
		switch {
		case origin == "*" || origin == "null": // any page, and pages of files
		case err != nil || u.Scheme == "" || u.Hostname() == "" || u.Scheme+"://"+u.Host != site || any && strings.HasSuffix(u.Host, ":"+u.Port()):
			return nil, fmt.Errorf("--cors %s is no origin of pages: want a scheme and a host, such as http://localhost:3000, http://localhost:* for any port, or *", text)
		case strings.Contains(u.Host, "*"):
			return nil, fmt.Errorf("--cors %s: * stands for all ports (http://localhost:*) or, alone, for all pages, and not for a part of a name", text)
		case any:
		case u.Scheme == "http":
			origin = strings.TrimSuffix(origin, ":80")
		case u.Scheme == "https":
			origin = strings.TrimSuffix(origin, ":443")
		}
		list = append(list, origin)
	}
	return list, nil
}

// OpenEncoder opens the model that --encoder names, if it does, for a server's configuration. compute says what computes it.
// The returned function closes it.
func (f Flags) OpenEncoder(a *cli.App, compute modelcmd.ModelFlags, cfg *api.Config) (done func() error, err error) {
	if f.Encoder == "" {
		return func() error { return nil }, nil
	}
	m, err := modelcmd.ModelFlags{Model: f.Encoder, Compute: compute.Compute, Threads: compute.Threads, Verify: true}.Open(a)
	if err != nil {
		return nil, fmt.Errorf("--encoder: %w", err)
	}
	if m.Config().Pooling == model.RankPooling {
		return nil, errors.Join(fmt.Errorf("--encoder: %s is a cross-encoder, which scores pairs of texts and makes no vectors: use it with --scorer", f.Encoder), m.Close())
	}
	if m.Config().Pooling == model.NoPooling {
		err := fmt.Errorf("--encoder: %s is not an encoder but a model of architecture %s: use one of bert, nomic-bert or modern-bert", f.Encoder, m.Config().Arch)
		return nil, errors.Join(err, m.Close())
	}
	cfg.Encoder, cfg.EncoderInfo = m, ModelInfo(m, nil, f.Encoder)
	return m.Close, nil
}

// shortestKey is the length of the shortest key that is accepted, in bytes.
const shortestKey = 16

// apiKey reads a key, or makes one and says so.
func apiKey(a *cli.App, path string) (string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		var random [24]byte
		rand.Read(random[:])
		key := base64.RawURLEncoding.EncodeToString(random[:])
		if err := cli.MakePrivateDir(filepath.Dir(path)); err != nil {
			return "", fmt.Errorf("--api-key: %w", err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", fmt.Errorf("--api-key: %w", err)
		}
		_, err = f.WriteString(key + "\n")
		if err = errors.Join(err, f.Close()); err != nil { // a part of a key, or none, must not pass for one
			return "", fmt.Errorf("--api-key: %w", errors.Join(err, os.Remove(path)))
		}
		a.Remark("a new key is in %s", cli.Escape(path))
		return key, nil
	}
	if err != nil {
		return "", fmt.Errorf("--api-key: %w", err)
	}
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("--api-key: others can read %s: run chmod 600 %s", path, path)
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", fmt.Errorf("--api-key: %s is empty, as a full disk leaves it: remove it to have a key created", path)
	}
	if len(key) < shortestKey || strings.ContainsAny(key, " \n\t") {
		return "", fmt.Errorf("--api-key: %s must hold one key of %d characters or more; remove the file to have one created", path, shortestKey)
	}
	return key, err
}

// lastWords is how long requests have to tell their clients that the server ends.
const lastWords = time.Second

// Run serves until ctx ends, and then lets requests continue for as long as drain says then. While there are some, it takes new
// ones, so that h can say why they are refused. When it returns, no request is left, so what answers them may be closed. It drops
// clients that are slow to ask; package api drops those that are slow to read.
func Run(ctx context.Context, l net.Listener, h http.Handler, drain func() time.Duration) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	requests, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	var inside door
	server := &http.Server{
		Handler: inside.guard(h), BaseContext: func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	failed := make(chan error, 1)
	go func() {
		failed <- server.Serve(l)
		end()
	}()
	<-ctx.Done()
	patience, cancel := context.WithTimeout(requests, drain())
	defer cancel()
	inside.empty(patience)
	if err := server.Shutdown(patience); err != nil {
		giveUp(api.ErrEnding)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		server.Shutdown(last)
		server.Close()
	}
	inside.close()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// door counts the requests that a handler serves.
type door struct {
	mu     sync.Mutex
	closed bool
	inside int
	left   chan struct{} // closed when nobody is inside any more; nil while nobody waits for that
}

// guard returns h for requests that come before the door is closed.
func (d *door) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.enter() {
			panic(http.ErrAbortHandler) // the connection is closed, too
		}
		defer d.leave()
		h.ServeHTTP(w, r)
	})
}

func (d *door) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.inside++
	}
	return !d.closed
}

func (d *door) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside--; d.inside == 0 && d.left != nil {
		close(d.left)
		d.left = nil
	}
}

// empty waits until nobody is inside, or ctx ends.
func (d *door) empty(ctx context.Context) {
	d.mu.Lock()
	left := d.left
	switch {
	case d.inside == 0:
		d.mu.Unlock()
		return
	case left == nil:
		left = make(chan struct{})
		d.left = left
	}
	d.mu.Unlock()
	select {
	case <-left:
	case <-ctx.Done():
	}
}

// close lets nobody in any more, and waits until everybody has left.
func (d *door) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.empty(context.Background())
}

// ModelInfo describes for the API what answers: the span reader, or the model if that is nil. path is the model's file, empty
// for the built-in one.
func ModelInfo(m *model.Model, reader *span.Reader, path string) api.ModelInfo {
	if reader != nil {
		info := api.ModelInfo{Name: modelcmd.SpanReader, Arch: span.Architecture, Size: int64(len(models.Span)), Modified: time.Now()}
		if f, err := gguf.Parse(modelcmd.SpanReader, models.Span); err == nil {
			info.Parameters, info.Quantization = span.Parameters(f), f.Describe().Types[0].Name // its file type is that of a part
		}
		return info
	}
	c := m.Config()
	info := api.ModelInfo{Name: c.Name, Arch: c.Arch, Context: c.Context, Parameters: m.Parameters(), Quantization: m.Quantization(), Template: m.Template().Source(), Modified: time.Now()}
	if path != "" {
		info.Name = strings.TrimSuffix(filepath.Base(path), ".gguf")
		if stat, err := os.Stat(path); err == nil {
			info.Size, info.Modified = stat.Size(), stat.ModTime()
		}
	}
	return info
}

// Documents lists the files of an index for the API.
func Documents(x *search.Index, sample bool) ([]api.Document, error) {
	list, err := x.List()
	if err != nil {
		return nil, err
	}
	var out []api.Document
	for _, d := range list {
		out = append(out, api.Document{Path: d.Path, Title: d.Title, Bytes: d.Size, Modified: d.Modified, Passages: d.Passages, Sample: sample})
	}
	slices.SortFunc(out, func(a, b api.Document) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}
