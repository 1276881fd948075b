package main

import (
	"errors"
	"fmt"
	"os"

	"tandem/cmd/internal/cli"
	"tandem/internal/meter"
	"tandem/lab"
)

type libraryCmd struct {
	Passages  int    `help:"Passages to index." default:"20000"`
	PerFile   int    `help:"Passages of a file." default:"50" placeholder:"N"`
	Questions int    `help:"Questions to search for, at each number at once." default:"500" placeholder:"N"`
	AtOnce    []int  `help:"Searches at the same time." default:"1,8"`
	Dir       string `help:"Empty folder for the documents and the index, which stay there. Default: a temporary one, which is removed." type:"path" placeholder:"DIR"`
	Seed      uint64 `help:"Seed of the documents." default:"1"`
	File      string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *libraryCmd) Help() string {
	return `Examples:
  lab library
  lab library --passages 1000000 --dir /var/tmp/library --json library.json

It writes made-up documents, indexes them on disk, and searches for facts that one passage each states. A million passages take about 1.5 GB of disk. The peak of memory is that of the whole process.`
}

type libraryReport struct {
	lab.LibraryResult
	Peak float64 `json:"peak_memory_mb"` // of the process
}

func (c *libraryCmd) Run(a *cli.App) (err error) {
	if c.Passages < 1 || c.PerFile < 1 || c.Questions < 1 || len(c.AtOnce) == 0 {
		return errors.New("--passages, --per-file and --questions: want 1 or more, and --at-once a number")
	}
	for _, n := range c.AtOnce {
		if n < 1 || n > 1024 {
			return fmt.Errorf("--at-once %d: want 1 to 1024", n)
		}
	}
	dir := c.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "tandem-library-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	x := lab.Library{Dir: dir, Passages: c.Passages, PerFile: c.PerFile, Questions: c.Questions, AtOnce: c.AtOnce, Seed: c.Seed}
	result, err := x.Run(a, progress(a, "files"))
	a.Clear()
	if err != nil {
		return err
	}
	report := libraryReport{LibraryResult: result}
	peak, _ := meter.PeakMemory()
	report.Peak = float64(peak) / (1 << 20)
	if a.Globals.JSON {
		return a.JSONTo(c.File, report)
	}
	fmt.Fprintf(a.Out, "%d passages in %d files, %.0f MB of text: indexed at %.0f passages/s, %.0f MB on disk\n", report.Passages, report.Files, report.Text, report.PerSec, report.Index)
	fmt.Fprintf(a.Out, "refresh without changes %.2f s, list %.2f s, open and first search %.2f s, peak memory %.0f MB\n\n", report.Refresh, report.List, report.Open, report.Peak)
	fmt.Fprintf(a.Out, "%8s %10s %10s %10s %10s %8s\n", "at once", "questions", "median ms", "p99 ms", "searches/s", "found")
	for _, s := range report.Searches {
		fmt.Fprintf(a.Out, "%8d %10d %10.1f %10.1f %10.0f %7.1f%%\n", s.AtOnce, s.Questions, s.Median, s.P99, s.PerSecond, 100*s.Found)
	}
	return nil
}
