package specdec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu/native"
)

// all returns a speculator with every drafter.
func all(h *History, c *Chooser) *Speculator {
	cal := &Calibration{}
	return &Speculator{Drafters: []Drafter{&Lookup{Branches: 2}, &SAM{Tree: true, History: h}, &Ngrams{}, cal, &Reuse{}},
		Calibration: cal, Chooser: c, Acceptance: &Acceptance{}}
}

// With all drafters, with and without a Chooser, the text is the same as in plain decoding.
func TestSpeculationGivesThePlainText(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3, Gain: 2, Context: 300}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h, err := OpenHistory(t.TempDir(), "tiny", 0)
	if err != nil {
		t.Fatal(err)
	}
	prompt := ids("the cat sat on the mat. the dog sat on the cat. the mat sat on the dog. the c")
	costs, err := Measure(t.Context(), m, time.Millisecond)
	if err != nil || len(costs) < 32 {
		t.Fatal(costs, err)
	}
	accepted := 0
	for seed := range uint64(12) {
		s := sample.Params{Sampling: tandem.Sampling{Temperature: float64(seed%3) * .4}, Seed: seed}
		run := func(spec sample.Speculator) (out []tandem.Token, stats sample.Stats) {
			stats, err := sample.GenerateWith(t.Context(), m, prompt, s, 120, spec, func(id tandem.Token) error { out = append(out, id); return nil })
			if err != nil {
				t.Fatal(err)
			}
			return out, stats
		}
		want, _ := run(nil)
		for _, c := range []*Chooser{nil, {Costs: costs}, {Costs: stairs(32)}} {
			spec := all(h, c)
			got, stats := run(spec)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: tokens %d, want %d", seed, got, want)
			}
			st := spec.Stats()
			if st.Passes != stats.Passes-1 || st.Valid+st.Wasted+st.Underutilised != 32*st.Passes || st.Tokens != st.Valid {
				t.Fatalf("%+v, %+v", st, stats)
			}
			accepted += st.Tokens - st.Passes
		}
		if err := h.Add("answer", want, noon); err != nil {
			t.Fatal(err)
		}
	}
	if accepted == 0 {
		t.Error("no draft was ever right")
	}
}

// BenchmarkDraft measures a draft with a context of 4,000 tokens and a history of 1 MB.
func BenchmarkDraft(b *testing.B) {
	dir := b.TempDir()
	h, err := OpenHistory(dir, "v", DefaultHistory)
	if err != nil {
		b.Fatal(err)
	}
	words := func(n, seed int) (out []tandem.Token) {
		for i := range n { // words of a skewed distribution, so that many repeat
			x := hash(uint64(seed), tandem.Token(i))
			out = append(out, tandem.Token(x%uint64(1+x>>32%3000)))
		}
		return out
	}
	for i := 0; h.Size() < DefaultHistory*95/100 && i < 2000; i++ {
		if err := h.Add("answer", words(1000, i), noon); err != nil {
			b.Fatal(err)
		}
	}
	prompt := words(4000, -1)
	spec := all(h, nil)
	among := spec.Calibration.Begin(prompt)
	scores := make([]float32, len(among))
	for i := range prompt {
		for j := range scores {
			scores[j] = float32(hash(uint64(i), tandem.Token(j))%1000) / 100
		}
		spec.Calibration.Observe(i, scores)
	}
	spec.panel.Begin(spec.Drafters, spec.Acceptance, prompt, WallTime)
	spec.Draft(nil, 31)
	b.ResetTimer()
	next := words(b.N+1, -2)
	for i := range b.N {
		spec.Draft(next[i:i+1], 31)
	}
}

// A first pass that was slow because the device was not ready does not keep passes small: those of more rows show that one row
// takes no longer.
func TestChooserForgetsASlowStart(t *testing.T) {
	c := &Chooser{Learn: true}
	c.observe(1, 5*time.Second)
	c.observe(2, 10*time.Millisecond)
	sure := []float64{1, 1, 1, 1, 1, 1}
	c.settle(1, 2, 0)
	if n := c.choose(sure, 0); n != 3 { // up to twice the rows that are known
		t.Errorf("%d rows of certain drafts, want 3; costs %v", n, c.Costs[:4])
	}
}

// With Learn, the Chooser tries no draft before it knows the time of a plain pass. It extrapolates the costs of more rows
// and ignores slower runs of a pass.
func TestChooserLearnsCosts(t *testing.T) {
	c := &Chooser{Learn: true}
	if n := c.choose([]float64{0.99, 0.98}, 0); n != 0 {
		t.Errorf("%d rows before any time is known, want 0", n)
	}
	c.observe(4, 14*time.Millisecond)
	c.observe(1, 10*time.Millisecond)
	c.observe(1, 30*time.Millisecond)
	if got := []float64{c.Costs.At(1), c.Costs.At(4), c.Costs.At(64)}; got[0] != 0.010 || got[1] != 0.014 || got[2] < 0.10 || got[2] > 0.11 {
		t.Errorf("costs of 1, 4, 64 rows: %v", got)
	}
	fixed := &Chooser{Costs: stairs(32)}
	fixed.observe(1, time.Nanosecond)
	if fixed.Costs.At(1) != 1 {
		t.Error("Observe changed the costs without Learn")
	}
}

