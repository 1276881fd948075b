package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tandem"
	"tandem/internal/cputime"
	"tandem/internal/llamacpp"
	"tandem/lora"
	"tandem/model"
)

// AdapterOptions say what to measure of adapters.
type AdapterOptions struct {
	Rank    int
	Tasks   []int // numbers of adapters to mount
	Runs    int   // runs of each test
	Steps   int   // tokens of a run
	Prompt  int   // tokens before
	Threads int
	Against string // the model's file, to open with llama.cpp too; "" for none

	Progress func(format string, args ...any)
}

// AdapterReport is the result. Times are in milliseconds, medians over all runs.
type AdapterReport struct {
	Device  string         `json:"device"`
	Rank    int            `json:"rank"`
	Against string         `json:"against,omitempty"`
	Clock   string         `json:"clock"` // "wall", or "processor": with one thread, since other programs disturb it less
	Costs   []AdapterCost  `json:"costs"`
	Mounts  []AdapterMount `json:"mounts"`

	// Switch is the additional time of a step whose adapter differs from that of the step before.
	Switch      float64 `json:"switch_ms"`
	SwitchLeast float64 `json:"switch_ms_least"`
	SwitchMost  float64 `json:"switch_ms_most"`
}

// AdapterCost compares steps with adapters to steps without, which alternate. Ratio is the median of the ratios run by run.
type AdapterCost struct {
	Engine string  `json:"engine"` // "ours" or "llama.cpp"
	Parts  string  `json:"parts"`  // of a layer that are adapted: "qkvo" or "all"
	Test   string  `json:"test"`
	Base   float64 `json:"base_ms"`
	With   float64 `json:"with_ms"`
	Ratio  float64 `json:"ratio"`
	Least  float64 `json:"ratio_least"`
	Most   float64 `json:"ratio_most"`
}

// AdapterMount holds the memory and time that a number of adapters take with one approach.
type AdapterMount struct {
	Approach string  `json:"approach"`
	Tasks    int     `json:"tasks"`
	Bytes    int64   `json:"bytes"` // of factors, on top of the model's weights
	Mount    float64 `json:"mount_ms"`
	Step     float64 `json:"step_ms"`  // of one row with one of them
	Ratio    float64 `json:"ratio"`    // to a step without, in turns
	Exchange float64 `json:"another"`  // milliseconds until the set has one adapter more
	Passes   int     `json:"passes_8"` // for 8 rows of up to 8 different adapters
}

// attentionParts and allParts are what adapters change.
var (
	attentionParts = []string{"attn_q", "attn_k", "attn_v", "attn_output"}
	allParts       = append(slices.Clone(attentionParts), "ffn_gate", "ffn_up", "ffn_down")
)

// randomAdapter returns an adapter of random numbers for parts of a model's layers.
func randomAdapter(m *model.Model, name string, seed uint64, rank int, parts []string) *lora.Adapter {
	r := rand.New(rand.NewPCG(seed, 0x10aa))
	c := m.Config()
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	sizes := map[string][2]int{"attn_q": {c.Dim, q}, "attn_k": {c.Dim, kv}, "attn_v": {c.Dim, kv}, "attn_output": {q, c.Dim},
		"ffn_gate": {c.Dim, c.FF}, "ffn_up": {c.Dim, c.FF}, "ffn_down": {c.FF, c.Dim}}
	a := &lora.Adapter{Name: name, Arch: c.Arch}
	for layer := range c.Layers {
		for _, part := range parts {
			in, out := sizes[part][0], sizes[part][1]
			f := lora.Factors{Weight: fmt.Sprintf("blk.%d.%s.weight", layer, part), Rank: rank, In: in, Out: out, Scale: 1,
				A: make([]float32, rank*in), B: make([]float32, rank*out)}
			for i := range f.A {
				f.A[i] = (2*r.Float32() - 1) / float32(math.Sqrt(float64(in)))
			}
			for i := range f.B {
				f.B[i] = 0.02*r.Float32() - 0.01
			}
			a.Factors = append(a.Factors, f)
		}
	}
	return a
}

// MeasureAdapters measures what adapters cost.
func MeasureAdapters(ctx context.Context, m *model.Model, o AdapterOptions) (AdapterReport, error) {
	r := AdapterReport{Device: m.Device(), Rank: o.Rank}
	if o.Rank < 1 || o.Rank > model.MaxRank || o.Runs < 1 || o.Steps < 1 || o.Prompt < 0 || o.Prompt+o.Steps+2 > m.Config().Context {
		return r, errors.New("--rank, --runs and --steps must be 1 or more, and prompt and steps fit into the model's context")
	}
	b := adapterBench{m: m, o: o, timer: timer{wall: o.Threads != 1}, made: map[string]*lora.Adapter{}}
	if _, ok := cputime.Spent(); !ok {
		b.wall = true
	}
	if r.Clock = "processor"; b.wall {
		r.Clock = "wall"
	}
	for _, set := range []struct {
		name  string
		parts []string
	}{{"qkvo", attentionParts}, {"all", allParts}} {
		if err := b.costs(ctx, &r, set.name, set.parts); err != nil {
			return r, err
		}
	}
	if err := b.switching(ctx, &r); err != nil {
		return r, err
	}
	return r, b.mounts(ctx, &r)
}

