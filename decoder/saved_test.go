package decoder

import (
	"slices"
	"testing"

	"tandem/decoder/kvstore"
)

// A KV cache from another side gives the same bits as a passage read here (DRCG/KV) and is not computed again. A passage is
// computed if its cache is damaged or missing.
func TestSavedPrefixes(t *testing.T) {
	m := openToy(t, 3, 512)
	cfg := toyConfig(m, "sentence")
	want := newDecoder(t, cfg, Request{Question: bothQuestion, Passages: samplePassages})
	out := next(t, want, 0)
	fetched, err := Prefixes(t.Context(), cfg, Request{Question: bothQuestion, Passages: samplePassages[1:]})
	if err != nil || len(fetched) != len(samplePassages)-1 {
		t.Fatalf("%d caches, %v", len(fetched), err)
	}
	saved := append([][]byte{nil}, fetched...)
	damaged := slices.Clone(saved)
	damaged[2] = slices.Clone(damaged[2])
	damaged[2][len(damaged[2])/2] ^= 1
	for name, c := range map[string]struct {
		saved  [][]byte
		cached int
	}{"all": {saved, 4}, "one damaged": {damaged, 3}, "none": {nil, 0}, "too few": {saved[:2], 0}} {
		d := newDecoder(t, cfg, Request{Question: bothQuestion, Passages: samplePassages, Saved: c.saved})
		if got := d.Prefill(); got.Cached != c.cached || got.Tokens >= want.Prefill().Tokens && c.cached > 0 {
			t.Errorf("%s: %+v", name, got)
		}
		if got := next(t, d, 0); !slices.Equal(got.Dist.IDs, out.Dist.IDs) || !slices.Equal(got.Dist.Weights, out.Dist.Weights) || got.H != out.H {
			t.Errorf("%s: another distribution", name)
		}
		piece := out.Dist.IDs[:1]
		if a, b := next(t, d, 0, piece...), next(t, want, 0, piece...); !slices.Equal(a.Dist.Weights, b.Dist.Weights) {
			t.Errorf("%s: another distribution after a token", name)
		}
	}
	// Prefixes takes caches from the store.
	store, err := kvstore.Open(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	cfg.KV = store
	newDecoder(t, cfg, Request{Question: bothQuestion, Passages: samplePassages}).Close()
	again, err := Prefixes(t.Context(), cfg, Request{Question: bothQuestion, Passages: samplePassages[1:]})
	if err != nil || len(again) != len(fetched) {
		t.Fatal(err)
	}
	for i := range again {
		if len(again[i]) != len(fetched[i]) {
			t.Errorf("cache %d has %d bytes from the store, %d computed", i, len(again[i]), len(fetched[i]))
		}
	}
	if none, err := Prefixes(t.Context(), cfg, Request{Question: bothQuestion}); err != nil || len(none) != 0 {
		t.Errorf("no passages: %d caches, %v", len(none), err)
	}
}
