package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
)

func open(t testing.TB) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// answer stands in for an answer: sequences that grow by prompts, tokens and draft trees, and are cut back.
type answer struct {
	rng  *rand.Rand
	seqs []*model.Seq
}

func newAnswer(m *model.Model, seed uint64) *answer {
	a := &answer{rng: rand.New(rand.NewPCG(seed, 7))}
	for range 1 + a.rng.IntN(3) {
		a.seqs = append(a.seqs, m.NewSeq())
	}
	return a
}

// inputs returns the next call of the answer. It depends on the seed and on how many calls there were.
func (a *answer) inputs() (inputs []model.Input, prompt bool) {
	for i, s := range a.seqs {
		switch a.rng.IntN(6) {
		case 0:
			s.Truncate(s.Len() - a.rng.IntN(5))
		case 1:
			a.seqs[i] = s.Fork()
		}
	}
	kind := a.rng.IntN(4)
	if a.seqs[0].Len() == 0 || a.seqs[0].Len() > 400 {
		kind = 0
	}
	for _, s := range a.seqs {
		n := 1
		in := model.Input{Seq: s}
		switch kind {
		case 0:
			s.Truncate(200)
			n = 1 + a.rng.IntN(50)
		case 1:
			n, in.All = 1+a.rng.IntN(4), true
		case 2:
			in.All = true
			for n = range 2 + a.rng.IntN(6) {
				in.Parents = append(in.Parents, a.rng.IntN(n+1)-1)
			}
			n++
		}
		for range n {
			in.Tokens = append(in.Tokens, tandem.Token(a.rng.IntN(256)))
		}
		inputs = append(inputs, in)
	}
	return inputs, kind == 0
}

// Answers that are computed together have the logits that each has alone, to the bit, in any order and mix of prompts, next
// tokens, drafts, cuts and preemptions.
func TestTogetherEqualsAlone(t *testing.T) {
	m := open(t)
	const answers = 50
	b := New(m, Config{MaxRows: 48})
	var all sync.WaitGroup
	var count model.Memory
	b.CountIn(&count)
	limit := make(chan struct{}, 12)
	for seed := range uint64(answers) {
		all.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			passes := b.NewPasses(fmt.Sprint("device ", seed%5), EqualShare)
			alone, shared := newAnswer(m, seed), newAnswer(m, seed)
			preempt := rand.New(rand.NewPCG(seed, 9))
			var memory model.Logits
			for call := range calls {
				plain, prompt := alone.inputs()
				want, err := m.Forward(context.Background(), plain)
				if err != nil {
					t.Error(err)
					return
				}
				inputs, _ := shared.inputs()
				compute := passes.ForwardInto
				if prompt {
					compute = passes.Prefill
				}
				if preempt.IntN(4) == 0 { // what was preempted is computed again
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(preempt.IntN(2000))*time.Microsecond)
					var before []int
					for _, in := range inputs {
						before = append(before, in.Seq.Len())
					}
					_, err := compute(ctx, inputs, &memory)
					cancel()
					if err == nil { // too late
						for i, in := range inputs {
							in.Seq.Truncate(before[i])
						}
					}
				}
				got, err := compute(context.Background(), inputs, &memory)
				if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
					t.Errorf("answer %d, call %d: other logits than alone (%v)", seed, call, err)
					return
				}
			}
		})
	}
	all.Wait()
	if count.Bytes() != 0 || count.Most() == 0 {
		t.Errorf("%d bytes of passes count after them, at most %d", count.Bytes(), count.Most())
	}
	if s := b.Stats(); s.Jobs < 2*s.Passes || s.Waiting > 0 {
		t.Errorf("%+v: want several answers in a pass, and none left", s)
	}
}

// A job that cannot be computed fails alone, and says why.
func TestFaultStaysWithItsJob(t *testing.T) {
	m := open(t)
	b := New(m, Config{})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			in := model.Input{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2, 3}}
			bad := i%4 == 0
			if bad {
				in.Tokens[1] = 1 << 20
			}
			out, err := b.NewPasses(fmt.Sprint(i), EqualShare).ForwardInto(context.Background(), []model.Input{in}, new(model.Logits))
			if bad != (err != nil) || bad != (in.Seq.Len() == 0) || !bad && len(out) != 1 {
				t.Errorf("job %d: %d logits, %d positions, %v", i, len(out), in.Seq.Len(), err)
			}
		})
	}
	all.Wait()
	if _, err := b.NewPasses("", EqualShare).ForwardInto(context.Background(), []model.Input{{}}, new(model.Logits)); err == nil {
		t.Error("no sequence: want an error")
	}
}

// A pass that is broken off or fails does not count in the times of passes, which would seem too short.
func TestCostsOfWholePassesOnly(t *testing.T) {
	m := open(t)
	p := New(m, Config{}).NewPasses("", EqualShare)
	pass := func(token tandem.Token) error {
		_, err := p.ForwardInto(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{token}}}, new(model.Logits))
		return err
	}
	if err, costs := pass(1<<20), p.Costs(1, 1); err == nil || costs != nil {
		t.Errorf("after a pass that fails, with error %v: %v", err, costs)
	}
	if err, costs := pass(1), p.Costs(1, 1); err != nil || costs == nil {
		t.Errorf("after a pass, with error %v: no times", err)
	}
}

// Jobs that wait have no memory for their logits: with a large vocabulary, those of many would take more than the answers' keys
// and values.
func TestWaitingJobsHaveNoLogits(t *testing.T) {
	m := open(t)
	j := newJob(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2}, All: true}, {Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2}}}, new(model.Logits))
	if j.logits != nil || j.wanted != 3 {
		t.Errorf("a new job has memory for %d logits, and wants %d", len(j.logits), j.wanted)
	}
}
