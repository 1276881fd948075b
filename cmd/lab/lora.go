package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/engine"
	"tandem/lab/phone"
	"tandem/model"
	"tandem/npu"
)

type loraCmd struct {
	modelcmd.ModelFlags `group:"Model:"`
	Rank                int    `help:"Rank of the adapters." default:"16"`
	Tasks               []int  `help:"Numbers of adapters to hold." default:"1,4,8"`
	Runs                int    `help:"Runs of each test." default:"5"`
	Steps               int    `help:"Tokens of a run." default:"16"`
	Prompt              int    `help:"Tokens of the prompt." default:"64"`
	Against             string `help:"Also measure another engine with the same adapter: llama.cpp." placeholder:"ENGINE"`
	Simulate            bool   `help:"Only the simulated phones; measure nothing."`
	File                string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *loraCmd) Help() string {
	return `Examples:
  lab lora --json lora.json
  lab lora --model random.gguf --threads 2 --against llama.cpp
  lab lora --simulate

What adapters cost (Samsung Tables 1 and 2): a step with an adapter against one without, 8 rows with 8 adapters against 8 without, switching, and 1, 4 and 8 adapters by the three approaches. Steps with and without alternate, so that other load on the machine affects both alike. Ratios are medians, with the least and greatest run. With --threads 1 the clock is the processor's, which other programs disturb less.

Without --model, it measures a model of random weights with Qwen2.5-0.5B's shape in q8_0, which it makes in a temporary folder. The second table is of simulated phones, and the third has the paper's Tables 1, 2, 3, 6, 7 and 10 beside what they give here; figures that the simulator was fitted to say so.`
}

func (c *loraCmd) Run(a *cli.App) (err error) {
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	for _, n := range c.Tasks {
		if n < 1 || n > 64 {
			return fmt.Errorf("--tasks %d: want 1 to 64", n)
		}
	}
	var out struct {
		Measured  *engine.AdapterReport   `json:"measured,omitempty"`
		Simulated []phone.AdapterFigure   `json:"simulated"`
		Published []phone.PublishedFigure `json:"published"` // with what the simulator predicts
	}
	if out.Simulated, err = phone.AdapterFigures(c.Rank, c.Tasks); err != nil {
		return err
	}
	if out.Published, err = phone.SamsungTables(); err != nil {
		return err
	}
	if !c.Simulate {
		report, err := c.measure(a)
		if err != nil {
			return err
		}
		out.Measured = &report
	}
	a.Clear()
	if a.Globals.JSON {
		return a.JSONTo(c.File, out)
	}
	if out.Measured != nil {
		printAdapters(a.Out, *out.Measured)
	}
	fmt.Fprintf(a.Out, "\nSimulated phones, rank %d on q, k, v and o\n%-11s %-13s %-7s %5s %8s %8s %7s %6s %7s %6s %9s\n", c.Rank, "chip", "shape", "by", "tasks",
		"MB", "stored", "first", "×", "token", "×", "switch ms")
	for _, f := range out.Simulated {
		fmt.Fprintln(a.Out, f)
	}
	fmt.Fprintf(a.Out, "\nThe paper's tables and the simulated phones\n%10s %10s  %-9s\n", "published", "simulated", "unit")
	for _, f := range out.Published {
		if f.Predicted.Known {
			fmt.Fprintf(a.Out, "%10.4g %10.4g  %-9s %s (%s)\n", f.Published.Value, f.Predicted.Value, f.Unit, f.Figure, f.Kind)
		}
	}
	return nil
}

func (c *loraCmd) measure(a *cli.App) (r engine.AdapterReport, err error) {
	err = withModelAndPeer(a, c.ModelFlags, c.Against, func(m *model.Model, peer string) error {
		r, err = engine.MeasureAdapters(a, m, engine.AdapterOptions{Rank: c.Rank, Tasks: c.Tasks, Runs: c.Runs, Steps: c.Steps, Prompt: c.Prompt,
			Threads: cmp.Or(c.Threads, runtime.GOMAXPROCS(0)), Against: peer, Progress: a.Progress})
		return err
	})
	return r, err
}

// withModelAndPeer calls measure with the model that the flags choose, or one of random weights, and with the file from which a
// peer reads that model, "" without a peer.
func withModelAndPeer(a *cli.App, f modelcmd.ModelFlags, against string, measure func(m *model.Model, peer string) error) (err error) {
	if f.Model == "" {
		dir, err := os.MkdirTemp("", "tandem-lab-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if f.Model, err = randomModel(a, dir); err != nil {
			return err
		}
	}
	peer, err := peerModel(a, against, f.Model)
	if err != nil {
		return err
	}
	m, err := f.Open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return measure(m, peer)
}

// peerModel returns the file of the model that a peer measures with, or "" without one.
func peerModel(a *cli.App, against, model string) (string, error) {
	switch against {
	case "":
		return "", nil
	case "llama.cpp":
		return modelcmd.Find(a, model)
	}
	return "", fmt.Errorf("--against %s: unknown engine, use llama.cpp", against)
}

// randomModel makes a model with Qwen2.5-0.5B's shape.
func randomModel(a *cli.App, dir string) (path string, err error) {
	like := shapes["qwen2.5-0.5b"]
	spec := like.Spec
	spec.Type, spec.Seed, spec.Words = npu.Q8_0, 1, vocabularyWords(like.vocab)
	path = filepath.Join(dir, "random.gguf")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = (&modelsRandom{}).write(a, f, spec)
	return path, errors.Join(err, f.Close())
}

func printAdapters(w io.Writer, r engine.AdapterReport) {
	fmt.Fprintf(w, "%s, adapters of rank %d, %s time\n%-10s %-5s %-20s %9s %9s %7s %15s\n", r.Device, r.Rank, r.Clock, "engine", "parts", "test", "base ms", "with ms", "ratio", "least to most")
	for _, c := range r.Costs {
		fmt.Fprintf(w, "%-10s %-5s %-20s %9.2f %9.2f %7.3f %15s\n", c.Engine, c.Parts, c.Test, c.Base, c.With, c.Ratio, fmt.Sprintf("%.3f to %.3f", c.Least, c.Most))
	}
	fmt.Fprintf(w, "switching adapters takes %.3f ms (%.3f to %.3f)\n\n%-7s %5s %9s %9s %8s %7s %11s %9s\n", r.Switch, r.SwitchLeast, r.SwitchMost,
		"by", "tasks", "MB", "mount ms", "step ms", "ratio", "one more ms", "passes")
	for _, x := range r.Mounts {
		fmt.Fprintf(w, "%-7s %5d %9.1f %9.0f %8.2f %7.3f %11.0f %9d\n", x.Approach, x.Tasks, float64(x.Bytes)/1e6, x.Mount, x.Step, x.Ratio, x.Exchange, x.Passes)
	}
}
