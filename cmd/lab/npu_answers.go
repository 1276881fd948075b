package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	npuphone "tandem/npu/phone"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/phone"
	"tandem/lab/spec"
	"tandem/model"
)

// npuAnswers lets a simulated phone answer by its whole path.
type npuAnswers struct {
	SoC       []string `name:"soc" help:"Chips and stacks, several with commas." default:"sm8550/mllm"`
	Costs     []string `help:"Shapes whose costs the phone charges, in 8 bits." default:"Qwen2.5-1.5B,Qwen2.5-0.5B,Llama-3.2-3B" placeholder:"SHAPE"`
	Task      []string `help:"Tasks: summary, rag, ui, reply." default:"summary"`
	Words     []string `help:"Whose words the answers have: own (the model's), reference, or reference:SHARE (see lab spec). Default: own, and reference where inputs have one." placeholder:"WORDS"`
	Methods   []string `help:"Ways to answer. Default: all." placeholder:"METHOD"`
	Data      string   `help:"Folder with specbench/questions.jsonl and ui/tasks.json. Default: sample documents and invented screens. Replies are always to invented conversations." type:"existingdir" placeholder:"DIR"`
	Limit     int      `help:"At most this many inputs of each task, evenly spread over all of them; 0 for all." default:"6"`
	MaxTokens int      `help:"Maximum number of tokens in an answer." default:"96"`
	Prompt    int      `help:"Lengthen shorter prompts on the phone to this many tokens, with the task's other inputs. The model reads its own as before, so acceptance does not change." placeholder:"TOKENS"`
	modelcmd.ModelFlags
	File string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *npuAnswers) Help() string {
	return `Examples:
  lab npu answers
  lab npu answers --data ../shared/data --limit 12 --json table3.json
  lab npu answers --prompt 1500 --task rag
  lab npu answers --soc sm8550/mllm,sm8650/mllm,sm8750/mllm --task summary,rag,ui,reply --methods CPU,NPU,+SD,EAGLE,all,ours

Each row is a run of the path that edge run --soc takes: a model that runs here gives the tokens, and with them the acceptance; the simulated phone charges the costs of a larger shape for each chunk, pass, load and wait. With reference words, the model reads what people wrote as if it had said it.

NPU, +G, +SD, +G+SD and all are the rows of sd.npu's Table 3: graphs change after the prompt or progressively, and a graph of 32 rows verifies the drafts of a suffix automaton, or of all drafters. ours has the drafters that are on by default, and chooses the graph by the tokens that earlier passes of the same task gave; with +history it and all also read the answers before. PLD is prompt lookup. CPU decodes on the processor and EAGLE drafts with a model that is not there: both are predicted by formulas. fitted: a parameter of the chip was fitted to the published number.

val, was, und: the shares of the rows of passes that decode that were valid, wasted or underutilised (sd.npu §3.2). opening: the time to bring back the graphs for prompts after the answer before; it counts for no token, as in the papers. ms/token: of decoding, drafting, calibration and what the change of graphs adds to the prompt. gain: NPU's time divided by this time. whole and worst: the same ratio for an answer from its question to its last token, prompt and opening included, over all inputs and for the worst one. switch is below 0 where a graph of fewer rows reads the prompt faster than one of 256 that it does not fill. Drafting, and the part of calibration that is not a product, take as long as on this machine.`
}

func (c *npuAnswers) Run(a *cli.App) error {
	words, err := parseWords(c.Words)
	if err != nil {
		return err
	}
	variants := phone.ExecutedVariants
	if len(c.Methods) > 0 {
		variants = c.Methods
	}
	for _, v := range variants {
		if !slices.Contains(phone.ExecutedVariants, v) {
			return fmt.Errorf("--methods %s: unknown, use one or more of %s", v, strings.Join(phone.ExecutedVariants, ", "))
		}
	}
	if c.Limit < 0 || c.MaxTokens < 2 {
		return errors.New("--limit must be 0 or more, --max-tokens 2 or more")
	}
	if c.Prompt < 0 || c.Prompt > 1<<16 {
		return fmt.Errorf("--prompt %d: want 0 to %d", c.Prompt, 1<<16)
	}
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	x, remove, err := c.executed(a, words, variants)
	if err != nil {
		return err
	}
	defer remove()
	rows, err := x.Run(a, progress(a, "answers"))
	if err != nil {
		return err
	}
	a.Clear()
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"simulated": true, "rows": rows})
	}
	printExecuted(a.Out, rows)
	return nil
}

