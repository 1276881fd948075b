package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"tandem/cmd/internal/cli"
	"tandem/model/chat"
	"tandem/node"
)

type chatCmd struct {
	answerFlags
	Turns int `help:"Earlier turns that a question sees." default:"4"`
}

func (c *chatCmd) Help() string {
	return `Examples:
  edge chat
  edge chat --notes ~/notes --local-only
  printf 'Who owns the marina?\nWhen does the harbour museum open?\n' | edge chat --json

Type a question and press Enter. /new starts a new conversation, /quit or Ctrl-D ends the chat.

If a question cannot be answered, the chat prints why (with --json as {"error": "…"}) and goes on. If the questions come from a file or another program, the exit code is then 1. If the conversation does not fit in the model's context, its oldest turns are left out.`
}

func (c *chatCmd) Run(a *cli.App) (err error) {
	if c.Turns < 0 {
		return fmt.Errorf("--turns %d: want 0 or more", c.Turns)
	}
	s, err := c.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	defer s.learn()
	person := term.IsTerminal(int(os.Stdin.Fd()))
	prompt := person && !a.Globals.JSON
	if prompt {
		fmt.Fprintln(a.Aside, a.Faint("Ask away. /new starts a new conversation, /quit ends."))
	}
	lines, readErr := readLines()
	var history []chat.Message
	failed := 0
	done := func() error {
		if failed == 0 || person { // a person has seen the errors
			return nil
		}
		return fmt.Errorf("%d of the questions could not be answered; see the errors above", failed)
	}
	for turn := 1; ; turn++ {
		if prompt {
			fmt.Fprint(a.Aside, "> ")
		}
		var line string
		var open bool
		select {
		case line, open = <-lines:
		case <-a.Done():
			return a.Err()
		}
		if !open {
			return errors.Join(<-readErr, done())
		}
		switch line = strings.TrimSpace(line); line {
		case "":
			continue
		case "/quit", "/exit":
			return done()
		case "/new":
			history = nil
			continue
		}
		if greets(line) {
			if err := welcome(a); err != nil {
				return err
			}
			continue
		}
		answer, err := s.ask(node.Question{ID: fmt.Sprintf("chat-%d", turn), Text: line, History: history}, !a.Globals.JSON)
		if err != nil {
			if a.Err() != nil {
				return err
			}
			failed++
			a.Remark("%s: %v", a.Program, err)
			if a.Globals.JSON { // a program may wait for one object per question
				if err := a.JSON(map[string]string{"error": err.Error()}); err != nil {
					return err
				}
			}
			continue
		}
		if a.Globals.JSON {
			if err := a.JSON(s.report(answer)); err != nil {
				return err
			}
		} else {
			s.summary(answer)
		}
		history = append(history, chat.Message{Role: "user", Content: line}, chat.Message{Role: "assistant", Content: answer.Text})
		history = history[max(0, len(history)-2*c.Turns):]
	}
}

// readLines reads standard input on a goroutine, so that an interrupt need not wait for a read to end.
func readLines() (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			lines <- in.Text()
		}
		failed <- in.Err()
	}()
	return lines, failed
}
