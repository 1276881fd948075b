package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/retrieval/search/searchtest"
)

// folder writes files to disk.
func folder(t *testing.T, files fs.FS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t *testing.T, address string) *Index {
	t.Helper()
	x, err := Open(t.Context(), address, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func TestContract(t *testing.T) {
	searchtest.Run(t, func(t *testing.T, files fs.FS) searchtest.Engine {
		x := open(t, newCluster(t, 3).address())
		if _, err := x.Add(t.Context(), folder(t, files), nil); err != nil {
			t.Fatal(err)
		}
		return x
	})
}

// The same questions find the same passages, in the same order, as in an index on disk.
func TestSameAsBleve(t *testing.T) {
	dir := t.TempDir()
	for i := range 60 {
		text := fmt.Sprintf("# House %d\n\nThe wifi password of house %d is quendle-%d. The boiler was serviced in %d by Rita Hale.\n\n## Rules\n\nBins go out on day %d. Guests leave by %d o'clock and close the shutters.\n", i, i, 7*i, 1990+i%20, i%7, 8+i%5)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("h", i, ".md")), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	local, err := search.Memory(search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	remote := open(t, newCluster(t, 3).address())
	if _, err := local.Add(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	report, err := remote.Add(t.Context(), dir, nil)
	if err != nil || report.Added != 60 {
		t.Fatalf("%+v, %v", report, err)
	}
	for i := range 20 {
		question := []string{
			"What is the wifi password of house %d?", "Who serviced the boiler of house %d, and in which year?", "When do guests leave house %d, and on which day do its bins go out?",
		}[i%3]
		question = strings.ReplaceAll(question, "%d", fmt.Sprint(i))
		want, err := local.Search(t.Context(), passages.Query{Text: question}, 4)
		if err != nil {
			t.Fatal(err)
		}
		got, err := remote.Search(t.Context(), passages.Query{Text: question}, 4)
		if err != nil || len(got) != len(want) || got[0] != want[0] {
			t.Errorf("%q: %v, %v, want %v", question, titles(got), err, titles(want))
		}
	}
}

func titles(list []passages.Passage) (out []string) {
	for _, p := range list {
		out = append(out, p.ID[:min(len(p.ID), 8)]+" "+p.Title)
	}
	return out
}

// Changes are followed, and what is gone is gone: as in an index on disk, and for a second program.
func TestUpdates(t *testing.T) {
	c := newCluster(t, 3)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "The wifi password is tumbral-5827.")
	write("b.txt", "The harbour museum opens at 9:30.")
	x := open(t, c.address())
	check := func(want string, report search.Report, err error, question, holds string) {
		t.Helper()
		if got := fmt.Sprintf("+%d ~%d -%d =%d, %d", report.Added, report.Updated, report.Removed, report.Unchanged, report.Passages); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
		found, err := open(t, c.address()).Search(t.Context(), passages.Query{Text: question}, 4)
		if (err == nil && len(found) > 0 && strings.Contains(found[0].Text, holds)) != (holds != "") || holds == "" && len(found) > 0 {
			t.Errorf("%q finds %v, %v; want %q", question, found, err, holds)
		}
	}
	report, err := x.Add(t.Context(), dir, nil)
	check("+2 ~0 -0 =0, 2", report, err, "wifi password", "tumbral")
	batches := c.requests["POST /v1/batch/objects"]
	report, err = x.Add(t.Context(), dir, nil)
	check("+0 ~0 -0 =2, 2", report, err, "museum", "9:30")
	if c.requests["POST /v1/batch/objects"] > batches+1 { // the files are settled only later
		t.Errorf("%d batches for nothing", c.requests["POST /v1/batch/objects"]-batches)
	}
	write("a.txt", "The wifi password is quendle-1, since May.")
	report, err = x.Refresh(t.Context(), nil)
	check("+0 ~1 -0 =1, 2", report, err, "wifi password", "quendle")
	if n := len(c.classes["TandemPassage"].objects); n != 2 {
		t.Errorf("%d passages in the cluster", n)
	}
	report, err = x.Remove(t.Context(), filepath.Join(dir, "a.txt"))
	check("+0 ~0 -1 =0, 1", report, err, "wifi password", "")
	if list, err := x.List(); err != nil || len(list) != 1 || list[0].Path != filepath.Join(dir, "b.txt") {
		t.Errorf("%v, %v", list, err)
	}
	if n, err := x.Files(t.Context()); err != nil || n != 1 {
		t.Errorf("%d files, %v", n, err)
	}
	if _, err := x.Remove(t.Context(), filepath.Join(dir, "c.txt")); !errors.Is(err, search.ErrNotIndexed) {
		t.Errorf("a file that is not there: %v", err)
	}
	c.broken = true
	write("d.txt", "The bin day is Friday.")
	if _, err := x.Add(t.Context(), dir, nil); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no quorum") {
		t.Errorf("without a quorum: %v", err)
	}
	c.broken = false
	report, err = open(t, c.address()).Add(t.Context(), dir, nil)
	check("+1 ~0 -0 =1, 2", report, err, "bin day", "Friday") // what was removed by hand stays out
}

// Of passages that stay in a file, none is removed. Those of one score come in the order of their IDs.
func TestPut(t *testing.T) {
	c := newCluster(t, 1)
	x := open(t, c.address())
	some := func(ids ...string) (list []passages.Passage) {
		for _, id := range ids {
			list = append(list, passages.Passage{ID: id, Source: "a.txt", Text: "The locker."})
		}
		return list
	}
	ids := func() (out []string) {
		t.Helper()
		found, err := x.Find(t.Context(), []search.Term{{Text: "locker", Weight: 1}}, 9)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			out = append(out, p.ID)
		}
		return out
	}
	for _, step := range []struct{ old, now []string }{{nil, []string{"a", "b", "c", "d"}}, {[]string{"a", "b", "c", "d"}, []string{"b", "d", "e"}}} {
		err := x.store.Put(t.Context(), "a.txt", []byte("{}"), step.old, some(step.now...))
		if err = errors.Join(err, x.store.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := ids(); !slices.Equal(got, step.now) {
			t.Errorf("after %v: %v, want %v", step.old, got, step.now)
		}
	}
}

// A file that is added again after a removal is there, also if the removal failed at first.
func TestAddAfterRemove(t *testing.T) {
	c := newCluster(t, 1)
	x := open(t, c.address())
	path := filepath.Join(folder(t, fstest.MapFS{"a.txt": {Data: []byte("The wifi password is tumbral-5827.")}}), "a.txt")
	add := func() {
		t.Helper()
		if _, err := x.Add(t.Context(), path, nil); err != nil {
			t.Fatal(err)
		}
		if list, err := x.List(); err != nil || len(list) != 1 {
			t.Errorf("files %v, %v after an add", list, err)
		}
		if found, err := x.Search(t.Context(), passages.Query{Text: "wifi password"}, 1); err != nil || len(found) != 1 {
			t.Errorf("found %v, %v after an add", found, err)
		}
	}
	add()
	c.stuck = true
	if _, err := x.Remove(t.Context(), path); !errors.Is(err, ErrUnreachable) {
		t.Errorf("without a quorum: %v", err)
	}
	c.stuck = false
	add()
}

// Passages and a record that are put after they were dropped, in one batch, stay.
func TestPutAfterDrop(t *testing.T) {
	x := open(t, newCluster(t, 1).address())
	const path = "a.txt"
	ps := []passages.Passage{{ID: "a", Source: path, Text: "The locker."}}
	put := func() error { return x.store.Put(t.Context(), path, []byte("{}"), nil, ps) }
	flush := func() error { return x.store.Flush(t.Context()) }
	drop := func() error { return x.store.Drop(t.Context(), path, []string{"a"}) }
	for _, step := range []func() error{put, flush, drop, put, flush} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := x.Find(t.Context(), []search.Term{{Text: "locker", Weight: 1}}, 1); err != nil || len(found) != 1 {
		t.Errorf("%d passages, %v", len(found), err)
	}
	files := 0
	if _, err := x.store.Load(t.Context(), func([]byte) error { files++; return nil }); err != nil || files != 1 {
		t.Errorf("%d records, %v", files, err)
	}
}

// The node that answered last is asked first, and no node's word sends the key elsewhere.
func TestClient(t *testing.T) {
	var asked, elsewhere atomic.Int32
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	well := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) }))
	defer well.Close()
	c := newClient([]string{busy.URL, well.URL}, "secret")
	for range 3 {
		if err := c.do(t.Context(), http.MethodGet, "/", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("a node that cannot answer was asked %d times", n)
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	moved := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	if err := newClient([]string{moved.URL}, "secret").do(t.Context(), http.MethodGet, "/", nil, nil); err == nil || elsewhere.Load() != 0 {
		t.Errorf("a node that points elsewhere: %v, asked there %d times", err, elsewhere.Load())
	}
}

// tripper answers requests without a network.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A search does not wait long for a node that is slow, and what is written is not sent twice for that.
func TestSlowNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient([]string{"http://slow", "http://well"}, "")
		asked := map[string]int{}
		var mu sync.Mutex
		c.http.Transport = tripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			asked[r.URL.Host]++
			mu.Unlock()
			if r.URL.Host == "slow" {
				select {
				case <-r.Context().Done():
					return nil, r.Context().Err()
				case <-time.After(2 * patience):
				}
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"from":"` + r.URL.Host + `"}`))}, nil
		})
		for _, want := range []struct {
			method, path, from string
			after              time.Duration
			well               int
		}{
			{http.MethodPost, "/v1/batch/objects", "slow", 2 * patience, 0},
			{http.MethodPost, "/v1/graphql", "well", patience, 1},
			{http.MethodPost, "/v1/graphql", "well", 0, 2}, // it is asked first now
		} {
			var out struct{ From string }
			start := time.Now()
			err := c.do(t.Context(), want.method, want.path, nil, &out)
			if took := time.Since(start); err != nil || out.From != want.from || took != want.after || asked["well"] != want.well {
				t.Errorf("%s: %v, %q after %v, %v", want.path, err, out.From, took, asked)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.next.Store(0)
		if err := c.do(ctx, http.MethodGet, "/", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no time is left: %v", err)
		}
		synctest.Wait()
	})
}

// A page of records is read at a time, however many there are.
func TestManyFiles(t *testing.T) {
	c, dir := newCluster(t, 1), t.TempDir()
	for i := range 2*page + 7 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.txt", i)), fmt.Appendf(nil, "Locker %d opens with %d.", i, 31*i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x := open(t, c.address())
	if report, err := x.Add(t.Context(), dir, nil); err != nil || report.Added != 2*page+7 {
		t.Fatalf("%+v, %v", report, err)
	}
	list, err := x.List()
	if err != nil || len(list) != 2*page+7 || !slices.IsSortedFunc(list, func(a, b search.SourceInfo) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("%d files, %v", len(list), err)
	}
}

// A node that dies costs no search; without any, the error says that the documents cannot be reached, and nothing is "unknown".
func TestNodesDie(t *testing.T) {
	c, dir := newCluster(t, 3), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("The wifi password is tumbral-5827."), 0o644); err != nil {
		t.Fatal(err)
	}
	x := open(t, c.address())
	if _, err := x.Add(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	for i, n := range c.nodes {
		if found, err := x.Search(t.Context(), passages.Query{Text: "wifi password"}, 4); err != nil || len(found) != 1 {
			t.Errorf("%d nodes are dead: %v, %v", i, found, err)
		}
		n.Close()
	}
	_, err := x.Search(t.Context(), passages.Query{Text: "wifi password"}, 4)
	var away interface{ Unreachable() bool }
	if !errors.Is(err, ErrUnreachable) || !errors.As(err, &away) || !away.Unreachable() {
		t.Errorf("no node is left: %v", err)
	}
	if _, err := Open(context.Background(), c.address(), "", 0); !errors.Is(err, ErrUnreachable) {
		t.Errorf("opened without a node: %v", err)
	}
	c.start()
	x2 := open(t, c.address()) // three of four are dead
	if found, err := x2.Search(t.Context(), passages.Query{Text: "wifi password"}, 4); err != nil || len(found) != 1 {
		t.Errorf("a new node: %v, %v", found, err)
	}
}

// What is erased is gone, and a new index is empty.
func TestErase(t *testing.T) {
	c := newCluster(t, 1)
	x := open(t, c.address())
	if _, err := x.AddFS(t.Context(), fstest.MapFS{"a.txt": {Data: []byte("The wifi password is tumbral-5827.")}}, "."); err != nil {
		t.Fatal(err)
	}
	if found, err := x.Search(t.Context(), passages.Query{Text: "wifi password"}, 4); err != nil || len(found) != 1 || found[0].Source != "a.txt" {
		t.Errorf("%v, %v", found, err)
	}
	if err := x.Erase(t.Context()); err != nil || len(c.classes) != 0 {
		t.Errorf("%v, %d classes", err, len(c.classes))
	}
	if n, err := open(t, c.address()).Files(t.Context()); err != nil || n != 0 {
		t.Errorf("%d files, %v", n, err)
	}
}

func TestVersions(t *testing.T) {
	for version, ok := range map[string]bool{
		"1.39.0": true, "1.40.1": true, "2.0.0": true, "1.39.0-rc.1": true, "v1.41.3": true,
		"1.38.9": false, "1.35.2": false, "0.99.0": false, "": false, "latest": false, "1": false,
	} {
		c := newCluster(t, 2)
		c.version = version
		_, err := Open(t.Context(), c.address(), "", 0)
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "1.39 or later") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func TestKey(t *testing.T) {
	c := newCluster(t, 1)
	c.key = "secret"
	if _, err := Open(t.Context(), c.address(), "wrong", 0); err == nil || errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong key: %v", err)
	}
	if _, err := Open(t.Context(), c.address(), "secret", 0); err != nil {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	nodes, class, err := Parse("weaviate://a,b:9090,[::1],[::1]:1/Handbook2")
	if want := []string{"http://a:8080", "http://b:9090", "http://[::1]:8080", "http://[::1]:1"}; err != nil || class != "Handbook2" || !slices.Equal(nodes, want) {
		t.Errorf("%q, %q, %v", nodes, class, err)
	}
	if nodes, class, err := Parse("weaviates://a"); err != nil || class != "TandemPassage" || nodes[0] != "https://a:8080" {
		t.Errorf("%q, %q, %v", nodes, class, err)
	}
	for _, bad := range []string{"", "a,b", "weaviate://", "weaviate://a,,b", "weaviate://a/handbook", "weaviate://a/", "weaviate://a/A{b}", "http://a", "weaviate://key@a", "weaviate://a?x=1"} {
		if _, _, err := Parse(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// Whatever a node answers is an error or a result, and no more than a bounded part of it is kept.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data":{"Get":{"P":[{"pid":"1","title":"t","text":"x","_additional":{"score":"1.5"}}]}}}`), "Get", "P")
	f.Add([]byte(`{"data":null,"errors":[{"message":"no"}]}`), "Aggregate", "P")
	f.Add([]byte(`{"data":{"Get":null}}`), "Get", "P")
	f.Fuzz(func(t *testing.T, data []byte, verb, class string) {
		var a answer
		if err := json.Unmarshal(data, &a); err != nil {
			return
		}
		var out []struct{ Meta struct{ Count uint64 } }
		a.class(verb, class, &out)
	})
}

// A link that leads back to itself is refused with the way out, as by an index on disk, and nothing is remembered of it.
func TestAddLinkLoop(t *testing.T) {
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip(err) // some systems have no links
	}
	x := open(t, newCluster(t, 1).address())
	if _, err := x.Add(t.Context(), loop, nil); err == nil || !strings.Contains(err.Error(), "leads back to itself: remove it") {
		t.Error(err)
	}
}
