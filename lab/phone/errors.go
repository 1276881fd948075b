package phone

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tandem/lab/report"
	"tandem/npu/phone/sim"
)

// validate compares the simulator with published figures, and says where its parameters come from.
func (x Experiment) validate(_ context.Context, r *report.Report, data *Data) error {
	figures, err := validate(sim.Default(), data.Accept)
	if err != nil {
		return err
	}
	data.Validation, data.Summary = figures, summarise(figures)
	if data.Parameters, err = chipOrigins(); err != nil {
		return err
	}
	r.Tables = append(r.Tables, summaryTable(data.Summary), originsTable(data.Parameters), validationTable(figures))
	all := data.Summary[len(data.Summary)-1]
	r.Findings = append(r.Findings,
		fmt.Sprintf("Of %d published figures that the simulator predicts and was not fitted to, it meets %d within 10 %% and %d within 25 %%; half of the errors are below %.0f %%, the worst is %.0f %%. Not among them: %d that parameters were fitted to, %d that follow from its rules or parameters, %d that repeat another, %d of drafting, which is measured here, %d that it cannot predict.",
			all.Compared, all.Within10, all.Within25, 100*all.Median.Value, 100*all.Worst.Value, all.Fitted, all.Given, all.Repeated, all.Measured, all.Open),
		bySource(data.Summary),
		"Many of these figures belong to one measurement: eight use cases of one table, ranges of the same cells. The medians by source say more than the sum.",
		brokenBounds(all, figures), wrongSide(figures), parametersFinding(data.Parameters))
	r.Findings = append(r.Findings, ablationFindings(figures)...)
	return nil
}

// validationTable has a line for each figure.
func validationTable(figures []PublishedFigure) report.Table {
	t := report.Table{Name: "npu-validation", Title: "The simulator and published figures", Columns: []string{"figure", "unit", "kind", "published", "predicted", "error", "fitted", "note"}}
	for _, f := range figures {
		published, e := f.Published.Brief(), ""
		switch {
		case f.Upper.Known:
			published += " to " + f.Upper.Brief()
		case f.Side != "":
			published = f.Side + " " + published
		}
		switch {
		case f.Error.Known:
			e = fmt.Sprintf("%+.1f %%", 100*f.Error.Value)
		case f.Holds != nil && *f.Holds:
			e = "holds"
		case f.Holds != nil:
			e = "CONTRADICTED"
		}
		t.Rows = append(t.Rows, []string{f.Figure, f.Unit, string(f.Kind), published, f.Predicted.Brief(), e, strconv.FormatBool(f.Fitted), f.Note})
	}
	return t
}

// summaryTable has a line for each source.
func summaryTable(sums []SourceErrors) report.Table {
	t := report.Table{Name: "npu-validation-summary", Title: "Errors of the simulator by source",
		Columns: []string{"source", "compared", "within_10_percent", "within_25_percent", "median_error", "worst_error", "fitted", "bounds", "bounds_broken", "given", "repeated", "measured", "open"}}
	for _, s := range sums {
		row := []string{s.Source}
		for _, n := range []int{s.Compared, s.Within10, s.Within25} {
			row = append(row, strconv.Itoa(n))
		}
		row = append(row, s.Median.Brief(), s.Worst.Brief())
		for _, n := range []int{s.Fitted, s.Bounds, s.Broken, s.Given, s.Repeated, s.Measured, s.Open} {
			row = append(row, strconv.Itoa(n))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// bySource lists each source's errors.
func bySource(sums []SourceErrors) string {
	var parts []string
	for _, s := range sums[:len(sums)-1] {
		if s.Compared == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d figures, %d within 10 %%, %d within 25 %%, median %.0f %%, worst %.0f %%", s.Source, s.Compared, s.Within10, s.Within25, 100*s.Median.Value, 100*s.Worst.Value))
	}
	return "Errors by source: " + strings.Join(parts, "; ") + "."
}

// brokenBounds names the published bounds that the simulator contradicts.
func brokenBounds(all SourceErrors, figures []PublishedFigure) string {
	var broken []string
	for _, f := range figures {
		if f.Holds != nil && !*f.Holds {
			broken = append(broken, fmt.Sprintf("%s (%s %s, predicted %.3g)", f.Figure, f.Side, f.Published.Brief(), f.Predicted.Value))
		}
	}
	text := fmt.Sprintf("Of %d statements that bound a figure on one side, which count as no error, the simulator contradicts %d", all.Bounds, all.Broken)
	if len(broken) == 0 {
		return text + "."
	}
	return text + ": " + strings.Join(broken, "; ") + "."
}

// wrongSide counts published advantages that the simulator does not find.
func wrongSide(figures []PublishedFigure) string {
	n, all := 0, 0
	for _, f := range figures {
		if f.Kind == Compared && f.Unit == "×" && f.Published.Value > 1 {
			if all++; f.Predicted.Value <= 1 {
				n++
			}
		}
	}
	return fmt.Sprintf("Of %d published factors above 1 (times faster, times less energy) the simulator puts %d at 1 or below: it cannot tell whether a technique pays.", all, n)
}

// ChipOrigins says where the values of one chip's parameter file come from.
type ChipOrigins struct {
	SoC string `json:"soc"` // or "all"
	sim.Origins
}

// chipOrigins counts each chip's values. The last is for all chips.
func chipOrigins() (out []ChipOrigins, err error) {
	all := ChipOrigins{SoC: "all"}
	for _, name := range sim.Names() {
		s, err := sim.Open(name)
		if err != nil {
			return nil, err
		}
		out = append(out, ChipOrigins{name, s.Origins()})
		all.Origins = all.Plus(s.Origins())
	}
	return append(out, all), nil
}

// originsTable has a line for each chip.
func originsTable(chips []ChipOrigins) report.Table {
	t := report.Table{Name: "npu-parameters", Title: "Where the chips' parameters come from", Columns: []string{"soc", "values", "sourced", "fitted", "carried", "carried_from_fits"}}
	for _, c := range chips {
		t.Rows = append(t.Rows, []string{c.SoC, strconv.Itoa(c.Sum()), strconv.Itoa(c.Sourced), strconv.Itoa(c.Fitted), strconv.Itoa(c.Carried), strconv.Itoa(c.FromFits)})
	}
	return t
}

// parametersFinding lists the shares.
func parametersFinding(chips []ChipOrigins) string {
	all := chips[len(chips)-1]
	share := func(n int) float64 { return 100 * float64(n) / float64(all.Sum()) }
	return fmt.Sprintf("Of the %d values of the chips' parameters %d (%.0f %%) have a source or say how a stack works, %d (%.0f %%) were fitted to published figures and %d (%.0f %%) are carried over from another chip or stack with the reason, %d of these from a fit.",
		all.Sum(), all.Sourced, share(all.Sourced), all.Fitted, share(all.Fitted), all.Carried, share(all.Carried), all.FromFits)
}
