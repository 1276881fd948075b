package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/hub"
	"tandem/model/span"
	"tandem/models"
)

// ModelsCmd lists, describes, fetches, converts and removes models.
type ModelsCmd struct {
	List     modelsList     `cmd:"" aliases:"ls" help:"List the built-in models and the GGUF files in the models folder."`
	Show     modelsShow     `cmd:"" help:"Describe a model: shape, tensor types, vocabulary, template."`
	Pull     modelsPull     `cmd:"" help:"Fetch a model from the Hugging Face hub: resumable, verified."`
	Check    modelsCheck    `cmd:"" help:"Compare the files of models and adapters with their checksums."`
	Rm       modelsRm       `cmd:"" aliases:"remove,delete" help:"Remove models from the models folder."`
	Quantize modelsQuantize `cmd:"" help:"Store a model's weights in fewer bits."`
	Convert  modelsConvert  `cmd:"" help:"Make a GGUF file from safetensors and tokenizer.json."`
	Adapt    adaptCmd       `cmd:"" help:"Add, list, describe and remove adapters (LoRA) of models."`
}

func (*ModelsCmd) Help() string {
	return `Examples:
  ${program} models pull qwen2.5:0.5b
  ${program} models list
  ${program} models rm qwen2.5:0.5b`
}

// ModelAliases are short names of the most used commands of ModelsCmd.
type ModelAliases struct {
	List modelsList `cmd:"" group:"Shortcuts for models:" help:"Short for \"models list\"."`
	Show modelsShow `cmd:"" group:"Shortcuts for models:" help:"Short for \"models show\"."`
	Pull modelsPull `cmd:"" group:"Shortcuts for models:" help:"Short for \"models pull\"."`
	Rm   modelsRm   `cmd:"" group:"Shortcuts for models:" help:"Short for \"models rm\"."`
}

// modelsDir returns the folder whose GGUF files can be named without a path. All programs share it.
func (a *App) modelsDir() (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(filepath.Dir(dirs.Data), "models"), err
}

// modelRow describes a model on one line.
type modelRow struct {
	Name         string    `json:"name"`
	Path         string    `json:"path,omitempty"` // empty for the built-in model
	Architecture string    `json:"architecture"`
	Encodes      string    `json:"encodes,omitempty"` // of encoders: embeddings or scores
	Parameters   uint64    `json:"parameters"`
	Size         int64     `json:"bytes"`
	Types        string    `json:"types"` // tensor types, those with most bytes first
	Modified     time.Time `json:"modified,omitzero"`
	Error        string    `json:"error,omitempty"`
}

type modelsList struct{}

func (c *modelsList) Help() string {
	return `Examples:
  ${program} models list
  ${program} models list --json | jq -r '.models[].name'`
}

func (c *modelsList) Run(a *App) error {
	rows := []modelRow{builtIn(SpanReader, models.Span), builtIn(BuiltInDecoder, models.Decoder)}
	dir, err := a.modelsDir()
	if err == nil {
		rows = append(rows, modelsIn(dir)...)
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"models": rows, "folder": dir})
	}
	t := Table{Header: []string{"NAME", "ARCHITECTURE", "PARAMETERS", "SIZE", "MODIFIED", "TYPES"}}
	for _, r := range rows {
		modified := "built in"
		if r.Path != "" {
			modified = Day(r.Modified)
		}
		if r.Error != "" {
			t.Add(r.Name, "", "", Bytes(r.Size), modified, r.Error)
			continue
		}
		architecture := r.Architecture
		if r.Encodes != "" {
			architecture += " (" + r.Encodes + ")"
		}
		t.Add(r.Name, architecture, count(r.Parameters), Bytes(r.Size), modified, r.Types)
	}
	a.Table(t)
	if len(rows) == 2 && err == nil {
		fmt.Fprintf(a.Out, "GGUF files in %s are listed here and can be used by name: --model NAME\n", dir)
	}
	return nil
}

// builtIn describes an embedded model.
func builtIn(name string, b []byte) modelRow {
	f, err := gguf.Parse(name, b)
	if err != nil {
		return modelRow{Name: name, Error: err.Error()}
	}
	row := describe(f, "", int64(len(b)))
	row.Name = name
	return row
}

// modelsIn describes the GGUF files of a folder.
func modelsIn(dir string) []modelRow {
	var rows []modelRow
	paths, _ := filepath.Glob(filepath.Join(dir, "*.gguf"))
	sort.Strings(paths)
	for _, path := range paths {
		parts := gguf.SplitPaths(path)
		if parts != nil && parts[0] != path {
			continue // list the first part only
		}
		name := strings.TrimSuffix(filepath.Base(gguf.SplitBase(path)), ".gguf")
		f, err := gguf.Open(path)
		if err != nil {
			rows = append(rows, modelRow{Name: name, Path: path, Size: sizeOf(path), Modified: modified(path), Error: err.Error()})
			continue
		}
		row := describe(f, path, sizeOf(path))
		row.Name, row.Modified = name, modified(path)
		rows = append(rows, row)
		f.Close()
	}
	return rows
}

// modified returns when a file last changed, or the zero time.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime().UTC().Truncate(time.Second)
}

