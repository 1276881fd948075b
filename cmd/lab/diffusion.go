package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/dllm"
	"tandem/internal/tinymodel"
	"tandem/lab/phone"
	"tandem/lab/report"
	"tandem/model"
	"tandem/model/tokenizer"
	"tandem/npu/native"
)

type diffusionCmd struct {
	modelcmd.ModelFlags `group:"Model:"`
	Inputs              string   `help:"Prompts as JSON lines with \"prompt\" and, to judge the text, \"answer\". Default: three invented ones." type:"existingfile" placeholder:"FILE"`
	Limit               int      `help:"At most this many inputs; 0 for all." default:"0"`
	Tokens              []int    `help:"Lengths of the answers." default:"32,64,128"`
	Methods             []string `help:"Ways of denoising. Default: all." placeholder:"METHOD"`
	Variants            bool     `help:"Also measure the full method with other thresholds, triggers and blocks, at the last length."`
	SoC                 []string `name:"soc" help:"Chips and stacks to simulate." default:"sm8650/llada,sm8750/llada,sm8850/llada"`
	Against             string   `help:"A model that writes token by token, to compare with; it needs the same vocabulary. Default: the built-in decoder, if it has that." type:"existingfile" placeholder:"FILE"`
	CostsOf             string   `name:"costs-of" help:"Let windows look ahead by the latency of this simulated chip, such as sm8750/llada, instead of this machine's." placeholder:"CHIP"`
	SVG                 string   `help:"Write pictures of one answer to this folder: the states of its tokens, and the two paths." type:"path" placeholder:"DIR"`
	File                string   `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *diffusionCmd) Help() string {
	return `Examples:
  lab diffusion
  lab diffusion --model models/testdata/denoise.gguf --inputs models/testdata/denoise.jsonl --json rows.json
  lab diffusion --model models/testdata/denoise.gguf --inputs models/testdata/denoise-long.jsonl --tokens 128 --variants --svg pictures

Without --model it measures a tiny model of random weights, whose confidences mean nothing. That only shows that everything runs.

Each answer has exactly the given number of tokens; it is judged up to its end token. forwards: dense passes. rows, logits: of both paths. wall: on this machine. The other columns are simulated: the same passes with LLaDA-8B's shape in Q4_0 on a phone's NPU, on the NPU with the logits on its processor, as llada.cpp has it (-logits), and on the processor alone (-cpu). Weights beyond the NPU's address window are paged in the methods before +somr, and staged from that method on.`
}

func (c *diffusionCmd) check(a *cli.App) error {
	for _, n := range c.Tokens {
		if n < 1 || n > 4096 {
			return fmt.Errorf("--tokens %d: want 1 to 4096", n)
		}
	}
	if len(c.Tokens) == 0 || c.Limit < 0 {
		return errors.New("--tokens needs a length, and --limit must be 0 or more")
	}
	return a.CheckJSONFile(c.File)
}

// methods returns the lines to measure.
func (c *diffusionCmd) methods() ([]phone.DiffusionMethod, error) {
	all := phone.DiffusionMethods()
	if len(c.Methods) == 0 {
		return all, nil
	}
	var some []phone.DiffusionMethod
	for _, name := range c.Methods {
		i := slices.IndexFunc(all, func(m phone.DiffusionMethod) bool { return m.Name == name })
		if i < 0 {
			var names []string
			for _, m := range all {
				names = append(names, m.Name)
			}
			return nil, fmt.Errorf("--methods %s: not known, use one or more of %s", name, strings.Join(names, ", "))
		}
		m := all[i]
		m.Copy = false // the line before may be missing
		some = append(some, m)
	}
	return some, nil
}

