package decoder

import (
	"bytes"
	"context"
	"fmt"

	"tandem"
	"tandem/model"
)

// Prefixes returns the KV cache of each passage of a request, one context for each, as New would store them. Another side
// can continue from them (Request.Saved; DRCG/KV in DRAGON §7.2). Prefixes takes from the store what it can.
func Prefixes(ctx context.Context, cfg Config, req Request) ([][]byte, error) {
	cfg.Contexts = 0
	cfg, err := cfg.defaults()
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	if !cfg.caches() {
		return nil, fmt.Errorf("decoder: %s has no keys and values of passages here: it is a diffusion model, or another program computes it", cfg.Model.Config().Name)
	}
	if len(req.Passages) == 0 {
		return nil, nil
	}
	prompts, _, err := writePrompts(cfg, req, false)
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	d := &Decoder{cfg: cfg}
	d.rel.contextOf = deal(len(req.Passages), len(prompts))
	seqs, batch := make([]*model.Seq, len(prompts)), []model.Input(nil)
	defer releaseAll(seqs)
	loading, stop := context.WithTimeout(ctx, loadTime)
	defer stop()
	for i, p := range prompts {
		if seqs[i] = cfg.newSeq(); len(p.prefix) == 0 {
			continue
		}
		if seqs[i] = d.load(loading, storeKey(cfg.Model, cfg.Adapter, p.prefix), len(p.prefix)); seqs[i] == nil {
			seqs[i] = cfg.newSeq()
			batch = append(batch, model.Input{Seq: seqs[i], Tokens: p.prefix})
		}
	}
	if len(batch) > 0 {
		_, into, err := cfg.compute(ctx, batch, cfg.Passes.ForwardInto)
		if err != nil {
			return nil, fmt.Errorf("decoder: read %d documents: %w", len(batch), err)
		}
		into.Release()
	}
	out := make([][]byte, len(seqs))
	for i, s := range seqs {
		var b bytes.Buffer
		if _, err := s.WriteTo(&b); err != nil {
			return nil, fmt.Errorf("decoder: %w", err)
		}
		out[i] = b.Bytes()
	}
	return out, nil
}

// saved returns the KV cache that came with the request for the only passage of context i. It returns nil if there is none
// or if it does not match the prefix.
func (d *Decoder) saved(req Request, i int, prefix []tandem.Token) *model.Seq {
	if !d.cfg.caches() || len(req.Saved) != len(req.Passages) || d.prefill.Contexts != len(req.Passages) || i >= len(req.Saved) || len(req.Saved[i]) == 0 {
		return nil
	}
	seq, err := d.cfg.Model.ReadSeqWith(bytes.NewReader(req.Saved[i]), d.cfg.Adapter)
	if err != nil || seq.Len() != len(prefix) {
		return nil
	}
	seq.CountIn(d.cfg.Memory)
	return seq
}
