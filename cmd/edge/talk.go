package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/prompt"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/npu/phone"
)

// talks reports whether run is to talk with a person at a terminal instead of answering one prompt.
func (c *runCmd) talks(a *cli.App) bool {
	return !c.hasText(c.Words) && !c.Raw && !a.Globals.JSON && cli.IsTerminal(os.Stdin) && cli.IsTerminal(os.Stdout) && !cli.DumbTerminal()
}

// talking is a conversation with a model, without documents.
type talking struct {
	*runCmd
	app      *cli.App
	model    *model.Model
	device   *phone.Device
	sampling sample.Params

	said []chat.Message
	seq  *model.Seq
	read []tandem.Token // what seq holds
}

// talkCommands are what can be typed instead of a prompt.
var talkCommands = []prompt.Command{
	{Name: "/clear", Help: "start a new conversation"},
	{Name: "/help", Help: "list these commands"},
	{Name: "/bye", Help: "end the conversation"},
}

// converse answers prompts until there are no more.
func (c *runCmd) converse(a *cli.App, m *model.Model, device *phone.Device, sampling sample.Params) error {
	adapter, err := c.MountAdapter(a, m)
	if err != nil {
		return err
	}
	next, err := prompt.Editor(a, prompt.Input{Person: true, Complete: complete, Commands: talkCommands})
	if err != nil {
		return err
	}
	a.Remark("%s", a.Faint("Type a prompt. /help lists commands, Ctrl-D ends."))
	t := &talking{runCmd: c, app: a, model: m, device: device, sampling: sampling, seq: m.NewSeqWith(adapter)}
	return takeInputs(a, next, "Ctrl-D or /bye ends the conversation.", t.take, func(_ string, err error) error {
		_, err = fmt.Fprintf(a.Aside, "%s: %s\n", a.Program, cli.EscapeLines(err.Error()))
		return err
	})
}

// take carries out a command or answers a prompt. It returns io.EOF to end the conversation.
func (t *talking) take(line string) error {
	name, argument, is := command(line)
	switch {
	case line == "":
		return nil
	case !is:
		return t.answer(line)
	case argument != "":
		return fmt.Errorf("/%s takes no argument", cli.Escape(name))
	}
	switch name {
	case "clear":
		t.said = nil
		t.app.Remark("A new conversation: the model sees nothing of the earlier one.")
	case "bye", "exit", "quit":
		return io.EOF
	case "help":
		for _, c := range talkCommands {
			fmt.Fprintf(t.app.Aside, "  %-8s %s\n", c.Name, c.Help)
		}
		fmt.Fprintf(t.app.Aside, "A prompt of several lines begins and ends with %s. For answers from documents: edge chat\n", threeQuotes)
	default:
		return fmt.Errorf("there is no command /%s: /help lists them", cli.Escape(name))
	}
	return nil
}

// answer answers a prompt. Ctrl-C ends the answer and not the conversation, which keeps what was written.
func (t *talking) answer(line string) error {
	said, tokens, err := t.fitting(append(t.said, t.message("user", line)))
	if err != nil {
		return err
	}
	same := tandem.CommonPrefix(t.read, tokens[:len(tokens)-1])
	t.seq.Truncate(same)
	same = min(same, t.seq.Len()) // a model with a window may have to read all again
	spec, err := t.speculator(t.app, t.model)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.app)
	defer cancel()
	defer t.app.CatchInterrupt(cancel)()
	sampling := t.sampling
	sampling.Before = tokens[:same]
	text, written, stats, err := t.stream(ctx, t.app, t.seq, tokens[same:], sampling, spec)
	fmt.Fprintln(t.app.Out)
	t.read = append(tokens, written...)
	t.read = t.read[:min(len(t.read), t.seq.Len())] // an answer's last token is not read yet
	if text != "" {
		t.said = append(said, t.message("assistant", text))
	}
	if err != nil && ctx.Err() != nil && t.app.Err() == nil {
		t.app.Remark("%s", t.app.Faint("(the answer was stopped)"))
		return nil
	}
	if err != nil {
		return err
	}
	t.printSummary(t.app, t.model, t.device, stats, t.sampling.Seed, spec)
	return t.remember(tokens, written)
}

// message is a turn as later prompts have it.
func (t *talking) message(role, text string) chat.Message {
	text = chat.Message{Role: role, Content: text}.WithoutThoughts()
	return chat.Message{Role: role, Content: t.model.Template().Escape(t.model.Tokenizer(), text)}
}

// fitting returns a conversation and how the model reads it. It leaves out the oldest turns until an answer of a quarter of the
// context fits behind it, but never the last prompt.
func (t *talking) fitting(said []chat.Message) ([]chat.Message, []tandem.Token, error) {
	context := t.model.Config().Context
	for {
		tokens, err := t.render(t.model, said)
		switch {
		case err != nil:
			return nil, nil, err
		case len(tokens) <= context-context/4, len(said) == 1 && len(tokens) <= context:
			return said, tokens, nil
		case len(said) == 1:
			return nil, nil, tooLong(t.model, len(tokens))
		}
		said = said[2:]
	}
}
