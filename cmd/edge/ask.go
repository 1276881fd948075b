package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/prompt"
	"tandem/node"
)

type askCmd struct {
	Question []string `arg:"" optional:"" help:"The question. Default, and for a last argument \"-\": standard input."`
	textFlags
	showFlags `group:"Output:"`
	answerFlags
	FailUnknown bool   `help:"Exit with status 1 if a part of the answer is not known." group:"Output:"`
	Record      string `help:"Write what happens during the answer to FILE, as JSON lines: delays, drafts, tokens, round trips. \"lab schedule --replay FILE\" plays it back." type:"path" placeholder:"FILE" hidden:""`
}

// Validate is called by kong.
func (c *askCmd) Validate() error {
	return errors.Join(c.showFlags.Validate(), c.answerFlags.Validate())
}

func (c *askCmd) Help() string {
	return `Examples:
  edge ask "What is the wifi password of the lake cabin, and when does the harbour museum open?"
  edge ask --notes ~/notes "Who owns the marina?"
  edge ask --sample --rtt 300ms "When does the harbour museum open?"
  edge ask --local-only "Where do I keep the spare key?"
  edge ask --json "What did we decide?" | jq .answer
  edge ask - < question.txt
  edge ask -q --fail-unknown "Who owns the marina?" || echo "Nobody knows."
  edge ask --model qwen2.5:0.5b "What did we decide?"   after: edge models pull qwen2.5:0.5b

On a terminal, colours show which side drafted each token: device, cloud, both or neither.`
}

// HelpAll describes the flags for experiments.
func (c *askCmd) HelpAll() string {
	return `More examples:
  edge ask --model qwen2.5:1.5b --json-schema bill.json "What do we owe to the plumber, and by when?"
  edge ask --sample --placement device --rtt 300ms "When does the harbour museum open?"
  edge ask --sample --coupling speculative --placement greedy --gamma auto --record answer.jsonl "When does the harbour museum open?"
  edge ask --sample --method drdg-tw --rtt 300ms "When does the harbour museum open?"
  edge ask --sample --method drcg-kv --send-documents "When does the harbour museum open?"

The methods other than tandem are baselines. dragon: the paper's coupling, aggregated on the side where that should take less time (greedy). crcg: one side alone, with all its passages in one context. drcg-text, drcg-kv: the device fetches the cloud's passages, or also their KV caches, and answers alone. drdg-tw: one round trip per token. drdg-sw: each side writes a whole answer, and the likelier one is taken.

A recording holds distributions, which can reveal something about your documents. Its fields are those of the type Line in the package node.`
}

func (c *askCmd) Run(a *cli.App) (err error) {
	question, err := c.text(a, "question", c.Question)
	if err != nil {
		return err
	}
	c.show = c.showFlags
	s, err := openSession(a, c.answerFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.greets(question) {
		return s.welcome(question)
	}
	if c.Record != "" {
		record, e := s.record(c.Record)
		if e != nil {
			return e
		}
		defer func() {
			if err == nil {
				err = record()
			}
		}()
	}
	answer, err := s.ask(a, node.Question{ID: "ask", Text: question})
	if a.Globals.JSON {
		if err == nil {
			err = a.JSON(s.report(answer))
		}
	} else if err == nil {
		s.printSummary(answer)
	}
	if err == nil {
		s.saveMeasurements()
		if c.FailUnknown && s.report(answer).Unknown {
			err = errors.New("a part of the answer is not known")
		}
	}
	return err
}

// maxText is how many bytes of a question or prompt are read.
const maxText = prompt.MaxBytes

// hasText reports whether the arguments or the flags give a text.
func (f textFlags) hasText(args []string) bool {
	return len(args) > 0 || f.Prompt != "" || f.File != ""
}

// textUntyped is text for a command that asks nobody to type at a terminal. Its error then shows an example.
func (f textFlags) textUntyped(a *cli.App, what string, args []string, example string) (string, error) {
	if !f.hasText(args) && cli.IsTerminal(os.Stdin) {
		return "", fmt.Errorf("no %s: give it on standard input, with --file, or as in: %s", what, example)
	}
	return f.text(a, what, args)
}

// text returns the text that the flags give, which errors call what it is for, the arguments as one text or, without
// any of these, standard input. Standard input also stands in for a last argument "-".
func (f textFlags) text(a *cli.App, what string, args []string) (string, error) {
	given := 0
	for _, is := range []bool{len(args) > 0, f.Prompt != "", f.File != ""} {
		if is {
			given++
		}
	}
	text := strings.Join(args, " ") + f.Prompt
	switch {
	case given > 1:
		return "", errors.New("arguments, --prompt and --file: give only one of these")
	case f.File != "" && f.File != "-":
		file, err := os.Open(f.File)
		if err != nil {
			return "", err
		}
		defer file.Close()
		if text, err = readText(file); err != nil {
			return "", fmt.Errorf("%s: %w", f.File, err)
		}
	case given == 0, f.File == "-", endsInDash(args):
		typed, err := interruptible(a, func() (string, error) { return typedText(what) })
		if err != nil {
			return "", fmt.Errorf("read the %s: %w", what, err)
		}
		text = strings.TrimSpace(strings.TrimSuffix(text, "-")) + "\n" + typed
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("the %s is empty", what)
	}
	return text, nil
}

// endsInDash reports whether the last argument stands for standard input. Others do not: they may be a minus.
func endsInDash(args []string) bool { return len(args) > 0 && args[len(args)-1] == "-" }

// typedText reads standard input. Of a terminal it reads one line, and asks for it.
func typedText(what string) (string, error) {
	if !cli.IsTerminal(os.Stdin) {
		return readText(os.Stdin)
	}
	fmt.Fprintf(os.Stderr, "%s: ", what)
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, maxText)).ReadString('\n')
	if err == io.EOF { // Ctrl-D
		fmt.Fprintln(os.Stderr)
		err = nil
	}
	return line, err
}

// interruptible reads a text that somebody may still type. An interrupt ends the wait for it.
func interruptible(ctx context.Context, read func() (string, error)) (string, error) {
	var text string
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		text, err = read()
	}()
	select {
	case <-done:
		return text, err
	case <-ctx.Done():
		if cli.IsTerminal(os.Stdin) {
			fmt.Fprintln(os.Stderr) // end the line in which the terminal shows ^C
		}
		return "", ctx.Err()
	}
}

func readText(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err == nil && len(data) > maxText {
		err = fmt.Errorf("more than %s", cli.Bytes(maxText))
	}
	if err == nil && bytes.IndexByte(data, 0) >= 0 {
		err = errors.New("binary: it holds NUL bytes, so it is no text")
	}
	return string(data), err
}
