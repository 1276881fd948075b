package main

import (
	"fmt"
	"path/filepath"

	"tandem/cmd/internal/cli"
	"tandem/lab/report"
)

type reportCmd struct {
	From string `help:"Folder with results." default:"lab-results" type:"path" placeholder:"DIR"`
	To   string `help:"File of the page. Default: report.html in that folder." type:"path" placeholder:"FILE"`
}

func (c *reportCmd) Help() string {
	return `Examples:
  lab schedule && lab latency --simulate && lab report
  lab report --from results --to ~/results.html

Experiments save their tables (CSV) and pictures (SVG) in a folder. The report shows them all on one page, each with the command that made it.`
}

func (c *reportCmd) Run(a *cli.App) error {
	to := c.To
	if to == "" {
		to = filepath.Join(c.From, "report.html")
	}
	page, n, err := report.Page(c.From, "tandem "+cli.Version())
	if err != nil {
		return err
	}
	if err := a.WriteOutput(to, page, 0o644); err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"report": to, "results": n})
	}
	fmt.Fprintf(a.Out, "%s: %d results\n", to, n)
	return nil
}
