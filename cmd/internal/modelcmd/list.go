package modelcmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/models"
)

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

type listCmd struct{}

func (c *listCmd) Help() string {
	return `Examples:
  ${program} models list
  ${program} models list --json | jq -r '.models[].name'`
}

func (c *listCmd) Run(a *cli.App) error {
	rows := []modelRow{builtIn(SpanReader, models.Span), builtIn(BuiltInDecoder, models.Decoder)}
	dir, err := modelsDir(a)
	if err == nil {
		rows = append(rows, modelsIn(dir)...)
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"models": rows, "folder": dir})
	}
	t := cli.Table{Header: []string{"NAME", "ARCHITECTURE", "PARAMETERS", "SIZE", "MODIFIED", "TYPES"}}
	for _, r := range rows {
		modified := "built in"
		if r.Path != "" {
			modified = cli.Day(r.Modified)
		}
		if r.Error != "" {
			t.Add(r.Name, "", "", cli.Bytes(r.Size), modified, r.Error)
			continue
		}
		architecture := r.Architecture
		if r.Encodes != "" {
			architecture += " (" + r.Encodes + ")"
		}
		t.Add(r.Name, architecture, count(r.Parameters), cli.Bytes(r.Size), modified, r.Types)
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
		name := nameOf(path)
		f, err := gguf.Open(path)
		if err != nil {
			err = cmp.Or(leadsNowhere(path), err)
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
