package dllm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tandem"
)

// A world is a denoiser without a model: a network of two layers whose numbers are hashes. Every key, value and guess
// depends on all that the row sees, so any row that is computed from the wrong things changes the text.
type world struct {
	t       testing.TB
	seed    uint64
	vocab   int
	shift   int
	mask    tandem.Token
	spread  func(h uint64) float32 // the confidence that a hash stands for
	layers  [2][]uint64            // the cache: what a slot shows to others
	tainted []bool                 // whether a slot was computed from a draft
	overlay map[int][2]uint64      // what Refresh computed
	machine *Machine

	prefix int // end of the settled rows
	passes int
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func newWorld(t testing.TB, seed uint64, cfg Config) *world {
	w := &world{t: t, seed: seed, vocab: 50, mask: cfg.Mask}
	if cfg.Shifted {
		w.shift = 1
	}
	n := len(cfg.Prompt) + cfg.Length
	w.layers = [2][]uint64{make([]uint64, n), make([]uint64, n)}
	w.tainted = make([]bool, n)
	w.spread = func(h uint64) float32 { return float32(math.Sqrt(float64(h%1000) / 1000)) } // two thirds are at least .58
	return w
}

// operations returns a pass as small operations that must run in order, and where its guesses will be. The pass reads
// slots through read and writes them through write.
func (w *world) operations(rows []Row, read func(layer, slot int) uint64, write func(layer, slot int, x uint64)) (ops []func(), guesses *[]Guess) {
	x := make([]uint64, len(rows))
	guesses = new([]Guess)
	for i, r := range rows {
		ops = append(ops, func() { x[i] = mix(w.seed ^ mix(uint64(r.Position)<<32^uint64(uint32(r.Token)))) })
	}
	for layer := range 2 {
		for i, r := range rows {
			ops = append(ops, func() { write(layer, r.Position, x[i]) })
		}
		for i, r := range rows {
			ops = append(ops, func() {
				if r.Position >= r.Sees {
					w.t.Errorf("row %d sees only slots below %d", r.Position, r.Sees)
				}
				sum := x[i]
				for slot := range r.Sees {
					sum += mix(read(layer, slot) + uint64(layer))
				}
				x[i] = mix(sum)
			})
		}
	}
	for i, r := range rows {
		if r.Logits {
			ops = append(ops, func() { *guesses = append(*guesses, w.guess(x[i])) })
		}
	}
	return ops, guesses
}

// guess makes a guess of a hash. It never guesses the mask.
func (w *world) guess(h uint64) Guess {
	return Guess{Token: tandem.Token(mix(h) % uint64(w.vocab)), Confidence: w.spread(mix(h + 1))}
}

// dense returns the operations of a pass in the cache.
func (w *world) dense(rows []Row) ([]func(), *[]Guess) {
	w.passes++
	w.checkDense(rows)
	return w.operations(rows, func(l, s int) uint64 { return w.layers[l][s] }, func(l, s int, x uint64) { w.layers[l][s] = x })
}

// checkDense checks what must hold of every dense pass, and notes which slots are computed from drafts.
func (w *world) checkDense(rows []Row) {
	for i, r := range rows {
		if i > 0 && r.Position != rows[i-1].Position+1 {
			w.t.Errorf("rows %d and %d are not neighbours", rows[i-1].Position, r.Position)
		}
		if w.machine != nil && r.Position < w.prefix {
			w.t.Errorf("the dense path computes row %d of a prefix of %d", r.Position, w.prefix)
		}
	}
	for _, r := range rows {
		w.tainted[r.Position] = w.machine != nil && w.machine.cells[r.Position].Draft
	}
	for _, r := range rows {
		for s := range r.Sees {
			if w.tainted[s] {
				w.tainted[r.Position] = true
			}
		}
	}
}

// sparse returns the operations of a pass outside the cache.
func (w *world) sparse(rows []Row) ([]func(), *[]Guess) {
	w.overlay = map[int][2]uint64{}
	for _, r := range rows {
		sees := w.prefix // both ways
		if m := w.machine; m != nil && m.cfg.CausalPrompt && r.Position < m.start {
			sees = r.Position + 1
		}
		if r.Sees != sees || r.Position >= w.prefix {
			w.t.Errorf("the sparse path computes row %d, which sees %d, of a prefix of %d", r.Position, r.Sees, w.prefix)
		}
		w.overlay[r.Position] = [2]uint64{}
	}
	return w.operations(rows, func(l, s int) uint64 {
		if x, ok := w.overlay[s]; ok {
			return x[l]
		}
		return w.layers[l][s]
	}, func(l, s int, x uint64) {
		both := w.overlay[s]
		both[l] = x
		w.overlay[s] = both
	})
}

func (w *world) Compute(_ context.Context, rows []Row) ([]Guess, error) {
	ops, guesses := w.dense(rows)
	for _, f := range ops {
		f()
	}
	return *guesses, nil
}

func (w *world) Refresh(_ context.Context, rows []Row) ([]Guess, error) {
	ops, guesses := w.sparse(rows)
	for _, f := range ops {
		f()
	}
	return *guesses, nil
}

func (w *world) Merge(settled, end int) error {
	for slot, both := range w.overlay {
		w.layers[0][slot], w.layers[1][slot] = both[0], both[1]
	}
	w.overlay = nil
	if settled != w.prefix || end < settled {
		w.t.Errorf("the prefix of %d grows from %d to %d", w.prefix, settled, end)
	}
	for s := settled; s < end; s++ {
		if w.tainted[s] {
			w.t.Errorf("slot %d of the prefix was computed from a draft", s)
		}
	}
	w.prefix = end
	return nil
}

// play runs a generation and returns its text. Between the steps it calls check, unless that is nil. With an r, the
// operations of the two paths come in random order, and so do their results.
func (w *world) play(cfg Config, r *rand.Rand, check func(*Machine)) []tandem.Token {
	m, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.machine = m
	var text []tandem.Token
	for actions, steps := m.Step(Begin{}), 0; ; steps++ {
		if steps > cfg.Length+1 {
			w.t.Fatalf("%d steps for %d tokens", steps, cfg.Length)
		}
		var events []Event
		var first, second []func()
		var guesses, revised *[]Guess
		finished := false
		for _, a := range actions {
			switch a := a.(type) {
			case Compute:
				first, guesses = w.dense(a.Rows)
			case Refresh:
				second, revised = w.sparse(a.Rows)
			case Merge:
				w.Merge(a.Settled, a.End)
			case Write:
				text = append(text, a.Tokens...)
			case Finish:
				finished = true
			}
		}
		if check != nil {
			check(m)
		}
		if finished {
			return text
		}
		interleave(r, first, second)
		events = append(events, Computed{*guesses})
		if second != nil {
			events = append(events, Refreshed{*revised})
		}
		if r != nil && r.IntN(2) == 0 {
			slices.Reverse(events)
		}
		actions = nil
		for _, e := range events {
			actions = append(actions, m.Step(e)...)
		}
	}
}

// interleave runs two lists of operations, each in order: in turns at random or, without an r, one after the other.
func interleave(r *rand.Rand, a, b []func()) {
	for len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && (r == nil || r.IntN(len(a)+len(b)) < len(a)) {
			a[0]()
			a = a[1:]
		} else {
			b[0]()
			b = b[1:]
		}
	}
}