func describe(f *gguf.File, path string, size int64) modelRow {
	d := f.Describe()
	var types []string
	for _, t := range d.Types {
		types = append(types, t.Type.String())
	}
	name, _ := f.Meta.String("general.name")
	if path == "" {
		name = BuiltInDecoder
	}
	if d.Architecture == span.Architecture {
		d.Parameters = span.Parameters(f)
	}
	return modelRow{
		Name: name, Path: path, Architecture: d.Architecture, Encodes: encodes(model.PoolingOf(f)), Parameters: d.Parameters,
		Size: size, Types: strings.Join(types, " "),
	}
}

// encodes says what an encoder makes of texts; nothing for a model that is not one.
func encodes(p model.Pooling) string {
	switch p {
	case model.NoPooling:
		return ""
	case model.RankPooling:
		return "scores"
	}
	return "embeddings"
}

func count(n uint64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f B", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f k", float64(n)/1e3)
}

// FindModel returns the path of a model, given its path, its name in the models folder, or what "models pull" was given
// for it. It returns "" for the built-in model.
func (a *App) FindModel(name string) (string, error) {
	if name == "" || name == BuiltInDecoder {
		return "", nil
	}
	if name == SpanReader {
		return "", fmt.Errorf("%s points at words and writes none: it answers when no model is named, so leave out the name", name)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s is a folder: name a GGUF file, or make one of a folder with safetensors: %s models convert --help", name, a.Program)
	} else if err == nil {
		return name, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	dir, err := a.modelsDir()
	if err == nil && filepath.Base(name) == name {
		for _, candidate := range []string{name, name + ".gguf"} {
			path := filepath.Join(dir, candidate)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
		if first, _ := filepath.Glob(filepath.Join(dir, name+"-00001-of-*.gguf")); len(first) == 1 {
			return first[0], nil
		}
	}
	if ref, err := hub.ParseRef(name); err == nil {
		return a.findPulled(name, ref)
	}
	if filepath.Base(name) == name {
		return "", fmt.Errorf("no model %q: it is neither a file nor in %s; see: %s models list, or fetch it: %s models pull --help", name, dir, a.Program, a.Program)
	}
	return "", fmt.Errorf("there is no model file %s: see %s models list, or fetch one: %s models pull --help", name, a.Program, a.Program)
}

// findPulled returns the path of a model in the hub's cache.
func (a *App) findPulled(name string, ref hub.Ref) (string, error) {
	client, err := hub.FromEnv(os.Getenv)
	if err != nil {
		return "", err
	}
	client.Offline = true
	repo, err := client.List(a, ref)
	if err != nil {
		return "", fmt.Errorf("%s is not downloaded; fetch it: %s models pull %s", name, a.Program, name)
	}
	files, err := repo.Select(ref.What)
	if err != nil {
		return "", fmt.Errorf("of what is downloaded, %w; fetch another: %s models pull %s", err, a.Program, name)
	}
	return client.Cached(repo, files[0]), nil
}

type modelsShow struct {
	Name     string `arg:"" optional:"" help:"GGUF file or name. Default: tandem-reader, the built-in model that writes."`
	Template bool   `help:"Print the chat template as well."`
	Metadata bool   `help:"Print all metadata as well."`
}

func (c *modelsShow) Help() string {
	return `Examples:
  ${program} models show
  ${program} models show tandem-span-reader
  ${program} models show qwen2.5-0.5b-instruct-q4_k_m --template
  ${program} models show ~/Downloads/model.gguf --metadata`
}

func (c *modelsShow) Run(a *App) error {
	if c.Name == SpanReader {
		return c.showSpan(a)
	}
	path, err := a.FindModel(c.Name)
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
		fmt.Fprintf(a.Out, "\n%s\n", StripControls(m.Template().Source()))
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
func (c *modelsShow) showSpan(a *App) error {
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
	line("size", "%s (%s)", Bytes(row.Size), row.Types)
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

func printMetadata(a *App, f *gguf.File) {
	fmt.Fprintln(a.Out)
	for _, kv := range f.Meta.KVs() {
		fmt.Fprintf(a.Out, "%s = %s\n", Escape(kv.Key), Escape(short(kv.Value)))
	}
}

// openFile opens a model's file, or the built-in model if path is empty, and returns its size.
func openFile(path string) (*gguf.File, int64, error) {
	if path == "" {
		f, err := gguf.Parse(BuiltInDecoder, models.Decoder)
		return f, int64(len(models.Decoder)), err
	}
	f, err := gguf.Open(path)
	return f, sizeOf(path), err
}

// sizeOf returns the size of a model's file, or of all its parts together.
func sizeOf(path string) (size int64) {
	for _, p := range parts(path) {
		if info, err := os.Stat(p); err == nil {
			size += info.Size()
		}
	}
	return size
}

func printModel(a *App, row modelRow, cfg model.Config, m *model.Model) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(a.Out, "%-14s %s\n", name, Escape(fmt.Sprintf(format, args...))) // a file's metadata must not control the terminal
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
	line("size", "%s (%s)", Bytes(row.Size), row.Types)
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
