package cli

import (
	"fmt"
	"slices"

	"tandem/cmd/internal/licenses"
)

type licensesCmd struct {
	Module []string `arg:"" optional:"" help:"Print the full licence texts of these modules."`
	All    bool     `help:"Print all licence texts in full."`
}

func (c *licensesCmd) Help() string {
	return `Examples:
  ${program} licenses
  ${program} licenses go github.com/alecthomas/kong
  ${program} licenses --all >LICENSES.txt

The list contains this program, Go, every module built in, and PDFium, which reads PDFs, with the libraries inside it. This software is based in part on the work of the Independent JPEG Group. models/README.md names the data that the built-in models learnt from.`
}

func (c *licensesCmd) Run(a *App) error {
	all, err := licenses.All()
	if err != nil {
		return err
	}
	chosen := all
	if len(c.Module) > 0 {
		chosen = nil
		for _, path := range c.Module {
			i := slices.IndexFunc(all, func(m licenses.Module) bool { return m.Path == path })
			if i < 0 {
				return fmt.Errorf("no module %q is built in: %s licenses lists them", path, a.Program)
			}
			chosen = append(chosen, all[i])
		}
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"modules": chosen})
	}
	if len(c.Module) == 0 && !c.All {
		t := Table{Header: []string{"MODULE", "VERSION", "LICENCE"}}
		for _, m := range chosen {
			t.Add(m.Path, m.Version, m.Kind)
		}
		a.Table(t)
		return nil
	}
	for _, m := range chosen {
		for _, f := range m.Files {
			fmt.Fprintf(a.Out, "== %s %s: %s\n\n%s\n", m.Path, m.Version, f.Name, f.Text)
		}
	}
	return nil
}
