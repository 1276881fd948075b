package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/engine"
)

type engineCmd struct {
	modelcmd.ModelFlags `group:"Model:"`
	Rows                []int  `help:"Numbers of sequences to decode at once." default:"1,4,16"`
	Runs                int    `help:"Runs of each test." default:"5"`
	Prompt              int    `help:"Tokens of the prompt; 0 for 512, or fewer if the model's context is small." default:"0"`
	Steps               int    `help:"Tokens to decode of each sequence." default:"64"`
	Against             string `help:"Also measure another engine, in turns, on the same file and threads: llama.cpp, or ik_llama.cpp=PROGRAM with its llama-batched-bench." placeholder:"ENGINE"`
	Busy                bool   `help:"Keep another process busy during the measurement."`
	ProcessorTime       bool   `help:"Measure the processor's time, so that other programs disturb less. Needs --threads 1."`
	File                string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *engineCmd) Help() string {
	return `Examples:
  lab models random random.gguf && lab engine --model random.gguf
  lab engine --rows 1,8 --runs 9 --json rows.json
  TANDEM_LLAMA_PATH=bins/linux-x64 lab engine --model random.gguf --threads 2 --against llama.cpp
  lab engine --model random.gguf --against llama.cpp --busy
  GODEBUG=cpu.avx512vnni=off,cpu.avxvnni=off lab engine --model random.gguf --against llama.cpp
  lab engine --model random.gguf --threads 1 --processor-time --against llama.cpp
  lab engine --model random.gguf --against ik_llama.cpp=build/bin/llama-batched-bench
  TANDEM_GGML_PATH=bins/linux-x64-cuda TANDEM_LLAMA_PATH=bins/linux-x64-cuda lab engine --model random.gguf --device ggml:cuda0 --rows 1,8,64 --against llama.cpp

Prefill computes one prompt. Decode computes token by token, after nothing and after the prompt; with several rows, that many sequences that share the prompt. Each figure is the median of the runs, with the least and the most. Work of less than 0.1 s is repeated within a run. The engines take turns.

Decoding reads all weights once per step. "of limit" is its speed as a share of the rate at which the device reads its memory, measured before and after each run; on a GPU, by products with a large F16 matrix. "ratio" is the median of our speed by theirs, run by run. Both engines compute on the device that --device names. GODEBUG=cpu.avx512vnni=off holds ours to AVX2 (and AVX-VNNI, if that is not off too), and llama.cpp to its variant for such processors; GODEBUG=cpu.amxint8=off holds both to AVX-512 where there is AMX; the first line names our instructions and llama.cpp's variant. ik_llama.cpp runs on the processor only and is compiled for one: lab/peers/ik_llama.sh builds it from a checkout. It decodes "after 0" after one token. Other running programs make all figures worse.`
}

func (c *engineCmd) Run(a *cli.App) error {
	o := engine.Options{Rows: c.Rows, Runs: c.Runs, Prompt: c.Prompt, Steps: c.Steps, Threads: c.Threads, Busy: c.Busy, Processor: c.ProcessorTime, Progress: a.Progress, Remark: a.Remark}
	if err := errors.Join(o.Check(), a.CheckJSONFile(c.File)); err != nil {
		return err
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	var err error
	peer, program, given := strings.Cut(c.Against, "=")
	switch {
	case c.Against == "":
	case c.Against == "llama.cpp", peer == "ik_llama.cpp" && given:
		if o.Program, err = peerProgram(program, given); err != nil {
			return err
		}
		if o.Against, err = modelcmd.Find(a, c.Model); err != nil {
			return err
		}
		if o.Against != "" {
			if o.Against, err = filepath.Abs(o.Against); err != nil {
				return err
			}
		}
		if o.Against == "" {
			return errors.New("--against needs --model FILE: another engine cannot open the built-in model")
		}
	default:
		return fmt.Errorf("--against %s: unknown engine, use llama.cpp or ik_llama.cpp=PROGRAM", c.Against)
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	if o.Prompt, err = c.prompt(a, m.Config().Context); err != nil {
		return err
	}
	report, err := engine.Measure(a, m, o)
	a.Clear()
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSONTo(c.File, report)
	}
	printEngine(a.Out, report)
	return nil
}

// peerProgram returns the path of another engine's program, or "" if none is given.
func peerProgram(name string, given bool) (string, error) {
	if !given {
		return "", nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("--against ik_llama.cpp=%s: %w: build it with lab/peers/ik_llama.sh", name, err)
	}
	return filepath.Abs(path)
}

// usualPrompt is the length of the prompt if --prompt leaves it open and the model's context is large enough.
const usualPrompt = 512

// prompt returns the length of the prompt, which must fit into the model's context together with the steps.
func (c *engineCmd) prompt(a *cli.App, context int) (int, error) {
	n := c.Prompt
	if n == 0 {
		n = max(1, min(usualPrompt, context-c.Steps-1))
	}
	if n+c.Steps+1 > context {
		return 0, fmt.Errorf("--prompt %d and --steps %d exceed the model's context of %d", n, c.Steps, context)
	}
	if c.Prompt == 0 && n < usualPrompt {
		a.Remark("The model's context of %d has room for a prompt of %d tokens and --steps %d.", context, n, c.Steps)
	}
	return n, nil
}

func printEngine(w io.Writer, r engine.Report) {
	device := r.Device
	if r.Variant != "" {
		device += fmt.Sprintf(" against %s (%s)", r.Against, r.Variant)
	}
	if r.Clock != "" {
		device += ", by the " + r.Clock + "'s time"
	}
	fmt.Fprintf(w, "%s, %s\n%.1f MB of weights a step", device, r.Results[0].Type, float64(r.Bytes)/1e6)
	if r.Rate > 0 {
		fmt.Fprintf(w, "; the device reads %.1f GB/s (%.1f to %.1f)", r.Rate/1e9, r.RateLeast/1e9, r.RateMost/1e9)
	}
	fmt.Fprintf(w, "\n\n%-26s %9s %17s", "test", "tokens/s", "least to most")
	if r.Against != "" {
		fmt.Fprintf(w, " %10s %17s %6s", r.Against, "least to most", "ratio")
	}
	if r.Rate > 0 {
		fmt.Fprintf(w, " %9s", "of limit")
	}
	fmt.Fprintln(w)
	for _, t := range r.Results {
		fmt.Fprintf(w, "%-26s %9.1f %17s", t.Test, t.Ours, fmt.Sprintf("%.1f to %.1f", t.Least, t.Most))
		if r.Against != "" {
			fmt.Fprintf(w, " %10.1f %17s %6.2f", t.Theirs, fmt.Sprintf("%.1f to %.1f", t.TheirsLeast, t.TheirsMost), t.Ratio)
		}
		if t.OfLimit > 0 {
			fmt.Fprintf(w, " %7.0f %%", 100*t.OfLimit)
		}
		fmt.Fprintln(w)
	}
}
