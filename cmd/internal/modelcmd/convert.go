package modelcmd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/model/convert"
	"tandem/model/hub"
)

// quantizeCmd stores a model's weights in fewer bits.
type quantizeCmd struct {
	In         string `arg:"" help:"GGUF file (any part of a split one), or its name in the models folder." placeholder:"IN"`
	Out        string `arg:"" help:"File to write; it must not exist." placeholder:"OUT.gguf"`
	Type       string `help:"Format of the weights: q4_0, q8_0, q4_k_s, q4_k_m, q5_k_s, q5_k_m, q6_k, f16, bf16 or f32." default:"q4_k_m"`
	Requantize bool   `help:"Accept a source that already has fewer than 8 bits; the errors add up."`
}

func (c *quantizeCmd) Help() string {
	return `Examples:
  ${program} models quantize model-f16.gguf model-q4_k_m.gguf
  ${program} models quantize model-f16.gguf model-q8_0.gguf --type q8_0

Norms and biases stay F32. The output matrix gets at least 6 bits, and q4_k_s, q4_k_m and q5_k_m give some other matrices more bits, as llama.cpp's quantiser does. Where the rows of a matrix are not whole blocks of 256, it becomes Q5_0 instead of Q4_K, Q5_1 instead of Q5_K, and Q8_0 instead of Q6_K. The file appears when it is complete, with its SHA-256 in a file next to it, for models check.`
}

func (c *quantizeCmd) Run(a *cli.App) error {
	in, err := Find(a, c.In)
	if err != nil {
		return err
	}
	if in == "" {
		return fmt.Errorf("%s is built in and cannot be quantised", BuiltInDecoder)
	}
	scheme, err := convert.ParseScheme(c.Type)
	if err != nil {
		return err
	}
	opt := convert.Options{Scheme: scheme, Requantize: c.Requantize, Progress: convertProgress(a)}
	r, err := convert.Quantize(a, in, c.Out, opt)
	return reportConversion(a, c.Out, r, err)
}

// convertCmd makes a GGUF file from a Hugging Face model or from a llama2.c checkpoint.
type convertCmd struct {
	In        string `arg:"" help:"Folder with config.json, tokenizer.json and safetensors, as models pull hf:OWNER/REPO:safetensors creates it, or a llama2.c checkpoint." placeholder:"IN"`
	Out       string `arg:"" help:"File to write; it must not exist." placeholder:"OUT.gguf"`
	Type      string `help:"Format of the weights (see models quantize). Default: as they are." placeholder:"TYPE"`
	Tokenizer string `help:"The tokenizer.bin of a llama2.c checkpoint. Default: the one in the checkpoint's folder." placeholder:"FILE"`
}

func (c *convertCmd) Help() string {
	return `Examples:
  ${program} models convert ~/models/Qwen2.5-0.5B-Instruct qwen.gguf
  ${program} models convert ~/models/opt-1.3b opt.gguf --type q8_0
  ${program} models convert stories260K.bin stories260K.gguf --tokenizer tok512.bin

It converts Llama (and Mistral), Qwen2, Qwen3, SmolLM3, Granite, Gemma 1 to 3, Phi-3 and Phi-4-mini, OLMo 2, LFM2, Mistral 3, gpt-oss and OPT from safetensors, in one file or several. Of models with vision (Gemma 3, Mistral 3) it converts the text part. gpt-oss's experts stay MXFP4. The tokenizer comes from tokenizer.json, or from vocab.json and merges.txt: byte-level BPE with the patterns of GPT-2, Qwen2, Llama 3, SmolLM, Falcon, DeepSeek-Coder, GPT-4o and Mistral's Tekken, or SentencePiece's BPE; others are refused. A llama2.c checkpoint must have the first layout (version 0), in float32.`
}

func (c *convertCmd) Run(a *cli.App) error {
	opt := convert.Options{Progress: convertProgress(a)}
	if c.Type != "" {
		var err error
		if opt.Scheme, err = convert.ParseScheme(c.Type); err != nil {
			return err
		}
	}
	info, err := os.Stat(c.In)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s does not exist: name the folder that %s models pull hf:OWNER/REPO:safetensors prints, or a llama2.c checkpoint", c.In, a.Program)
	}
	if err != nil {
		return err
	}
	var r *convert.Report
	switch {
	case !info.IsDir():
		if r, err = convert.Llama2C(a, c.In, cmp.Or(c.Tokenizer, filepath.Join(filepath.Dir(c.In), "tokenizer.bin")), c.Out, opt); errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%w: name the checkpoint's vocabulary with --tokenizer", err)
		}
	case c.Tokenizer != "":
		return fmt.Errorf("--tokenizer is for a llama2.c checkpoint, and %s is a folder", c.In)
	default:
		r, err = convert.Convert(a, c.In, c.Out, opt)
	}
	return reportConversion(a, c.Out, r, err)
}

// convertProgress shows the progress of a conversion that takes longer than two seconds.
func convertProgress(a *cli.App) func(convert.Progress) {
	begun := time.Now()
	return func(p convert.Progress) {
		if spent := time.Since(begun); spent > 2*time.Second && p.Done > 0 {
			left := time.Duration(float64(spent) * float64(p.Total-p.Done) / float64(p.Done))
			a.Progress("%3d %%  %s, %v left", 100*p.Done/p.Total, p.Tensor, left.Round(time.Second))
		}
	}
}

func reportConversion(a *cli.App, out string, r *convert.Report, err error) error {
	a.Clear()
	if err == nil {
		err = hub.Record(a, out, r.Sum)
	}
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"path": out, "report": r})
	}
	types := slices.SortedFunc(maps.Keys(r.Types), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Types[b], r.Types[a]), cmp.Compare(a, b))
	})
	for i, t := range types {
		types[i] = fmt.Sprintf("%s in %s", count(r.Types[t]), t)
	}
	fmt.Fprintf(a.Out, "%s: %d tensors, %s (%s), %.2f bits a weight\n", out, r.Tensors, cli.Bytes(r.Bytes), strings.Join(types, ", "), float64(8*r.Bytes)/float64(r.Values))
	return nil
}
