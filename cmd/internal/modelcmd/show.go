package modelcmd

import (
	"fmt"

	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/models"
)

type showCmd struct {
	Name     string `arg:"" optional:"" help:"GGUF file or name. Default: tandem-reader, the built-in model that writes."`
	Template bool   `help:"Print the chat template as well."`
	Metadata bool   `help:"Print all metadata as well."`
}

func (c *showCmd) Help() string {
	return `Examples:
  ${program} models show
  ${program} models show tandem-span-reader
  ${program} models show qwen2.5-0.5b-instruct-q4_k_m --template
  ${program} models show ~/Downloads/model.gguf --metadata`
}

func (c *showCmd) Run(a *cli.App) error {
	if c.Name == SpanReader {
		return c.showSpan(a)
	}
	path, err := Find(a, c.Name)
	if err != nil {
		return err
	}
	m, _, err := ModelFlags{}.open(path)
	if err != nil {
		return err
	}
	defer m.Close()
	f, size, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	row, cfg := describe(f, path, size), m.Config()
	if a.Globals.JSON {
		out := map[string]any{
			"model": row, "config": shape(cfg), "vocabulary": m.Tokenizer().Size(),
			"fingerprint": fmt.Sprintf("%x", m.Fingerprint()), "template": m.Template().Source(),
		}
		if c.Metadata {
			out["metadata"] = metadata(f)
		}
		return a.JSON(out)
	}
	printModel(a, row, cfg, m)
	if c.Template {
		fmt.Fprintf(a.Out, "\n%s\n", cli.StripControls(m.Template().Source()))
	}
	if c.Metadata {
		printMetadata(a, f)
	}
	return nil
}

// shapeJSON is a model's configuration as models show --json prints it.
type shapeJSON struct {
	Arch         string    `json:"architecture"`
	Name         string    `json:"name"`
	Layers       int       `json:"layers"`
	Dim          int       `json:"dim"`
	Heads        int       `json:"heads"`
	KVHeads      int       `json:"kv_heads"`
	HeadDim      int       `json:"head_dim"`
	FF           int       `json:"ff"`
	Vocab        int       `json:"vocab"`
	Context      int       `json:"context"`
	Eps          float32   `json:"eps"`
	Rope         *ropeJSON `json:"rope,omitempty"`
	Pooling      string    `json:"pooling,omitempty"` // of an encoder
	Diffusion    bool      `json:"diffusion"`
	CausalPrompt bool      `json:"causal_prompt,omitempty"` // of a diffusion model
}

type ropeJSON struct {
	Pairing   string    `json:"pairing"`
	Dims      int       `json:"dims"`
	Base      float64   `json:"base"`
	Linear    float64   `json:"linear"`
	Factors   []float32 `json:"factors,omitempty"`
	Magnitude float64   `json:"magnitude,omitempty"`
}

func shape(c model.Config) shapeJSON {
	s := shapeJSON{
		Arch: c.Arch, Name: c.Name, Layers: c.Layers, Dim: c.Dim, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, FF: c.FF,
		Vocab: c.Vocab, Context: c.Context, Eps: c.Eps, Diffusion: c.Diffusion, CausalPrompt: c.CausalPrompt,
	}
	if r := c.Rope; r.Dims > 0 {
		s.Rope = &ropeJSON{r.Pairing.String(), r.Dims, r.Base, r.Linear, r.Factors, r.Magnitude}
	}
	if c.Pooling != model.NoPooling {
		s.Pooling = c.Pooling.String()
	}
	return s
}

// showSpan describes the built-in span reader, which package model cannot open.
func (c *showCmd) showSpan(a *cli.App) error {
	f, err := gguf.Parse(SpanReader, models.Span)
	if err != nil {
		return err
	}
	row := builtIn(SpanReader, models.Span)
	number := func(key string) uint64 { n, _ := f.Uint(span.Architecture + "." + key); return n }
	if a.Globals.JSON {
		out := map[string]any{"model": row, "vocabulary": number("vocab_size")}
		if c.Metadata {
			out["metadata"] = metadata(f)
		}
		return a.JSON(out)
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(a.Out, "%-14s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("name", "%s", row.Name)
	line("architecture", "%s, %s parameters", row.Architecture, count(row.Parameters))
	line("reader", "points at the words of a passage that answer, and writes none")
	line("size", "%s (%s)", cli.Bytes(row.Size), row.Types)
	line("layers", "%d for each text and %d for both together, of width %d", number("encoder_count"), number("block_count"), number("hidden_length"))
	line("vocabulary", "%d words, %d hashed parts of others", number("vocab_size"), number("buckets"))
	line("passage", "up to %d words, a question up to %d", number("max_passage"), number("max_question"))
	if c.Metadata {
		printMetadata(a, f)
	}
	return nil
}

func metadata(f *gguf.File) map[string]any {
	meta := map[string]any{}
	for _, kv := range f.Meta.KVs() {
		meta[kv.Key] = kv.Value
	}
	return meta
}

func printMetadata(a *cli.App, f *gguf.File) {
	fmt.Fprintln(a.Out)
	for _, kv := range f.Meta.KVs() {
		fmt.Fprintf(a.Out, "%s = %s\n", cli.Escape(kv.Key), cli.Escape(short(kv.Value)))
	}
}

func printModel(a *cli.App, row modelRow, cfg model.Config, m *model.Model) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(a.Out, "%-14s %s\n", name, cli.Escape(fmt.Sprintf(format, args...))) // a file's metadata must not control the terminal
	}
	line("name", "%s", row.Name)
	if row.Path != "" {
		line("file", "%s", row.Path)
	}
	line("architecture", "%s, %s parameters", row.Architecture, count(row.Parameters))
	switch cfg.Pooling {
	case model.NoPooling:
	case model.RankPooling:
		line("encoder", "scores of pairs of texts (a cross-encoder), for --scorer")
	default:
		line("encoder", "embeddings of texts (%s pooling), for --scorer and --encoder", cfg.Pooling)
	}
	line("size", "%s (%s)", cli.Bytes(row.Size), row.Types)
	line("layers", "%d of width %d, feed-forward %d", cfg.Layers, cfg.Dim, cfg.FF)
	line("heads", "%d queries, %d keys, of %d", cfg.Heads, cfg.KVHeads, cfg.HeadDim)
	line("context", "%d tokens", cfg.Context)
	line("vocabulary", "%d tokens", m.Tokenizer().Size())
	line("fingerprint", "%x", m.Fingerprint())
}

// short formats a metadata value on one line.
func short(v any) string {
	text := fmt.Sprintf("%v", v)
	if s, ok := v.(string); ok {
		text = fmt.Sprintf("%q", s)
	}
	if runes := []rune(text); len(runes) > 100 {
		return string(runes[:97]) + "..."
	}
	return text
}
