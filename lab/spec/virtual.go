package spec

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/model"
	"tandem/model/sample"
	"tandem/specdec"
)

// VirtualMethods are the ways of drafting that RunVirtual knows: those that need nothing but the text and the verdicts.
var VirtualMethods = []string{"pld", "sam", "auto"}

// TaskInputs are the inputs of one task.
type TaskInputs struct {
	Task   string
	Inputs []Input
}

// Mixed is the name of a VirtualRatio of all tasks in turns.
const Mixed = "mixed"

// VirtualResult is what one way of drafting gave in virtual time, on every other input.
type VirtualResult struct {
	Method string         `json:"method"`
	First  int            `json:"first"` // 1 if these are the first input of each task, the third and so on, 2 if they are the others
	Ratios []VirtualRatio `json:"ratios"`
	Mean   float64        `json:"mean"`  // of the ratios, geometric
	Worst  float64        `json:"worst"` // answer
}

// VirtualRatio is plain decoding's time divided by that with drafts, as in Result.
type VirtualRatio struct {
	Task  string  `json:"task"` // or Mixed
	Ratio float64 `json:"ratio"`
	Worst float64 `json:"worst"`
}

// RunVirtual compares ways of drafting by a clock that moves on by one step whenever the drafters read it. So the results depend
// only on the inputs and on Costs, which must be given, not measured. The model writes each answer once. Then its tokens are
// drafted with each step, first in the order of the inputs and then backwards, since drafters learn from the answers before. Two
// results for each method show whether something chosen on one half of the inputs holds for the other half.
func (s Experiment) RunVirtual(ctx context.Context, tasks []TaskInputs, methods []string, steps []time.Duration, progress report.Progress) ([]VirtualResult, error) {
	answers := make([][]*answer, len(tasks))
	for i, t := range tasks {
		var err error
		if answers[i], err = s.answers(ctx, t.Inputs); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Task, err)
		}
	}
	var results []VirtualResult
	total := 2 * len(methods)
	for _, method := range methods {
		for first := range 2 {
			r, err := s.virtual(ctx, tasks, halves(answers, first), method, steps)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", method, err)
			}
			r.First = first + 1
			if results = append(results, r); progress != nil {
				progress(len(results), total)
			}
		}
	}
	return results, nil
}

// halves returns every other answer of each task.
func halves(answers [][]*answer, first int) [][]*answer {
	half := make([][]*answer, len(answers))
	for i, list := range answers {
		for j := first; j < len(list); j += 2 {
			half[i] = append(half[i], list[j])
		}
	}
	return half
}

// virtual measures a method on each task and, if there are several, on all in turns.
func (s Experiment) virtual(ctx context.Context, tasks []TaskInputs, answers [][]*answer, method string, steps []time.Duration) (VirtualResult, error) {
	r := VirtualResult{Method: method, Worst: math.Inf(1)}
	var names []string
	for _, t := range tasks {
		names = append(names, t.Task)
	}
	if len(tasks) > 1 {
		names, answers = append(names, Mixed), append(answers, inTurns(answers))
	}
	logs := 0.0
	for i, name := range names {
		if len(answers[i]) == 0 {
			return r, fmt.Errorf("%s: too few answers of two tokens or more to divide them in halves: raise --limit or --max-tokens", name)
		}
		run, err := s.stepped(ctx, answers[i], method, steps)
		if err != nil {
			return r, err
		}
		r.Ratios = append(r.Ratios, VirtualRatio{name, run.ratio(), run.worst})
		logs, r.Worst = logs+math.Log(run.ratio()), min(r.Worst, run.worst)
	}
	r.Mean = math.Exp(logs / float64(len(names)))
	return r, nil
}

// inTurns returns the first answer of each task, then the second of each, and so on.
func inTurns(answers [][]*answer) (all []*answer) {
	for i, more := 0, true; more; i++ {
		more = false
		for _, list := range answers {
			if i < len(list) {
				all, more = append(all, list[i]), true
			}
		}
	}
	return all
}

// stepped drafts the answers with each step, forwards and backwards.
func (s Experiment) stepped(ctx context.Context, answers []*answer, method string, steps []time.Duration) (*costedRun, error) {
	run := &costedRun{costs: s.Costs, rows: s.Rows, worst: math.Inf(1)}
	backwards := slices.Clone(answers)
	slices.Reverse(backwards)
	for _, step := range steps {
		for _, list := range [][]*answer{answers, backwards} {
			run.acceptance = specdec.Acceptance{}
			for _, a := range list {
				if err := a.draft(ctx, run, method, step); err != nil {
					return nil, err
				}
			}
		}
	}
	return run, nil
}

// An answer is what the model said to a prompt.
type answer struct {
	prompt, said []tandem.Token
	seq          *model.Seq // has read both
}

// answers lets the model answer the inputs. Answers of less than two tokens, which leave nothing to draft, do not count.
func (s Experiment) answers(ctx context.Context, inputs []Input) (out []*answer, err error) {
	if inputs, _, err = s.Replayed(ctx, inputs); err != nil {
		return nil, err
	}
	for _, in := range inputs {
		a := &answer{prompt: in.Tokens, seq: s.Model.NewSeq()}
		if a.said, _, err = s.generate(ctx, in, nil); err != nil {
			return nil, err
		}
		if len(a.said) < 2 {
			continue
		}
		if _, err := s.Model.Forward(ctx, []model.Input{{Seq: a.seq, Tokens: slices.Concat(a.prompt, a.said)}}); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// draft drafts the answer after its first token, which the prompt's pass gives, and adds what that took.
func (a *answer) draft(ctx context.Context, run *costedRun, method string, step time.Duration) error {
	var now time.Duration
	spec := &specdec.Speculator{Acceptance: &run.acceptance, Chooser: &specdec.Chooser{Costs: run.costs}, Rows: run.rows,
		Clock: func() time.Duration { now += step; return now }}
	spec.Drafters, _, _ = (&methodRun{name: method}).drafters(Experiment{}, nil, a.said)
	account := &passes{Speculator: spec, costs: run.costs}
	if err := account.Begin(a.seq.Model(), &model.Input{Tokens: a.prompt}); err != nil {
		return err
	}
	said := a.said[:1]
	for n := 1; n < len(a.said); n += len(said) {
		tokens, parents := account.Draft(said, len(a.said)-n-1)
		v, err := a.verify(ctx, n, tokens, parents)
		if err != nil {
			return err
		}
		account.Settle(v)
		said = a.said[n : n+len(v.Path)+1]
	}
	run.add(spec.Stats(), account.spent, method, 0)
	return nil
}

// verify returns the model's verdict on a draft after the answer's first n tokens.
func (a *answer) verify(ctx context.Context, n int, tokens []tandem.Token, parents []int) (v sample.Verification, err error) {
	seq := a.seq.Fork()
	seq.Truncate(len(a.prompt) + n - 1)
	in := model.Input{Seq: seq, Tokens: append([]tandem.Token{a.said[n-1]}, tokens...), Parents: []int{-1}, All: true}
	at := -1
	for i, parent := range parents {
		in.Parents = append(in.Parents, parent+1)
		if next := n + len(v.Path); parent == at && next+1 < len(a.said) && tokens[i] == a.said[next] {
			v.Path, at = append(v.Path, i), i
		}
	}
	v.Next = a.said[n+len(v.Path)]
	v.Logits, err = a.seq.Model().Forward(ctx, []model.Input{in})
	return v, err
}
