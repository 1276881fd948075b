package modelcmd

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/lora"
	"tandem/model"
	"tandem/model/hub"
	"tandem/models"
)

// adaptCmd adds, lists, describes and removes adapters.
type adaptCmd struct {
	Add  adaptAdd  `cmd:"" help:"Check an adapter against its model and add it under a name."`
	List adaptList `cmd:"" default:"1" help:"List the adapters."`
	Show adaptShow `cmd:"" help:"Describe an adapter."`
	Rm   adaptRm   `cmd:"" aliases:"remove,delete" help:"Remove adapters."`
}

func (*adaptCmd) Help() string {
	return `Examples:
  ${program} models adapt add polite.gguf --model qwen2.5-0.5b-instruct-q4_k_m
  ${program} models adapt list
  ${program} models adapt rm polite`
}

// adapterRow describes an adapter.
type adapterRow struct {
	Name       string   `json:"name"`
	Path       string   `json:"path,omitempty"`     // empty for a built-in one
	Base       string   `json:"base,omitempty"`     // name of the model that it was added for
	BaseSum    string   `json:"base_sum,omitempty"` // its fingerprint
	Arch       string   `json:"architecture"`
	RankLow    int      `json:"rank_low"`
	RankHigh   int      `json:"rank_high"`
	Parts      []string `json:"parts"`    // of a layer that it changes
	Products   int      `json:"products"` // that it changes
	Parameters int      `json:"parameters"`
	Size       int64    `json:"bytes"`                 // of the file
	Sum        string   `json:"fingerprint,omitempty"` // of its factors at scale 1, where a model is open
	Error      string   `json:"error,omitempty"`
}

func rowOf(path string) adapterRow {
	row := adapterRow{Name: strings.TrimSuffix(filepath.Base(path), ".gguf"), Path: path, Size: sizeOf(path)}
	return row.with(lora.Open(path))
}

// isBuiltInAdapter reports whether the built-in model has an adapter of that name.
func isBuiltInAdapter(name string) bool {
	_, ok := models.Adapter(name)
	return ok
}

// builtInRow describes a built-in adapter.
func builtInRow(name string) adapterRow {
	b, _ := models.Adapter(name)
	row := adapterRow{Name: name, Size: int64(len(b))}.with(lora.ReadGGUF(name, b))
	if row.Error == "" {
		row.Base = BuiltInDecoder
	}
	return row
}

// with returns the row with what the adapter says, or with the error about it.
func (r adapterRow) with(one *lora.Adapter, err error) adapterRow {
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.Base, r.Arch, r.Parts = one.BaseName, one.Arch, one.Parts()
	r.Products, r.Parameters = len(one.Factors), one.Parameters()
	r.RankLow, r.RankHigh = one.Ranks()
	if one.Base != ([32]byte{}) {
		r.BaseSum = fmt.Sprintf("%x", one.Base)
	}
	return r
}

// ranks returns "rank 8" or "ranks 4 to 16".
func (r adapterRow) ranks() string {
	if r.RankLow == r.RankHigh {
		return fmt.Sprintf("rank %d", r.RankLow)
	}
	return fmt.Sprintf("ranks %d to %d", r.RankLow, r.RankHigh)
}

type adaptAdd struct {
	Path       string `arg:"" help:"Adapter in llama.cpp's GGUF format, or a PEFT folder." placeholder:"PATH"`
	Name       string `help:"Name of the adapter. Default: that of the file or folder."`
	ModelFlags `group:"Model:"`
}

func (c *adaptAdd) Help() string {
	return `Examples:
  ${program} models adapt add polite.gguf --model qwen2.5-0.5b-instruct-q4_k_m
  ${program} models adapt add ~/train/checkpoint-900 --name summary --model qwen2.5-0.5b-instruct-q4_k_m
  edge run --model qwen2.5-0.5b-instruct-q4_k_m --lora polite --lora summary=0.5 "…"

--model is the model that the adapter was trained on. Its fingerprint is kept with the adapter, and other models are refused.`
}

func (c *adaptAdd) Run(a *cli.App) error {
	name, path, err := c.target(a)
	if err != nil {
		return err
	}
	if _, err := os.Stat(c.Path); err != nil {
		return fmt.Errorf("there is no file or folder %s: give the path of an adapter, a GGUF file or a folder in PEFT's format", cli.Escape(c.Path))
	}
	one, err := lora.Open(c.Path)
	if err != nil {
		return err
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	one.Name = name
	if _, err := lora.Mount(m, model.Inputs, []lora.Scaled{{Adapter: one, Scale: 1}}); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := one.Write(&b, m); err != nil {
		return err
	}
	if err := errors.Join(cli.WriteFile(path, b.Bytes()), hub.Record(a, path, fmt.Sprintf("%x", sha256.Sum256(b.Bytes())))); err != nil {
		return err
	}
	row := rowOf(path)
	if a.Globals.JSON {
		return a.JSON(map[string]any{"adapter": row})
	}
	fmt.Fprintf(a.Out, "%s: %s of %d products, %s, for %s\n", row.Name, row.ranks(), row.Products, cli.Bytes(row.Size), cli.Escape(row.Base))
	return nil
}

// target returns the name that the adapter gets, and the path of its file. Neither may be taken.
func (c *adaptAdd) target(a *cli.App) (name, path string, err error) {
	if name = c.Name; name == "" {
		name = strings.TrimSuffix(filepath.Base(filepath.Clean(c.Path)), ".gguf")
	}
	if filepath.Base(name) != name || strings.ContainsAny(name, "=/\\") || strings.HasPrefix(name, ".") {
		return "", "", fmt.Errorf("%q cannot name an adapter: choose another with --name, without =, / and \\", name)
	}
	if isBuiltInAdapter(name) {
		return "", "", fmt.Errorf("the adapter %q is built in: choose another name with --name", name)
	}
	dir, err := adaptersDir(a)
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, name+".gguf")
	if _, err := os.Lstat(path); err == nil {
		return "", "", fmt.Errorf("there is an adapter %q: remove it with %s models adapt rm %s, or choose another --name", name, a.Program, name)
	}
	return name, path, nil
}

