package main

import (
	"errors"
	"fmt"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/phone"
	"tandem/model/sample"
)

type forecastCmd struct {
	modelcmd.ModelFlags    `group:"Model:"`
	modelcmd.LoraFlags     `group:"Model:"`
	modelcmd.ForecastFlags `group:"Model:"`
	Task                   string  `help:"What to write: answers (to the held-out questions of the built-in decoder), reply, or own with --inputs." default:"answers" enum:"answers,reply,own"`
	Inputs                 string  `help:"Your own prompts, as JSON lines as with lab spec." type:"existingfile" placeholder:"FILE"`
	Limit                  int     `help:"At most this many prompts; 0 for all." default:"60"`
	MaxTokens              int     `help:"Maximum number of tokens in a text." default:"96"`
	Temperature            float64 `help:"0 for the likeliest token, 1 for the model's own distribution." default:"0"`
	Seed                   uint64  `help:"Random seed." default:"1"`
	File                   string  `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *forecastCmd) Help() string {
	return `Examples:
  lab forecast --forecast forecast
  lab forecast --forecast mine.gguf --model m.gguf --inputs prompts.jsonl --json forecast.json

Dynamic self-speculative decoding (Samsung §3.5, Tables 6 and 7): forecast embeddings draft the next tokens, and one pass of 32 rows verifies a tree of them and forecasts again. Tokens a pass are measured, for each branch configuration of the paper and for the one that measured acceptance chooses, and every text is compared with plain decoding's. Times and rates are those of a simulated phone.`
}

func (c *forecastCmd) Run(a *cli.App) (err error) {
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	if c.Forecast == "" {
		return errors.New("--forecast: say which; python3 -m train.forecast makes them")
	}
	if c.Limit < 0 || c.MaxTokens < 1 || (c.Task == "own") != (c.Inputs != "") {
		return errors.New("--limit must be 0 or more, --max-tokens 1 or more, and --inputs goes with --task own")
	}
	m, err := c.ModelFlags.Open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	f := phone.Forecasts{Model: m, MaxTokens: c.MaxTokens, Sampling: sample.Params{Sampling: tandem.Sampling{Temperature: c.Temperature}, Seed: c.Seed}}
	if f.Own, err = c.MountAdapter(a, m); err != nil {
		return err
	}
	if f.Embeddings, f.Adapter, err = c.ForecastFlags.Embeddings(a, m); err != nil {
		return err
	}
	spec := specCmd{ModelFlags: c.ModelFlags, Inputs: c.Inputs, Limit: c.Limit, MaxTokens: c.MaxTokens}
	inputs, err := spec.inputs(c.Task, m)
	if err != nil {
		return err
	}
	var prompts [][]tandem.Token
	for _, in := range inputs {
		prompts = append(prompts, in.Tokens)
	}
	rows, err := f.Run(a, prompts, func(done, total int) { a.Progress("text %d of %d", done, total) })
	if err != nil {
		return err
	}
	a.Clear()
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"task": c.Task, "rows": rows, "prompts": len(prompts)})
	}
	fmt.Fprintf(a.Out, "%d prompts; times and rates of Llama-3.2-3B in 4 bits on a simulated SM8750\n%-9s %7s %7s %10s %9s %9s %7s\n", len(prompts), "branches", "tokens", "passes", "tokens/pass", "pass ms", "tokens/s", "faster")
	for _, r := range rows {
		fmt.Fprintln(a.Out, r)
	}
	return nil
}