// noise drafts random trees, right and wrong ones.
type noise struct {
	rng  *rand.Rand
	text []tandem.Token
}

func (n *noise) Committed(tokens []tandem.Token) { n.text = append(n.text, tokens...) }
func (n *noise) Settle(*Verdict)                 {}
func (n *noise) Rewind(k int)                    { n.text = n.text[:k] }
func (n *noise) Propose(t *Tree) {
	parents := []int{-1}
	for range n.rng.IntN(24) {
		if i := t.Add(parents[n.rng.IntN(len(parents))], n.text[n.rng.IntN(len(n.text))], n.rng.Float64(), Class{}); i >= 0 {
			parents = append(parents, i)
		}
	}
}

// The text is the same as in plain decoding in 10,000 random cases of prompts, seeds, sampling parameters, drafters and
// rows.
func TestSpeculationGivesThePlainTextInRandomCases(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 5, Gain: 2, Context: 64}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	rng := rand.New(rand.NewPCG(7, 8))
	texts, least, right := 500, 300, 0
	if testing.Short() {
		texts, least = 125, 75
	}
	for range texts {
		few := 2 + rng.IntN(12)
		prompt := make([]tandem.Token, 1+rng.IntN(20))
		for i := range prompt {
			prompt[i] = tandem.Token(rng.IntN(few))
		}
		s := sample.Params{Sampling: tandem.Sampling{Temperature: []float64{0, 0.3, 1}[rng.IntN(3)], TopK: []int{0, 4}[rng.IntN(2)], RepeatPenalty: []float64{1, 1.2}[rng.IntN(2)], RepeatLast: 8}, Seed: rng.Uint64()}
		length := 1 + rng.IntN(10)
		run := func(spec sample.Speculator) (out []tandem.Token, stats sample.Stats) {
			stats, err := sample.GenerateWith(t.Context(), m, prompt, s, length, spec, func(id tandem.Token) error { out = append(out, id); return nil })
			if err != nil {
				t.Fatal(err)
			}
			return out, stats
		}
		want, plain := run(nil)
		for range 20 {
			spec := all(nil, nil)
			spec.Rows = 2 + rng.IntN(40)
			if rng.IntN(2) == 0 {
				spec.Chooser = &Chooser{Learn: true, Loss: 1}
			}
			if rng.IntN(2) == 0 {
				spec.Drafters = append(spec.Drafters, &noise{rng: rng})
			}
			got, stats := run(spec)
			if !slices.Equal(got, want) || stats.Reason != plain.Reason {
				t.Fatalf("prompt %v, %+v, %d rows: %v (%v), want %v (%v)", prompt, s, spec.Rows, got, stats.Reason, want, plain.Reason)
			}
			right += plain.Passes - stats.Passes
		}
	}
	if right < least {
		t.Errorf("%d passes saved, want at least %d", right, least)
	}
}

// The errors of Eagle are tokens of the vocabulary, which a model can verify.
func TestEagleStaysInTheVocabulary(t *testing.T) {
	const vocabulary = 2
	truth := make([]tandem.Token, 100)
	for i := range truth {
		truth[i] = tandem.Token(i % vocabulary)
	}
	e := NewEagle(truth, 1.5, 10)
	for range truth {
		tree := NewTree(32, nil)
		e.Propose(tree)
		for _, n := range tree.Nodes {
			if n.Token < 0 || n.Token >= vocabulary {
				t.Fatalf("it drafts token %d of a vocabulary of %d", n.Token, vocabulary)
			}
		}
		e.at++
	}
}

