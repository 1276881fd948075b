package main

import (
	"errors"
	"fmt"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab"
	"tandem/specdec"
)

type loadCmd struct {
	Devices []int    `help:"Numbers of devices that ask at once." default:"1,8,64,200"`
	Each    int      `help:"Questions of each device, one after the other." default:"3"`
	Batch   string   `help:"How the cloud computes: ${enum}. on: the passes of all answers together; off: those of each alone." enum:"on,off,both" default:"both"`
	Places  []int    `help:"Maximum number of answers at once, for off and on." default:"8,64" placeholder:"OFF,ON"`
	Draft   string   `help:"What the cloud guesses next tokens with, as for cloud serve; off for a pass of each token." default:"auto" placeholder:"DRAFTERS"`
	Virtual []string `help:"Simulated machines, in virtual time, instead of this one: cores (two of them, as measured) and accelerator (made up: 64 rows take 1.6 times as long as 8), both with Qwen2.5-0.5B's shape." enum:"cores,accelerator" placeholder:"MACHINE"`
	Sets    []string `help:"Ask about these sets of lab answers, such as people/fourth, instead of the sample documents. The cloud has all their documents." placeholder:"SET"`
	Data    string   `help:"Folder with the sets xquad/… and reading/…, as for lab answers." type:"existingdir" placeholder:"DIR"`
	indexcmd.PassageFlags
	experimentFlags
	File string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *loadCmd) Help() string {
	return `Examples:
  lab load
  lab load --devices 1,16,256 --each 2 --batch on
  lab load --model qwen2.5-0.5b-instruct-q4_0.gguf --max-tokens 32 --json load.json
  lab load --sets people/fourth --questions 0 --passage-words 64 --kv-type q8_0
  lab load --virtual cores,accelerator --devices 1,8,64,256 --max-tokens 24

A cloud serves devices over loopback, in one process. The devices have no documents and decode nothing, so that the machine works for the cloud. With --sets, --questions draws that many of each set, 0 for all; questions that follow up others are left out. The first token comes after waiting for a place, retrieval and the prompt. rows: of a pass, and in brackets all rows, those of prompts too, for each token of an answer. live: the part of the heap still in use after a garbage collection, devices included; with --places 1,1 it is little more than theirs. held: the most bytes that the cloud's keys, values and logits had at any time, each passage once however many answers read it; they are counted as they come and go, so the garbage collector does not change them. left: goroutines that remain when all devices have gone.`
}

func (c *loadCmd) Run(a *cli.App) (err error) {
	if err := c.check(a); err != nil {
		return err
	}
	if len(c.Virtual) > 0 {
		return c.virtual(a)
	}
	b, closing, err := c.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	if b.Draft, err = (modelcmd.DraftFlags{Draft: c.Draft}).Drafters(); err != nil {
		return err
	}
	if err := (specdec.Resources{}).Check(b.Draft); err != nil {
		return fmt.Errorf("--draft: %w", err)
	}
	if !b.Draft.None() {
		b.Settings.Lookahead, b.Settings.PassPlaces = 0, 4 // as ask has them
	}
	x := lab.Load{Setup: b, Devices: c.Devices, PerEach: c.Each, Places: c.places()}
	rows, err := x.Run(a, progress(a, "load"))
	a.Clear()
	switch {
	case err != nil:
		return err
	case a.Globals.JSON:
		return a.JSONTo(c.File, map[string]any{"rows": rows})
	}
	fmt.Fprintf(a.Out, "live over loopback, %s, answers of at most %d tokens\n\n%8s %6s %7s %8s %7s %9s %9s %9s %18s %18s %12s %12s %8s %6s %7s\n",
		b.Model.Config().Name, c.MaxTokens, "devices", "batch", "places", "answers", "failed", "degraded", "answers/s", "tokens/s", "first ms (p99)", "gap ms (p99)", "rows (token)", "MB (live)", "held MB", "left", "text")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%8d %6s %7d %8d %7d %9d %9.1f %9.0f %18s %18s %12s %12s %8.1f %6d %7.7s\n", r.Devices, batchColumn(r), r.Places, r.Answers, r.Failed, r.Degraded, r.PerSecond, r.Tokens,
			fmt.Sprintf("%.0f (%.0f)", r.First, r.First99), fmt.Sprintf("%.1f (%.1f)", r.Gap, r.Gap99), fmt.Sprintf("%.0f (%.1f)", r.Rows, r.RowsEach), fmt.Sprintf("%.0f (%.0f)", r.Memory, r.Live), r.Held, r.Left, r.Text)
		if r.Failed > 0 {
			fmt.Fprintf(a.Out, "         one failed with: %s\n", cli.Escape(r.Cause))
		}
	}
	return nil
}