// anyConfig returns a random generation of at most size tokens.
func anyConfig(r *rand.Rand, size int) Config {
	cfg := Config{Mask: 99, Length: 1 + r.IntN(size), Shifted: r.IntN(3) == 0, CausalPrompt: r.IntN(3) == 0}
	cfg.Block = r.IntN(cfg.Length + 3)
	for range 1 + r.IntN(9) {
		cfg.Prompt = append(cfg.Prompt, tandem.Token(r.IntN(40)))
	}
	cfg.Visible = float32(.1 + .8*r.Float64())
	cfg.Stable = cfg.Visible
	if r.IntN(3) > 0 {
		cfg.Stable += float32(r.Float64()) * (1 - cfg.Visible)
	}
	cfg.AtLeast = r.IntN(3)
	cfg.Ordered = cfg.Visible == cfg.Stable && r.IntN(2) == 0
	cfg.SkipLogits = r.IntN(2) == 0
	if cfg.Suffix = Suffix(r.IntN(8)); cfg.Suffix > CachedSuffix {
		cfg.Suffix = NoSuffix
	}
	if cfg.Suffix == NoSuffix {
		cfg.Sliding = r.IntN(2) == 0
		cfg.Refresh = r.IntN(6)
		if cfg.Trigger = r.IntN(8); cfg.Trigger > 0 {
			tile := 1 + r.IntN(2*size)
			for i := range 4 * size {
				cfg.Costs = append(cfg.Costs, float64(i/tile+1))
			}
		}
	}
	if r.IntN(3) == 0 {
		cfg.Stop = []tandem.Token{tandem.Token(r.IntN(50)), tandem.Token(r.IntN(50))}
	}
	return cfg
}
