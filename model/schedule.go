package model

import (
	"context"
	"slices"

	"tandem/npu"
)

// Prefill is ForwardInto for prompts whose continuations are decoded next, token by token. A device with a Scheduler
// prepares for that during the pass. The results are the same bit for bit.
func (m *Model) Prefill(ctx context.Context, inputs []Input, into *Logits) ([][]float32, error) {
	return m.forward(ctx, inputs, into, true)
}

// schedule returns the schedule of a pass: the device's, or else the smallest programs that fit.
func (m *Model) schedule(ctx context.Context, s *graphSet, inputs []Input, tokens int, decoding bool) (npu.Schedule, error) {
	if m.scheduler == nil {
		return s.schedule, nil
	}
	p := npu.Pass{Tokens: tokens}
	for _, in := range inputs {
		if p.PerPass == nil {
			p.PerPass = in.PerPass
		}
		p.Longest = max(p.Longest, in.Seq.n+len(in.Tokens))
	}
	if decoding && !slices.ContainsFunc(inputs, func(in Input) bool { return in.Parents != nil }) {
		p.Decodes = len(inputs)
	}
	if all := p.PerPass; all != nil { // of each sequence
		p.PerPass = func(rows int) float64 { return all(max(1, rows/len(inputs))) }
	}
	return m.scheduler.Schedule(ctx, s.programs, p)
}

// smallest is the schedule of a device that can run any program at any time.
type smallest []*npu.Programs

// Next implements npu.Schedule.
func (s smallest) Next(tokens int) *npu.Programs { return npu.Fitting(s, tokens) }

// Head implements npu.Schedule.
func (s smallest) Head(rows int) npu.Program { return npu.Fitting(s, rows).Head }

// End implements npu.Schedule.
func (s smallest) End(context.Context) error { return nil }
