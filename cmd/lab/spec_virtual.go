package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lab/spec"
	"tandem/model"
)

// checkVirtual checks the flags beside --step.
func (c *specCmd) checkVirtual() error {
	if len(c.Step) == 0 {
		return nil
	}
	for _, step := range c.Step {
		if step < 0 {
			return fmt.Errorf("--step %v: must not be negative", step)
		}
	}
	switch {
	case len(c.Passes) == 0:
		return errors.New("--step depends on no clock, so passes are not measured: give their times with --passes")
	case c.SVG != "" || c.Forecast != "" || c.Denoiser != "" || !slices.Equal(c.Words, []string{"own"}):
		return errors.New("--step goes with neither --svg, --forecast, --denoiser nor --words: leave them out")
	}
	return nil
}

// runVirtual prints what the methods give with drafters whose steps take the times of --step.
func (c *specCmd) runVirtual(a *cli.App, m *model.Model, x spec.Experiment) error {
	inputs, cut, err := c.taskInputs(m)
	if err != nil {
		return err
	}
	a.Progress("the model answers")
	rows, err := x.RunVirtual(a, inputs, c.methods(), c.Step, func(done, total int) { a.Progress("run %d of %d", done, total) })
	if err != nil {
		return err
	}
	a.Clear()
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"rows": rows, "steps_ns": c.Step, "costs_ms": milliseconds(x.Costs[:32]), "cut": cut, "model": cmp.Or(c.Model, modelcmd.BuiltInDecoder)})
	}
	fmt.Fprintf(a.Out, "answers by %s\n", x.Name)
	printPasses(a.Out, x.CostsOf, x.Costs)
	printCut(a.Out, cut)
	printVirtual(a.Out, rows)
	return nil
}

func printVirtual(w io.Writer, rows []spec.VirtualResult) {
	fmt.Fprintf(w, "\n%-8s %-12s", "method", "inputs")
	for _, r := range rows[0].Ratios {
		fmt.Fprintf(w, " %12s", r.Task)
	}
	fmt.Fprintf(w, " %12s\n", "mean (worst)")
	for _, r := range rows {
		fmt.Fprintf(w, "%-8s %-12s", r.Method, fmt.Sprintf("%d, %d, ...", r.First, r.First+2))
		for _, ratio := range append(slices.Clone(r.Ratios), spec.VirtualRatio{Ratio: r.Mean, Worst: r.Worst}) {
			fmt.Fprintf(w, " %12s", fmt.Sprintf("%.2f (%.2f)", ratio.Ratio, ratio.Worst))
		}
		fmt.Fprintln(w)
	}
}
