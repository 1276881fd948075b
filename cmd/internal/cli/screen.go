package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

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
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" }
	return &Screen{
		Out: out, Aside: err,
		color: terminal(out) && os.Getenv("NO_COLOR") == "",
		live:  terminal(err),
	}
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
	line := Plain(fmt.Sprintf(format, args...))
	if s.live {
		pad := max(0, s.drawn-len(line))
		fmt.Fprintf(s.Aside, "\r%s%s", line, strings.Repeat(" ", pad))
		s.drawn = len(line)
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

// Clear removes the progress line.
func (s *Screen) Clear() {
	if s.live && s.drawn > 0 {
		fmt.Fprintf(s.Aside, "\r%s\r", strings.Repeat(" ", s.drawn))
	}
	s.drawn, s.since = 0, time.Time{}
}

// Remark prints a line to Aside.
func (s *Screen) Remark(format string, args ...any) {
	s.Clear()
	if !s.hushed {
		fmt.Fprintln(s.Aside, fmt.Sprintf(format, args...))
	}
}

// JSON prints v as one indented object.
func (s *Screen) JSON(v any) error {
	s.answered = true
	e := json.NewEncoder(s.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Plain makes foreign text, such as a name or title, safe to print on one line of a terminal. It escapes all characters
// that are not graphic (control characters, line breaks, marks that change the direction of text) as in a Go string.
func Plain(text string) string {
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

// Said makes text that a model wrote safe to print: it removes control characters except line breaks and tabs, so that
// neither a document nor a cloud can control the terminal.
func Said(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

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

// Milliseconds returns a duration in milliseconds, truncated to microseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