// When a model verifies the drafts of Eagle, its passes give the chosen number of tokens on average.
func TestEagleAcceptLength(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 1, Layers: 1, Dim: 32, Heads: 2, FF: 32, Context: 2048}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	prompt := ids("the cat")
	run := func(spec sample.Speculator) (out []tandem.Token) {
		_, err := sample.GenerateWith(t.Context(), m, prompt, sample.Params{}, 2000, spec, func(id tandem.Token) error { out = append(out, id); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	truth := run(nil)
	if len(truth) < 1500 {
		t.Fatalf("the model ends after %d tokens", len(truth))
	}
	for want, depth := range map[float64]int{1.5: 10, 3: 10, 5.5: 6, 8: 10} {
		spec := &Speculator{Drafters: []Drafter{NewEagle(truth, want, depth)}}
		if got := run(spec); !slices.Equal(got, truth) {
			t.Errorf("accept length %v: the text differs from plain decoding", want)
		}
		if got := spec.Stats().AcceptLength(); math.Abs(got-want) > 0.08*want {
			t.Errorf("accept length %.2f, want %.2f", got, want)
		}
	}
}

// What passes give by their rows is learnt from trees, verified or not: a right chain of three tokens gives more the more of
// it a pass can hold, and wrong guesses bring it down to the token that any pass gives.
func TestPerPass(t *testing.T) {
	var a Acceptance
	last := 0.0
	for _, rows := range []int{1, 2, 4, 8, 16, 32} {
		if p := a.PerPass(rows); p < last || p < 1 {
			t.Fatalf("%v tokens by %d rows before anything was seen, %v by fewer", p, rows, last)
		} else {
			last = p
		}
	}
	learn := func(right bool) {
		for range 300 {
			tree := NewTree(8, &a)
			tree.Chain(-1, []tandem.Token{1, 2, 3}, FromPrompt, 3)
			emitted := []tandem.Token{1, 2, 3, 4}
			if !right {
				emitted = []tandem.Token{9}
			}
			a.Learn(tree, emitted)
		}
	}
	learn(true)
	for rows, want := range map[int]float64{1: 1, 2: 2, 3: 2, 4: 4, 32: 4} {
		if p := a.PerPass(rows); math.Abs(p-want) > .1 {
			t.Errorf("%.2f tokens by %d rows, want %v", p, rows, want)
		}
	}
	learn(false)
	if p := a.PerPass(32); p > 1.4 {
		t.Errorf("%.2f tokens by 32 rows though no guess is right", p)
	}
}

// A drafter whose first draft takes four passes, or whose drafts cannot be afforded often, is tried again: it drafts where it is
// right, and where it is not next to nothing is drafted.
func TestDearDraftersAreTriedAgain(t *testing.T) {
	const one = 230 * time.Microsecond
	for _, c := range []struct {
		copies       bool
		first, later time.Duration
	}{{true, one / 3, one / 3}, {false, one / 3, one / 3}, {true, 4 * one, one / 20}, {false, 4 * one, one / 20}} {
		var now time.Duration
		costs := Costs{1, 1.29, 1.6, 1.9, 2.2, 2.5, 2.8, 3.1}
		for i := range costs {
			costs[i] *= one.Seconds()
		}
		s := &Speculator{Drafters: []Drafter{&slow{Drafter: &Lookup{}, now: &now, takes: []time.Duration{c.first, c.later}}}, Acceptance: &Acceptance{},
			Chooser: &Chooser{Costs: costs}, Clock: func() time.Duration { now += one / 50; return now }}
		r := rand.New(rand.NewPCG(1, 1))
		prompt := []tandem.Token{}
		for range 60 {
			prompt = append(prompt, tandem.Token(r.IntN(1000)))
		}
		passes, tokens := 0, 0
		for range 12 {
			answer := slices.Clone(prompt[5:50])
			for i := 2; i < len(answer) && !c.copies; i += 3 {
				answer[i] = tandem.Token(1000 + r.IntN(1000))
			}
			passes, tokens = answered(t, s, prompt, answer), len(answer)
		}
		if drafts := 2*passes < tokens; drafts != c.copies {
			t.Errorf("%+v: %d passes for %d tokens", c, passes, tokens)
		}
	}
}

// answered returns how many passes a speculator needs for an answer.
func answered(t *testing.T, s *Speculator, prompt, answer []tandem.Token) (passes int) {
	t.Helper()
	if err := s.Begin(nil, &model.Input{Tokens: slices.Clone(prompt)}); err != nil {
		t.Fatal(err)
	}
	n := 1 // tokens that are said
	for said := answer[:1]; n < len(answer); passes++ {
		tokens, parents := s.Draft(said, 7)
		v, at := sample.Verification{}, -1
		for i := range tokens {
			if k := n + len(v.Path); parents[i] == at && k+1 < len(answer) && tokens[i] == answer[k] {
				v.Path, at = append(v.Path, i), i
			}
		}
		v.Next = answer[n+len(v.Path)]
		s.Settle(v)
		said = answer[n : n+len(v.Path)+1]
		n += len(said)
	}
	return passes
}

// slow is a drafter whose proposals take time: the first, and each after it.
type slow struct {
	Drafter
	now   *time.Duration
	takes []time.Duration
}

func (d *slow) Propose(t *Tree) {
	*d.now += d.takes[0]
	if len(d.takes) > 1 {
		d.takes = d.takes[1:]
	}
	d.Drafter.Propose(t)
}