type adaptList struct{}

func (c *adaptList) Help() string {
	return `Examples:
  ${program} models adapt list
  ${program} models adapt list --json | jq -r '.adapters[].name'`
}

func (c *adaptList) Run(a *cli.App) error {
	dir, err := adaptersDir(a)
	if err != nil {
		return err
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.gguf"))
	sort.Strings(paths)
	rows := []adapterRow{}
	for _, name := range models.Adapters() {
		rows = append(rows, builtInRow(name))
	}
	for _, path := range paths {
		rows = append(rows, rowOf(path))
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"adapters": rows, "folder": dir})
	}
	t := cli.Table{Header: []string{"NAME", "ARCHITECTURE", "FACTORS", "SIZE", "MODEL"}}
	for _, r := range rows {
		if r.Error != "" {
			t.Add(r.Name, "", "", cli.Bytes(r.Size), r.Error)
			continue
		}
		t.Add(r.Name, r.Arch, r.ranks(), cli.Bytes(r.Size), r.Base)
	}
	a.Table(t)
	if len(paths) == 0 {
		fmt.Fprintf(a.Out, "These are built in. Add others: %s models adapt add PATH --model MODEL\n", a.Program)
	}
	return nil
}

type adaptShow struct {
	Name       string `arg:"" help:"Name of an adapter, or a path (./FOLDER)."`
	ModelFlags `group:"Model:"`
}

func (c *adaptShow) Help() string {
	return `Examples:
  ${program} models adapt show polite
  ${program} models adapt show polite --model qwen2.5-0.5b-instruct-q4_k_m

With --model it also checks the adapter against that model, and shows the fingerprint under which caches are kept.`
}

func (c *adaptShow) Run(a *cli.App) error {
	var row adapterRow
	if isBuiltInAdapter(c.Name) {
		row = builtInRow(c.Name)
	} else if path, err := findAdapter(a, c.Name); err == nil {
		row = rowOf(path)
	} else {
		return err
	}
	if row.Error != "" {
		return errors.New(row.Error)
	}
	if c.Model != "" {
		m, err := c.Open(a)
		if err != nil {
			return err
		}
		defer m.Close()
		mounted, err := LoraFlags{Lora: []string{c.Name + "=1"}}.MountAdapter(a, m)
		if err != nil {
			return err
		}
		row.Sum = fmt.Sprintf("%x", mounted.Fingerprint())
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"adapter": row})
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(a.Out, "%-14s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("name", "%s", cli.Escape(row.Name))
	line("file", "%s, %s", cmp.Or(cli.Escape(row.Path), "built in"), cli.Bytes(row.Size))
	if row.Base != "" || row.BaseSum != "" {
		line("model", "%s %.16s", cli.Escape(row.Base), row.BaseSum)
	}
	line("architecture", "%s", cli.Escape(row.Arch))
	line("factors", "%s, %s parameters in %d products", row.ranks(), count(uint64(row.Parameters)), row.Products)
	line("changes", "%s", strings.Join(row.Parts, ", "))
	if row.Sum != "" {
		line("fingerprint", "%s", row.Sum)
	}
	return nil
}

type adaptRm struct {
	Names []string `arg:"" name:"name" help:"Names, as models adapt list shows them." placeholder:"NAME"`
}

func (c *adaptRm) Help() string {
	return `Example:
  ${program} models adapt rm polite`
}

func (c *adaptRm) Run(a *cli.App) error {
	dir, err := adaptersDir(a)
	if err != nil {
		return err
	}
	for _, name := range c.Names {
		path := filepath.Join(dir, strings.TrimSuffix(name, ".gguf")+".gguf")
		if _, err := os.Lstat(path); err != nil || filepath.Base(name) != name {
			return fmt.Errorf("no adapter %q in %s; see: %s models adapt list", name, dir, a.Program)
		}
		if err := errors.Join(os.Remove(path), hub.Forget(path)); err != nil {
			return err
		}
		if !a.Globals.JSON {
			fmt.Fprintf(a.Out, "%s: removed\n", cli.Escape(name))
		}
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"removed": c.Names})
	}
	return nil
}
