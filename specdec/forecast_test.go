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

// someForecast returns forecasts of random embeddings.
func someForecast(m *model.Model, n int, seed uint64, branches []int) *Forecast {
	r := rand.New(rand.NewPCG(seed, 1))
	f := &Forecast{Branches: branches}
	for range n {
		row := make([]float32, m.Config().Dim)
		for i := range row {
			row[i] = float32(r.NormFloat64())
		}
		f.Embeddings = append(f.Embeddings, row)
	}
	return f
}

// Whatever the embeddings, their adapter and the configuration, alone or together with the other drafters, the text is that of
// plain decoding.
func TestForecastsGiveThePlainText(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3, Gain: 2, Context: 200}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := m.Config()
	change := model.Change{Weight: "blk.0.attn_v.weight", Rank: 2, A: make([]float32, 2*c.Dim), B: make([]float32, 2*c.KVHeads*c.HeadDim)}
	for i := range change.A {
		change.A[i] = float32(i%5) - 2
	}
	for i := range change.B {
		change.B[i] = float32(i%3) - 1
	}
	adapters, err := m.Mount(model.Inputs, model.Delta{Name: "rows", Changes: []model.Change{change}})
	if err != nil {
		t.Fatal(err)
	}
	prompt := ids("the cat sat on the mat. the dog sat on the cat. the mat sat on the dog. the c")
	forecasts, right := 0, 0
	for seed := range uint64(8) {
		s := sample.Params{Sampling: tandem.Sampling{Temperature: float64(seed%3) * .4}, Seed: seed}
		run := func(own *model.Adapter, spec sample.Speculator) (out []tandem.Token) {
			seq := m.NewSeqWith(own)
			if _, err := sample.Continue(t.Context(), seq, prompt, s, 60, spec, func(id tandem.Token) error { out = append(out, id); return nil }); err != nil {
				t.Fatal(err)
			}
			return out
		}
		for _, own := range []*model.Adapter{nil, adapters[0]} {
			want := run(own, nil)
			for i, branches := range [][]int{nil, {3, 2}, {1, 1, 5}, {4}, nil, {15}} {
				f := someForecast(m, 3, seed, branches)
				if i%2 == 0 {
					f.Adapter = adapters[0]
				}
				spec := &Speculator{Drafters: []Drafter{f}, Forecast: f}
				if i == 4 {
					spec = all(nil, &Chooser{Costs: stairs(32)})
					spec.Drafters, spec.Forecast = append([]Drafter{f}, spec.Drafters...), f
				}
				if got := run(own, spec); !slices.Equal(got, want) {
					t.Fatalf("seed %d, branches %d: tokens %d, want %d", seed, branches, got, want)
				}
				st := spec.Stats()
				if st.Valid+st.Wasted+st.Underutilised+st.Forecasts != 32*st.Passes || st.Tokens != st.Valid {
					t.Fatalf("%+v", st)
				}
				forecasts, right = forecasts+st.Forecasts, right+st.Tokens-st.Passes
			}
		}
	}
	if forecasts == 0 || right == 0 {
		t.Errorf("%d rows of forecasts, %d tokens beyond the first of a pass", forecasts, right)
	}
}

// firstDraft notes how many tokens the first draft has.
type firstDraft struct {
	*Speculator
	asked  bool
	tokens int
}

func (f *firstDraft) Draft(emitted []tandem.Token, limit int) ([]tandem.Token, []int) {
	tokens, parents := f.Speculator.Draft(emitted, limit)
	if !f.asked {
		f.asked = true
		for _, t := range tokens {
			if t != model.NoToken {
				f.tokens++
			}
		}
	}
	return tokens, parents
}

// The prompt's own pass forecasts, so the first pass after it verifies a draft, with calibration beside it or without.
func TestForecastsAfterThePrompt(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3, Gain: 2, Context: 200}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	prompt := ids("the cat sat on the mat.")
	for _, c := range []*Calibration{nil, {}} {
		f := someForecast(m, 2, 1, []int{3, 2})
		first := &firstDraft{Speculator: &Speculator{Drafters: []Drafter{f}, Forecast: f}}
		if c != nil {
			first.Drafters, first.Calibration = append(first.Drafters, c), c
		}
		if _, err := sample.GenerateWith(t.Context(), m, prompt, sample.Params{}, 40, first, func(tandem.Token) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if first.tokens < 9 {
			t.Errorf("the first draft has %d tokens, want 9 of forecasts", first.tokens)
		}
	}
}

