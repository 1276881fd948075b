package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
)

type configCmd struct {
	View configView `cmd:"" default:"withargs" help:"List the settings that are set, and where each is set."`
}

func (*configCmd) Help() string {
	return `Examples:
  ${program} config
  ${program} config --all`
}

type configView struct {
	All bool `help:"Also list the settings that have their default value." env:"-"`
}

func (c *configView) Help() string {
	return `Examples:
  ${program} config view
  ${program} config view --all
  TANDEM_SEED=7 ${program} config view --json

A setting is a flag of any command by its long name. The configuration file gives it as {"max-tokens": 64}, the environment as TANDEM_MAX_TOKENS=64. A variable wins over the file, a flag on the command line over both.`
}

// setting is one flag that can be set outside the command line.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"` // a file, a variable, or "default"
}

func (c *configView) Run(a *App) error {
	path, note := string(a.Globals.Config), ""
	if dirs, _ := a.Dirs(); path == "" && dirs.Config != "" {
		path = filepath.Join(dirs.Config, "config.json")
	}
	file, err := loadConfig(path)
	switch {
	case path == "":
		path = "none, without a home folder"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		note = " (" + cause(err) + ")"
	case err != nil:
		return err
	}
	list, err := c.settings(a.parser.Model.Node, file)
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"path": path, "settings": list})
	}
	fmt.Fprintf(a.Out, "file: %s%s\n", Escape(path), note)
	if len(list) == 0 {
		fmt.Fprintln(a.Out, "Nothing is set; every setting has its default. (--all lists them)")
		return nil
	}
	t := Table{Header: []string{"SETTING", "VALUE", "FROM"}}
	for _, s := range list {
		t.Add(s.Name, s.Value, s.From)
	}
	a.Table(t)
	return nil
}

// settings returns what is set, or all settings, in order of their names.
func (c *configView) settings(node *kong.Node, file config) ([]setting, error) {
	flags := map[string]*kong.Flag{}
	commands(node, nil, func(n *kong.Node, _ []string) {
		for _, f := range n.Flags {
			if len(f.Envs) > 0 {
				flags[f.Name] = f
			}
		}
	})
	out := []setting{}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		f := flags[name]
		s := setting{name, f.Default, "default"}
		if v, ok := file.values[name]; ok && v != nil {
			text, err := typed(v, ',')
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file.file, name, err)
			}
			s.Value, s.From = text, file.file
		}
		for _, variable := range f.Envs {
			if text, ok := os.LookupEnv(variable); ok {
				s.Value, s.From = text, variable
			}
		}
		if c.All || s.From != "default" {
			out = append(out, s)
		}
	}
	return out, nil
}

// cause returns why a file could not be read, without its name.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
