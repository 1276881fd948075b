// Package prompt reads what a person or another program asks, one input after the other: with a line editor on a terminal, or
// line by line. It knows nothing of what is done with an input.
package prompt

import (
	"errors"
	"fmt"

	"tandem/cmd/internal/cli"
)

// Input says what may be typed.
type Input struct {
	Person   bool                   // a person types, and not a file or a program
	Complete func(text string) bool // whether a text is whole, or goes on in the next line
	Commands []Command              // which Tab completes
	History  *History               // what the arrow keys bring back; nil for what was typed since the start
}

// Command is what can be typed instead of a question.
type Command struct {
	Name string // with the slash that it begins with
	Help string
}

// MaxBytes is how many bytes of an input are read.
const MaxBytes = 1 << 20

// ErrCleared is returned for an input that the user gave up with Ctrl-C.
var ErrCleared = errors.New("interrupted")

// ErrLong is returned for a line that is too long to be a question.
var ErrLong = fmt.Errorf("a line of more than %s is no question: it was left out", cli.Bytes(MaxBytes))

// sign stands before what a person types.
const sign = "> "
