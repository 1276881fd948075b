package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/reeflective/readline"
	"github.com/reeflective/readline/inputrc"
	"golang.org/x/term"

	"tandem/cmd/internal/cli"
)

// openEditor returns a function that reads a question with a line editor. With keep, it remembers the questions on disk.
func openEditor(a *cli.App, keep bool) (func() (string, error), error) {
	shell, err := newShell()
	if err != nil {
		a.Remark("the settings of the line editor cannot be read (INPUTRC or .inputrc): %v", err)
		os.Setenv("INPUTRC", os.DevNull)
		if shell, err = newShell(); err != nil {
			return nil, err
		}
	}
	if err := settle(shell); err != nil {
		return nil, fmt.Errorf("line editor: %w", err)
	}
	if keep {
		asked, err := openQuestions(a)
		if err != nil {
			a.Remark("the questions of this chat are not kept: %v", err)
		} else {
			shell.History.Add("questions", asked)
		}
	}
	screen := int(os.Stdin.Fd())
	before, err := term.GetState(screen)
	if err != nil {
		return nil, fmt.Errorf("line editor: %w", err)
	}
	type result struct {
		line string
		err  error
	}
	return func() (string, error) {
		read := make(chan result, 1)
		go func() {
			line, err := readLine(shell)
			read <- result{line, err}
		}()
		select {
		case r := <-read:
			term.Restore(screen, before) // also after a panic
			if errors.Is(r.err, readline.ErrInterrupt) {
				return r.line, errCleared
			}
			return r.line, r.err
		case <-a.Done(): // the editor still reads: give the terminal back
			fmt.Fprint(a.Out, "\x1b[?2004l\r\n")
			return "", errors.Join(a.Err(), term.Restore(screen, before))
		}
	}, nil
}

// settle gives a line editor the prompts and habits of a chat.
func settle(shell *readline.Shell) error {
	for option, on := range map[string]bool{
		"enable-bracketed-paste":       true,
		"convert-meta":                 false, // text is UTF-8, whatever an inputrc says
		"input-meta":                   true,
		"output-meta":                  true,
		"menu-complete-display-prefix": true, // the first Tab lists, the second one chooses
	} {
		if err := shell.Config.Set(option, on); err != nil {
			return err
		}
	}
	tells := sync.OnceValue(func() bool {
		tells, typed := tellsCursor(os.Stdout, os.Stdin)
		shell.Keys.Feed(false, []rune(typed)...)
		return tells
	})
	shell.Prompt.Primary(func() string {
		// Asked for the cursor's place, the library loses keys that arrive with the reply, and waits forever for a terminal that
		// gives none. Only its menus need to know.
		shell.Config.Set("cursor-position-probe", shell.Keymap.Local() != "" && tells())
		return room(*shell.Line()) + prompt
	})
	shell.Prompt.Secondary(func() string { return "  " })
	shell.AcceptMultiline = func(line []rune) bool { return complete(string(line)) }
	shell.Completer = completeCommand
	for _, keys := range shell.Config.Binds { // the library's "complete" chooses without a list
		if keys["\t"].Action == "complete" {
			keys["\t"] = inputrc.Bind{Action: "menu-complete"}
		}
	}
	// The library's own command inserts only the first code point of a character, and moves over a wide one twice.
	shell.Keymap.Register(map[string]func(){"self-insert": func() {
		shell.History.SkipSave()
		shell.Cursor().InsertAt(shell.Keys.Caller()...)
	}})
	// The library's own commands delete the character before the cursor at the end of a line.
	shell.Keymap.Register(map[string]func(){
		"delete-char": func() { deleteChar(shell) },
		"end-of-file": func() {
			if shell.Line().Len() == 0 {
				shell.Display.AcceptLine()
				shell.History.Accept(false, false, io.EOF)
				return
			}
			deleteChar(shell)
		},
	})
	return nil
}

