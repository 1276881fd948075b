package decoder

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"tandem"
	"tandem/model"
)

// loadTime is how long an answer waits for KV caches from elsewhere, all of them together.
const loadTime = 20 * time.Second

// read fills the contexts' KV caches with the prompts.
func (d *Decoder) read(ctx context.Context, req Request, prompts []prompt) error {
	seqs, keys, err := d.readPrefixes(ctx, req, prompts)
	if err != nil {
		return err
	}
	batch, fresh := make([]model.Input, len(prompts)), make([]bool, len(prompts))
	for i, p := range prompts {
		tokens := p.rest
		if fresh[i] = seqs[i] == nil; fresh[i] {
			seqs[i], tokens = d.cfg.newSeq(), slices.Concat(p.prefix, p.rest)
		}
		d.contexts = append(d.contexts, docContext{seq: seqs[i], prompt: len(p.prefix) + len(p.rest), last: p.rest[len(p.rest)-1]})
		batch[i] = model.Input{Seq: seqs[i], Tokens: tokens}
		d.prefill.Tokens += len(tokens)
	}
	if err := d.beginGuesses(prompts, batch); err != nil {
		return err
	}
	out, into, err := d.cfg.compute(ctx, batch, d.cfg.Passes.Prefill)
	if err != nil {
		return err
	}
	d.promptMemory, d.prompt, d.logits = into, out, out
	for i, p := range prompts {
		if fresh[i] && d.holds(i) {
			d.store(keys[i], d.contexts[i].seq, len(p.prefix))
		}
		if d.cfg.Shared == nil { // which would keep the prefix
			d.contexts[i].seq.Forget() // no edit of the answer goes back behind the prompt
		}
	}
	return nil
}

// readPrefixes returns the KV caches of the prompts' prefixes, and their keys. It takes from the store and from memory what it can.
// A cache is nil if its prefix is computed with the question.
func (d *Decoder) readPrefixes(ctx context.Context, req Request, prompts []prompt) (seqs []*model.Seq, keys [][32]byte, err error) {
	seqs, keys = make([]*model.Seq, len(prompts)), make([][32]byte, len(prompts))
	succeeded := false
	defer func() { // also after a panic
		if !succeeded {
			releaseAll(seqs)
		}
	}()
	loading, stop := context.WithTimeout(ctx, loadTime)
	defer stop()
	for i, p := range prompts {
		keys[i], seqs[i] = storeKey(d.cfg.Model, d.cfg.Adapter, p.prefix), d.saved(req, i, p.prefix)
		if seqs[i] == nil && d.holds(i) && d.cfg.Shared == nil {
			seqs[i] = d.load(loading, keys[i], len(p.prefix))
		}
		if seqs[i] != nil {
			d.prefill.Cached++
		}
	}
	if d.cfg.Shared != nil {
		err = d.readShared(ctx, loading, seqs, keys, prompts)
	}
	succeeded = err == nil
	return seqs, keys, err
}

// releaseAll gives KV caches back, of which some may be nil.
func releaseAll(seqs []*model.Seq) {
	for _, s := range seqs {
		if s != nil {
			s.Release()
		}
	}
}

// beginGuesses gives the prompts to the drafters. The calibration among them observes what the prefill computes.
func (d *Decoder) beginGuesses(prompts []prompt, batch []model.Input) error {
	texts := make([][]tandem.Token, len(prompts))
	for i, p := range prompts {
		texts[i] = slices.Concat(p.prefix, p.rest)
	}
	g, calibration := newGuesser(d.cfg.Draft, d.cfg.Resources, texts, d.cfg.Model.Tokenizer().IsControl)
	if g.forecast != nil {
		if err := g.forecast.Check(d.cfg.Model); err != nil {
			return err
		}
	}
	d.guesses, g.rate = g, d.cfg.Past.Begin(d.cfg.Draft)
	if d.perPass = nil; len(g.drafters) > 0 {
		d.perPass = g.rate.PerPass
	}
	for i := range batch {
		batch[i].PerPass = d.perPass
	}
	if calibration != nil {
		head, err := d.cfg.Model.PartialHead(calibration.Begin(g.prompts))
		if err != nil {
			return fmt.Errorf("calibrate drafts: %w", err)
		}
		at := 0
		for i := range batch {
			at += len(texts[i])
			from := at - len(batch[i].Tokens) // what comes before was in the cache
			batch[i].Head, batch[i].OnScores = head, func(j int, scores []float32) { calibration.Observe(from+j, scores) }
			at++ // the separator
		}
	}
	g.read()
	return nil
}