func (c *diffusionCmd) Run(a *cli.App) (err error) {
	if err := c.check(a); err != nil {
		return err
	}
	methods, err := c.methods()
	if err != nil {
		return err
	}
	d := phone.Diffusion{SoCs: c.SoC}
	if d.Model, d.Name, err = c.open(a); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Model.Close()) }()
	if d.Inputs, err = c.inputs(d.Model); err != nil {
		return err
	}
	if d.Costs, err = c.costs(a, d.Model); err != nil {
		return err
	}
	var rows []phone.DiffusionResult
	for i, n := range c.Tokens {
		list := methods
		if c.Variants && i == len(c.Tokens)-1 {
			list = append(slices.Clone(list), phone.DiffusionVariants()...)
		}
		got, err := d.Run(a, list, n, func(done, total int) { a.Progress("%d tokens: answer %d of %d", n, done+1, total) })
		if err != nil {
			return err
		}
		rows = append(rows, got...)
	}
	a.Clear()
	if rows, err = c.addComparison(a, d, rows); err != nil {
		return err
	}
	if err := c.draw(a, d); err != nil {
		return err
	}
	llama, err := c.autoregressive(d)
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"rows": rows, "inputs": len(d.Inputs), "llama_3_8b_sim_ms": llama, "costs_ms": milliseconds(d.Costs)})
	}
	printDiffusion(a.Out, rows, llama)
	return nil
}

// costs returns the costs of passes by which windows look ahead: those of a simulated chip, or of this machine.
func (c *diffusionCmd) costs(a *cli.App, m *model.Model) ([]float64, error) {
	const maxRows = 128
	if c.CostsOf != "" {
		return phone.DiffusionCosts(c.CostsOf, maxRows)
	}
	return dllm.Measure(a, m, maxRows, 2*time.Second, nil)
}

// addComparison adds what the built-in decoder says to the same inputs, if it reads the same tokens.
func (c *diffusionCmd) addComparison(a *cli.App, d phone.Diffusion, rows []phone.DiffusionResult) ([]phone.DiffusionResult, error) {
	m, err := openOn(native.New(c.Threads), c.Against)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if m.Tokenizer().Fingerprint() != d.Model.Tokenizer().Fingerprint() {
		if c.Against != "" {
			return nil, fmt.Errorf("--against %s: its vocabulary is not that of --model", c.Against)
		}
		return rows, nil
	}
	name := modelcmd.BuiltInDecoder
	if c.Against != "" {
		name = filepath.Base(c.Against)
	}
	r, err := d.Autoregressive(a, m, name, slices.Max(c.Tokens))
	return append(rows, r), err
}

// open opens the model, or a random one.
func (c *diffusionCmd) open(a *cli.App) (*model.Model, string, error) {
	if c.Model == "" {
		m, err := model.OpenBytes("random", tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Seed: 3, Gain: 3}), native.New(max(c.Threads, 1)))
		return m, "random weights", err
	}
	m, err := c.ModelFlags.Open(a)
	if err == nil && !m.Config().Diffusion {
		err = errors.Join(fmt.Errorf("--model %s: its architecture %s is autoregressive: use a model of llada or dream", c.Model, m.Config().Arch), m.Close())
	}
	return m, filepath.Base(c.Model), err
}

// inputs returns the prompts, at most as many as --limit says.
func (c *diffusionCmd) inputs(m *model.Model) ([]phone.DiffusionInput, error) {
	input := func(prompt, answer string) phone.DiffusionInput {
		return phone.DiffusionInput{Prompt: m.Tokenizer().Encode(prompt, tokenizer.Options{AddSpecial: true}), Answer: answer}
	}
	if c.Inputs != "" {
		return c.readInputs(input)
	}
	var inputs []phone.DiffusionInput
	for _, place := range []string{"harbour", "lake cabin", "mill"} {
		if c.Limit == 0 || len(inputs) < c.Limit {
			inputs = append(inputs, input("The "+place+" opens at", ""))
		}
	}
	return inputs, nil
}

