package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/internal/sentences"
	"tandem/lora/rewrite"
	"tandem/models"
)

type rewriteCmd struct {
	Task                string `arg:"" help:"${enum}." enum:"correct,tone,short"`
	Set                 string `help:"Use only the sentences of this set. The program ships with judge, on which nothing was tuned, and tune." placeholder:"SET"`
	Items               string `help:"Sentences, as JSON lines. Default: those that ship with the program, written by hand." type:"existingfile" placeholder:"FILE"`
	Sentences           bool   `help:"Print every sentence and its result; with --json, tones as lines of tone, given and text."`
	MaxTokens           int    `help:"Maximum number of tokens in a rewritten sentence." default:"120"`
	modelcmd.ModelFlags `group:"Model:"`
	modelcmd.LoraFlags  `group:"Model:"`
}

func (c *rewriteCmd) Help() string {
	return `Examples:
  lab rewrite correct
  lab rewrite tone --sentences
  lab rewrite correct --items my.jsonl --model qwen2.5-0.5b-instruct-q4_k_m.gguf

A line of FILE: {"set", "given", "want": ["…"]} for correct and short, any of which is right; {"set", "given", "keep": ["…"]} for tone, all of which a version must hold.

It does what edge rewrite does. correct counts sentences that come out right, and those that were right before and no longer are. tone counts versions that keep what they must, and sentences that stay as they were because no version keeps the names and numbers. short counts messages for which a right sentence is chosen, and those for which the first sentence would be right.`
}

// rewriteItem is a sentence to rewrite.
type rewriteItem struct {
	Set   string
	Given string
	Want  []string
	Keep  []string
}

func (c *rewriteCmd) Run(a *cli.App) (err error) {
	file := map[string][]byte{"correct": models.Corrections, "tone": models.Tones, "short": models.Messages}[c.Task]
	if c.Items != "" {
		if file, err = os.ReadFile(c.Items); err != nil {
			return err
		}
	}
	var items []rewriteItem
	for n, line := range bytes.Split(bytes.TrimSpace(file), []byte("\n")) {
		var it rewriteItem
		if err := json.Unmarshal(line, &it); err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
		if c.Set == "" || it.Set == c.Set {
			items = append(items, it)
		}
	}
	if len(items) == 0 {
		return fmt.Errorf("no sentences of the set %q", c.Set)
	}
	w, err := modelcmd.OpenWriter(a, c.ModelFlags, c.LoraFlags, c.Task)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	switch c.Task {
	case "correct":
		return c.correct(a, w, items)
	case "short":
		return c.short(a, w, items)
	}
	return c.tone(a, w, items)
}

// short counts messages whose main sentence is found.
func (c *rewriteCmd) short(a *cli.App, w *rewrite.Writer, items []rewriteItem) error {
	right, first := 0, 0
	for _, it := range items {
		got, err := w.Summarize(a, it.Given, c.MaxTokens)
		if err != nil {
			return err
		}
		is := func(text string) bool {
			return slices.ContainsFunc(it.Want, func(w string) bool { return text == rewrite.WithoutGreeting(w) })
		}
		right, first = right+oneIf(is(got)), first+oneIf(is(rewrite.WithoutGreeting(sentences.Split(it.Given)[0])))
		if c.Sentences {
			fmt.Fprintf(a.Out, "%s %s\n   %s\n", map[bool]string{true: "+", false: "-"}[is(got)], it.Given, got)
		}
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"messages": len(items), "right": right, "first_sentence_right": first})
	}
	fmt.Fprintf(a.Out, "%d of %d messages right; their first sentences would be %d\n", right, len(items), first)
	return nil
}

// correct counts corrections.
func (c *rewriteCmd) correct(a *cli.App, w *rewrite.Writer, items []rewriteItem) error {
	var right, already, spoilt, wrong, mended, kept int
	for _, it := range items {
		got, _, err := rewrite.EachSentence(it.Given, func(s string) (string, error) { return w.Correct(a, s, c.MaxTokens) })
		if err != nil {
			return err
		}
		was, is := slices.Contains(it.Want, it.Given), slices.Contains(it.Want, got)
		right, already, spoilt = right+oneIf(is), already+oneIf(was), spoilt+oneIf(was && !is)
		wrong, mended = wrong+oneIf(!was), mended+oneIf(!was && is)
		kept += oneIf(slices.ContainsFunc(it.Want, func(w string) bool { return rewrite.Keeps(w, got) }))
		if c.Sentences {
			fmt.Fprintf(a.Out, "%s %s\n   %s\n", map[bool]string{true: "+", false: "-"}[is], it.Given, got)
		}
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"sentences": len(items), "right": right, "right_before": already, "wrong_before": wrong, "mended": mended, "spoilt": spoilt, "names_and_numbers_kept": kept})
	}
	fmt.Fprintf(a.Out, "%d of %d sentences right, %d before: %d of %d with errors without any now, %d of %d without changed; names and numbers kept in %d\n", right, len(items), already, mended, wrong, spoilt, already, kept)
	return nil
}

// tone counts versions that keep the names and numbers of a sentence.
func (c *rewriteCmd) tone(a *cli.App, w *rewrite.Writer, items []rewriteItem) error {
	type row struct {
		Tone      string `json:"tone"`
		Sentences int    `json:"sentences"`
		Versions  int    `json:"versions"`
		Keeping   int    `json:"keeping"`
	}
	var rows []row
	for _, tone := range rewrite.Tones {
		r := row{Tone: tone, Sentences: len(items)}
		for _, it := range items {
			got, left, err := rewrite.EachSentence(it.Given, func(s string) (string, error) { return w.Tone(a, s, tone, c.MaxTokens) })
			if err != nil {
				return err
			}
			keeps := true
			for _, k := range it.Keep {
				keeps = keeps && strings.Contains(strings.ToLower(got), strings.ToLower(k))
			}
			r.Versions, r.Keeping = r.Versions+oneIf(left == 0), r.Keeping+oneIf(keeps)
			switch {
			case c.Sentences && a.Globals.JSON:
				if err := json.NewEncoder(a.Out).Encode(map[string]string{"tone": tone, "given": it.Given, "text": got}); err != nil {
					return err
				}
			case c.Sentences:
				fmt.Fprintf(a.Out, "%s %-8s %s\n   %s\n", map[bool]string{true: "+", false: "-"}[keeps], tone, it.Given, got)
			}
		}
		rows = append(rows, r)
	}
	if a.Globals.JSON {
		if c.Sentences {
			return nil
		}
		return a.JSON(rows)
	}
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%-8s %d sentences, %d versions, %d of them keep what they must\n", r.Tone, r.Sentences, r.Versions, r.Keeping)
	}
	return nil
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
