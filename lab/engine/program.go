package engine

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// program is ik_llama.cpp as an engine: its llama-batched-bench, started anew for each run, with weights repacked as it loads
// them, flash attention and F16 caches. lab/peers/ik_llama.sh builds it.
type program struct {
	path, model string
	threads     int
}

func (p program) measure(ctx context.Context, t test, prompt, steps int) (float64, error) {
	rows, after := max(t.rows, 1), t.after
	if t.rows == 0 {
		after, steps = prompt, 1
	}
	after = max(after, 1) // it decodes nothing after nothing
	n := strconv.Itoa
	out, err := exec.CommandContext(ctx, p.path, "-m", p.model, "-c", n(after+rows*(steps+1)+256), "-b", "2048", "-ub", "512",
		"-t", n(p.threads), "-tb", n(p.threads), "-fa", "on", "-rtr", "-pps", "-npp", n(after), "-ntg", n(steps), "-npl", n(rows)).CombinedOutput()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", p.path, err, lastLine(out))
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
