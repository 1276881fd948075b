package decoder

import (
	"context"
	"testing"

	"tandem/decoder/kvstore"
	"tandem/model"
)

// Passages that were stored with one adapter, or with none, are computed again for another, and the answer is that without
// a store. A KV cache that another side sends is used only with its own adapter.
func TestStoredPassagesOfAnotherAdapterAreNotUsed(t *testing.T) {
	m := openToy(t, 8, 512)
	kv, err := kvstore.Open(t.TempDir(), 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer kv.Close()
	c := m.Config()
	delta := func(name string, size float32) model.Delta {
		d := model.Change{Weight: "blk.0.attn_k.weight", Rank: 1, A: make([]float32, c.Dim), B: make([]float32, c.KVHeads*c.HeadDim)}
		for i := range d.A {
			d.A[i] = float32(i%3 - 1)
		}
		for i := range d.B {
			d.B[i] = size * float32(i%5-2)
		}
		return model.Delta{Name: name, Changes: []model.Change{d}}
	}
	list, err := m.Mount(model.Inputs, delta("same name", 1), delta("same name", 2))
	if err != nil {
		t.Fatal(err)
	}
	req := Request{Question: bothQuestion, Passages: samplePassages[:3]}
	var outs []Output
	var saved [][][]byte
	for _, a := range append([]*model.Adapter{nil}, list...) {
		cfg := toyConfig(m, "sentence+likelihood")
		cfg.Adapter = a
		outs = append(outs, next(t, newDecoder(t, cfg, req), 0))
		prefixes, err := Prefixes(context.Background(), cfg, req)
		if err != nil {
			t.Fatal(err)
		}
		saved = append(saved, prefixes)
	}
	if equal(outs[0], outs[1]) || equal(outs[1], outs[2]) {
		t.Fatal("the adapters change nothing, so this test proves nothing")
	}
	for round := range 2 {
		for i, a := range append([]*model.Adapter{nil}, list...) {
			cfg := toyConfig(m, "sentence+likelihood")
			cfg.Adapter, cfg.KV = a, kv
			d := newDecoder(t, cfg, req)
			if c := d.Prefill().Cached; c != 3*round {
				t.Errorf("round %d, adapter %d: %d passages came from the store", round, i, c)
			}
			if !equal(next(t, d, 0), outs[i]) {
				t.Errorf("round %d, adapter %d: the store changes the distribution", round, i)
			}
			d.Close()
			cfg.KV = nil
			for j := range saved {
				with := req
				with.Saved = saved[j]
				d := newDecoder(t, cfg, with)
				if c := d.Prefill().Cached; (c == 3) != (i == j) || !equal(next(t, d, 0), outs[i]) {
					t.Errorf("adapter %d takes %d caches that adapter %d sends", i, c, j)
				}
			}
		}
	}
}
