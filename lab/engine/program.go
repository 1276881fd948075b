package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// program is ik_llama.cpp as an engine: its llama-batched-bench, started again for each run, with weights repacked as it loads
// them, flash attention and F16 caches. lab/peers/ik_llama.sh builds it.
type program struct {
	path, model string // absolute
	threads     int
	processor   bool // measure the processor's time
}

func (p program) measure(ctx context.Context, t test, prompt, steps int) (float64, error) {
	rows, after := max(t.rows, 1), t.after
	if t.rows == 0 {
		after, steps = prompt, 1
	}
	after = max(after, 1) // it decodes nothing after nothing
	if p.processor {
		return p.measureProcessor(ctx, t.rows == 0, after, steps, rows)
	}
	out, _, err := p.run(ctx, after, steps, rows, 1)
	if err != nil {
		return 0, err
	}
	prefill, decode, err := batchedBench(out)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.path, err)
	}
	if t.rows == 0 {
		return prefill, nil
	}
	return decode, nil
}

// measureProcessor is measure by the processor's time of whole processes: what repeating a prompt and its steps adds, with one
// step and with more.
func (p program) measureProcessor(ctx context.Context, prefill bool, after, steps, rows int) (float64, error) {
	const again = 4
	steps = max(steps, 8)
	var took [2]float64 // seconds of a prompt and of 1, or 1 + steps, steps
	for i, n := range []int{1, 1 + steps} {
		_, once, err := p.run(ctx, after, n, rows, 1)
		if err != nil {
			return 0, err
		}
		_, often, err := p.run(ctx, after, n, rows, 1+again)
		if err != nil {
			return 0, err
		}
		took[i] = (often - once).Seconds() / again
	}
	one, err := parts(took, after, steps, rows)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.path, err)
	}
	if prefill {
		return one[0], nil
	}
	return one[1], nil
}

// parts returns the tokens per second of a prompt and of decoding, of what the prompt takes with one step and with 1 + steps.
func parts(took [2]float64, after, steps, rows int) (speeds [2]float64, err error) {
	step := (took[1] - took[0]) / float64(steps)
	if took[0] <= step || step <= 0 {
		return speeds, errors.New("its processor time varies more than what is measured: use more --steps")
	}
	return [2]float64{float64(after) / (took[0] - step), float64(rows) / step}, nil
}

// run computes a prompt of after tokens and then steps tokens of each row, a number of times in one process. It returns what the
// program prints and the processor's time that it takes.
func (p program) run(ctx context.Context, after, steps, rows, times int) ([]byte, time.Duration, error) {
	dir, err := os.MkdirTemp("", "lab-engine") // it leaves a log in its working directory
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	n := strconv.Itoa
	cmd := exec.CommandContext(ctx, p.path, "-m", p.model, "-c", n(after+rows*(steps+1)+256), "-b", "2048", "-ub", "512",
		"-t", n(p.threads), "-tb", n(p.threads), "-fa", "on", "-rtr", "-pps", "-npp", n(after), "-ntg", n(steps), "-npl", strings.Repeat(n(rows)+",", times-1)+n(rows))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case err != nil:
		return nil, 0, fmt.Errorf("%s: %w: %s", p.path, err, lastLine(out))
	}
	return out, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// batchedBench returns the tokens per second of the prompt and of decoding from what llama-batched-bench prints: a table whose
// columns are PP, TG, B, N_KV, T_PP s, S_PP t/s, T_TG s, S_TG t/s, T s and S t/s.
func batchedBench(out []byte) (prefill, decode float64, err error) {
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 10 {
			continue
		}
		if prefill, err = strconv.ParseFloat(strings.TrimSpace(cells[5]), 64); err != nil {
			continue // the heading
		}
		if decode, err = strconv.ParseFloat(strings.TrimSpace(cells[7]), 64); err != nil || prefill <= 0 || decode <= 0 {
			break
		}
		return prefill, decode, nil
	}
	return 0, 0, fmt.Errorf("it printed no speeds: %s", lastLine(out))
}

func lastLine(out []byte) string {
	out = bytes.TrimSpace(out)
	return string(out[bytes.LastIndexByte(out, '\n')+1:])
}
