package decoder

import (
	"sync"
	"testing"
)

// Answers that share passages in memory say what they say alone, at the same time or one after the other, and compute each
// passage once. What does not fit is dropped, the longest unused first.
func TestShared(t *testing.T) {
	cfg := toyConfig(openToy(t, 3, 512), "static")
	req := Request{Question: bothQuestion, Passages: samplePassages}
	plain := newDecoder(t, cfg, req)
	want := []Output{next(t, plain, 0), next(t, plain, 0, 7, 8)}
	all := NewShared(1 << 20)
	cfg.Shared = all
	newDecoder(t, cfg, req)
	var answers sync.WaitGroup
	for range 4 {
		answers.Go(func() {
			d := newDecoder(t, cfg, req)
			if p := d.Prefill(); p.Cached != len(req.Passages) {
				t.Errorf("%d of %d passages from memory", p.Cached, len(req.Passages))
			}
			if !equal(next(t, d, 0), want[0]) || !equal(next(t, d, 0, 7, 8), want[1]) {
				t.Error("another distribution than alone")
			}
		})
	}
	answers.Wait()

	two := all.held[storeKeyOf(t, cfg, req, 3)].Value.(sharedPrefix).seq.Bytes() + all.held[storeKeyOf(t, cfg, req, 4)].Value.(sharedPrefix).seq.Bytes()
	small := NewShared(two)
	cfg.Shared = small
	newDecoder(t, cfg, req)
	if small.Bytes() != two || len(small.held) != 2 || small.held[storeKeyOf(t, cfg, req, 4)] == nil {
		t.Errorf("%d bytes of %d passages are held: want the last two, %d bytes", small.Bytes(), len(small.held), two)
	}
}

// storeKeyOf returns the key of passage i.
func storeKeyOf(t *testing.T, cfg Config, req Request, i int) [32]byte {
	t.Helper()
	prompts, _, err := writePrompts(cfg, req, false)
	if err != nil {
		t.Fatal(err)
	}
	return storeKey(cfg.Model, cfg.Adapter, prompts[i].prefix)
}
