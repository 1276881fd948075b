package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/lab/answers"
)

// showAnswer prints an answer with what a right one says and what was read.
func showAnswer(w io.Writer, q answers.Question, method string, a answers.Answer, s answers.Score, stage answers.Stage) {
	lost := ""
	if stage != "" && s.Outcome != answers.Right {
		lost = ", lost in " + string(stage)
	}
	if s.Sentence {
		lost += ", sentence shown"
	}
	fmt.Fprintf(w, "%s %s, %s: %v%s\n  question  %s\n  answer    %s\n", q.ID, q.Kind, method, s.Outcome, lost, q.Text, cli.Escape(a.Text))
	if len(s.Invented) > 0 {
		fmt.Fprintf(w, "  invented  %s\n", cli.Escape(strings.Join(s.Invented, ", ")))
	}
	for _, other := range a.Other {
		fmt.Fprintf(w, "  otherwise %s\n", cli.Escape(other))
	}
	for _, p := range q.Parts {
		fmt.Fprintf(w, "  expected  %s\n", strings.Join(p.Answers, " | "))
		if p.Sentence != "" {
			fmt.Fprintf(w, "  sentence  %s\n", p.Sentence)
		}
	}
	for _, p := range a.Read {
		fmt.Fprintf(w, "  read      %s\n", cli.Escape(strings.ReplaceAll(p, "\n", " / ")))
	}
	fmt.Fprintln(w)
}

// percent prints a rate.
func percent(r answers.Rate) string {
	if r.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*r.Mean)
}

// interval prints a rate in per cent, with some decimals, and its interval.
func interval(r answers.Rate, decimals int) string {
	if r.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.*f (%.0f–%.0f)", decimals, 100*r.Mean, 100*r.Low, 100*r.High)
}

var resultHeads = []string{"right", "exact", "F1", "sentence", "first", "invented", "wrong", "unknown", "refused", "read", "doubted", "spared"}

// rates are the columns of a result, in the order of resultHeads.
func rates(r answers.Result) []answers.Rate {
	return []answers.Rate{r.Holds, r.Exact, r.F1, r.Sentence, r.First, r.Invented, r.Wrong, r.WronglyUnknown, r.RightlyUnknown, r.Read, r.Doubted, r.Spared}
}

// resultLine returns resultHeads above columns of a width.
func resultLine(width int) (line string) {
	for _, head := range resultHeads {
		line += fmt.Sprintf(" %*s", width, head)
	}
	return line
}

func printResults(w io.Writer, results []answers.Result) {
	fmt.Fprintf(w, "\n%-28s %-9s %4s%s %7s\n", "set (%)", "method", "n", resultLine(14), "s each")
	for _, r := range results {
		fmt.Fprintf(w, "%-28s %-9s %4d", r.Set, r.Method, r.N)
		for _, rate := range rates(r) {
			fmt.Fprintf(w, " %14s", interval(rate, 1))
		}
		fmt.Fprintf(w, " %7.3f\n", r.Median)
	}
}

// printKinds prints the results by kind of question.
func printKinds(w io.Writer, results []answers.Result) {
	for _, r := range results {
		if len(r.Kinds) > 0 {
			fmt.Fprintf(w, "\n%-28s %4s%s\n", r.Set+", "+r.Method, "n", resultLine(8))
		}
		for _, k := range r.Kinds {
			fmt.Fprintf(w, "  %-26s %4d", k.Kind, k.N)
			for _, rate := range rates(k) {
				fmt.Fprintf(w, " %8s", percent(rate))
			}
			fmt.Fprintln(w)
		}
	}
	printConfidence(w, results)
	fmt.Fprintln(w, "\nAnswerable questions that were not answered rightly, by where the answer was lost:")
	for _, r := range results {
		fmt.Fprintf(w, "%-28s %-9s", r.Set, r.Method)
		for _, stage := range answers.Stages {
			fmt.Fprintf(w, "  %s %d", stage, r.Lost[stage])
		}
		fmt.Fprintln(w)
	}
}

// printConfidence prints, by claimed probability, how often answers are right.
func printConfidence(w io.Writer, results []answers.Result) {
	head := "\nAnswers (%) by the confidence that they claim:\n"
	for _, r := range results {
		for _, s := range r.ConfidenceBins {
			fmt.Fprintf(w, "%s%-28s %-9s  %3.0f to %3.0f: claimed %.0f, right %s of %d\n", head, r.Set, r.Method, 100*s.Low, 100*s.High, 100*s.Claim, interval(s.Right, 1), s.Right.N)
			head = ""
		}
	}
}

// tabulate prints the rates of results, those by kind of question, and how often answers are right by the confidence that they claim.
func tabulate(t *tables, results []answers.Result) error {
	columns := append([]string{"set", "method", "n"}, resultHeads...)
	t.begin("results", columns...)
	for _, r := range results {
		t.row(rateCells(r, "`"+r.Set+"`", func(rate answers.Rate) string { return interval(rate, 0) })...)
	}
	columns[0] = "kind"
	for _, r := range results {
		t.text("\n`" + r.Set + "`\n\n")
		t.begin(r.Set, columns...)
		for _, k := range r.Kinds {
			t.row(rateCells(k, k.Kind, percent)...)
		}
	}
	t.text("\n")
	t.begin("confidence", "set", "method", "claimed", "mean", "right", "of")
	for _, r := range results {
		for _, s := range r.ConfidenceBins {
			t.row("`"+r.Set+"`", r.Method, fmt.Sprintf("%.0f to %.0f", 100*s.Low, 100*s.High), fmt.Sprintf("%.0f", 100*s.Claim), interval(s.Right, 0), fmt.Sprint(s.Right.N))
		}
	}
	return t.end()
}

// rateCells returns the cells of a result in a row of a table.
func rateCells(r answers.Result, name string, show func(answers.Rate) string) []string {
	cells := []string{name, r.Method, fmt.Sprint(r.N)}
	for _, rate := range rates(r) {
		cells = append(cells, show(rate))
	}
	return cells
}

// printRecalls prints how often the sentences that hold the answer are retrieved.
func printRecalls(w io.Writer, recalls []recallRow) {
	if len(recalls) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%-28s %-12s %4s", "recall (%) by passages", "by", "n")
	for _, k := range answers.Depths {
		fmt.Fprintf(w, " %14d", k)
	}
	fmt.Fprintln(w)
	for _, r := range recalls {
		fmt.Fprintf(w, "%-28s %-12s %4d", r.Set, r.Method, r.At[1].N)
		for _, k := range answers.Depths {
			fmt.Fprintf(w, " %14s", interval(r.At[k], 1))
		}
		fmt.Fprintln(w)
	}
}

// printInvented lists the words that were invented.
func printInvented(w io.Writer, results []answers.Result) {
	for _, r := range results {
		if len(r.Words) > 0 {
			words := slices.Sorted(maps.Keys(r.Words))
			fmt.Fprintf(w, "\ninvented by %s on %s: %s\n", r.Method, r.Set, cli.Escape(strings.Join(words, ", ")))
		}
	}
}