type adapterBench struct {
	m      *model.Model
	o      AdapterOptions
	logits model.Logits
	timer
	made map[string]*lora.Adapter
}

// timer is the clock of a measurement.
type timer struct{ wall bool }

// time returns how long f takes.
func (b timer) time(f func() error) (time.Duration, error) {
	before, _ := cputime.Spent()
	begun := time.Now()
	err := f()
	after, _ := cputime.Spent()
	if b.wall {
		return time.Since(begun), err
	}
	return after - before, err
}

// adapter returns the same random adapter each time.
func (b *adapterBench) adapter(i int, parts []string) *lora.Adapter {
	key := fmt.Sprint(i, len(parts))
	if b.made[key] == nil {
		b.made[key] = randomAdapter(b.m, fmt.Sprint("task ", i), uint64(i), b.o.Rank, parts)
	}
	return b.made[key]
}

// mount mounts n random adapters.
func (b *adapterBench) mount(how model.Approach, n int, parts []string) ([]*model.Adapter, error) {
	sums := make([][]lora.Scaled, n)
	for i := range sums {
		sums[i] = []lora.Scaled{{Adapter: b.adapter(i, parts), Scale: 1}}
	}
	return lora.Mount(b.m, how, sums...)
}

// rows are sequences that decode together.
type rows struct {
	b     *adapterBench
	batch []model.Input
	step  int
}

// rows returns sequences with these adapters, after the prompt.
func (b *adapterBench) rows(ctx context.Context, adapters ...*model.Adapter) (*rows, error) {
	r := &rows{b: b}
	for i, a := range adapters {
		r.batch = append(r.batch, model.Input{Seq: b.m.NewSeqWith(a), Tokens: anyTokens(b.m.Config().Vocab, i, b.o.Prompt)})
	}
	if b.o.Prompt == 0 {
		return r, nil
	}
	_, err := b.m.ForwardInto(ctx, r.batch, &b.logits)
	return r, err
}

// run decodes a token of each, and returns how long it took.
func (r *rows) run(ctx context.Context) (time.Duration, error) {
	for i := range r.batch {
		if r.batch[i].Seq.Len() > r.b.o.Prompt+r.b.o.Steps {
			r.batch[i].Seq.Truncate(r.b.o.Prompt)
		}
		r.batch[i].Tokens = []tandem.Token{anyTokens(r.b.m.Config().Vocab, r.step+i, 1)[0]}
	}
	r.step++
	return r.b.time(func() error {
		_, err := r.b.m.ForwardInto(ctx, r.batch, &r.b.logits)
		return err
	})
}

// stepper decodes a step and returns how long it took.
type stepper func() (time.Duration, error)

// alternate runs two steppers in turns, step by step, so that other load on the machine affects both alike. Of each run it
// takes the medians. It returns the medians over all runs, and the median, least and greatest ratio of a run.
func (b *adapterBench) alternate(what string, one, two stepper) (c AdapterCost, err error) {
	var bases, withs, ratios []float64
	for run := -1; run < b.o.Runs; run++ {
		b.o.Progress("%s: run %d of %d", what, max(run, 0)+1, b.o.Runs)
		var times [2][]float64
		for range b.o.Steps {
			for i, f := range []stepper{one, two} {
				took, err := f()
				if err != nil {
					return c, err
				}
				times[i] = append(times[i], took.Seconds()*1e3)
			}
		}
		if run < 0 {
			continue // warms up
		}
		base, _, _ := median(times[0])
		with, _, _ := median(times[1])
		bases, withs, ratios = append(bases, base), append(withs, with), append(ratios, with/base)
	}
	c.Base, _, _ = median(bases)
	c.With, _, _ = median(withs)
	c.Ratio, c.Least, c.Most = median(ratios)
	return c, nil
}

// costs measures steps with adapters against steps without: ours with 1 and 8 rows, and llama.cpp's with the same file.
func (b *adapterBench) costs(ctx context.Context, r *AdapterReport, name string, parts []string) error {
	list, err := b.mount(model.Inputs, 8, parts)
	if err != nil {
		return err
	}
	one, eight := []*model.Adapter{list[0]}, list
	for _, t := range []struct {
		test string
		with []*model.Adapter
	}{{"1 row", one}, {"8 rows, 8 adapters", eight}} {
		base, err := b.rows(ctx, make([]*model.Adapter, len(t.with))...)
		if err != nil {
			return err
		}
		with, err := b.rows(ctx, t.with...)
		if err != nil {
			return err
		}
		c, err := b.alternate(name+", "+t.test, func() (time.Duration, error) { return base.run(ctx) }, func() (time.Duration, error) { return with.run(ctx) })
		if err != nil {
			return err
		}
		c.Engine, c.Parts, c.Test = "ours", name, t.test
		r.Costs = append(r.Costs, c)
	}
	if b.o.Against == "" {
		return nil
	}
	r.Against = "llama.cpp"
	c, err := b.peer(name, parts)
	r.Costs = append(r.Costs, c)
	return err
}

