package decoder

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"tandem/decoder/kvstore"
)

// A second machine takes the passages that the first has read from their bucket, and has the same distribution, to the
// bit. If the bucket is gone it reads them itself.
func TestPassagesOfAnotherMachine(t *testing.T) {
	var blobs sync.Map
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			blobs.Store(r.URL.Path, b)
			return
		}
		b, ok := blobs.Load(r.URL.Path)
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(b.([]byte))
	}))
	defer bucket.Close()
	cfg := toyConfig(openToy(t, 8, 512), "static")
	req := Request{Question: bothQuestion, Passages: samplePassages}
	want := next(t, newDecoder(t, cfg, req), 0)
	for machine, cached := range []int{0, len(req.Passages), 0} {
		if machine == 2 {
			bucket.Close()
		}
		kv, err := kvstore.Open(t.TempDir(), 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		b, err := kvstore.ParseBucket(bucket.URL+"/kv", func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		kv.Share(b, slog.New(slog.DiscardHandler))
		cfg.KV = kv
		d := newDecoder(t, cfg, req)
		if got := next(t, d, 0); !equal(got, want) || d.Prefill().Cached != cached {
			t.Errorf("machine %d: %d passages from the store, want %d; the same distribution: %v", machine, d.Prefill().Cached, cached, equal(got, want))
		}
		d.Close()
		kv.Close()
	}
}
