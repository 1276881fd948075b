package prompt

import (
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

// Editor returns a function that reads an input with a line editor. Standard input and output must be a terminal.
func Editor(a *cli.App, in Input) (func() (string, error), error) {
	shell, err := newShell()
	if err != nil {
		a.Remark("the settings of the line editor cannot be read (INPUTRC or .inputrc): %v", err)
		os.Setenv("INPUTRC", os.DevNull)
		if shell, err = newShell(); err != nil {
			return nil, err
		}
	}
	if err := in.settle(shell); err != nil {
		return nil, fmt.Errorf("line editor: %w", err)
	}
	if in.History != nil {
		shell.History.Add("history", in.History)
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
				return r.line, ErrCleared
			}
			return r.line, r.err
		case <-a.Done(): // the editor still reads: give the terminal back
			fmt.Fprint(a.Out, "\x1b[?2004l\r\n")
			return "", errors.Join(a.Err(), term.Restore(screen, before))
		}
	}, nil
}

// settle gives a line editor its prompts and habits.
func (in Input) settle(shell *readline.Shell) error {
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
		return room(*shell.Line()) + sign
	})
	shell.Prompt.Secondary(func() string { return "  " })
	shell.AcceptMultiline = func(line []rune) bool { return in.Complete(string(line)) }
	shell.Completer = in.completions
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
	n, used := 1, len(sign)
	for _, r := range line {
		switch {
		case r == '\n':
			n, used = n+1+used/columns, len(sign)
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

// completions offers the commands where a line begins with a slash.
func (in Input) completions(line []rune, _ int) readline.Completions {
	if len(line) == 0 || line[0] != '/' || strings.ContainsAny(string(line), " \t\n") {
		return readline.Completions{}
	}
	var words []string
	for _, c := range in.Commands {
		words = append(words, c.Name, c.Help)
	}
	return readline.CompleteValuesDescribed(words...)
}
