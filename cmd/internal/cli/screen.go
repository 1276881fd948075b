package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"tandem"
)

// Screen is where a program prints: results to Out, progress and remarks to Aside.
type Screen struct {
	Out, Aside io.Writer
	color      bool // Out understands colours
	live       bool // Aside can redraw a line
	hushed     bool // neither remarks nor progress
	answered   bool // JSON was printed
	drawn      int  // width of the progress line on Aside
	since      time.Time
}

// NewScreen returns a screen on out and err. It uses colours if out is a terminal and NO_COLOR is not set.
func NewScreen(out, err *os.File) *Screen {
	terminal := func(f *os.File) bool { return IsTerminal(f) && !DumbTerminal() }
	return &Screen{
		Out: out, Aside: err,
		color: terminal(out) && os.Getenv("NO_COLOR") == "",
		live:  terminal(err),
	}
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// DumbTerminal reports whether the terminal understands no control codes, by TERM. Windows has no such variable.
func DumbTerminal() bool {
	kind := os.Getenv("TERM")
	return kind == "dumb" || kind == "" && runtime.GOOS != "windows"
}

// Hush drops all remarks and progress from now on. Errors are still printed.
func (s *Screen) Hush() { s.hushed = true }

// Color reports whether text on Out is coloured.
func (s *Screen) Color() bool { return s.color }

const reset = "\x1b[0m"

// tints are 256-colour codes that are legible on dark and light backgrounds.
var tints = map[tandem.By]string{
	tandem.ByDevice:  "\x1b[38;5;33m",  // blue
	tandem.ByCloud:   "\x1b[38;5;172m", // orange
	tandem.ByNeither: "\x1b[38;5;161m", // red
}

// Tint colours text by the side that drafted it. Text that both drafted keeps the terminal's own colour.
func (s *Screen) Tint(by tandem.By, text string) string {
	code, ok := tints[by]
	if !s.color || !ok || text == "" {
		return text
	}
	return code + text + reset
}

// Faint dims text, such as a remark next to an answer.
func (s *Screen) Faint(text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[2m" + text + reset
}

// Stress makes a part of a faint text stand out.
func (s *Screen) Stress(text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[22m" + text + "\x1b[2m"
}

// Legend explains the tints. It is empty without colours.
func (s *Screen) Legend() string {
	if !s.color {
		return ""
	}
	return s.Tint(tandem.ByDevice, "device") + s.Faint(" · ") + s.Tint(tandem.ByCloud, "cloud") + s.Faint(" · both · ") + s.Tint(tandem.ByNeither, "neither")
}

// Progress redraws one line on a terminal. Elsewhere it prints at most one line every five seconds, so that logs show
// progress without filling up.
func (s *Screen) Progress(format string, args ...any) {
	if s.hushed {
		return
	}
	line := Escape(fmt.Sprintf(format, args...))
	if s.live {
		line = Shorten(line, s.Columns()-1) // a line that wraps cannot be redrawn
		shown := Width(line)
		pad := max(0, s.drawn-shown)
		fmt.Fprintf(s.Aside, "\r%s%s", line, strings.Repeat(" ", pad))
		s.drawn = shown
		return
	}
	if s.since.IsZero() {
		s.since = time.Now()
	}
	if time.Since(s.since) > 5*time.Second {
		s.since = time.Now()
		fmt.Fprintln(s.Aside, line)
	}
}

// Columns returns how many columns the terminal behind Aside has.
func (s *Screen) Columns() int {
	if f, ok := s.Aside.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 1 {
			return columns
		}
	}
	return 80
}

// Shorten shortens a line to at most n columns of a terminal.
func Shorten(line string, n int) string {
	if Width(line) <= n {
		return line
	}
	end, used := 0, len(".") // of the ellipsis
	for i, r := range line {
		if used += runeWidth(r); used > n {
			end = i
			break
		}
	}
	return line[:end] + "…"
}

// Clear removes the progress line.
func (s *Screen) Clear() {
	if s.live && s.drawn > 0 {
		fmt.Fprintf(s.Aside, "\r%s\r", strings.Repeat(" ", s.drawn))
	}
	s.drawn, s.since = 0, time.Time{}
}

// Remark prints a line to Aside. Errors among args are made safe to print.
func (s *Screen) Remark(format string, args ...any) {
	args = slices.Clone(args)
	for i, arg := range args {
		if err, is := arg.(error); is {
			args[i] = EscapeLines(err.Error())
		}
	}
	s.Clear()
	if !s.hushed {
		fmt.Fprintln(s.Aside, s.Fold(fmt.Sprintf(format, args...)))
	}
}

// Fold breaks the lines of a text at spaces, if Aside is a terminal on which they are too long. Further lines are indented
// by two more than the first.
func (s *Screen) Fold(text string) string {
	if !s.live {
		return text
	}
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, fold(strings.TrimSuffix(line, "\n"), s.Columns()))
	}
	return strings.Join(out, "\n")
}

func fold(line string, most int) string {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	next := strings.Repeat(" ", indent+2)
	var out strings.Builder
	column := 0
	for i, word := range strings.Split(line[indent:], " ") {
		w := Width(word)
		switch {
		case i == 0:
			out.WriteString(line[:indent])
			column = indent
		case column+1+w > most && column > len(next):
			out.WriteString("\n" + next)
			column = len(next)
		default:
			out.WriteString(" ")
			column++
		}
		out.WriteString(word)
		column += w
	}
	return out.String()
}

// Width returns how many columns a text takes on a terminal, without the codes that colour it.
func Width(text string) int {
	for {
		before, code, found := strings.Cut(text, "\x1b[")
		_, after, ended := strings.Cut(code, "m")
		if !found || !ended {
			break
		}
		text = before + after
	}
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns how many columns a character takes.
func runeWidth(r rune) int {
	switch k := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case k == width.EastAsianWide || k == width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// JSON prints v as one indented object.
func (s *Screen) JSON(v any) error {
	s.answered = true
	e := json.NewEncoder(plainJSON{s.Out})
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// JSONLine prints v as an object on one line, for output of many objects.
func (s *Screen) JSONLine(v any) error {
	s.answered = true
	e := json.NewEncoder(plainJSON{s.Out})
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// plainJSON writes JSON with the characters escaped that a terminal may obey and encoding/json writes as they are: those that
// are not ASCII. They can only be in strings.
type plainJSON struct{ io.Writer }

func (p plainJSON) Write(b []byte) (int, error) {
	if !bytes.ContainsFunc(b, obeyed) {
		return p.Writer.Write(b)
	}
	var out []byte
	for _, r := range string(b) {
		if obeyed(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	_, err := p.Writer.Write(out)
	return len(b), err
}

// obeyed reports whether a terminal may obey a character beyond those that encoding/json escapes.
func obeyed(r rune) bool { return r >= '\u007f' && r <= '\u009f' || turns(r) }

// Escape makes foreign text, such as a name or title, safe to print on one line of a terminal. It escapes all characters
// that are not graphic (control characters, line breaks, marks that change the direction of text) as in a Go string.
func Escape(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if strconv.IsGraphic(r) && (r != utf8.RuneError || n > 1) {
			out.WriteRune(r)
		} else {
			quoted := strconv.Quote(text[:n])
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return out.String()
}

// EscapeLines is Escape for text of several lines, such as an error: it may quote a file, a server or the name of a file.
func EscapeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Escape(line)
	}
	return strings.Join(lines, "\n")
}

// StripControls makes text that a model wrote safe to print: it removes control characters except line breaks and tabs, so that
// neither a document nor a cloud can control the terminal. It also removes what turns the direction of the text around, which
// would show other words than the text has.
func StripControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || turns(r) {
			return -1
		}
		return r
	}, text)
}

// turns reports whether a character sets the direction of the text after it. Marks that only stand for a letter of a direction are
// common in Arabic and Hebrew, and harmless.
func turns(r rune) bool { return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' }

// Bytes formats a size for people.
func Bytes(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, suffix := float64(n)/unit, "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if v < unit {
			break
		}
		v, suffix = v/unit, next
	}
	return fmt.Sprintf("%.1f %s", v, suffix)
}

// Count returns n and the word one, in the plural if need be.
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
