package main

import (
	"errors"
	"fmt"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lora/rewrite"
)

type rewriteCmd struct {
	Words []string `arg:"" name:"text" optional:"" help:"The text. Default, and for a last argument \"-\": standard input."`
	textFlags
	showFlags           `group:"Output:"`
	Tone                string `help:"Rewrite in this tone: ${enum}." enum:",neutral,polite,formal,jovial" default:"" placeholder:"TONE"`
	Correct             bool   `help:"Correct spelling and grammar, before --tone if both are given."`
	Short               bool   `help:"Keep only the sentence that says what the text is about, before --correct and --tone."`
	MaxTokens           int    `short:"n" help:"Maximum number of tokens in a rewritten sentence." default:"120"`
	modelcmd.ModelFlags `group:"Model:"`
	modelcmd.LoraFlags  `group:"Model:"`
}

func (c *rewriteCmd) Help() string {
	return `Examples:
  edge rewrite --tone polite "Send me the report by Friday!"
  edge rewrite --correct < letter.txt
  edge rewrite --short --file mail.txt
  edge rewrite --correct --tone formal --model qwen2.5-0.5b-instruct-q4_k_m --json < letter.txt

Rewrites a text sentence by sentence; line breaks stay. The built-in model knows only English and writes nothing of its own. Its adapters choose among the spellings of a word, among the versions of a sentence in a tone, and the sentence that says what a message is about. Other models, and your own adapters (--lora), write several versions of a sentence at once; the likeliest one that keeps the numbers and names is used. If there is none, the sentence stays as it is, and a note says so.`
}

func (c *rewriteCmd) Run(a *cli.App) (err error) {
	if c.Quiet {
		a.Hush()
	}
	if c.Tone == "" && !c.Correct && !c.Short {
		return errors.New("say what to do: --tone polite (or neutral, formal, jovial), --correct, --short, or several")
	}
	if err := checkMaxTokens(c.MaxTokens); err != nil {
		return cli.Usage(err)
	}
	text, err := c.textUntyped(a, "text", c.Words, `edge rewrite --tone polite "Send me the report!"`)
	if err != nil {
		return err
	}
	kept, given := 0, text
	if c.Short {
		text, kept, err = c.with(a, "short", func(w *rewrite.Writer) (string, int, error) {
			v, err := w.Summarize(a, text, c.MaxTokens)
			if v == "" {
				return text, 1, err
			}
			return v, 0, err
		})
	}
	each := func(name string, version func(w *rewrite.Writer, sentence string) (string, error)) {
		if err != nil {
			return
		}
		n := 0
		text, n, err = c.with(a, name, func(w *rewrite.Writer) (string, int, error) {
			return rewrite.EachSentence(text, func(s string) (string, error) { return version(w, s) })
		})
		kept += n
	}
	if c.Correct {
		each("correct", func(w *rewrite.Writer, s string) (string, error) { return w.Correct(a, s, c.MaxTokens) })
	}
	if c.Tone != "" {
		each("tone", func(w *rewrite.Writer, s string) (string, error) { return w.Tone(a, s, c.Tone, c.MaxTokens) })
	}
	if err != nil {
		return err
	}
	return c.print(a, given, text, kept)
}

// print prints the new text, and what of the one given it changes that it should not.
func (c *rewriteCmd) print(a *cli.App, given, text string, kept int) error {
	lost, added := rewrite.NumbersOff(given, text)
	if a.Globals.JSON {
		return a.JSON(map[string]any{"text": text, "tone": c.Tone, "corrected": c.Correct, "short": c.Short, "sentences_left_as_they_were": kept,
			"numbers_lost": append([]string{}, lost...), "numbers_added": append([]string{}, added...)})
	}
	fmt.Fprintln(a.Out, cli.StripControls(text))
	note := func(format string, args ...any) {
		fmt.Fprintln(a.Aside, a.Faint(a.Fold(cli.Escape(fmt.Sprintf(format, args...)))))
	}
	switch builtIn := c.Model == "" && len(c.Lora) == 0; {
	case kept > 0 && builtIn && rewrite.CountForeign(given) > 0:
		note("%s left unchanged: the built-in model knows only English", cli.Count(kept, "sentence"))
	case kept > 0:
		note("%s left unchanged: not in English, or no version keeps their names and numbers", cli.Count(kept, "sentence"))
	}
	if len(lost) > 0 {
		note("these numbers of the text are not in the new one: %s", strings.Join(lost, ", "))
	}
	if len(added) > 0 {
		note("these numbers are only in the new text: %s", strings.Join(added, ", "))
	}
	return nil
}

// with opens the model for a task and does it. It returns the new text, and how many sentences stay as they were
// because no version was good.
func (c *rewriteCmd) with(a *cli.App, task string, do func(w *rewrite.Writer) (string, int, error)) (text string, kept int, err error) {
	w, err := modelcmd.OpenWriter(a, c.ModelFlags, c.LoraFlags, task)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return do(w)
}
