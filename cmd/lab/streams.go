package main

import (
	"cmp"
	"fmt"
	"runtime"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/engine"
	"tandem/lab/phone"
	"tandem/model"
)

type streamsCmd struct {
	modelcmd.ModelFlags `group:"Model:"`
	Streams             int    `help:"Texts to write at once." default:"8"`
	Runs                int    `help:"Runs." default:"5"`
	Steps               int    `help:"Tokens of each text." default:"16"`
	Prompt              int    `help:"Tokens of the prompt." default:"64"`
	Against             string `help:"Also measure another engine's parallel sequences: llama.cpp." placeholder:"ENGINE"`
	Simulate            bool   `help:"Only the simulated phones; measure nothing."`
	File                string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *streamsCmd) Help() string {
	return `Examples:
  lab streams --json streams.json
  lab streams --model random.gguf --threads 2 --against llama.cpp
  lab streams --simulate

Several texts from one prompt, written at once and one after the other (Samsung §3.4, Table 3), in turns. It also checks that each text is the same both ways. With --threads 1 the clock is the processor's, which other programs disturb less.

Without --model, it measures a model of random weights with Qwen2.5-0.5B's shape in q8_0, which it makes in a temporary folder. The second table is of simulated phones.`
}

func (c *streamsCmd) Run(a *cli.App) error {
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	var out struct {
		Measured  *engine.StreamReport `json:"measured,omitempty"`
		Simulated []phone.StreamFigure `json:"simulated"`
	}
	var err error
	if out.Simulated, err = phone.StreamFigures(c.Streams, c.Steps, 16); err != nil {
		return err
	}
	if !c.Simulate {
		r, err := c.measure(a)
		if err != nil {
			return err
		}
		out.Measured = &r
	}
	a.Clear()
	if a.Globals.JSON {
		return a.JSONTo(c.File, out)
	}
	if r := out.Measured; r != nil {
		fmt.Fprintf(a.Out, "%s, %d texts after a prompt of %d, %d tokens in all\n", r.Device, r.Streams, r.Prompt, r.Tokens)
		fmt.Fprintf(a.Out, "at once %.1f ms, one after the other %.1f ms: %.2f times faster (%.2f to %.2f), %s time\n",
			r.Together, r.Alone, r.Faster, r.Least, r.Most, r.Clock)
		if r.Peer > 0 {
			fmt.Fprintf(a.Out, "llama.cpp's parallel sequences %.1f ms, %.2f times ours\n", r.Peer, r.PeerRatio)
		}
	}
	fmt.Fprintf(a.Out, "\nSimulated phones, an adapter of rank 16 on q, k, v and o, times in ms\n%-11s %-13s %7s %7s %8s %8s %8s %9s %9s %6s\n", "chip", "shape", "streams", "tokens",
		"prefill", "step", "steps", "alone", "together", "×")
	for _, f := range out.Simulated {
		fmt.Fprintln(a.Out, f)
	}
	return nil
}

func (c *streamsCmd) measure(a *cli.App) (r engine.StreamReport, err error) {
	err = withModelAndPeer(a, c.ModelFlags, c.Against, func(m *model.Model, peer string) error {
		r, err = engine.MeasureStreams(a, m, engine.StreamOptions{Streams: c.Streams, Runs: c.Runs, Steps: c.Steps, Prompt: c.Prompt,
			Threads: cmp.Or(c.Threads, runtime.GOMAXPROCS(0)), Against: peer, Progress: a.Progress})
		return err
	})
	return r, err
}
