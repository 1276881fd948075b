package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/atomicfile"
)

// Report is what an experiment found.
type Report struct {
	Name      string // of the experiment and of its files
	Title     string
	About     string // what was measured, and how
	Command   string // that repeats it
	Taken     time.Time
	Results   []Result `json:"Rows"`
	Tables    []Table  `json:",omitempty"` // with columns that a Result lacks
	Figures   []Figure
	Findings  []string // what the results say, in sentences with numbers
	Simulated bool     // all of it
}

// Table is a table whose columns differ from those of Result.
type Table struct {
	Name    string // of its file, without the ending
	Title   string
	Columns []string
	Rows    [][]string
}

// write writes the table as CSV.
func (t Table) write(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := errors.Join(out.Write(t.Columns), out.WriteAll(t.Rows)); err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	return nil
}

// Figure is a picture in a report.
type Figure struct {
	Name string // of its file, without the ending
	SVG  []byte
}

// Save writes the report to files of dir: its results and tables as CSV, its pictures, and all of it as JSON for Page.
func (r Report) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save %s: %w", r.Name, err)
	}
	var table bytes.Buffer
	if err := writeCSV(&table, r.Results); err != nil {
		return err
	}
	whole, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("save %s: %w", r.Name, err)
	}
	errs := []error{write(filepath.Join(dir, r.Name+".result.json"), whole)}
	if len(r.Results) > 0 || len(r.Tables) == 0 {
		errs = append(errs, write(filepath.Join(dir, r.Name+".csv"), table.Bytes()))
	}
	for _, t := range r.Tables {
		var b bytes.Buffer
		errs = append(errs, t.write(&b), write(filepath.Join(dir, t.Name+".csv"), b.Bytes()))
	}
	for _, f := range r.Figures {
		errs = append(errs, write(filepath.Join(dir, f.Name+".svg"), f.SVG))
	}
	return errors.Join(errs...)
}

// write replaces a file in one step, so that no reader sees half of it.
func write(path string, data []byte) error {
	if err := atomicfile.Write(path, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// load reads a report that Save wrote.
func load(path string) (Report, error) {
	var r Report
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("load a report: %w", err)
	}
	return r, nil
}

// Progress reports how much of an experiment is done. Several goroutines may call it, one at a time.
type Progress func(done, total int)
