package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"tandem/lab/engine"
)

// speedRows is the batch that the table measures beside single rows.
const speedRows = 8

// A speedLevel is a set of the processor's instructions.
type speedLevel struct {
	debug string // GODEBUG, which holds both engines to the instructions
	used  string // what the two have used: set by measure
}

var speedLevels = [...]*speedLevel{{}, {debug: "cpu.avx512vnni=off,cpu.avxvnni=off"}}

// measureIn runs lab engine with a GODEBUG: a process loads one variant of llama.cpp's libraries.
func measureIn(ctx context.Context, debug, path string, runs, steps int) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "engine", "--model", path, "--against", "llama.cpp", "--json", "--threads", "1", "--processor-time", "--runs", strconv.Itoa(runs),
		"--rows", fmt.Sprintf("1,%d", speedRows), "--prompt", "128", "--steps", strconv.Itoa(steps))
	cmd.Env = append(os.Environ(), "GODEBUG="+debug)
	return cmd.Output()
}

// measure returns the ratios of prefill, of decoding after the prompt and of decoding several rows after it. Where llama.cpp
// crashes, as its library for AMX does with lfm2, both do without AMX.
func (l *speedLevel) measure(ctx context.Context, path string, runs, steps int) (string, error) {
	out, err := measureIn(ctx, l.debug, path, runs, steps)
	without := ""
	var exit *exec.ExitError
	if errors.As(err, &exit) && bytes.Contains(exit.Stderr, []byte("signal arrived during cgo execution")) {
		out, err = measureIn(ctx, "cpu.amxint8=off,"+l.debug, path, runs, steps)
		without = " (without AMX)"
	}
	if err != nil {
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("lab engine: %w", err)
	}
	var r engine.Report
	if err := json.Unmarshal(out, &r); err != nil {
		return "", fmt.Errorf("lab engine: %w", err)
	}
	if len(r.Results) != 5 { // prefill, then for 1 and for speedRows rows: from nothing, after the prompt
		return "", fmt.Errorf("lab engine gives %d results", len(r.Results))
	}
	if without == "" {
		l.used = fmt.Sprintf("%s against llama.cpp's %q", r.Device, r.Variant)
	}
	return fmt.Sprintf("%.2f / %.2f / %.2f%s", r.Results[0].Ratio, r.Results[2].Ratio, r.Results[4].Ratio, without), nil
}