// holds reports whether context i holds a passage.
func (d *Decoder) holds(i int) bool { return slices.Contains(d.rel.contextOf, i) }

// storeKey returns the key of a prefix's KV cache. The cache depends on the model, the template, the adapter, the tokens
// and the rounding of the device.
func storeKey(m *model.Model, a *model.Adapter, prefix []tandem.Token) (key [32]byte) {
	adapter := "" // none
	if a != nil {
		adapter = fmt.Sprintf("%x", a.Fingerprint())
	}
	h := sha256.New()
	weights, template := m.Fingerprint(), m.Template().Fingerprint()
	io.WriteString(h, "document kv 1\x00"+adapter+"\x00"+m.Rounding())
	h.Write(weights[:])
	h.Write(template[:])
	binary.Write(h, binary.LittleEndian, prefix)
	h.Sum(key[:0])
	return key
}

// shared returns the KV cache of a prefix of n tokens from memory or from the store, or nil.
func (d *Decoder) shared(ctx context.Context, key [32]byte, n int) *model.Seq {
	if seq := d.cfg.Shared.get(key); seq != nil && seq.Len() == n {
		return seq
	}
	seq := d.load(ctx, key, n)
	if seq != nil {
		d.cfg.Shared.put(key, seq)
	}
	return seq
}

// load returns the KV cache of a prefix of n tokens, or nil if the store has none that it can read.
func (d *Decoder) load(ctx context.Context, key [32]byte, n int) *model.Seq {
	if d.cfg.KV == nil {
		return nil
	}
	r, ok := d.cfg.KV.Get(ctx, key)
	if !ok {
		return nil
	}
	defer r.Close()
	seq, err := d.cfg.Model.ReadSeqWith(r, d.cfg.Adapter)
	if err == nil && seq.Len() != n {
		err = fmt.Errorf("it has %d tokens instead of %d", seq.Len(), n)
	}
	if err != nil {
		d.cfg.Log.Warn("a stored passage cannot be read and is computed again", "error", err)
		return nil
	}
	seq.CountIn(d.cfg.Memory)
	return seq
}

// store keeps seq's first n tokens in memory, and writes a copy to the store in the background.
func (d *Decoder) store(key [32]byte, seq *model.Seq, n int) {
	if d.cfg.KV == nil && d.cfg.Shared == nil || n == 0 {
		return
	}
	prefix := seq.Fork()
	prefix.Truncate(n)
	d.cfg.Shared.put(key, prefix)
	if d.cfg.KV == nil {
		prefix.Release()
		return
	}
	d.storing.Go(func() {
		defer prefix.Release()
		if err := d.write(key, prefix); err != nil {
			d.cfg.Log.Warn("a passage's KV is not stored", "error", err)
		}
	})
}

// write writes a passage's KV cache to the store. It turns a panic into an error: whoever recovers those of the answer does not see
// this goroutine's.
func (d *Decoder) write(key [32]byte, prefix *model.Seq) (err error) {
	defer func() {
		if p := recover(); p != nil {
			d.cfg.Log.Error("internal fault", "error", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("internal fault: %v", p)
		}
	}()
	return d.cfg.KV.Put(key, func(w io.Writer) error {
		_, err := prefix.WriteTo(w)
		return err
	})
}
