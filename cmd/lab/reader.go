package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/decoder"
	"tandem/lab/quality"
	"tandem/model/sample"
	"tandem/retrieval/search"
)

type readerCmd struct {
	readingFlags
	Items string   `help:"Questions, as JSON lines. Default: those that ship with the program; the built-in model was not trained on them." type:"existingfile" placeholder:"FILE"`
	Kinds []string `help:"Only these kinds of questions." placeholder:"KIND"`
	Limit int      `help:"At most this many questions of each kind; 0 for all." default:"0"`
}

func (c *readerCmd) Help() string {
	return `Examples:
  lab reader
  lab reader --kinds two-split --weights static --wrong
  lab reader --items my.jsonl --model qwen2.5-0.5b-instruct-q4_k_m.gguf

A line of FILE: {"kind", "device": [{"title","text"}], "cloud": [{"title","text"}], "question", "answer", "values": ["…"]}.

exact: the answer is the expected text. values: it contains all expected values or, if there are none, says "unknown". The two sides run in lock step in this process. Their documents are those of the line, so search is not measured.`
}

func (c *readerCmd) Run(a *cli.App) error {
	items, err := quality.ReadItems(c.Items, c.Kinds, c.Limit)
	if err != nil {
		return err
	}
	return c.ask(a, items)
}

// readingFlags are the flags of reader and samples.
type readingFlags struct {
	modelcmd.ModelFlags `group:"Model:"`
	Weights             string `help:"How document weights follow the answer (see edge ask --help-all)." default:"reader"`
	Wrong               bool   `help:"Print the wrong answers."`
}

// ask asks the questions and prints the scores.
func (c *readingFlags) ask(a *cli.App, items []quality.Item) error {
	weights, err := decoder.ParseWeights(c.Weights)
	if err != nil {
		return err
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	by := quality.Answerer{Config: decoder.Config{Model: m, Scorer: search.Lexical(), Weights: weights, TopP: decoder.DefaultTopP, MaxTokens: 128, Sampling: sample.Params{}}}
	sums, start := map[string]*quality.ReadingResult{}, time.Now()
	for i, it := range items {
		if time.Since(start) > 2*time.Second {
			a.Progress("%d of %d questions", i, len(items))
		}
		if sums[it.Kind] == nil {
			sums[it.Kind] = &quality.ReadingResult{Kind: it.Kind}
		}
		answer, right, err := by.Read(a, it, sums[it.Kind])
		if err != nil {
			return fmt.Errorf("question %d (%q): %w", i+1, it.Question, err)
		}
		if c.Wrong && !right && len(it.Values) > 0 {
			fmt.Fprintf(a.Out, "%s: %s\n  want %s\n  got  %s\n", it.Kind, it.Question, it.Answer, answer)
		}
	}
	a.Clear()
	var results []quality.ReadingResult
	for _, r := range sums {
		results = append(results, r.Mean())
	}
	slices.SortFunc(results, func(a, b quality.ReadingResult) int { return cmp.Compare(a.Kind, b.Kind) })
	if a.Globals.JSON {
		return a.JSON(map[string]any{"model": m.Config().Name, "weights": weights.String(), "rows": results, "seconds": time.Since(start).Seconds()})
	}
	fmt.Fprintf(a.Out, "%s, %s weights, greedy, %d questions in %v\n\n", m.Config().Name, weights, len(items), time.Since(start).Round(time.Second))
	fmt.Fprintf(a.Out, "%-19s %5s %8s %8s %13s %12s\n", "kind", "n", "exact", "values", "device alone", "cloud alone")
	for _, r := range results {
		fmt.Fprintf(a.Out, "%-19s %5d %8.3f %8.3f %13.3f %12.3f\n", r.Kind, r.N, r.Exact, r.Values, r.Device, r.Cloud)
	}
	return nil
}