// peer measures llama.cpp's steps with the adapter against its steps without.
func (b *adapterBench) peer(name string, parts []string) (c AdapterCost, err error) {
	dir, err := os.MkdirTemp("", "adapter-*")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "adapter.gguf")
	f, err := os.Create(path)
	if err != nil {
		return c, err
	}
	if err = errors.Join(b.adapter(0, parts).Write(f, b.m), f.Close()); err != nil {
		return c, err
	}
	p, err := openPeer(b.o.Against, "cpu", b.m.Config().Vocab, b.o.Threads)
	if err != nil {
		return c, err
	}
	defer p.Close()
	a, err := p.model.Adapter(path)
	if err != nil {
		return c, err
	}
	base, closeBase, err := b.peerSteps(p, nil)
	if err != nil {
		return c, err
	}
	defer closeBase()
	with, closeWith, err := b.peerSteps(p, []*llamacpp.Adapter{a})
	if err != nil {
		return c, err
	}
	defer closeWith()
	c, err = b.alternate(name+", llama.cpp", base, with)
	c.Engine, c.Parts, c.Test = "llama.cpp", name, "1 row"
	return c, err
}

// peerSteps returns llama.cpp's steps in a session of its own, with adapters or without.
func (b *adapterBench) peerSteps(p *peer, adapters []*llamacpp.Adapter) (f stepper, closer func(), err error) {
	s, err := p.model.NewSession(b.o.Threads, b.o.Prompt+b.o.Steps+64, 1)
	if err != nil {
		return nil, nil, err
	}
	if adapters != nil {
		if err := s.Use(adapters, []float32{1}); err != nil {
			s.Close()
			return nil, nil, err
		}
	}
	if b.o.Prompt > 0 {
		if err := p.prefill(s, b.o.Prompt); err != nil {
			s.Close()
			return nil, nil, err
		}
	}
	at, step := b.o.Prompt, 0
	return func() (time.Duration, error) {
		if at > b.o.Prompt+b.o.Steps {
			at = b.o.Prompt
			s.Truncate(0, int32(at))
		}
		token := []int32{int32(anyTokens(p.vocab, step, 1)[0])}
		took, err := b.time(func() error { return s.Decode(token, []int32{int32(at)}, []int32{0}, []int8{1}) })
		at, step = at+1, step+1
		return took, err
	}, s.Close, nil
}

// switching measures steps that alternate between two adapters against pairs of steps of each.
func (b *adapterBench) switching(ctx context.Context, r *AdapterReport) error {
	list, err := b.mount(model.Inputs, 2, allParts)
	if err != nil {
		return err
	}
	var seqs [2]*rows
	for i, a := range list {
		if seqs[i], err = b.rows(ctx, a); err != nil {
			return err
		}
	}
	// The pattern 0 0 1 1 has as many steps after another adapter's as after their own.
	var costs []float64
	for run := -1; run < b.o.Runs; run++ {
		b.o.Progress("switching: run %d of %d", max(run, 0)+1, b.o.Runs)
		var same, other []float64
		for i := range 4 * ((b.o.Steps + 1) / 2) {
			took, err := seqs[i/2%2].run(ctx)
			if err != nil {
				return err
			}
			if i%2 == 0 {
				other = append(other, took.Seconds()*1e3)
			} else {
				same = append(same, took.Seconds()*1e3)
			}
		}
		a, _, _ := median(other)
		z, _, _ := median(same)
		if run >= 0 {
			costs = append(costs, a-z)
		}
	}
	r.Switch, r.SwitchLeast, r.SwitchMost = median(costs)
	return nil
}

// mounts measures each approach with some numbers of adapters.
func (b *adapterBench) mounts(ctx context.Context, r *AdapterReport) error {
	for _, n := range b.o.Tasks {
		for _, how := range model.Approaches {
			begun := time.Now()
			list, err := b.mount(how, n, attentionParts)
			if err != nil {
				return err
			}
			x := AdapterMount{Approach: how.String(), Tasks: n, Mount: time.Since(begun).Seconds() * 1e3, Passes: 1}
			for _, a := range list {
				x.Bytes += a.Bytes()
			}
			if how == model.Graphs {
				x.Passes = min(n, 8)
			}
			base, err := b.rows(ctx, nil)
			if err != nil {
				return err
			}
			with, err := b.rows(ctx, list[n-1])
			if err != nil {
				return err
			}
			c, err := b.alternate(fmt.Sprintf("%d tasks, %v", n, how), func() (time.Duration, error) { return base.run(ctx) }, func() (time.Duration, error) { return with.run(ctx) })
			if err != nil {
				return err
			}
			x.Step, x.Ratio = c.With, c.Ratio
			more := n + 1 // a graph with all adapters must be made again
			if how != model.Masked {
				more = 1
			}
			begun = time.Now()
			if _, err := b.mount(how, more, attentionParts); err != nil {
				return err
			}
			x.Exchange = time.Since(begun).Seconds() * 1e3
			r.Mounts = append(r.Mounts, x)
		}
	}
	return nil
}
