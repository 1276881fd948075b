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

var resultHeads = []any{"right", "exact", "F1", "sentence", "first", "invented", "wrong", "unknown", "refused", "read", "doubted", "spared"}

// rates are the columns of a result, in the order of resultHeads.
func rates(r answers.Result) []answers.Rate {
	return []answers.Rate{r.Holds, r.Exact, r.F1, r.Sentence, r.First, r.Invented, r.Wrong, r.WronglyUnknown, r.RightlyUnknown, r.Read, r.Doubted, r.Spared}
}

func printResults(w io.Writer, results []answers.Result) {
	fmt.Fprintf(w, "\n%-28s %-9s %4s"+strings.Repeat(" %14s", len(resultHeads))+" %7s\n", slices.Concat([]any{"set (%)", "method", "n"}, resultHeads, []any{"s each"})...)
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
			fmt.Fprintf(w, "\n%-28s %4s"+strings.Repeat(" %8s", len(resultHeads))+"\n", slices.Concat([]any{r.Set + ", " + r.Method, "n"}, resultHeads)...)
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

// markdown returns the rates of results, without those that are spared, and how often answers are right by the confidence that they
// claim, as tables in Markdown.
func markdown(results []answers.Result) string {
	var b strings.Builder
	heads := resultHeads[:len(resultHeads)-1]
	fmt.Fprintf(&b, "| set | method | n |"+strings.Repeat(" %s |", len(heads))+"\n"+strings.Repeat("|---", len(heads)+3)+"|\n", heads...)
	for _, r := range results {
		fmt.Fprintf(&b, "| `%s` | %s | %d |", r.Set, r.Method, r.N)
		for _, rate := range rates(r)[:len(heads)] {
			fmt.Fprintf(&b, " %s |", interval(rate, 0))
		}
		b.WriteByte('\n')
	}
	head := "\n| set | method | claimed | mean | right | of |\n|---|---|---|---|---|---|\n"
	for _, r := range results {
		for _, s := range r.ConfidenceBins {
			b.WriteString(head)
			head = ""
			fmt.Fprintf(&b, "| `%s` | %s | %.0f to %.0f | %.0f | %s | %d |\n", r.Set, r.Method, 100*s.Low, 100*s.High, 100*s.Claim, interval(s.Right, 0), s.Right.N)
		}
	}
	return b.String()
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
