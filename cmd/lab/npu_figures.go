package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	npuphone "tandem/npu/phone"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/phone"
	"tandem/lab/report"
	"tandem/lab/spec"
	"tandem/model"
	"tandem/model/sample"
	"tandem/model/tokenizer"
	"tandem/models"
	"tandem/npu"
	"tandem/specdec"
)

// npuFigures simulates a phone's NPU and compares it with published figures.
type npuFigures struct {
	SoC       []string `name:"soc" help:"Chips and stacks for switching graphs, several with commas: sm8550, sm8650, sm8750 or sm8850, with /qnn, /mllm, /hexagon or /llada." default:"sm8650/mllm,sm8550/mllm,sm8750/mllm"`
	MemorySoC string   `name:"memory-soc" help:"Chip and stack for running with little memory." default:"sm8750/llada"`
	Blocks    []int    `help:"Numbers of blocks of layers." default:"2,6,12"`
	Chunks    int      `help:"Prompts have 1 to this many chunks." default:"8"`
	Chunk     int      `help:"Rows of the graph for prompts." default:"256"`
	Small     int      `name:"decode-chunk" help:"Rows of the graph for decoding." default:"32"`
	Nodes     int      `help:"Maximum number of nodes to search for the optimum; 0 for no limit." default:"2000000"`
	NoNative  bool     `help:"Leave out the runs on this machine with part of the weights in memory."`

	Summaries int    `help:"Summaries to write in order to measure accept lengths; 0 leaves them out." default:"6"`
	Data      string `help:"Folder with specbench/questions.jsonl to take the texts from. Default: sample documents." type:"existingdir" placeholder:"DIR"`
	Spec      string `help:"Instead take accept lengths from a file that \"lab spec --json FILE\" wrote." type:"existingfile" placeholder:"FILE"`

	modelcmd.ModelFlags
	outputFlags
}

func (c *npuFigures) Help() string {
	return `Examples:
  lab npu figures
  lab npu figures --soc sm8650/qnn --blocks 4,8 --chunks 4
  lab npu figures --json npu.json
  lab spec --task summary --json spec.json && lab npu figures --spec spec.json

Only the native runs and the accept lengths are measured. All else is simulated: the planner and the memory runtime are real, and a chip's parameter file gives the times.`
}

func (c *npuFigures) Run(a *cli.App) error {
	if err := c.check(a); err != nil {
		return err
	}
	if c.Chunks < 1 || c.Chunks > 64 || c.Chunk < 1 || c.Chunk > 4096 || c.Small < 1 || c.Small > c.Chunk || c.Nodes < 0 || c.Summaries < 0 {
		return errors.New("want 1 to 64 --chunks of 1 to 4096 rows, a --decode-chunk of 1 to --chunk rows, and no negative --nodes or --summaries")
	}
	for _, n := range c.Blocks {
		if n < 1 || n > 24 {
			return fmt.Errorf("--blocks %d: want 1 to 24, as many as the smallest model has layers", n)
		}
	}
	x := phone.Experiment{SoCs: c.SoC, MemorySoC: c.MemorySoC, Chunk: c.Chunk, Small: c.Small, Blocks: c.Blocks, Chunks: c.Chunks, Nodes: c.Nodes}
	if !c.NoNative {
		path, remove, err := c.onDisk(a)
		if err != nil {
			return err
		}
		defer remove()
		x.Native = func(ctx context.Context, share float64, by phone.Runtime) (phone.NativeRun, error) {
			return c.native(ctx, path, share, by)
		}
	}
	if c.Spec != "" || c.Summaries > 0 {
		x.Accept = func(ctx context.Context) (phone.AcceptLengths, error) { return c.accept(ctx, a) }
	}
	r, data, err := x.Run(a, progress(a, "npu"))
	if err != nil {
		return err
	}
	if !a.Globals.JSON {
		return c.finish(a, r)
	}
	return c.object(a, r, data)
}

// object saves a report and writes its data as JSON.
func (o outputFlags) object(a *cli.App, r report.Report, data any) error {
	if err := o.save(a, &r); err != nil {
		return err
	}
	return a.JSONTo(o.File, data)
}

