package model

import (
	"context"

	"tandem"
)

// Rounding is empty if the model is computed bit for bit as the native device does, on any processor. Otherwise it
// names the arithmetic, whose results agree with native's up to rounding.
func (m *Model) Rounding() string { return m.device.Traits().Rounding }

// Processor reports whether this machine's processor computes the model, from its memory.
func (m *Model) Processor() bool { return m.device.Traits().Processor }

// Warm computes many rows and few, of few the logits of all, so that a GPU has its kernels and its memory before
// somebody waits: drivers compile kernels when they are first needed, some for seconds each. Nothing is left behind.
func (m *Model) Warm(ctx context.Context) error {
	var into Logits
	run := func(rows ...Input) error {
		_, err := m.ForwardInto(ctx, rows, &into)
		return err
	}
	row := func(n int) Input { return Input{Seq: m.NewSeq(), Tokens: make([]tandem.Token, n), All: n <= 16} }
	largest := m.programs[len(m.programs)-1].Chunk // first: where memory has to grow, graphs are made anew
	for _, n := range []int{largest, 128, 48, 16, 8, 7, 6, 5, 4, 3, 2, 1} {
		if err := run(row(min(n, m.config.Context))); err != nil {
			return err
		}
	}
	// Passages side by side: many keys, for which attention has other kernels.
	long, more := min(400, 3*m.config.Context/4), min(26, m.config.Context/4)
	passages := []Input{row(long), row(long), row(long), row(long)}
	if err := run(passages...); err != nil {
		return err
	}
	for i := range passages {
		passages[i].Tokens = passages[i].Tokens[:min(long, more)]
	}
	return run(passages...)
}
