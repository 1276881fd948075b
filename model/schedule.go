package model

import (
	"context"
	"slices"

	"tandem/npu"
)

// Prefill is ForwardInto for prompts behind which the rows are decoded, a token of each at a time. A device with a
// Scheduler prepares for that on the way. The results are the same bits.
func (m *Model) Prefill(ctx context.Context, rows []Input, into *Logits) ([][]float32, error) {
	return m.forward(ctx, rows, into, true)
}

// schedule returns the schedule of a pass: the device's, or else the smallest programs that fit.
func (m *Model) schedule(ctx context.Context, rows []Input, tokens int, decoding bool) (npu.Schedule, error) {
	if m.scheduler == nil {
		return m.plain, nil
	}
	p := npu.Pass{Tokens: tokens}
	for _, r := range rows {
		p.Longest = max(p.Longest, r.Seq.n+len(r.Tokens))
	}
	if decoding && !slices.ContainsFunc(rows, func(r Input) bool { return r.Parents != nil }) {
		p.Decodes = len(rows)
	}
	return m.scheduler.Schedule(ctx, m.programs, p)
}

// smallest is the schedule of a device that can run any program at any time.
type smallest []*npu.Programs

// Next implements npu.Schedule.
func (s smallest) Next(tokens int) *npu.Programs { return npu.Fitting(s, tokens) }

// Head implements npu.Schedule.
func (s smallest) Head(rows int) npu.Program { return npu.Fitting(s, rows).Head }

// End implements npu.Schedule.
func (s smallest) End(context.Context) error { return nil }
