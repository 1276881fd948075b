package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/model/tokenizer"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone/pass"
	"tandem/npu/reference"
)

type npuPerplexity struct {
	Model       string `help:"GGUF file, or its name in the models folder. Default: the built-in decoder." placeholder:"FILE"`
	Calibration string `help:"Text to calibrate the scales of activations on." required:"" type:"existingfile" placeholder:"FILE"`
	Text        string `help:"Text to measure on." required:"" type:"existingfile" placeholder:"FILE"`
	Tokens      int    `help:"Tokens of each text." default:"2048"`
	Window      int    `help:"Tokens of a window, which is read at once." default:"256"`
}

func (c *npuPerplexity) Help() string {
	return `Examples:
  lab npu perplexity --calibration wiki.valid.raw --text wiki.test.raw
  lab npu perplexity --model stories260K.gguf --calibration wiki.valid.raw --text wiki.test.raw --tokens 4096 --json

It measures what rounding to a phone NPU's integers costs: the perplexity with the weights as stored, on the native device and on the reference, and with 4-bit weights (scaled per channel) and 8-bit activations (scaled per tensor). The reference is plain Go and slow, so use small models.`
}

// perplexityRow is the perplexity with the weights in one form.
type perplexityRow struct {
	Form       string  `json:"form"`
	Perplexity float64 `json:"perplexity"`
}

func (c *npuPerplexity) Run(a *cli.App) error {
	path, err := modelcmd.Find(a, c.Model)
	if err != nil {
		return err
	}
	m, err := openOn(native.New(0), path)
	if err != nil {
		return err
	}
	defer m.Close()
	calibration, err := c.read(m.Tokenizer(), c.Calibration)
	if err != nil {
		return err
	}
	text, err := c.read(m.Tokenizer(), c.Text)
	if err != nil {
		return err
	}
	start := time.Now()
	a.Progress("calibrating on %d tokens", len(calibration))
	rounded := pass.NewINT4()
	if _, err := c.perplexity(a, path, rounded.Observer(), calibration); err != nil {
		return err
	}
	graphs := m.Graphs(1)
	head := graphs[len(graphs)-1]
	var rows []perplexityRow
	for _, f := range []struct {
		name   string
		device npu.Device
	}{{"as stored, native", native.New(0)}, {"as stored, reference", reference.New()}, {"INT4 weights, INT8 activations", rounded.Device(head)}} {
		a.Progress("%s: %d tokens, %v so far", f.name, len(text), time.Since(start).Round(time.Second))
		p, err := c.perplexity(a, path, f.device, text)
		if err != nil {
			return err
		}
		rows = append(rows, perplexityRow{f.name, p})
	}
	a.Clear()
	if a.Globals.JSON {
		return a.JSON(map[string]any{"model": cmp.Or(path, modelcmd.BuiltInDecoder), "tokens": len(text), "rows": rows})
	}
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%-32s perplexity %8.2f  (%+.1f %%)\n", r.Form, r.Perplexity, 100*(r.Perplexity/rows[0].Perplexity-1))
	}
	return nil
}

// read returns the first tokens of a file.
func (c *npuPerplexity) read(t *tokenizer.Tokenizer, file string) ([]tandem.Token, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	// 16 bytes per token are enough; the rest need not be tokenized.
	text = text[:min(len(text), 16*c.Tokens)]
	tokens := t.Encode(string(text), tokenizer.Options{})
	return tokens[:min(len(tokens), c.Tokens)], nil
}

// perplexity measures the model on a device: see openOn.
func (c *npuPerplexity) perplexity(ctx context.Context, path string, d npu.Device, tokens []tandem.Token) (float64, error) {
	m, err := openOn(d, path)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	return m.Perplexity(ctx, tokens, c.Window)
}
