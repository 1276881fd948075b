package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/lab/report"
)

// outputFlags say where the results of an experiment go.
type outputFlags struct {
	Out  string `help:"Folder for tables and pictures." default:"lab-results" type:"path" placeholder:"DIR"`
	File string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

// finish saves a report, then prints its findings or, with --json, its results.
func (o outputFlags) finish(a *cli.App, r report.Report) error {
	if err := o.save(a, &r); err != nil {
		return err
	}
	if a.Globals.JSON {
		return o.rows(a, r)
	}
	fmt.Fprintln(a.Out, r.Title)
	for _, f := range r.Findings {
		fmt.Fprintln(a.Out, "  "+f)
	}
	for _, f := range r.Figures {
		fmt.Fprintln(a.Out, filepath.Join(o.Out, f.Name+".svg"))
	}
	for _, t := range r.Tables {
		fmt.Fprintln(a.Out, filepath.Join(o.Out, t.Name+".csv"))
	}
	if len(r.Results) > 0 || len(r.Tables) == 0 {
		fmt.Fprintln(a.Out, filepath.Join(o.Out, r.Name+".csv"))
	}
	return nil
}

// save saves a report together with the command that made it.
func (o outputFlags) save(a *cli.App, r *report.Report) error {
	a.Clear()
	r.Taken, r.Command = time.Now(), commandLine()
	return r.Save(o.Out)
}

// rows writes the results as {"rows": [...]}.
func (o outputFlags) rows(a *cli.App, r report.Report) error {
	whole := struct {
		Rows []report.Result `json:"rows"`
	}{r.Results}
	return a.JSONTo(o.File, whole)
}

func (o outputFlags) check(a *cli.App) error { return a.CheckJSONFile(o.File) }

// commandLine returns the running command as it would be typed in a shell.
func commandLine() string {
	words := []string{"lab"}
	for _, w := range os.Args[1:] {
		if w == "" || strings.ContainsAny(w, " '\"$&;|<>*?\\") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// progress returns a function that draws a progress bar.
func progress(a *cli.App, what string) report.Progress {
	start := time.Now()
	return func(done, total int) {
		const width = 30
		full := width * done / max(total, 1)
		left := ""
		if done > 0 && done < total {
			left = ", " + (time.Since(start) / time.Duration(done) * time.Duration(total-done)).Round(time.Second).String() + " to go"
		}
		a.Progress("%s [%s%s] %d/%d%s", what, strings.Repeat("#", full), strings.Repeat(".", width-full), done, total, left)
	}
}
