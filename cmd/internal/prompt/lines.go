package prompt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tandem/cmd/internal/cli"
)

// typed is a line from standard input, or why there is none.
type typed struct {
	line string
	err  error
}

// Lines returns a function that reads an input from standard input, after the prompt if a person types there. It reads on a
// goroutine, so that an interrupt need not wait for a read to end.
func Lines(a *cli.App, in Input) func() (string, error) {
	lines := make(chan typed)
	go func() {
		defer close(lines)
		from := bufio.NewReader(os.Stdin)
		for {
			line, err := nextLine(from)
			lines <- typed{line, err}
			if err != nil && err != ErrLong {
				return
			}
		}
	}()
	next := func() (string, error) {
		interrupted := make(chan struct{})
		if in.Person { // who may give up a line
			defer a.CatchInterrupt(func() { close(interrupted) })()
			fmt.Fprint(a.Aside, sign)
		}
		select {
		case t, open := <-lines:
			if !open {
				return "", io.EOF
			}
			return t.line, t.err
		case <-interrupted:
			fmt.Fprintln(a.Aside)
			return "", ErrCleared
		case <-a.Done():
			return "", a.Err()
		}
	}
	return func() (string, error) {
		text, err := next()
		for err == nil && !in.Complete(text) && len(text) < MaxBytes {
			var line string
			if line, err = next(); err == nil {
				text += "\n" + line
			}
		}
		if errors.Is(err, io.EOF) && text != "" {
			return text, nil // an unfinished input of several lines
		}
		return text, err
	}
}

// nextLine reads a line without its end. A line of more than MaxBytes is read to its end and is ErrLong.
func nextLine(in *bufio.Reader) (string, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxBytes; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long:
			return "", ErrLong
		case err != nil && (err != io.EOF || len(line) == 0):
			return "", err
		default:
			return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
		}
	}
}