// deleteChar deletes the characters under the cursor, as many as the user said, and none at the end of the line.
func deleteChar(shell *readline.Shell) {
	shell.History.Save()
	for range shell.Iterations.Get() {
		if shell.Cursor().Pos() < shell.Line().Len() {
			shell.Line().CutRune(shell.Cursor().Pos())
		}
	}
}

// prompt stands before a question.
const prompt = "> "

// room returns what makes a terminal scroll until the line and one row below it fit under the cursor, which stays where it
// is. The library clears the row below.
func room(line []rune) string {
	columns, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || columns < 1 {
		columns, height = 80, 24
	}
	below := min(rows(line, columns), height-1)
	if below < 1 {
		return ""
	}
	return strings.Repeat("\x1bD", below) + fmt.Sprintf("\x1b[%dA", below)
}

// rows returns how many rows of a terminal a line may take behind the prompt. It counts two columns for a character that may
// be wide.
func rows(line []rune, columns int) int {
	n, used := 1, len(prompt)
	for _, r := range line {
		switch {
		case r == '\n':
			n, used = n+1+used/columns, len(prompt)
		case r == '\t':
			used += 5
		case r >= 0x1100:
			used += 2
		default:
			used++
		}
	}
	return n + used/columns
}

// newShell makes a line editor with the user's settings. The library panics on some malformed ones.
func newShell() (shell *readline.Shell, err error) {
	defer recovered(&err)
	return readline.NewShell(), nil
}

func readLine(shell *readline.Shell) (line string, err error) {
	defer recovered(&err)
	shell.Line().Set() // the prompt makes room for the new line, not for the last one
	return shell.Readline()
}

// recovered turns a panic of the library into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("line editor: %v", p)
	}
}

// completeCommand offers the commands of a chat where a line begins with a slash.
func completeCommand(line []rune, _ int) readline.Completions {
	if len(line) == 0 || line[0] != '/' || strings.ContainsAny(string(line), " \t\n") {
		return readline.Completions{}
	}
	var words []string
	for _, c := range chatCommands() {
		words = append(words, "/"+c.names[0], c.help)
	}
	return readline.CompleteValuesDescribed(words...)
}

// typed is a line from standard input, or why there is none.
type typed struct {
	line string
	err  error
}

// errLong is returned for a line that is too long to be a question.
var errLong = fmt.Errorf("a line of more than %s is no question: it was left out", cli.Bytes(maxText))

// readLines returns a function that reads a question from standard input, after a prompt. It reads on a goroutine, so that
// an interrupt need not wait for a read to end.
func readLines(a *cli.App, prompt string) func() (string, error) {
	lines := make(chan typed)
	go func() {
		defer close(lines)
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := nextLine(in)
			lines <- typed{line, err}
			if err != nil && err != errLong {
				return
			}
		}
	}()
	next := func() (string, error) {
		interrupted := make(chan struct{})
		if prompt != "" { // a person has typed a line that is not wanted
			defer a.CatchInterrupt(func() { close(interrupted) })()
		}
		fmt.Fprint(a.Aside, prompt)
		select {
		case t, open := <-lines:
			if !open {
				return "", io.EOF
			}
			return t.line, t.err
		case <-interrupted:
			fmt.Fprintln(a.Aside)
			return "", errCleared
		case <-a.Done():
			return "", a.Err()
		}
	}
	return func() (string, error) {
		text, err := next()
		for err == nil && !complete(text) && len(text) < maxText {
			var line string
			if line, err = next(); err == nil {
				text += "\n" + line
			}
		}
		if errors.Is(err, io.EOF) && text != "" {
			return text, nil // an unfinished question of several lines
		}
		return text, err
	}
}

// nextLine reads a line without its end. A line of more than maxText is read to its end and is errLong.
func nextLine(in *bufio.Reader) (string, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxText; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long:
			return "", errLong
		case err != nil && (err != io.EOF || len(line) == 0):
			return "", err
		default:
			return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
		}
	}
}
