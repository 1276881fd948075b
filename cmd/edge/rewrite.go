package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"tandem/cmd/internal/cli"
	"tandem/internal/sentences"
	"tandem/lora/streams"
)

type rewriteCmd struct {
	Words []string `arg:"" name:"text" optional:"" help:"The text; without it, standard input."`
	textFlags
	showFlags      `group:"Output:"`
	Tone           string `help:"Rewrite in this tone: ${enum}." enum:",neutral,polite,formal,jovial" default:"" placeholder:"TONE"`
	Correct        bool   `help:"Correct spelling and grammar, before --tone if both are given."`
	MaxTokens      int    `short:"n" help:"Most tokens that a sentence becomes." default:"120"`
	cli.ModelFlags `group:"Model:"`
	cli.LoraFlags  `group:"Model:"`
}

func (c *rewriteCmd) Help() string {
	return `Examples:
  edge rewrite --model qwen2.5-0.5b-instruct-q4_k_m --tone polite "Send me the report by Friday!"
  edge rewrite --model qwen2.5-0.5b-instruct-q4_k_m --correct < letter.txt
  edge rewrite --lora mine --tone formal --file mail.txt

Rewrites a text sentence by sentence; line breaks stay. Several versions of a sentence are written at once, and the likeliest that keeps its numbers and names is taken. If none does, the sentence stays as it is and a note says so. It needs a model that follows instructions, or an adapter: the built-in model cannot rewrite.`
}

// versions of a sentence are written at once.
const versions = 4

func (c *rewriteCmd) Run(a *cli.App) (err error) {
	if c.Quiet {
		a.Hush()
	}
	if c.Tone == "" && !c.Correct {
		return errors.New("say what to do: --tone polite (or neutral, formal, jovial), --correct, or both")
	}
	if c.MaxTokens < 1 {
		return fmt.Errorf("--max-tokens %d: want 1 or more", c.MaxTokens)
	}
	if len(c.Words) == 0 && c.Prompt == "" && c.File == "" && term.IsTerminal(int(os.Stdin.Fd())) {
		return errors.New("no text: give it on standard input, with --file, or as in: edge rewrite --tone polite \"Send me the report!\"")
	}
	text, err := c.text(c.Words)
	if err != nil {
		return err
	}
	kept := 0
	if c.Correct {
		n := 0
		if text, n, err = c.pass(a, "correct", text, "Correct the text.", "Correct spelling and grammar of this text. Write only the corrected text."); err != nil {
			return err
		}
		kept += n
	}
	if c.Tone != "" {
		n := 0
		short := "Rewrite the text in a " + c.Tone + " tone."
		if text, n, err = c.pass(a, "tone", text, short, short+" Keep its meaning. Write only the new text."); err != nil {
			return err
		}
		kept += n
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"text": text, "tone": c.Tone, "corrected": c.Correct, "sentences_left_as_they_were": kept})
	}
	fmt.Fprintln(a.Out, cli.Said(text))
	if kept > 0 {
		fmt.Fprintln(a.Aside, a.Faint(fmt.Sprintf("%d left as they were: no version kept their names and numbers", kept)))
	}
	return nil
}

// pass rewrites every sentence of a text. It returns how many it left as they were because no version was good.
func (c *rewriteCmd) pass(a *cli.App, name, text, short, long string) (out string, kept int, err error) {
	w, err := openWriter(a, c.ModelFlags, c.LoraFlags, name)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	from := 0
	for _, end := range append(sentences.Ends(text), len(text)) {
		piece := text[from:end]
		from = end
		sentence := strings.TrimSpace(piece)
		if sentence == "" {
			out += piece
			continue
		}
		version, err := c.version(a, w, sentence, short, long)
		if err != nil {
			return "", 0, err
		}
		if version == "" {
			version, kept = sentence, kept+1
		}
		at := strings.Index(piece, sentence)
		out += piece[:at] + version + piece[at+len(sentence):]
	}
	return out, kept, nil
}

// version returns the likeliest version of a sentence that keeps its names and numbers, or "".
func (c *rewriteCmd) version(a *cli.App, w *writer, sentence, short, long string) (string, error) {
	tokens, err := task(w.Model, sentence, short, long)
	if err != nil {
		return "", err
	}
	list, _, err := streams.Generate(a, w.NewSeqWith(w.adapter), tokens, versions, streams.Options{Tokens: c.MaxTokens, Stop: []string{"\n"}, Min: leastFirst})
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(list, func(x, y streams.Stream) int {
		return int(max(-1, min(1, 1e6*(y.PerToken()-x.PerToken()))))
	})
	for _, s := range list {
		if version := strings.TrimSpace(s.Text); version != "" && len(s.Tokens) < c.MaxTokens && keeps(sentence, version) {
			return version, nil
		}
	}
	return "", nil
}

var numberPattern = regexp.MustCompile(`\d+(?:[.,:]\d+)*`)

// keeps reports whether a version has the numbers of a sentence, as often, and the names in it, as whole words: words of three
// letters or more with a capital that do not begin the sentence.
func keeps(sentence, version string) bool {
	before, after := numberPattern.FindAllString(sentence, -1), numberPattern.FindAllString(version, -1)
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		return false
	}
	words := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	there := words(version)
	for i, w := range words(sentence) {
		r, _ := utf8.DecodeRuneInString(w)
		if i > 0 && unicode.IsUpper(r) && utf8.RuneCountInString(w) > 2 && !slices.Contains(there, w) {
			return false
		}
	}
	return true
}
