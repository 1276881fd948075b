package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/model"
	"tandem/models"
	"tandem/npu/phone"
	"tandem/npu/phone/programs"
	"tandem/npu/phone/sim"
)

type npuPrograms struct {
	Model   string `help:"GGUF file, or its name in the models folder. Default: the built-in decoder." placeholder:"FILE"`
	Threads int    `help:"Threads to compute with; 0 for all cores." default:"0"`
	Compute string `name:"device" help:"Device to compute on: native, auto (a GPU or NPU that ggml can use, else native), or a ggml device, such as ggml:cpu or ggml:cuda0; edge doctor lists them." default:"native" placeholder:"NAME"`
	SoC     string `name:"soc" help:"Also show simulated times on a chip, such as sm8650." placeholder:"NAME"`
}

func (c *npuPrograms) Help() string {
	return `Examples:
  lab npu programs
  lab npu programs --model qwen2.5-0.5b-instruct-q4_0.gguf --soc sm8750 --json
  lab npu programs --device ggml:cpu

Each line is a program: a block compiled for a chunk size (on ggml's devices, a block has several layers). Activations are the values of a full chunk; those that are not alive at the same time share memory. Load is the time to compile. On the native device that includes repacking the weights, for the first chunk size only.`
}

// programRow describes a program on this machine, with simulated times on a chip.
type programRow struct {
	programs.Info
	SimulatedLoad float64 `json:"simulated_load_ms,omitempty"`
	SimulatedRun  float64 `json:"simulated_run_ms,omitempty"`
}

// modelSize returns the bytes of the model's file at path, or of the built-in decoder if path is empty.
func modelSize(path string) (uint64, error) {
	if path == "" {
		return uint64(len(models.Decoder)), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return uint64(info.Size()), nil
}

func (c *npuPrograms) Run(a *cli.App) error {
	path, err := modelcmd.Find(a, c.Model)
	if err != nil {
		return err
	}
	weights, err := modelSize(path)
	if err != nil {
		return err
	}
	var costs sim.Costs
	if c.SoC != "" {
		if costs, err = sim.Find(c.SoC); err != nil {
			return fmt.Errorf("--soc: %w", err)
		}
	}
	device, err := phone.Open(phone.Options{Device: c.Compute, Threads: c.Threads, Weights: weights})
	if err != nil {
		return err
	}
	cache := programs.New(device)
	m, err := openOn(cache, path)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := runPrograms(a, m); err != nil {
		return err
	}
	var rows []programRow
	for _, i := range cache.Programs() {
		r := programRow{Info: i}
		if c.SoC != "" {
			r.SimulatedLoad = tandem.Milliseconds(costs.LoadTime(1, costs.Bytes(i.Compiled)))
			r.SimulatedRun = tandem.Milliseconds(costs.Graph(i.Compiled, i.Chunk).Time())
		}
		rows = append(rows, r)
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"programs": rows, "soc": c.SoC, "device": device.Name()})
	}
	fmt.Fprintln(a.Out, device.Name())
	c.print(a.Out, rows)
	return nil
}

// runPrograms runs a full chunk and single tokens, twice: the first time brings everything into caches.
func runPrograms(ctx context.Context, m *model.Model) error {
	for range 2 {
		seq := m.NewSeq()
		for _, n := range []int{64, 1, 1} {
			n = min(n, m.Config().Context-seq.Len())
			if _, err := m.Forward(ctx, []model.Input{{Seq: seq, Tokens: slices.Repeat([]tandem.Token{1}, n)}}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *npuPrograms) print(w io.Writer, rows []programRow) {
	fmt.Fprintf(w, "%-20s %6s %6s %12s %14s %10s %10s", "graph", "chunk", "nodes", "weights kB", "activations kB", "load ms", "run ms")
	if c.SoC != "" {
		fmt.Fprintf(w, " %24s", "simulated load, run ms")
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		run := "-"
		if r.Runs > 0 {
			run = fmt.Sprintf("%.3f", tandem.Milliseconds(r.Run))
		}
		fmt.Fprintf(w, "%-20s %6d %6d %12.1f %14.1f %10.3f %10s", r.Graph, r.Chunk, r.Nodes, float64(r.Weights)/1024, float64(r.Activations)/1024, tandem.Milliseconds(r.Load), run)
		if c.SoC != "" {
			fmt.Fprintf(w, " %13.3f %10.3f", r.SimulatedLoad, r.SimulatedRun)
		}
		fmt.Fprintln(w)
	}
}