// The paper's configurations fit a pass of 32 rows.
func TestBranchesFit(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, b := range [][]int{{15}, {1, 5}, {1, 8}, {2, 3}, {3, 2}, {4, 1}, {1, 1, 5}, {1, 2, 2}, {2, 1, 1}, {1, 1, 1, 2}} {
		if n := treeRows(b); n > 32 {
			t.Errorf("%d takes %d rows", b, n)
		}
		f := someForecast(m, len(b), 1, b)
		if err := f.Check(m); err != nil {
			t.Errorf("%d: %v", b, err)
		}
	}
	if n, rows := treeNodes([]int{3, 2}), treeRows([]int{3, 2}); n != 9 || rows != 30 {
		t.Errorf("(3, 2) has %d nodes and %d rows, want 9 and 30, as in the paper", n, rows)
	}
}

// With an oracle's forecasts every pass gives 1 + m tokens: the plan keeps the likely path and puts forecasts at its end.
func TestForecastOfAnOracle(t *testing.T) {
	const m, vocab = 3, 50
	truth := make([]tandem.Token, 300)
	for i := range truth {
		truth[i] = tandem.Token((i*7 + i*i) % vocab)
	}
	for _, branches := range [][]int{nil, {1, 1, 1}, {3, 2}} {
		f := &Forecast{Embeddings: make([][]float32, m), Branches: branches}
		s := &Speculator{Drafters: []Drafter{f}, Forecast: f}
		s.panel.Begin(s.Drafters, s.acceptance(), nil, WallTime)
		at, passes := 0, 0
		emitted := truth[:1]
		for at = 1; at < 200; passes++ {
			tokens, parents := s.Draft(emitted, 31)
			if len(tokens) > 31 {
				t.Fatalf("%d rows", len(tokens)+1)
			}
			// The path of right tokens, and what a model that knows the text would forecast after each node.
			depth, last, path := map[int]int{-1: 0}, -1, []int{}
			logits := [][]float32{make([]float32, vocab)}
			for i, token := range tokens {
				l := make([]float32, vocab)
				if token == model.NoToken {
					depth[i] = depth[parents[i]] + 1 // k rows below a node of depth d say which token comes d+k after the text
					l[truth[at+depth[i]]] = 10
				} else {
					depth[i] = depth[parents[i]] + 1
					if parents[i] == last && token == truth[at+depth[i]-1] {
						last, path = i, append(path, i)
					}
				}
				logits = append(logits, l)
			}
			v := sample.Verification{Path: path, Next: truth[at+len(path)], Logits: logits, Took: time.Millisecond}
			s.Settle(v)
			emitted = truth[at : at+len(path)+1]
			at += len(path) + 1
		}
		if got, want := float64(at)/float64(passes), map[bool]float64{true: 2.9, false: 3.8}[len(branches) == 2]; got < want {
			t.Errorf("branches %d: %.2f tokens a pass, want at least %v", branches, got, want)
		}
	}
}

func TestLikeliestOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		logits := make([]float32, 20)
		for i := range logits {
			logits[i] = float32(r.IntN(6))
		}
		got := likeliestOf(logits, 5)
		want := make([]int, 20)
		sum := 0.0
		for i := range want {
			want[i] = i
			sum += math.Exp(float64(logits[i]))
		}
		slices.SortStableFunc(want, func(a, b int) int { return int(logits[b] - logits[a]) })
		for i, f := range got {
			if int(f.Token) != want[i] || math.Abs(f.P-math.Exp(float64(logits[f.Token]))/sum) > 1e-9 {
				t.Fatalf("%v of %v", got, logits)
			}
		}
	}
}

func TestBadForecasts(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, f := range []*Forecast{{}, {Embeddings: make([][]float32, 9)}, {Embeddings: [][]float32{{1}}},
		someForecast(m, 1, 1, []int{1, 1}), someForecast(m, 2, 1, []int{0}), someForecast(m, 2, 1, []int{16})} {
		if err := f.Check(m); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
}

// Rows of damaged embeddings, whose logits are no numbers, forecast nothing.
func TestForecastsOfDamagedRows(t *testing.T) {
	f := &Forecast{Embeddings: make([][]float32, 1)}
	f.Committed(ids("abc"))
	_, _ = f.Attach(nil, nil, nil, []int{-1})
	nan := float32(math.NaN())
	tree := NewTree(8, nil)
	f.Settle(&Verdict{Tree: tree, After: 3, Emitted: ids("d"), Forecasts: func(int) []float32 { return []float32{nan, nan, nan} }})
	f.Committed(ids("d"))
	if f.Propose(tree); len(tree.Nodes) > 0 {
		t.Errorf("nodes %v", tree.Nodes)
	}
}