// executed prepares the runs. remove removes what they leave.
func (c *npuAnswers) executed(a *cli.App, words []spec.Words, variants []string) (x phone.Executed, remove func(), err error) {
	m, err := c.ModelFlags.Open(a)
	if err != nil {
		return x, nil, err
	}
	defer m.Close()
	x = phone.Executed{Of: (&specCmd{ModelFlags: c.ModelFlags}).modelName(m), SoCs: c.SoC, Shapes: c.Costs, Variants: variants, MaxTokens: c.MaxTokens, Prompt: c.Prompt}
	for _, task := range c.Task {
		if !slices.Contains(spec.Tasks, task) {
			return x, nil, fmt.Errorf("--task %s: unknown, use one or more of %s", task, strings.Join(spec.Tasks, ", "))
		}
		inputs, err := (&specCmd{Data: c.Data, Limit: c.Limit, MaxTokens: c.MaxTokens}).inputs(task, m)
		if err != nil {
			return x, nil, err
		}
		of := words
		if len(of) == 0 {
			of = []spec.Words{{}, {Reference: true}}
			if !slices.ContainsFunc(inputs, func(in spec.Input) bool { return len(in.Said) > 0 }) {
				of = of[:1]
			}
		}
		for _, w := range of {
			x.Tasks = append(x.Tasks, phone.ExecutedTask{Task: task, Words: w, Inputs: inputs})
		}
	}
	path, err := modelcmd.Find(a, c.Model)
	if err != nil {
		return x, nil, err
	}
	x.Open = func(opt npuphone.Options, more ...model.Option) (*model.Model, *npuphone.Device, error) {
		opt.Threads = c.Threads
		d, err := npuphone.Open(opt)
		if err != nil {
			return nil, nil, err
		}
		m, err := openOn(d, path, more...)
		return m, d, err
	}
	x.History, err = os.MkdirTemp("", "tandem-history-")
	return x, func() { os.RemoveAll(x.History) }, err
}

func printExecuted(w io.Writer, rows []phone.ExecutedRow) {
	if len(rows) > 0 {
		fmt.Fprintf(w, "acceptance by %s; times simulated\n\n", rows[0].Acceptance)
	}
	fmt.Fprintf(w, "%-9s %-12s %-13s %-8s %-20s %-12s %6s %6s %5s %4s %4s %4s %7s %7s %7s %7s %7s %8s %7s %6s %6s %6s %6s %9s\n", "kind", "soc", "costs of", "task", "words", "row", "tokens", "accept",
		"graph", "val", "was", "und", "opening", "prefill", "switch", "calibr.", "draft.", "decoding", "J", "ms/tok", "gain", "whole", "worst", "published")
	for _, r := range rows {
		published := "-"
		if r.Published.Known {
			published = fmt.Sprintf("%.2f", r.Published.Value)
		}
		fmt.Fprintf(w, "%-9s %-12s %-13s %-8s %-20s %-12s %6d %6.2f %5d %3.0f%% %3.0f%% %3.0f%% %7.0f %7.0f %7.0f %7.1f %7.1f %8.0f %7.1f %6.1f %6.2f %6.2f %6.2f %9s\n", r.Kind, r.SoC, r.CostsOf, r.Task, r.Words, r.Variant,
			r.Tokens, r.Accept, r.Graph, 100*r.Valid, 100*r.Wasted, 100*r.Underutilised, r.Opening, r.Prefill, r.Switch, r.Calibration, r.Drafting, r.Decoding, r.Joules, r.TokenMs, r.Gain, r.Whole, r.Worst, published)
	}
}