// onDisk returns the path of the model's file. It writes the built-in decoder to a temporary file, which remove removes, so
// that weights are staged from a file and not from this program's memory.
func (c *npuFigures) onDisk(a *cli.App) (path string, remove func(), err error) {
	if path, err = modelcmd.Find(a, c.Model); err != nil || path != "" {
		return path, func() {}, err
	}
	dir, err := os.MkdirTemp("", "tandem-reader-")
	if err != nil {
		return "", nil, fmt.Errorf("write the built-in reader for the native run: %w: set TMPDIR to a folder with room, or leave out the run with --no-native", err)
	}
	remove = func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, modelcmd.BuiltInDecoder+".gguf")
	if err := os.WriteFile(path, models.Decoder, 0o600); err != nil {
		remove()
		return "", nil, fmt.Errorf("write the built-in reader for the native run: %w: set TMPDIR to a folder with room, or leave out the run with --no-native", err)
	}
	return path, remove, nil
}

// native generates a text with the given share of the weights in memory, 0 for all.
func (c *npuFigures) native(ctx context.Context, path string, share float64, by phone.Runtime) (run phone.NativeRun, err error) {
	const prompt, tokens = "The harbour museum opens at", 24
	open := func(memory int64) (*model.Model, *npuphone.Device, error) {
		d, err := npuphone.Open(npuphone.Options{Threads: c.Threads, Memory: memory, Paging: by == phone.Paging})
		if err != nil {
			return nil, nil, err
		}
		m, err := model.Open(path, d)
		return m, d, err
	}
	m, device, err := open(0)
	if err != nil {
		return run, err
	}
	for _, g := range m.Graphs(1) {
		for _, n := range g.Nodes {
			if n.Op == npu.OpMatMul { // embeddings are read in the file
				run.Weights += int64(len(n.Weight.Data))
			}
		}
	}
	if share > 0 {
		if err := m.Close(); err != nil {
			return run, err
		}
		if m, device, err = open(int64(share * float64(run.Weights))); err != nil {
			return run, err
		}
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	text := m.Tokenizer().Encode(prompt, tokenizer.Options{AddSpecial: true})
	before, _ := device.Memory()
	start := time.Now()
	_, err = sample.Generate(ctx, m, text, sample.Params{Sampling: tandem.Sampling{TopP: 1, RepeatPenalty: 1}}, tokens, func(t tandem.Token) error {
		run.Tokens = append(run.Tokens, int(t))
		return nil
	})
	run.Took = time.Since(start)
	after, _ := device.Memory()
	run.Counters = after.Sub(before)
	return run, err
}

// accept reads the accept lengths of summaries from a file, or measures them with the model of the native runs.
func (c *npuFigures) accept(ctx context.Context, a *cli.App) (l phone.AcceptLengths, err error) {
	const task = "summary"
	if c.Spec != "" {
		text, err := os.ReadFile(c.Spec)
		if err != nil {
			return l, err
		}
		var x struct {
			Model string        `json:"model"`
			Rows  []spec.Result `json:"rows"`
		}
		if err := json.Unmarshal(text, &x); err != nil {
			return l, fmt.Errorf("%s: %w: want a file that \"lab spec --json FILE\" wrote", c.Spec, err)
		}
		return phone.AcceptLengthsOf(x.Rows, task, cmp.Or(x.Model, filepath.Base(c.Spec)))
	}
	m, err := c.Open(a)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	dir, err := os.MkdirTemp("", "tandem-history-")
	if err != nil {
		return l, err
	}
	defer os.RemoveAll(dir)
	// A static graph takes the same time however many rows are in use.
	x := spec.Experiment{Model: m, Costs: slices.Repeat(specdec.Costs{1}, ablationGraph), History: dir, MaxTokens: 96, Rows: ablationGraph}
	inputs, err := (&specCmd{Data: c.Data, Limit: c.Summaries, MaxTokens: x.MaxTokens}).inputs(task, m)
	if err != nil {
		return l, err
	}
	rows, err := x.Run(ctx, task, inputs, phone.AblationMethods, func(done, total int) { a.Progress("summaries: run %d of %d", done, total) })
	a.Clear()
	if err != nil {
		return l, err
	}
	return phone.AcceptLengthsOf(rows, task, cmp.Or(c.Model, modelcmd.BuiltInDecoder))
}
