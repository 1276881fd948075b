package indexcmd

import (
	"fmt"
	"path/filepath"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/search"
)

// progress returns what draws the progress of reading files, once that takes more than a moment.
func progress(a *cli.App, what string) func(search.Progress) {
	start := time.Now()
	var drawn time.Time
	return func(p search.Progress) {
		now := time.Now()
		if now.Sub(start) < time.Second || now.Sub(drawn) < 100*time.Millisecond && p.Done < p.Files {
			return
		}
		drawn = now
		a.Progress("%s", progressLine(what, p, now.Sub(start)))
	}
}

// waiting returns what says that another program writes the index.
func waiting(a *cli.App) func() {
	return func() { a.Progress("waiting for another program that writes the index") }
}

// fewBytes tell nothing about the time left: what is needed once, such as to start the reader of PDFs, takes most of the time.
const fewBytes = 1e6

// progressLine returns the line that progress draws after the time spent.
func progressLine(what string, p search.Progress, spent time.Duration) string {
	line := fmt.Sprintf("%s: %d of %s, %s of %s", what, p.Done, cli.Count(p.Files, "file"), cli.Bytes(p.Bytes), cli.Bytes(p.TotalBytes))
	if p.Bytes >= fewBytes && p.Bytes < p.TotalBytes {
		left := time.Duration(float64(spent) * float64(p.TotalBytes-p.Bytes) / float64(p.Bytes))
		line += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	return line + ": " + filepath.Base(p.Path)
}