// readInputs reads the lines of --inputs.
func (c *diffusionCmd) readInputs(input func(prompt, answer string) phone.DiffusionInput) (inputs []phone.DiffusionInput, err error) {
	f, err := os.Open(c.Inputs)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const maxLine = 1 << 20
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	n := 0
	for (c.Limit == 0 || len(inputs) < c.Limit) && lines.Scan() {
		n++
		var in struct{ Prompt, Answer string }
		err := json.Unmarshal(lines.Bytes(), &in)
		if err == nil && in.Prompt == "" {
			err = errors.New("no prompt")
		}
		if err != nil {
			return nil, fmt.Errorf("--inputs %s, line %d: want an object with \"prompt\": %w", c.Inputs, n, err)
		}
		inputs = append(inputs, input(in.Prompt, in.Answer))
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("--inputs %s: line %d is longer than %d MB: shorten it", c.Inputs, n+1, maxLine>>20)
	case err != nil:
		return nil, fmt.Errorf("--inputs %s: %w", c.Inputs, err)
	case len(inputs) == 0:
		return nil, fmt.Errorf("--inputs %s: no prompts", c.Inputs)
	}
	return inputs, nil
}

// draw writes the pictures.
func (c *diffusionCmd) draw(a *cli.App, d phone.Diffusion) error {
	if c.SVG == "" {
		return nil
	}
	figures, err := d.Trace(a, dllm.Full(), c.Tokens[len(c.Tokens)-1])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.SVG, 0o755); err != nil {
		return err
	}
	for _, f := range figures {
		if err := a.WriteOutput(filepath.Join(c.SVG, f.Name+".svg"), f.SVG, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// autoregressive returns what as many tokens of Llama-3.1-8B take on the chips, by length and chip.
func (c *diffusionCmd) autoregressive(d phone.Diffusion) (map[int]map[string]float64, error) {
	prompt := 0
	for _, in := range d.Inputs {
		prompt += len(in.Prompt)
	}
	all := map[int]map[string]float64{}
	for _, n := range c.Tokens {
		all[n] = map[string]float64{}
		for _, soc := range c.SoC {
			ms, err := phone.AutoregressiveMs(soc, prompt/len(d.Inputs), n)
			if err != nil {
				return nil, err
			}
			chip, _, _ := strings.Cut(soc, "/")
			all[n][chip] = ms
		}
	}
	return all, nil
}

func printDiffusion(w io.Writer, rows []phone.DiffusionResult, llama map[int]map[string]float64) {
	if len(rows) == 0 {
		return
	}
	var chips []string
	for name := range rows[0].SimMs {
		chips = append(chips, name)
	}
	slices.Sort(chips)
	fmt.Fprintf(w, "%s\n%-20s %6s %8s %8s %8s %9s %6s", rows[0].Model, "method", "tokens", "forwards", "rows", "logits", "wall ms", "exact")
	for _, name := range chips {
		fmt.Fprintf(w, " %13s", name)
	}
	fmt.Fprintln(w, "  (ms, simulated)")
	number := func(n report.Number, digits int) string {
		if !n.Known {
			return "-"
		}
		return fmt.Sprintf("%.*f", digits, n.Value)
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%-20s %6d %8.1f %8.0f %8.0f %9s %6s", r.Method, r.Tokens, r.Forwards, r.Rows, r.LogitRows, number(r.WallMs, 1), number(r.Exact, 2))
		for _, name := range chips {
			if ms, ok := r.SimMs[name]; ok {
				fmt.Fprintf(w, " %13.0f", ms)
			} else {
				fmt.Fprintf(w, " %13s", "-")
			}
		}
		fmt.Fprintln(w)
	}
	for _, n := range slices.Sorted(maps.Keys(llama)) {
		for _, name := range chips {
			if ms, ok := llama[n][name]; ok {
				fmt.Fprintf(w, "Llama-3.1-8B, %d tokens on %s (simulated): %.0f ms\n", n, name, ms)
			}
		}
	}
}
