package model

import (
	"context"

	"tandem"
)

// Rounding names the device's arithmetic if its results agree with those of the native device only up to rounding. It is
// empty if they agree bit for bit.
func (m *Model) Rounding() string { return m.device.Traits().Rounding }

// Processor reports whether the machine's own processor computes the model.
func (m *Model) Processor() bool { return m.device.Traits().Processor }

// PassesAtOnce returns how many passes the device computes faster together than one after the other, at least 1.
func (m *Model) PassesAtOnce() int { return max(1, m.device.Traits().PassesAtOnce) }

// Warm runs passes of many sizes, so that a GPU compiles its kernels and allocates memory before the first request:
// drivers compile a kernel when it is first used, which can take seconds. It leaves nothing behind.
func (m *Model) Warm(ctx context.Context) error {
	var into Logits
	run := func(inputs ...Input) error {
		_, err := m.ForwardInto(ctx, inputs, &into)
		return err
	}
	prompt := func(n int) Input { return Input{Seq: m.NewSeq(), Tokens: make([]tandem.Token, n), All: n <= 16} }
	largest := m.base.programs[len(m.base.programs)-1].Chunk // first, because graphs are built again when memory grows
	for _, n := range []int{largest, 128, 48, 16, 8, 7, 6, 5, 4, 3, 2, 1} {
		if err := run(prompt(min(n, m.config.Context))); err != nil {
			return err
		}
	}
	// Several long sequences: attention has other kernels for many keys.
	long, more := min(400, 3*m.config.Context/4), min(26, m.config.Context/4)
	passages := []Input{prompt(long), prompt(long), prompt(long), prompt(long)}
	if err := run(passages...); err != nil {
		return err
	}
	for i := range passages {
		passages[i].Tokens = passages[i].Tokens[:min(long, more)]
	}
	return run(passages...)
}
