package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/filelock"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// fakeHub is a server with the hub's API: a listing, and files that it redirects to a second host, which serves ranges.
// Set its fields before making requests.
type fakeHub struct {
	hub, cdn *httptest.Server
	files    map[string][]byte
	wait     []time.Duration // the client's pauses

	bendList func(map[string]any)
	onHub    http.HandlerFunc // if not nil, answers instead; if it writes nothing, the usual answer follows
	onCDN    http.HandlerFunc

	mu   sync.Mutex
	seen []*http.Request
}

func newFakeHub(t *testing.T, files map[string][]byte) (*fakeHub, *Client) {
	t.Helper()
	f := &fakeHub{files: files}
	f.cdn = httptest.NewServer(http.HandlerFunc(f.serveCDN))
	f.hub = httptest.NewServer(http.HandlerFunc(f.serveHub))
	t.Cleanup(f.hub.Close)
	t.Cleanup(f.cdn.Close)
	u, err := url.Parse(f.hub.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(u, t.TempDir())
	c.Token = "hf_secret"
	c.wait = func(_ context.Context, d time.Duration) error { f.wait = append(f.wait, d); return nil }
	return f, c
}

// note records a request and reports whether the test's handler answered it.
func (f *fakeHub) note(w http.ResponseWriter, r *http.Request, h http.HandlerFunc) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, r)
	if h == nil {
		return false
	}
	rec := &answered{ResponseWriter: w}
	h(rec, r)
	return rec.done
}

type answered struct {
	http.ResponseWriter
	done bool
}

func (a *answered) WriteHeader(code int) { a.done = true; a.ResponseWriter.WriteHeader(code) }
func (a *answered) Write(b []byte) (int, error) {
	a.done = true
	return a.ResponseWriter.Write(b)
}

func (f *fakeHub) requests(host *httptest.Server) (list []*http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.seen {
		if "http://"+r.Host == host.URL {
			list = append(list, r)
		}
	}
	return list
}

func large(name string) bool { return strings.HasSuffix(name, ".gguf") }

func sumOf(name string, b []byte) string {
	if large(name) {
		return fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...)))
}

