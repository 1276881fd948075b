package decoder

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder/kvstore"
	"tandem/model"
)

// Keys, values and logits of answers count as long as they are needed, passages that several answers share once.
func TestMemoryOfAnswers(t *testing.T) {
	cfg := toyConfig(openToy(t, 3, 512), "static")
	memory := new(model.Memory)
	cfg.Memory, cfg.Shared = memory, NewShared(1<<20)
	req := Request{Question: bothQuestion, Passages: samplePassages}
	prompts, _, err := writePrompts(cfg, req, false)
	if err != nil {
		t.Fatal(err)
	}
	const position = 2 * 2 * 2 * 8 * 2 // layers, keys and values, heads, numbers, bytes
	logits := int64(4 * cfg.Model.Config().Vocab * len(prompts))
	var passages, questions, answers int64
	for _, p := range prompts {
		n := len(p.rest)
		passages, questions, answers = passages+int64(len(p.prefix)*position), questions+int64(n*position), answers+int64(max(n/4, 8)*position)
	}
	check := func(what string, want int64) {
		t.Helper()
		if got := memory.Bytes(); got != want {
			t.Errorf("%s: %d bytes, want %d", what, got, want)
		}
	}
	a := newDecoder(t, cfg, req)
	check("one has read", passages+questions+logits)
	b := newDecoder(t, cfg, req)
	next(t, b, 0)
	check("two have read", passages+2*(questions+logits))
	next(t, a, 0, 7)
	check("one writes", passages+2*(questions+logits)+answers)
	if most, want := memory.Most(), passages+2*(questions+logits)+answers+logits; most != want {
		t.Errorf("at most %d bytes, want %d, with the logits of the pass", most, want)
	}
	next(t, a, 0, 9)
	next(t, a, 1, 7, 8)
	check("it goes back and on", passages+2*(questions+logits)+answers)
	next(t, a, 3, 1, 2, 3, 4, 5)
	check("it hardly goes back to the prompt now", passages+2*questions+logits+answers)
	a.Close()
	check("one is left", passages+questions+logits)
	b.Close()
	check("none is left", passages)
	cfg.Shared.Release()
	check("nothing is left", 0)
}

// Whatever becomes of answers, nothing of theirs counts afterwards.
func TestMemoryGoesBackToZero(t *testing.T) {
	req := Request{Question: bothQuestion, Passages: samplePassages}
	for i, weights := range []string{"static", "likelihood:0.5", "static", "likelihood:0.5"} {
		m := openToy(t, 3, 512)
		for _, limit := range []int64{0, 20_000, 1 << 20} { // of what answers share, which holds no passage, some, and all
			for fails := range 8 {
				kv, err := kvstore.Open(t.TempDir(), 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				cfg := toyConfig(m, weights)
				passes := &failing{Passes: m, after: fails, panics: i >= 2}
				cfg.Memory, cfg.KV, cfg.Passes = new(model.Memory), kv, passes
				if limit > 0 {
					cfg.Shared = NewShared(limit)
				}
				for range 2 { // the second finds passages
					playFailing(t, cfg, req)
				}
				if cfg.Shared.Release(); cfg.Memory.Bytes() != 0 || fails > 0 && cfg.Memory.Most() == 0 {
					t.Errorf("%s, %d bytes shared, failure after %d passes: %d bytes count, at most %d", weights, limit, fails, cfg.Memory.Bytes(), cfg.Memory.Most())
				}
			}
		}
	}
}

// A New that fails waits, as Close does, until the passages that it has read are stored.
func TestFailedNewWaitsForTheStore(t *testing.T) {
	m := openToy(t, 3, 512)
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "kv")
		kv, err := kvstore.Open(dir, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil { // nothing can be stored now
			t.Fatal(err)
		}
		log := &slowLog{Handler: slog.DiscardHandler}
		cfg := toyConfig(m, "static")
		cfg.Memory, cfg.KV, cfg.Shared, cfg.Log = new(model.Memory), kv, NewShared(1<<20), slog.New(log)
		cfg.Passes = &failing{Passes: m, after: 1}
		if _, err := New(t.Context(), cfg, Request{Question: bothQuestion, Passages: samplePassages}); !errors.Is(err, errFailing) {
			t.Fatal(err)
		}
		if cfg.Shared.Release(); int(log.written.Load()) != len(samplePassages) || cfg.Memory.Bytes() != 0 {
			t.Errorf("%d of %d passages were handled, and %d bytes count", log.written.Load(), len(samplePassages), cfg.Memory.Bytes())
		}
	})
}

// slowLog is a log that takes a second for a record.
type slowLog struct {
	slog.Handler
	written atomic.Int64
}

func (s *slowLog) Enabled(context.Context, slog.Level) bool { return true }

func (s *slowLog) Handle(context.Context, slog.Record) error {
	time.Sleep(time.Second)
	s.written.Add(1)
	return nil
}

// playFailing writes an answer, which goes back and fails somewhere, and gives passages to another side.
func playFailing(t *testing.T, cfg Config, req Request) {
	t.Helper()
	cfg.Passes.(*failing).passes = 0
	var d *Decoder
	for _, step := range []func() error{
		func() (err error) { d, err = New(t.Context(), cfg, req); return err },
		func() error { _, err := d.Next(t.Context(), 0, []tandem.Token{7, 8, 9}); return err },
		func() error {
			_, _, _, err := d.NextAhead(t.Context(), tandem.Pass{Keep: 3, Append: []tandem.Token{1}, Drafts: []tandem.Token{2, 3}})
			return err
		},
		func() error {
			_, _, _, err := d.NextAhead(t.Context(), tandem.Pass{Keep: 4, Append: []tandem.Token{2, 5}, Drafts: []tandem.Token{2, 3}})
			return err
		},
		func() error { _, err := d.Next(t.Context(), 1, []tandem.Token{6}); return err },
	} {
		if err := recovered(step); err != nil && !errors.Is(err, errFailing) {
			t.Error(err)
		}
		if d == nil {
			break
		}
	}
	if d != nil {
		d.Close()
	}
	if err := recovered(func() error { _, err := Prefixes(t.Context(), cfg, req); return err }); err != nil && !errors.Is(err, errFailing) {
		t.Error(err)
	}
}

// recovered calls f and returns its error, or what it panics with.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	return f()
}

// failing is Passes of which one fails, after some: with an error, or with a panic when all of it is computed.
type failing struct {
	Passes
	passes, after int
	panics        bool
}

var errFailing = errors.New("failed")

func (f *failing) compute(ctx context.Context, inputs []model.Input, into *model.Logits, pass passFunc) ([][]float32, error) {
	f.passes++
	fails := f.passes == f.after+1
	if fails && !f.panics {
		return nil, errFailing
	}
	out, err := pass(ctx, inputs, into)
	if fails {
		panic(errFailing)
	}
	return out, err
}

func (f *failing) Prefill(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	return f.compute(ctx, inputs, into, f.Passes.Prefill)
}

func (f *failing) ForwardInto(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	return f.compute(ctx, inputs, into, f.Passes.ForwardInto)
}
