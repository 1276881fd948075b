package span

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
)

// TestOtherFilesAreRefused checks that a file that is not a span reader gives an error that says so.
func TestOtherFilesAreRefused(t *testing.T) {
	wide := small(t).KVs()
	for i := range wide {
		if wide[i].Key == Architecture+".head_count" {
			wide[i].Value = uint32(1)
		}
	}
	for name, c := range map[string]struct {
		meta []gguf.KV
		want string
	}{
		"another architecture": {[]gguf.KV{{Key: "general.architecture", Value: "llama"}}, `architecture "llama"`},
		"nothing":              {nil, "not a span reader"},
		"other rules":          {[]gguf.KV{{Key: "general.architecture", Value: Architecture}, {Key: Architecture + ".rules", Value: uint32(7)}}, "version 7"},
		"another network":      {[]gguf.KV{{Key: "general.architecture", Value: Architecture}, {Key: Architecture + ".rules", Value: uint32(rules)}, {Key: Architecture + ".network", Value: uint32(4)}}, "computes version 3"},
		"other heads":          {wide, "head_count is 1: want 2"},
		"no numbers":           {[]gguf.KV{{Key: "general.architecture", Value: Architecture}, {Key: Architecture + ".rules", Value: uint32(rules)}, {Key: Architecture + ".network", Value: uint32(version)}}, "far"},
	} {
		var b bytes.Buffer
		if err := gguf.Write(&b, c.meta, nil); err != nil {
			t.Fatal(err)
		}
		f, err := gguf.Parse("test", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(f, native.New(1), 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

// same fails if two posteriors differ in a bit.
func same(t *testing.T, what string, a, b *Posterior) {
	t.Helper()
	if a.None != b.None || !slices.Equal(a.Spans, b.Spans) {
		t.Fatalf("%s: P(none) %v, was %v", what, a.None, b.None)
	}
}

// passagesOf returns what a reader makes of texts.
func passagesOf(t *testing.T, r *Reader, texts ...string) (ps []*Passage) {
	t.Helper()
	for _, s := range texts {
		ps = append(ps, r.Passage(s))
	}
	return ps
}

// A passage's posterior depends neither on other passages nor on threads, nor on whether the passage was read before.
func TestPosteriorIsIndependentOfOthers(t *testing.T) {
	t.Run("shipped", func(t *testing.T) { independent(t, shipped(t)) })
	t.Run("small", func(t *testing.T) { independent(t, small(t)) })
}

func independent(t *testing.T, f *gguf.File) {
	const question = "When does the museum close?"
	texts := []string{museum, "Bring the kayak back by 18:00. Ask Jürgen Müller for the key.", "", strings.Repeat(museum, 20), "Hello"}
	for n := range 3 {
		texts = append(texts, strings.Repeat(museum, n+2)[n:])
	}
	var alone []*Posterior
	for _, threads := range []int{1, 3} {
		r, err := New(f, native.New(1), threads)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			got, err := r.Read(t.Context(), question, []*Passage{r.passage(s)})
			if err != nil {
				t.Fatal(err)
			}
			if threads == 1 {
				alone = append(alone, got...)
			}
			same(t, fmt.Sprintf("passage %d with %d threads", i, threads), got[0], alone[i])
		}
		for _, how := range []string{"new", "kept"} {
			got, err := r.Read(t.Context(), question, passagesOf(t, r, texts...))
			if err != nil {
				t.Fatal(err)
			}
			for i := range texts {
				same(t, fmt.Sprintf("passage %d of 8, %s", i, how), got[i], alone[i])
				same(t, fmt.Sprintf("passage %d, kept", i), read(t, r, question, texts[i]), alone[i])
			}
		}
	}
}

// counter is a device that counts the rows of each product.
type counter struct {
	npu.Device
	mu   sync.Mutex
	rows map[string]int
}

type counted struct {
	npu.Program
	by *counter
}

func (d *counter) Compile(g *npu.Graph) (npu.Program, error) {
	p, err := d.Device.Compile(g)
	return counted{p, d}, err
}

func (p counted) Run(a npu.Args) error {
	p.by.mu.Lock()
	p.by.rows[p.Graph().Name] += a.Rows
	p.by.mu.Unlock()
	return p.Program.Run(a)
}

// Each text is encoded once: a question for all its passages, and a passage for all questions, also if several read it at once.
func TestTextsAreEncodedOnce(t *testing.T) {
	d := &counter{Device: native.New(1), rows: map[string]int{}}
	r, err := New(small(t), d, 2)
	if err != nil {
		t.Fatal(err)
	}
	const question = "When does the museum close?"
	words := len(r.lexicon.analyse(question, r.maxQuestion).words)
	ps := passagesOf(t, r, museum, museum[9:], museum)
	want := 0
	for _, p := range ps[:2] {
		want += p.Len()
	}
	if len(d.rows) > 0 {
		t.Errorf("products of %v before the first question", d.rows)
	}
	for range 3 {
		want += words
		if _, err := r.Read(t.Context(), question, ps); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"align", "enter", "encoder.0.q", fmt.Sprintf("encoder.%d.down", len(r.encoders)-1)} {
			if d.rows[name] != want {
				t.Errorf("%d words in %s, want %d", d.rows[name], name, want)
			}
		}
	}
}

// What fails while a passage is encoded fails each Read of it.
func TestEncodingFails(t *testing.T) {
	r, err := New(small(t), native.New(1), 2)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	sound := r.enter.program
	r.enter.program = failing{sound, broken}
	for range 2 {
		if got, err := r.Read(t.Context(), "When?", passagesOf(t, r, museum, "Hello.")); !errors.Is(err, broken) {
			t.Errorf("%v, %v: want an error", got, err)
		}
	}
	r.enter.program = sound // the error is not kept with the passage
	if _, err := r.Read(t.Context(), "When?", passagesOf(t, r, museum, "Hello.")); err != nil {
		t.Error(err)
	}
}

type failing struct {
	npu.Program
	err error
}

func (p failing) Run(npu.Args) error { return p.err }

// A passage is read once for the questions that follow, and the passages that a reader keeps are bounded.
func TestKeptPassages(t *testing.T) {
	r, err := New(shipped(t), native.New(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	first := r.Passage(museum)
	if r.Passage(museum) != first {
		t.Error("the same passage is read twice")
	}
	for i := range 2 * maxKept {
		r.Passage(fmt.Sprint("Room ", i))
	}
	r.Passage(strings.Repeat(museum, 40)) // too long to keep
	if n := len(r.kept.passages); n != maxKept || len(r.kept.order) != n {
		t.Errorf("%d passages are kept, want %d", n, maxKept)
	}
	if r.Passage(museum) == first {
		t.Error("the oldest passage is still kept")
	}
}

// A panic is the caller's, who may contain it.
func TestEachPanicsForItsCaller(t *testing.T) {
	var did atomic.Int64
	defer func() {
		if p := recover(); p != "third" || did.Load() < 2 {
			t.Errorf("panic %v after %d calls", p, did.Load())
		}
	}()
	each(8, 2, func(i int) {
		if i == 3 {
			panic("third")
		}
		did.Add(1)
	})
}

// Reading stops between passages when nobody waits for it any more.
func TestReadStops(t *testing.T) {
	r := open(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var read atomic.Int64
	ps := make([]*Passage, 4*r.threads)
	for i := range ps {
		p := r.passage(museum)
		ps[i] = &Passage{p.text, func() (known, error) {
			read.Add(1)
			stop()
			return p.known()
		}}
	}
	if _, err := r.Read(ctx, "When does the museum close?", ps); !errors.Is(err, context.Canceled) || read.Load() > int64(r.threads) {
		t.Errorf("%v, after %d passages on %d threads", err, read.Load(), r.threads)
	}
}