// places returns how many answers the cloud has at once, by how it computes them.
func (c *loadCmd) places() map[string]int {
	p := map[string]int{}
	if c.Batch != "on" {
		p[lab.LoadAlone] = c.Places[0]
	}
	if c.Batch != "off" {
		p[lab.LoadBatch] = c.Places[1]
	}
	return p
}

// virtual simulates.
func (c *loadCmd) virtual(a *cli.App) error {
	rows, err := lab.VirtualLoad{Machines: c.Virtual, Devices: c.Devices, PerEach: c.Each, Tokens: c.MaxTokens, Places: c.places()}.Run(a)
	switch {
	case err != nil:
		return err
	case a.Globals.JSON:
		return a.JSONTo(c.File, map[string]any{"rows": rows})
	}
	fmt.Fprintf(a.Out, "simulated, in virtual time, Qwen2.5-0.5B's shape, answers of %d tokens\n\n%12s %8s %6s %7s %8s %9s %9s %18s %18s %6s\n",
		c.MaxTokens, "machine", "devices", "batch", "places", "answers", "answers/s", "tokens/s", "first ms (p99)", "gap ms (p99)", "rows")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%12s %8d %6s %7d %8d %9.1f %9.0f %18s %18s %6.1f\n", r.Simulated, r.Devices, batchColumn(r), r.Places, r.Answers, r.PerSecond, r.Tokens,
			fmt.Sprintf("%.0f (%.0f)", r.First, r.First99), fmt.Sprintf("%.1f (%.1f)", r.Gap, r.Gap99), r.Rows)
	}
	return nil
}

func batchColumn(r lab.LoadResult) string {
	if r.Method == lab.LoadBatch {
		return "on"
	}
	return "off"
}

// check checks the flags.
func (c *loadCmd) check(a *cli.App) error {
	if err := c.checkSets(); err != nil {
		return err
	}
	if len(c.Places) != 2 || min(c.Places[0], c.Places[1]) < 1 {
		return errors.New("--places: want two numbers above 0, as in 8,64")
	}
	if c.Each < 1 {
		return fmt.Errorf("--each %d: want 1 or more", c.Each)
	}
	for _, n := range c.Devices {
		if n < 1 || n > 4096 {
			return fmt.Errorf("--devices %d: want 1 to 4096", n)
		}
	}
	return a.CheckJSONFile(c.File)
}

// checkSets checks the flags that say what is asked about.
func (c *loadCmd) checkSets() error {
	switch {
	case len(c.Sets) == 0 && c.PassageWords > 0:
		return errors.New("--passage-words: needs --sets; the sample documents are cut into sentences")
	case len(c.Sets) == 0 && c.Data != "":
		return errors.New("--data: needs --sets")
	case len(c.Sets) > 0 && len(c.Virtual) > 0:
		return errors.New("--sets: a simulated machine reads no documents: leave out --sets or --virtual")
	case len(c.Sets) > 0 && c.Questions < 0:
		return fmt.Errorf("--questions %d: want 1 or more of each set, or 0 for all", c.Questions)
	}
	return nil
}