func (f *fakeHub) serveHub(w http.ResponseWriter, r *http.Request) {
	if f.note(w, r, f.onHub) {
		return
	}
	if r.URL.Path == "/api/models/o/m/revision/main" {
		var siblings []map[string]any
		for name, b := range f.files {
			s := map[string]any{"rfilename": name, "size": len(b), "blobId": fmt.Sprintf("%040x", 1)}
			if large(name) {
				s["lfs"] = map[string]any{"sha256": sumOf(name, b), "size": len(b), "pointerSize": 134}
			} else {
				s["blobId"] = sumOf(name, b)
			}
			siblings = append(siblings, s)
		}
		answer := map[string]any{"id": "o/m", "sha": commit, "siblings": siblings}
		if f.bendList != nil {
			f.bendList(answer)
		}
		json.NewEncoder(w).Encode(answer)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/o/m/resolve/"+commit+"/")
	b, there := f.files[name]
	if !ok || !there {
		w.Header().Set("X-Error-Code", "EntryNotFound")
		http.Error(w, "no", http.StatusNotFound)
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	if !large(name) {
		w.Header().Set("ETag", `"`+sumOf(name, b)+`"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(b)))
		return
	}
	w.Header().Set("X-Linked-Etag", `"`+sumOf(name, b)+`"`)
	w.Header().Set("X-Linked-Size", fmt.Sprint(len(b)))
	http.Redirect(w, r, f.cdn.URL+(&url.URL{Path: "/" + name}).EscapedPath()+"?signature=s", http.StatusFound)
}

func (f *fakeHub) serveCDN(w http.ResponseWriter, r *http.Request) {
	if f.note(w, r, f.onCDN) {
		return
	}
	b, ok := f.files[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok || r.URL.Query().Get("signature") != "s" {
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	w.Header().Set("ETag", `"another"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(b)))
}

func random(n int) []byte {
	b, r := make([]byte, n), rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func list(t *testing.T, c *Client) *Repo {
	t.Helper()
	r, err := c.List(context.Background(), Ref{Repo: "o/m", Revision: "main"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pull gets one file and checks its path and content.
func pull(t *testing.T, f *fakeHub, c *Client, name string) error {
	t.Helper()
	r := list(t, c)
	files, err := r.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	path, err := c.Get(context.Background(), r, files[0])
	blob := filepath.Join(c.Folder("o/m"), "blobs", files[0].Sum)
	if err != nil {
		if _, e := os.Stat(blob); e == nil {
			t.Error("the file exists in spite of the error")
		}
		return err
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != string(f.files[name]) {
		t.Fatalf("%s has %d bytes, want the %d of the file (%v)", path, len(got), len(f.files[name]), err)
	}
	if want := filepath.Join(c.Cache, "models--o--m", "snapshots", commit, name); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
	if _, err := os.Stat(blob + ".incomplete"); err == nil {
		t.Error("the incomplete file still exists")
	}
	return nil
}

func TestPull(t *testing.T) {
	f, c := newFakeHub(t, map[string][]byte{"a/m-q4_0.gguf": random(700_000), "config.json": []byte("{}")})
	var last Progress
	c.Progress = func(p Progress) { last = p }
	for _, name := range []string{"a/m-q4_0.gguf", "config.json"} {
		if err := pull(t, f, c, name); err != nil {
			t.Fatal(err)
		}
	}
	if last.Done != 2 || last.Total != 2 {
		t.Errorf("progress %+v", last)
	}
	for _, r := range f.requests(f.hub) {
		if r.Header.Get("Authorization") != "Bearer hf_secret" {
			t.Errorf("request for %s has no token", r.URL)
		}
	}
	cdn := f.requests(f.cdn)
	for _, r := range cdn {
		if len(r.Header["Authorization"])+len(r.Header["Cookie"])+len(r.Header["Referer"]) > 0 {
			t.Errorf("the second host received the headers %v", r.Header)
		}
	}
	// A second pull downloads nothing.
	if err := pull(t, f, c, "a/m-q4_0.gguf"); err != nil {
		t.Fatal(err)
	}
	if n := len(f.requests(f.cdn)); n != len(cdn) || n != 1 {
		t.Errorf("%d requests for data, then %d, want 1", len(cdn), n)
	}
	// Neither does one without the network.
	r := list(t, c)
	c.Offline = true
	if _, err := c.Get(context.Background(), r, r.Files[0]); err != nil {
		t.Error(err)
	}
	if _, err := c.List(context.Background(), Ref{Repo: "o/m", Revision: "main"}); err == nil || !strings.Contains(err.Error(), "HF_HUB_OFFLINE") {
		t.Errorf("offline: error %v", err)
	}
}

// Offline, List returns the cached files of the commit that the revision last resolved to: links to blobs, or plain files
// on systems without links, but no broken links.
func TestOfflineListsTheCache(t *testing.T) {
	f, c := newFakeHub(t, map[string][]byte{"a/m-q4_0.gguf": []byte("four"), "config.json": []byte("{}"), "m-q8_0.gguf": []byte("eight")})
	ctx, main := context.Background(), Ref{Repo: "o/m", Revision: "main"}
	r := list(t, c)
	for _, file := range r.Files {
		if _, err := c.Get(ctx, r, file); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Remember(main, r); err != nil {
		t.Fatal(err)
	}
	file := c.refFile(main)
	before, _ := os.Stat(file)
	if err := c.Remember(main, r); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(file); err != nil || os.SameFile(before, after) { // a crash would leave it empty
		t.Errorf("%s was written over, not replaced: %v", file, err)
	}
	asked := len(f.requests(f.hub))
	c.Offline = true
	for _, ref := range []Ref{main, {Repo: "o/m", Revision: commit}} {
		if got, err := c.List(ctx, ref); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s: %+v, %v, want %+v", ref, got, err, r)
		}
	}
	plain := filepath.Join(c.Snapshot(r), "config.json")
	if err := errors.Join(os.Remove(plain), os.WriteFile(plain, []byte("{}"), 0o644), os.Remove(filepath.Join(c.Folder("o/m"), "blobs", sumOf("m-q8_0.gguf", []byte("eight"))))); err != nil {
		t.Fatal(err)
	}
	got, err := c.List(ctx, main)
	if err != nil || len(got.Files) != 2 || got.Files[0] != r.Files[0] || got.Files[1] != (File{Name: "config.json", Size: 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	if path, err := c.Get(ctx, r, File{Name: "config.json", Size: 2}); err != nil || path != plain {
		t.Errorf("%s, %v", path, err)
	}
	for _, absent := range []File{{Name: "other.json", Size: 2}, {Name: "m-q8_0.gguf", Size: 5, Sum: sumOf("m-q8_0.gguf", []byte("eight"))}} {
		if _, err := c.Get(ctx, r, absent); err == nil || !strings.Contains(err.Error(), "HF_HUB_OFFLINE") {
			t.Errorf("%s: error %v", absent.Name, err)
		}
	}
	for _, ref := range []Ref{{Repo: "o/other", Revision: "main"}, {Repo: "o/m", Revision: "v2"}} {
		if _, err := c.List(ctx, ref); err == nil || !strings.Contains(err.Error(), "HF_HUB_OFFLINE") {
			t.Errorf("%s: error %v", ref, err)
		}
	}
	if err := os.WriteFile(c.refFile(main), []byte("../.."), 0o644); err != nil { // not a folder of the cache
		t.Fatal(err)
	}
	if got, err := c.List(ctx, main); err == nil {
		t.Errorf("%+v", got)
	}
	if n := len(f.requests(f.hub)); n != asked {
		t.Errorf("%d requests while offline", n-asked)
	}
}

// incomplete writes b as the result of an earlier, interrupted download of the file.
func incomplete(t *testing.T, f *fakeHub, c *Client, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(c.Folder("o/m"), "blobs", sumOf(name, f.files[name])+".incomplete")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func ranges(requests []*http.Request) (list []string) {
	for _, r := range requests {
		list = append(list, r.Header.Get("Range"))
	}
	return list
}

func TestResume(t *testing.T) {
	data := random(100_000)
	for _, c := range []struct {
		name   string
		part   []byte
		ignore bool // the server ignores ranges
		want   []string
	}{
		{"half", data[:50_000], false, []string{"bytes=50000-"}},
		{"all", data, false, nil},
		{"more", append(data[:100_000:100_000], 1), false, []string{""}},
		{"damaged", append([]byte{data[0] + 1}, data[1:50_000]...), false, []string{"bytes=50000-", ""}},
		{"all damaged", append([]byte{data[0] + 1}, data[1:]...), false, []string{""}},
		{"no ranges", data[:50_000], true, []string{"bytes=50000-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, client := newFakeHub(t, map[string][]byte{"m.gguf": data})
			incomplete(t, f, client, "m.gguf", c.part)
			if c.ignore {
				f.onCDN = func(w http.ResponseWriter, r *http.Request) { w.Write(data) }
			}
			if err := pull(t, f, client, "m.gguf"); err != nil {
				t.Fatal(err)
			}
			if got := ranges(f.requests(f.cdn)); !slices.Equal(got, c.want) {
				t.Errorf("ranges %q, want %q", got, c.want)
			}
		})
	}
}

func TestBrokenConnections(t *testing.T) {
	data := random(1_000_000)
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": data})
	f.onCDN = func(w http.ResponseWriter, r *http.Request) {
		// Send a part, then cut the connection.
		from := 0
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
		to := min(len(data), from+90_000)
		w.Header().Set("Content-Length", fmt.Sprint(len(data)-from))
		if from > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(data)-1, len(data)))
			w.WriteHeader(http.StatusPartialContent)
		}
		w.Write(data[from:to])
	}
	if err := pull(t, f, c, "m.gguf"); err != nil {
		t.Fatal(err)
	}
	got := f.requests(f.cdn)
	if len(got) != 12 || got[11].Header.Get("Range") != "bytes=990000-" {
		t.Errorf("%d requests, the last for %s, want 12 and bytes=990000-", len(got), got[len(got)-1].Header.Get("Range"))
	}

	// If every connection breaks at once, Get gives up, keeps the incomplete file and says so.
	f, c = newFakeHub(t, map[string][]byte{"m.gguf": data})
	incomplete(t, f, c, "m.gguf", data[:1000])
	f.onCDN = func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(*answered).ResponseWriter.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
		w.(*answered).done = true
	}
	err := pull(t, f, c, "m.gguf")
	if err == nil || !strings.Contains(err.Error(), "1000 of 1000000 bytes are kept: run the command again") || !strings.Contains(err.Error(), "6 attempts") {
		t.Errorf("error %v", err)
	}
	if want := []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9}; !slices.Equal(f.wait, want) {
		t.Errorf("waited %v, want %v", f.wait, want)
	}
	if strings.Contains(err.Error(), "signature") {
		t.Errorf("the error shows the signed URL: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			http.Error(w, "words", code)
		}
	}
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		anon    bool
		want    []string
		attempt int
	}{
		{"no such repository", status(401, "X-Error-Code", "RepoNotFound"), true, []string{"does not exist, or is private", "set HF_TOKEN", "HTTP 401"}, 1},
		{"not with this token", status(401), false, []string{"the token may not read it"}, 1},
		{"gated", status(403, "X-Error-Code", "GatedRepo"), false, []string{"accept the model's terms at http://", "/o/m and set HF_TOKEN"}, 1},
		{"gated, unknown", status(401, "X-Error-Code", "GatedRepo"), true, []string{"accept the model's terms"}, 1},
		{"no such revision", status(404, "X-Error-Code", "RevisionNotFound"), false, []string{"no such revision"}, 1},
		{"nothing there", status(404), false, []string{"does not have it"}, 1},
		{"too often", status(429, "Retry-After", "77"), false, []string{"HTTP 429", "6 attempts"}, 6},
		{"broken", status(502), false, []string{"HTTP 502", "6 attempts"}, 6},
		{"odd", status(418, "X-Error-Message", "a teapot"), false, []string{"HTTP 418", "a teapot"}, 1},
		{"no JSON", status(200), false, []string{"is not the hub's"}, 1},
		{"redirect loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, false, []string{"redirects more than 8 times"}, 8},
		{"to nowhere", status(302), false, []string{"redirects to nowhere"}, 1},
		{"to a file", status(302, "Location", "file:///etc/passwd"), false, []string{"redirects to"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, client := newFakeHub(t, nil)
			f.onHub = c.answer
			if c.anon {
				client.Token = ""
			}
			_, err := client.List(context.Background(), Ref{Repo: "o/m", Revision: "main"})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
			if n := len(f.requests(f.hub)); n != c.attempt {
				t.Errorf("%d requests, want %d", n, c.attempt)
			}
			if c.name == "too often" && !slices.Equal(f.wait[:2], []time.Duration{77 * time.Second, 77 * time.Second}) {
				t.Errorf("waited %v", f.wait)
			}
			if strings.Contains(err.Error(), "hf_secret") {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

func TestTemporaryErrors(t *testing.T) {
	data := random(10_000)
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": data})
	trouble := func() http.HandlerFunc {
		n := 0
		return func(w http.ResponseWriter, r *http.Request) {
			if n++; n%2 != 0 {
				http.Error(w, "later", http.StatusServiceUnavailable)
			}
		}
	}
	f.onHub, f.onCDN = trouble(), trouble()
	if err := pull(t, f, c, "m.gguf"); err != nil {
		t.Fatal(err)
	}
}

func TestServersThatLie(t *testing.T) {
	data := random(10_000)
	for _, c := range []struct {
		name string
		cdn  http.HandlerFunc
		want string
	}{
		{"other bytes", func(w http.ResponseWriter, r *http.Request) { w.Write(random(10_000)[1:]); w.Write([]byte{0}) }, "its checksum is"},
		{"another length", func(w http.ResponseWriter, r *http.Request) { w.Write(data[:99]) }, "sends 99 bytes, but the hub says 10000"},
		{"another range", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 1-9999/10000")
			w.WriteHeader(206)
			w.Write(data[1:])
		}, `sends "bytes 1-9999/10000"`},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			for range 20 {
				w.Write(data[:1000])
				w.(*answered).ResponseWriter.(http.Flusher).Flush()
			}
		}, "its checksum is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, client := newFakeHub(t, map[string][]byte{"m.gguf": data})
			f.onCDN = c.cdn
			if err := pull(t, f, client, "m.gguf"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestDisk(t *testing.T) {
	data := random(3 << 20)
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": data})
	c.free = func(string) (uint64, error) { return 1 << 20, nil }
	if err := pull(t, f, c, "m.gguf"); err == nil || !strings.Contains(err.Error(), "make room, or set HF_HOME") {
		t.Errorf("error %v", err)
	}
	if len(f.requests(f.cdn)) > 0 {
		t.Error("requested data that does not fit on the disk")
	}

	// The disk is full only when the data is written.
	if _, err := os.Stat("/dev/full"); err == nil {
		f, c = newFakeHub(t, map[string][]byte{"m.gguf": data})
		path := incomplete(t, f, c, "m.gguf", nil)
		os.Remove(path)
		if err := os.Symlink("/dev/full", path); err != nil {
			t.Fatal(err)
		}
		if err := pull(t, f, c, "m.gguf"); err == nil || !strings.Contains(err.Error(), "is full: make room") {
			t.Errorf("error %v", err)
		}
	}
}

func TestSimultaneousPulls(t *testing.T) {
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": random(1000)})
	path := incomplete(t, f, c, "m.gguf", nil)
	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if ok, err := filelock.Try(held); !ok {
		t.Skipf("no locks here: %v", err)
	}
	if err := pull(t, f, c, "m.gguf"); err == nil || !strings.Contains(err.Error(), "another program is downloading it") {
		t.Errorf("error %v", err)
	}
}

// A damaged file under the name of a complete one is downloaded again, whatever its size.
func TestDamagedBlobs(t *testing.T) {
	for _, damaged := range [][]byte{nil, make([]byte, 10), make([]byte, 1000), make([]byte, 2000)} {
		f, c := newFakeHub(t, map[string][]byte{"m.gguf": random(1000)})
		blob := strings.TrimSuffix(incomplete(t, f, c, "m.gguf", nil), ".incomplete")
		if err := os.WriteFile(blob, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := pull(t, f, c, "m.gguf"); err != nil {
			t.Errorf("damaged file of %d bytes: %v", len(damaged), err)
		}
		if err := os.WriteFile(blob, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		r := list(t, c)
		c.Offline = true
		if _, err := c.Get(context.Background(), r, r.Files[0]); err == nil || !strings.Contains(err.Error(), "damaged, and HF_HUB_OFFLINE") {
			t.Errorf("offline, damaged file of %d bytes: error %v", len(damaged), err)
		}
	}
	// If another program has just finished the file, it is kept, and no incomplete file is left.
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": random(1000)})
	if err := pull(t, f, c, "m.gguf"); err != nil {
		t.Fatal(err)
	}
	r := list(t, c)
	blob := filepath.Join(c.Folder(r.Name), "blobs", r.Files[0].Sum)
	if err := c.download(context.Background(), r, r.Files[0], blob); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(blob)); len(left) != 1 || len(f.requests(f.cdn)) != 1 {
		t.Errorf("left %v after %d requests, want one file and one request", left, len(f.requests(f.cdn)))
	}
}

func TestInterrupted(t *testing.T) {
	data := random(1 << 20)
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": data})
	ctx, cancel := context.WithCancel(context.Background())
	c.Progress = func(Progress) { cancel() }
	r := list(t, c)
	if _, err := c.Get(ctx, r, r.Files[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	c.Progress = nil
	if err := pull(t, f, c, "m.gguf"); err != nil {
		t.Fatal(err)
	}
	if got := ranges(f.requests(f.cdn)); len(got) != 2 || got[1] == "" {
		t.Errorf("ranges %q", got)
	}
}

func TestNoDowngrade(t *testing.T) {
	https, _ := url.Parse("https://a.example/x")
	for location, ok := range map[string]bool{"https://b.example/y": true, "/z": true, "http://a.example/x": false, "ftp://b.example": false} {
		res := &http.Response{StatusCode: 302, Header: http.Header{"Location": {location}}, Body: http.NoBody}
		if next, err := redirect(res, https); (err == nil) != ok || ok && next == nil {
			t.Errorf("%s: %v, %v", location, next, err)
		}
	}
}

// If a mirror's listing has no checksums, the client requests them for each file.
func TestListingWithoutChecksums(t *testing.T) {
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": random(5000), "config.json": []byte("{ }")})
	f.bendList = func(answer map[string]any) {
		for _, s := range answer["siblings"].([]map[string]any) {
			delete(s, "lfs")
			delete(s, "blobId")
			delete(s, "size")
		}
	}
	r := list(t, c)
	for _, file := range r.Files {
		path, err := c.Get(context.Background(), r, file)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != string(f.files[file.Name]) {
			t.Errorf("%s has %d bytes, want those of the file", path, len(got))
		}
	}
}

func names(files []File) (list []string) {
	for _, f := range files {
		list = append(list, f.Name)
	}
	return list
}

func TestSelect(t *testing.T) {
	repo := func(list ...string) *Repo {
		r := &Repo{Name: "o/m"}
		for _, n := range list {
			r.Files = append(r.Files, File{Name: n})
		}
		return r
	}
	many := repo("README.md", "m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "m-q8_0.gguf", "mmproj-m-f16.gguf", "m.imatrix.gguf",
		"big/m-f16-00001-of-00002.gguf", "big/m-f16-00002-of-00002.gguf")
	split := []string{"big/m-f16-00001-of-00002.gguf", "big/m-f16-00002-of-00002.gguf"}
	tensors := repo("config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json",
		"tokenizer.json", "original/consolidated.safetensors", "README.md")
	for _, c := range []struct {
		repo *Repo
		what string
		want []string
		err  string
	}{
		{many, "", []string{"m-Q4_K_M.gguf"}, ""},
		{many, "q4_k_s", []string{"m-Q4_K_S.gguf"}, ""},
		{many, "Q8_0", []string{"m-q8_0.gguf"}, ""},
		{many, "f16", split, ""},
		{many, "big/m-f16-00002-of-00002.gguf", split, ""},
		{many, "README.md", []string{"README.md"}, ""},
		{many, "q4_k", nil, "no q4_k: choose one of"},
		{many, "m", nil, "say which"},
		{many, "safetensors", nil, "holds no safetensors"},
		{repo("x.gguf"), "", []string{"x.gguf"}, ""},
		{repo("x.iq1.gguf", "y.iq2.gguf"), "", nil, "no usual quantisation: choose one of x.iq1.gguf, y.iq2.gguf"},
		{repo("x-00001-of-00003.gguf", "x-00003-of-00003.gguf"), "", nil, "in 3 parts, and the repository holds 2"},
		{repo("a.bin"), "", nil, "no GGUF file"},
		{tensors, "", nil, "pull hf:o/m:safetensors and convert"},
		{tensors, "safetensors", []string{"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
			"model.safetensors.index.json", "tokenizer.json"}, ""},
	} {
		got, err := c.repo.Select(c.what)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want %q", c.what, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(names(got), c.want) {
			t.Errorf("%q: %q, %v, want %q", c.what, names(got), err, c.want)
		}
	}
}

func TestParseRef(t *testing.T) {
	for s, want := range map[string]Ref{
		"hf:o/m":                     {"o/m", "main", ""},
		"hf:o/m:q4_0":                {"o/m", "main", "q4_0"},
		"hf:o/m@v1.0:a/b.gguf":       {"o/m", "v1.0", "a/b.gguf"},
		"hf.co/o/m:Q8_0":             {"o/m", "main", "Q8_0"},
		"https://huggingface.co/o/m": {"o/m", "main", ""},
		"https://huggingface.co/o/m/blob/main/x.gguf":                    {"o/m", "main", "x.gguf"},
		"https://huggingface.co/o/m/resolve/main/a/x.gguf?download=true": {"o/m", "main", "a/x.gguf"}, // what the site's button copies
		"https://huggingface.co/o/m/resolve/main/x.gguf":                 {"o/m", "main", "x.gguf"},
		"https://huggingface.co/o/m/tree/v2":                             {"o/m", "v2", ""},
		"https://huggingface.co/o/m/tree/main/":                          {"o/m", "main", ""},
		"qwen2.5":                                                        {"Qwen/Qwen2.5-0.5B-Instruct-GGUF", "main", ""},
		"Qwen2.5:1.5b-instruct-q8_0":                                     {"Qwen/Qwen2.5-1.5B-Instruct-GGUF", "main", "q8_0"},
		"llama3.2:latest":                                                {"bartowski/Llama-3.2-1B-Instruct-GGUF", "main", ""},
	} {
		if got, err := ParseRef(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "hf:", "hf:o", "hf:../m", "hf:o/..", "hf:o/m/x", "hf:o/m:", "hf:o/m@", "hf:o/m@../..", "gpt5", "qwen2.5:9000b", "hf:o/m?x=1"} {
		if got, err := ParseRef(s); err == nil || !strings.Contains(err.Error(), "want hf:OWNER/REPO") {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
	for _, name := range Names() {
		if _, err := ParseRef(name); err != nil {
			t.Error(err)
		}
	}
}

func TestFromEnv(t *testing.T) {
	home := t.TempDir()
	os.WriteFile(filepath.Join(home, "token"), []byte("from-file\n"), 0o600)
	env := func(kv ...string) func(string) string {
		return func(k string) string {
			for i := 0; i < len(kv); i += 2 {
				if kv[i] == k {
					return kv[i+1]
				}
			}
			return ""
		}
	}
	type want struct {
		endpoint, token, cache string
		offline                bool
	}
	for _, c := range []struct {
		env  func(string) string
		want want
	}{
		{env("HOME", "/h"), want{DefaultEndpoint, "", "/h/.cache/huggingface/hub", false}},
		{env("HOME", "/h", "HF_HOME", home), want{DefaultEndpoint, "from-file", filepath.Join(home, "hub"), false}},
		{env("HF_HOME", home, "HF_TOKEN", "t", "HF_ENDPOINT", "http://x:1/y", "HF_HUB_CACHE", "/c", "HF_HUB_OFFLINE", "1"), want{"http://x:1/y", "t", "/c", true}},
		{env("XDG_CACHE_HOME", "/x"), want{DefaultEndpoint, "", "/x/huggingface/hub", false}},
	} {
		cl, err := FromEnv(c.env)
		if err != nil {
			t.Fatal(err)
		}
		if got := (want{cl.Endpoint.String(), cl.Token, cl.Cache, cl.Offline}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
	for _, bad := range []func(string) string{env(), env("HOME", "/h", "HF_ENDPOINT", "ftp://x"), env("HOME", "/h", "HF_TOKEN", "a b")} {
		if _, err := FromEnv(bad); err == nil {
			t.Error("no error")
		}
	}
}

func TestParseRepoRefuses(t *testing.T) {
	good := `{"sha":"` + commit + `","siblings":[{"rfilename":"a/b.gguf","lfs":{"sha256":"` + strings.Repeat("a", 64) + `","size":5}}]}`
	if r, err := parseRepo([]byte(good)); err != nil || r.Files[0].Size != 5 {
		t.Fatal(r, err)
	}
	for old, new := range map[string]string{
		`a/b.gguf`:             `../b`,
		`"a/b.gguf"`:           `"/b"`,
		`"a/b.gguf",`:          `"a\\b",`,
		`a/b`:                  `a//b`,
		commit:                 "main",
		strings.Repeat("a", 8): "/../..",
		`:5`:                   `:-5`,
		`"size":5`:             `"size":99999999999999`,
		`}}]}`:                 ``,
	} {
		if r, err := parseRepo([]byte(strings.Replace(good, old, new, 1))); err == nil {
			t.Errorf("no error with %s instead of %s: %+v", new, old, r)
		}
	}
}

func FuzzParseRepo(f *testing.F) {
	f.Add([]byte(`{"sha":"` + commit + `","siblings":[{"rfilename":"a.gguf","size":3,"blobId":"` + commit + `"}]}`))
	f.Add([]byte(`{"sha":"` + commit + `","siblings":[{"rfilename":"m-00001-of-00002.gguf","lfs":{"sha256":"` + strings.Repeat("0", 64) + `","size":1}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRepo(b)
		if err != nil {
			return
		}
		c := newClient(&url.URL{Scheme: "http", Host: "x"}, "/cache")
		for _, file := range r.Files {
			path := filepath.Join(c.Snapshot(r), filepath.FromSlash(file.Name))
			if !strings.HasPrefix(path, "/cache/models--") {
				t.Fatalf("%q is outside the cache", path)
			}
		}
		for _, what := range []string{"", "q4_0", "safetensors"} {
			r.Select(what)
		}
	})
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"hf:o/m@r:f", "qwen2.5:0.5b", "https://huggingface.co/a/b/blob/c/d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRef(s)
		if err != nil {
			return
		}
		again, err := ParseRef(r.String())
		if err != nil || again != r {
			t.Fatalf("%q is parsed as %+v; its String, %q, as %+v (%v)", s, r, r.String(), again, err)
		}
	})
}

// What a server sends in place of the file does not cost what was downloaded before: the page of a proxy, of a length that it
// gives or not.
func TestPagesInsteadOfTheFile(t *testing.T) {
	data, page := random(100_000), []byte("<html>Please sign in.</html>")
	for name, chunked := range map[string]bool{"with its length": false, "without": true} {
		f, c := newFakeHub(t, map[string][]byte{"m.gguf": data})
		path := incomplete(t, f, c, "m.gguf", data[:60_000])
		f.onCDN = func(w http.ResponseWriter, r *http.Request) {
			w.Write(page)
			if chunked {
				w.(*answered).ResponseWriter.(http.Flusher).Flush()
			}
		}
		err := pull(t, f, c, "m.gguf")
		if err == nil || !strings.Contains(err.Error(), "60000 of 100000 bytes are kept") {
			t.Errorf("%s: error %v", name, err)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != string(data[:60_000]) {
			t.Errorf("%s: %d bytes are left, want the 60000 that were there (%v)", name, len(left), err)
		}
		f.onCDN = nil
		if err := pull(t, f, c, "m.gguf"); err != nil {
			t.Errorf("%s: then %v", name, err)
		}
		if got := ranges(f.requests(f.cdn)); got[len(got)-1] != "bytes=60000-" {
			t.Errorf("%s: the last request is for %q", name, got[len(got)-1])
		}
	}
}

// A server without ranges on a poor connection gets as far as its best connection does, and what is there is not lost.
func TestNoRangesOnAPoorConnection(t *testing.T) {
	data := random(100_000)
	f, c := newFakeHub(t, map[string][]byte{"m.gguf": data})
	sent, n := []int{40_000, 10_000, 90_000, 100_000}, 0
	f.onCDN = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Write(data[:sent[min(n, len(sent)-1)]])
		n++
	}
	var went []int64
	c.Progress = func(p Progress) { went = append(went, p.Done) }
	if err := pull(t, f, c, "m.gguf"); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(went) {
		t.Errorf("the download went back: %d", went)
	}
}

// Characters that mean something in an address are part of a revision's or a file's name.
func TestNamesInAddresses(t *testing.T) {
	f, c := newFakeHub(t, map[string][]byte{"a/100%41 #1?.gguf": random(1000)})
	if err := pull(t, f, c, "a/100%41 #1?.gguf"); err != nil {
		t.Error(err)
	}
	c.List(context.Background(), Ref{Repo: "o/m", Revision: "refs/pr/1"})
	asked := f.requests(f.hub)
	if got, want := asked[len(asked)-1].RequestURI, "/api/models/o/m/revision/refs%2Fpr%2F1?blobs=true"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}
