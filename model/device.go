package model

import (
	"context"
	"fmt"
	"strings"

	"tandem"
	"tandem/npu"
	"tandem/npu/ggml"
	"tandem/npu/native"
)

// OpenDevice opens a device by name: "native", or empty; "ggml:cpu", "ggml:cuda0" and the like, as
// ggml.Probe lists them; "auto": the first GPU or NPU that ggml has with room for so many bytes of weights,
// else native. Threads are those of a processor, 0 for one on each.
func OpenDevice(name string, threads int, weights uint64) (npu.Device, error) {
	switch kind, which, _ := strings.Cut(strings.ToLower(name), ":"); {
	case threads < 0:
		return nil, fmt.Errorf("%d threads: use 1 or more, or 0 for one on each processor", threads)
	case kind == "" || name == "native":
		return native.New(threads), nil
	case name == "auto":
		return autoDevice(threads, weights), nil
	case kind == "ggml" && which != "":
		d, err := ggml.Open(which, threads)
		if err != nil {
			return nil, fmt.Errorf("device %s: %w", name, err)
		}
		return d, nil
	}
	return nil, fmt.Errorf("device %q is not known: use native, auto, ggml:cpu or another that doctor lists", name)
}

// autoDevice prefers what computes beside the processor. Weights need their size and some room to work in.
func autoDevice(threads int, weights uint64) npu.Device {
	report, err := ggml.Probe()
	if err == nil {
		for _, info := range report.Devices {
			if !info.GPU() || info.Free != 0 && info.Free < weights+weights/4 {
				continue
			}
			if d, err := ggml.Open(info.Name, threads); err == nil {
				return d
			}
		}
	}
	return native.New(threads)
}

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
	largest := m.programs[len(m.programs)-1].chunk // first: where memory has to grow, graphs are made anew
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
