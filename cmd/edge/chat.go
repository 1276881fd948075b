package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/cmd/internal/prompt"
	"tandem/model/chat"
	"tandem/node"
)

type chatCmd struct {
	showFlags `group:"Output:"`
	answerFlags
	Turns     int  `help:"Number of earlier turns that each question sees." default:"4"`
	NoHistory bool `help:"Do not keep the questions on this machine, for the arrow keys and Ctrl-R of later chats."`
}

// Validate is called by kong.
func (c *chatCmd) Validate() error {
	return errors.Join(c.showFlags.Validate(), c.answerFlags.Validate())
}

func (c *chatCmd) Help() string {
	return `Examples:
  edge chat
  edge chat --notes ~/notes --local-only
  printf 'What is the wifi password of the lake cabin?\nWhen does the harbour museum open?\n' | edge chat --json --sample

Type a question and press Enter. A question of several lines begins and ends with """. On a terminal, the arrow keys and Ctrl-R bring back earlier questions, which are kept in a file that only you can read. Ctrl-C stops an answer, and Ctrl-D ends the chat.

` + chatHelp() + `

If a question cannot be answered, the chat prints why and continues. If the questions come from a file or another program, the exit code is then 1. If the conversation does not fit in the model's context, its oldest turns are left out.

With --json, each question gives one line: an object as "edge ask --json" prints it, with the question as "question", or {"question": "…", "error": "…"}.`
}

func (c *chatCmd) Run(a *cli.App) (err error) {
	if c.Turns < 0 {
		return fmt.Errorf("--turns %d: want 0 or more", c.Turns)
	}
	c.show = c.showFlags
	s, err := openSession(a, c.answerFlags)
	if err != nil {
		return err
	}
	t := &conversation{session: s, turns: c.Turns, person: cli.IsTerminal(os.Stdin)}
	defer func() { err = errors.Join(err, t.Close()) }()
	defer func() { t.saveMeasurements() }()
	read, err := c.reader(a, t.person)
	if err != nil {
		return err
	}
	if t.person && !a.Globals.JSON {
		a.Remark("%s", a.Faint("Ask away: ")+s.sidesToAsk()+a.Faint(". /help lists commands, Ctrl-D ends."))
	}
	defer a.Register(cli.Process{Command: "chat", Model: modelcmd.AnswererName(s.model, s.reader), Documents: s.answersFrom()})()
	return t.run(read)
}

// answersFrom names the device's documents.
func (s *session) answersFrom() string {
	switch {
	case s.flags.Notes != "":
		return "folder"
	case s.own.sample:
		return "samples"
	}
	return "index"
}

// reader returns what reads questions: an editor for a person, else lines.
func (c *chatCmd) reader(a *cli.App, person bool) (func() (string, error), error) {
	in := prompt.Input{Person: person && !a.Globals.JSON, Complete: complete}
	for _, c := range chatCommands() {
		in.Commands = append(in.Commands, prompt.Command{Name: "/" + c.names[0], Help: c.help})
	}
	if in.Person && cli.IsTerminal(os.Stdout) && !cli.DumbTerminal() {
		if !c.NoHistory {
			in.History = openQuestions(a)
		}
		return prompt.Editor(a, in)
	}
	return prompt.Lines(a, in), nil
}

// openQuestions opens the questions of earlier chats. It returns nil if they cannot be read.
func openQuestions(a *cli.App) *prompt.History {
	path, err := questionsPath(a)
	var asked *prompt.History
	if err == nil {
		asked, err = prompt.OpenHistory(path, isQuestion)
	}
	if err != nil {
		a.Remark("the questions of this chat are not kept: %v", err)
		return nil
	}
	return asked
}

// isQuestion reports whether an input is no command.
func isQuestion(text string) bool {
	_, _, is := command(text)
	return !is
}

// conversation is a chat in progress.
type conversation struct {
	*session
	turns  int
	person bool // questions come from a person, not from a file or a program

	turn    int
	history []chat.Message // what the next question sees
	said    []exchange     // the whole conversation, for /save
	last    *askJSON       // the last answer, for /sources
	failed  int            // questions and commands
}

// exchange is a question with its answer.
type exchange struct {
	question string
	answer   askJSON
}

// run answers questions until there are no more.
func (t *conversation) run(read func() (string, error)) error {
	if err := takeInputs(t.app, read, "Ctrl-D or /exit ends the chat.", t.take, t.complain); err != nil {
		return err
	}
	return t.end()
}

