package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/spec"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/model/tokenizer"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/specdec"
)

// ablationGraph is the number of rows of sd.npu's decoding graph.
const ablationGraph = 32

type specCmd struct {
	modelcmd.ModelFlags    `group:"Model:"`
	modelcmd.ForecastFlags `group:"Model:"`
	Task                   []string        `help:"Tasks: summary, rag, ui, reply." default:"summary,rag,ui,reply"`
	Methods                []string        `help:"Ways of drafting. Default: all." placeholder:"METHOD"`
	Inputs                 string          `help:"Your own prompts, as JSON lines with \"prompt\" and, for a prompt about a text, \"context\". The task is then called own, or as --task says." type:"existingfile" placeholder:"FILE"`
	Data                   string          `help:"Folder with specbench/questions.jsonl and ui/tasks.json, for summary, rag and ui. Default: sample documents and invented screens. Replies are always to invented conversations." type:"existingdir" placeholder:"DIR"`
	Limit                  int             `help:"At most this many inputs of each task, evenly spread over all of them; 0 for all." default:"10"`
	MaxTokens              int             `help:"Maximum number of tokens in an answer." default:"96"`
	Words                  []string        `help:"Whose words the answers have: own (the model's), reference (what people wrote about the same texts, read to the model token by token), or reference:SHARE, with a share of tokens where the model says another." default:"own" placeholder:"WORDS"`
	Rows                   int             `help:"Rows of a pass, as in the decoding graph: 2 to 64." default:"32"`
	Costs                  string          `help:"Measure the passes of another model file on this machine for the ratios. Default: the model's own." type:"existingfile" placeholder:"FILE"`
	Passes                 []string        `help:"Times of passes by their rows, instead of measured ones, as in 1=370us,8=910us,16=1.8ms,32=3.76ms." placeholder:"ROWS=TIME"`
	Step                   []time.Duration `help:"Give drafters virtual time: each reading of their clock moves it on by this, whatever the machine does. Several are all tried. Needs --passes." placeholder:"TIME"`
	Denoiser               string          `help:"Draft also with the blocks of this diffusion model, which must have the same vocabulary (method blocks)." type:"existingfile" placeholder:"FILE"`
	Temperature            float64         `help:"0 for the likeliest token, 1 for the model's own distribution." default:"0"`
	Seed                   uint64          `help:"Random seed." default:"1"`
	SVG                    string          `help:"Write a picture of the accept lengths to this file." type:"path" placeholder:"FILE"`
	File                   string          `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *specCmd) Help() string { return specHelp }

const specHelp = `Examples:
  lab spec --task rag --limit 5
  lab spec --task summary,ui --data ../shared/data --json rows.json
  lab spec --inputs prompts.jsonl --model qwen2.5-0.5b-instruct-q4_k_m.gguf --svg spec.svg
  lab spec --passes 1=1ms,8=4ms,32=16ms --step 1us --methods auto

All methods draft the same answers, and each answer is compared with that of plain decoding, token by token.

Columns:
  accept        tokens per pass of --rows rows
  valid, wasted, underutilised
                shares of those rows (sd.npu §3.2)
  ratio, worst  the time of plain decoding divided by the time with drafts,
                over all inputs and for the worst one. Costs decide the
                length of these drafts: a pass counts as long as a pass of
                as many rows took when measured before, and drafting as long
                as it took of the processor
  own           with --costs, where the passes are another model's: the
                ratio with the passes of the model that answers
  draft ms      what drafting takes, a pass
  prefill       the time of the prompt divided by that of plain decoding
  as published  the ratio of a peer whose drafts all have one length, as its
                authors run it, with the rows that turned out best on the
                task

auto and all are the sets of drafters that edge run --draft names, which differ by calibration; +history adds the answers before. --forecast adds the methods forecast and auto+forecast. The methods of llama.cpp draft by its rules with its defaults; the costs choose how many rows are verified, as for all others.

With --step the ratios depend on no clock, so the same inputs always give the same ones. The drafters of pld, sam or auto draft the model's answers with each of the times, in the order of the inputs and backwards: each task by itself and all in turns (mixed). Every other input has a row of its own, so that what was chosen on one half can be tried on the other. A cell has the ratio and, in brackets, the worst answer; mean is the geometric mean of the ratios.

EAGLE is simulated with the accept length that CoordGen §4.1 assumes, 5.5, and with six passes of one layer and the head for each draft, as deep as EAGLE-2's trees; short answers end before its drafts do. If a prompt exceeds the model's context, its text is cut, but not the request.`

// known returns the methods that can be measured.
func (c *specCmd) known() []string {
	if len(c.Step) > 0 {
		return spec.VirtualMethods
	}
	known := slices.Clip(spec.Methods)
	if c.Forecast != "" {
		known = append(known, spec.ForecastMethods...)
	}
	if c.Denoiser != "" {
		known = append(known, spec.Blocks)
	}
	return known
}

// methods returns the methods to measure.
func (c *specCmd) methods() []string {
	if len(c.Methods) > 0 {
		return c.Methods
	}
	return c.known()
}

func (c *specCmd) check(a *cli.App) error {
	for _, t := range c.Task {
		if !slices.Contains(spec.Tasks, t) {
			return fmt.Errorf("--task %s: unknown, use one or more of %s", t, strings.Join(spec.Tasks, ", "))
		}
	}
	known := c.known()
	for _, m := range c.Methods {
		if !slices.Contains(known, m) {
			return fmt.Errorf("--methods %s: unknown, use one or more of %s", m, strings.Join(known, ", "))
		}
	}
	if _, err := parseWords(c.Words); err != nil {
		return err
	}
	if err := c.checkVirtual(); err != nil {
		return err
	}
	switch {
	case len(c.Passes) > 0 && c.Costs != "":
		return errors.New("--passes and --costs both say what passes cost: give one of them")
	case c.Rows < 2 || c.Rows > 64:
		return fmt.Errorf("--rows %d: want 2 to 64", c.Rows)
	case c.MaxTokens < 1 || c.Limit < 0:
		return errors.New("--max-tokens must be 1 or more, --limit 0 or more")
	}
	if c.SVG != "" {
		if _, err := cli.CheckOutput(c.SVG); err != nil {
			return err
		}
	}
	return a.CheckJSONFile(c.File)
}

func (c *specCmd) Run(a *cli.App) error {
	if err := c.check(a); err != nil {
		return err
	}
	m, err := c.ModelFlags.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	x := spec.Experiment{Model: m, Name: c.modelName(m), MaxTokens: c.MaxTokens, Rows: c.Rows, Sampling: sample.Params{Sampling: tandem.Sampling{Temperature: c.Temperature}, Seed: c.Seed}}
	whose, err := c.measureCosts(a, &x)
	if err != nil {
		return err
	}
	if len(c.Step) > 0 {
		return c.runVirtual(a, m, x)
	}
	if x.Forecast, x.ForecastAdapter, err = c.Embeddings(a, m); err != nil {
		return err
	}
	if c.Denoiser != "" {
		if x.Denoiser, err = model.Open(c.Denoiser, native.New(c.Threads)); err != nil {
			return fmt.Errorf("--denoiser: %w", err)
		}
		defer x.Denoiser.Close()
	}
	dir, err := os.MkdirTemp("", "tandem-history-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x.History = dir
	rows, cut, err := c.runTasks(a, m, x)
	if err != nil {
		return err
	}
	a.Clear()
	if c.SVG != "" {
		if err := a.WriteOutput(c.SVG, spec.Figure(rows).SVG, 0o644); err != nil {
			return err
		}
	}
	whole := map[string]any{"rows": rows, "costs_ms": milliseconds(x.Costs[:32]), "costs_of": whose, "cut": cut, "model": cmp.Or(c.Model, modelcmd.BuiltInDecoder)}
	if a.Globals.JSON {
		return a.JSONTo(c.File, whole)
	}
	printSpec(a.Out, rows, x, whose, cut)
	return nil
}

// runTasks measures the methods on each task, in each of the words, and counts the inputs that were cut.
func (c *specCmd) runTasks(a *cli.App, m *model.Model, x spec.Experiment) (rows []spec.Result, cut int, err error) {
	words, err := parseWords(c.Words)
	if err != nil {
		return nil, 0, err
	}
	tasks, cut, err := c.taskInputs(m)
	if err != nil {
		return nil, 0, err
	}
	for i, task := range tasks {
		for _, w := range words {
			x.Words = w
			got, err := x.Run(a, task.Task, task.Inputs, c.methods(), func(done, total int) {
				a.Progress("task %d of %d, %s (%s): run %d of %d", i+1, len(tasks), task.Task, w, done, total)
			})
			if err != nil {
				return nil, 0, err
			}
			rows = append(rows, got...)
		}
	}
	return rows, cut, nil
}

// taskInputs returns the prompts of all tasks, and how many were cut.
func (c *specCmd) taskInputs(m *model.Model) (out []spec.TaskInputs, cut int, err error) {
	tasks := c.Task
	if c.Inputs != "" && len(tasks) != 1 {
		tasks = []string{"own"}
	}
	for _, task := range tasks {
		inputs, err := c.inputs(task, m)
		if err != nil {
			return nil, 0, err
		}
		for _, in := range inputs {
			if in.Cut {
				cut++
			}
		}
		out = append(out, spec.TaskInputs{Task: task, Inputs: inputs})
	}
	return out, cut, nil
}

// parseWords parses --words.
func parseWords(list []string) (out []spec.Words, err error) {
	for _, text := range list {
		w, err := spec.ParseWords(text)
		if err != nil {
			return nil, fmt.Errorf("--words: %w", err)
		}
		out = append(out, w)
	}
	return out, nil
}

func milliseconds(c specdec.Costs) []float64 {
	out := make([]float64, len(c))
	for i, v := range c {
		out[i] = v * 1e3
	}
	return out
}

// modelName describes the model that writes the answers.
func (c *specCmd) modelName(m *model.Model) string {
	if c.Model != "" {
		return filepath.Base(c.Model)
	}
	return fmt.Sprintf("the built-in decoder (%.1f million parameters, trained to copy from passages)", float64(spec.ModelWeights(m.Config()))/1e6)
}

// measureCosts measures the passes that the ratios count with: of the model, or of the one that --costs names and of the
// model too. It returns whose they are.
func (c *specCmd) measureCosts(a *cli.App, x *spec.Experiment) (whose string, err error) {
	const atMost = 2 * time.Second
	m := x.Model
	x.Eagle = spec.EagleShare(m.Config())
	if len(c.Passes) > 0 {
		x.Costs, err = parsePasses(c.Passes)
		x.CostsOf = "given times"
		return x.CostsOf, err
	}
	whose, x.CostsOf = "the model", x.Name
	if c.Costs != "" {
		if x.Own, err = specdec.Measure(a, m, atMost); err != nil {
			return "", err
		}
		flags := modelcmd.ModelFlags{Model: c.Costs, Threads: c.Threads, Compute: c.Compute}
		if m, err = flags.Open(a); err != nil {
			return "", err
		}
		defer m.Close()
		whose = filepath.Base(c.Costs)
		x.CostsOf = whose
	}
	x.Eagle = spec.EagleShare(m.Config())
	x.Costs, err = specdec.Measure(a, m, atMost)
	return whose, err
}

// parsePasses parses --passes.
func parsePasses(list []string) (specdec.Costs, error) {
	times := map[int]time.Duration{}
	for _, text := range list {
		rows, took, _ := strings.Cut(text, "=")
		n, err := strconv.Atoi(rows)
		d, timeErr := time.ParseDuration(took)
		if err != nil || timeErr != nil || n < 1 || n > npu.MaxTree || d <= 0 || d > time.Minute {
			return nil, fmt.Errorf("--passes %q: want rows (1 to %d) and the time of their pass, as in 8=910us", text, npu.MaxTree)
		}
		times[n] = d
	}
	return specdec.Interpolate(times, npu.MaxTree), nil
}

// inputs returns the prompts of a task in the model's template, cut to its context.
func (c *specCmd) inputs(task string, m *model.Model) ([]spec.Input, error) {
	var prompts []spec.Prompt
	var err error
	if c.Inputs != "" {
		var f *os.File
		if f, err = os.Open(c.Inputs); err != nil {
			return nil, err
		}
		defer f.Close()
		if prompts, err = spec.ReadPrompts(f); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Inputs, err)
		}
	} else if prompts, err = spec.Prompts(task, c.Data); err != nil {
		return nil, err
	}
	prompts = pickEvenly(prompts, c.Limit)
	room, labelled := m.Config().Context-c.MaxTokens, m.Template().Labelled()
	var out []spec.Input
	for i, p := range prompts {
		in := spec.Input{}
		fits := func(p spec.Prompt) (bool, error) {
			text, err := m.Template().Render(p.Messages(labelled))
			if err != nil {
				return false, err
			}
			in.Tokens = chat.Encode(m.Tokenizer(), text)
			return len(in.Tokens) <= room, nil
		}
		if p, in.Cut, err = p.Fit(fits); err != nil {
			return nil, err
		}
		if ok, err := fits(p); err != nil || !ok {
			return nil, errors.Join(err, fmt.Errorf("prompt %d needs %d tokens, and an answer of %d leaves %d of a context of %d: lower --max-tokens", i+1, len(in.Tokens), c.MaxTokens, room, m.Config().Context))
		}
		if p.Answer != "" {
			in.Said = answerTokens(m, p.Answer)
		}
		out = append(out, in)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no inputs for task %s", task)
	}
	return out, nil
}

// answerTokens returns an answer's tokens. After a label, a text begins with a space.
func answerTokens(m *model.Model, text string) []tandem.Token {
	if m.Template().Labelled() {
		text = " " + text
	}
	return m.Tokenizer().Encode(text, tokenizer.Options{})
}

// pickEvenly returns n of a list, evenly spread over it, or all of it for 0.
func pickEvenly[T any](list []T, n int) []T {
	if n <= 0 || n >= len(list) {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

// columnName returns a model's name for a column. That of the built-in one is shorter than elsewhere.
func columnName(name string) string {
	if strings.HasPrefix(name, "the built-in") {
		return "built-in decoder"
	}
	return name
}

func printPasses(w io.Writer, whose string, costs specdec.Costs) {
	fmt.Fprintf(w, "passes of 1, 8, 16, 32 rows (%s): %.2f, %.2f, %.2f, %.2f ms\n", whose, costs.At(1)*1e3, costs.At(8)*1e3, costs.At(16)*1e3, costs.At(32)*1e3)
}

func printCut(w io.Writer, cut int) {
	if cut > 0 {
		fmt.Fprintf(w, "%d prompts were cut to the context\n", cut)
	}
}

func printSpec(w io.Writer, rows []spec.Result, x spec.Experiment, whose string, cut int) {
	fmt.Fprintf(w, "answers by %s\n", x.Name)
	printPasses(w, whose, x.Costs)
	if x.Own != nil {
		printPasses(w, "the model itself", x.Own)
	}
	printCut(w, cut)
	fmt.Fprintf(w, "\n%-16s %-16s %-8s %-20s %-25s %6s %7s %7s %6s %7s %13s %6s %6s %6s %14s %8s %7s\n", "acceptance of", "costs of", "task", "words", "method", "inputs", "tokens", "accept", "valid", "wasted", "underutilised", "ratio", "worst", "own", "as published", "draft ms", "prefill")
	for _, r := range rows {
		own := "-"
		if r.OwnRatio.Known {
			own = fmt.Sprintf("%.2f", r.OwnRatio.Value)
		}
		fixed := "-"
		if r.Published.Known {
			fixed = fmt.Sprintf("%.2f (%d rows)", r.Published.Value, r.PublishedRows)
		}
		fmt.Fprintf(w, "%-16s %-16s %-8s %-20s %-25s %6d %7d %7.2f %5.0f%% %6.0f%% %12.0f%% %6.2f %6.2f %6s %14s %8.3f %7.2f\n",
			columnName(r.Model), columnName(r.CostsOf), r.Task, r.Words, r.Method, r.Inputs, r.Tokens, r.AcceptLength, 100*r.Valid, 100*r.Wasted, 100*r.Underutilised, r.Ratio, r.MinRatio, own, fixed, r.ChosenMs, r.Prefill)
	}
	for i, f := range spec.Findings(rows) {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, f)
	}
}