// takeInputs reads inputs and has each taken, until there are no more or take returns io.EOF. It complains of one that cannot be
// taken, and goes on. ending says how to end, for who presses Ctrl-C.
func takeInputs(a *cli.App, read func() (string, error), ending string, take func(string) error, complain func(line string, err error) error) error {
	for {
		line, err := read()
		switch {
		case errors.Is(err, prompt.ErrCleared):
			if line == "" {
				a.Remark("%s", ending)
			}
			continue
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, prompt.ErrLong):
			line = ""
		case err != nil:
			return err
		default:
			line = unquote(line)
			err = take(line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case a.Err() != nil:
			return errors.Join(err, a.Err())
		case err != nil:
			if err := complain(line, err); err != nil {
				return err
			}
		}
	}
}

// take carries out a command or answers a question. It returns io.EOF to end the chat.
func (t *conversation) take(line string) error {
	switch name, argument, is := command(line); {
	case line == "":
		return nil
	case is:
		return t.command(name, argument)
	case t.greets(line):
		if t.app.Globals.JSON {
			return t.app.JSONLine(chatJSON{line, t.greeted(line)})
		}
		return t.welcome(line)
	}
	t.follow()
	t.turn++
	if t.reader != nil {
		line = strings.Join(strings.Fields(line), " ") // to the span reader, a line is a question
	}
	return t.answer(node.Question{ID: fmt.Sprintf("chat-%d", t.turn), Text: line, History: t.history})
}

// follow makes the questions go to the cloud that is paired now, if they went to another one or to none.
func (t *conversation) follow() {
	old := t.session
	next, err := old.following()
	if err != nil {
		t.app.Remark("questions go where they went before: %v", err)
	}
	if next == nil {
		return
	}
	old.saveMeasurements()
	next.closers = slices.Insert(next.closers, 0, old.Close)
	old.device.Close() // an error comes again when it is closed
	t.session = next
	t.app.Remark("%s is paired now, and asked from here on", cli.Escape(next.cloud.name))
}

// answer answers a question. Ctrl-C ends the answer and not the chat.
func (t *conversation) answer(q node.Question) error {
	a := t.app
	ctx, cancel := context.WithCancel(a)
	defer cancel()
	if t.person {
		defer a.CatchInterrupt(cancel)()
	}
	answer, err := t.ask(ctx, q)
	if err != nil {
		if ctx.Err() != nil && a.Err() == nil {
			a.Remark("\n%s", a.Faint("(the answer was stopped)"))
			return nil
		}
		return err
	}
	r := t.report(answer)
	t.last, t.said = &r, append(t.said, exchange{q.Text, r})
	t.history = append(t.history, chat.Message{Role: "user", Content: q.Text}, chat.Message{Role: "assistant", Content: answer.Text})
	t.history = t.history[max(0, len(t.history)-2*t.turns):]
	if a.Globals.JSON {
		return a.JSONLine(chatJSON{q.Text, r})
	}
	t.printSummary(answer)
	return nil
}

// chatJSON is a question with its answer, as chat --json prints it on one line.
type chatJSON struct {
	Question string `json:"question"`
	askJSON
}

// complain prints why a line could not be carried out. A program may wait for one object per question.
func (t *conversation) complain(line string, err error) error {
	t.failed++
	t.app.Clear()
	fmt.Fprintf(t.app.Aside, "%s: %s\n", t.app.Program, cli.EscapeLines(err.Error()))
	if t.app.Globals.JSON {
		return t.app.JSONLine(map[string]string{"question": line, "error": err.Error()})
	}
	return nil
}

// end returns the error of the whole chat. A person has seen the errors.
func (t *conversation) end() error {
	if t.failed == 0 || t.person {
		return nil
	}
	return fmt.Errorf("%d of the lines failed; see the errors above", t.failed)
}

// threeQuotes begin and end a question of several lines.
const threeQuotes = `"""`

// complete reports whether a question that begins with threeQuotes also ends with them.
func complete(text string) bool {
	text = strings.TrimSpace(text)
	return !strings.HasPrefix(text, threeQuotes) || len(text) >= 2*len(threeQuotes) && strings.HasSuffix(text, threeQuotes)
}

// unquote removes threeQuotes around a question.
func unquote(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, threeQuotes) {
		text = strings.TrimSuffix(strings.TrimPrefix(text, threeQuotes), threeQuotes)
	}
	return strings.TrimSpace(text)
}
