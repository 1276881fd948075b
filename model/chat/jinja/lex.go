package jinja

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A kind is what a token is.
type kind uint8

const (
	tokEnd    kind = iota // the end of a tag
	tokName               // a name or keyword
	tokValue              // a literal text or number
	tokSymbol             // an operator or bracket
)

type token struct {
	kind  kind
	text  string // of names and symbols
	value any    // of literals
	at    int    // where it begins
}

// is reports whether the token is a name or symbol with this text.
func (t token) is(text string) bool {
	return (t.kind == tokName || t.kind == tokSymbol) && t.text == text
}

// symbols, the longer first.
var symbols = []string{"**", "//", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "<", ">", "=",
	"(", ")", "[", "]", "{", "}", ".", ":", ",", "|", ";"}

// next reads the next token of a tag. At the tag's end, it stays before it.
func (p *parser) next() {
	for p.pos < len(p.src) {
		r, size := utf8.DecodeRuneInString(p.src[p.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		p.pos += size
	}
	rest := p.src[p.pos:]
	p.tok = token{at: p.pos}
	if rest == "" {
		p.fail("a tag is not closed")
	}
	if p.open == 0 && endLength(rest, p.close) > 0 {
		return
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '_' || unicode.IsLetter(r):
		n := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if n < 0 {
			n = len(rest)
		}
		p.tok.kind, p.tok.text = tokName, rest[:n]
		p.pos += n
	case r >= '0' && r <= '9':
		p.number(rest)
	case r == '"' || r == '\'':
		p.text(rest)
	default:
		p.symbol(rest)
	}
}

// endLength returns how many bytes of rest are the end of a tag, with its sign; 0 if it is none.
func endLength(rest, end string) int {
	if strings.HasPrefix(rest, end) {
		return len(end)
	}
	if (rest[0] == '-' || rest[0] == '+' && end == "%}") && strings.HasPrefix(rest[1:], end) {
		return 1 + len(end)
	}
	return 0
}

func (p *parser) symbol(rest string) {
	for _, s := range symbols {
		if !strings.HasPrefix(rest, s) {
			continue
		}
		switch s {
		case "(", "[", "{":
			p.open++
		case ")", "]", "}":
			p.open--
		}
		if p.open < 0 {
			p.fail("%s closes nothing", s)
		}
		if p.open > maxNesting {
			p.fail("brackets are nested more than %d deep", maxNesting)
		}
		p.tok.kind, p.tok.text = tokSymbol, s
		p.pos += len(s)
		return
	}
	r, _ := utf8.DecodeRuneInString(rest)
	p.fail("unexpected character %q", r)
}

// number reads an integer or a number with a fraction or exponent, in Python's notation.
func (p *parser) number(rest string) {
	n := 0
	for n < len(rest) {
		c := rest[n]
		digit := c >= '0' && c <= '9' || c == '_' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == 'x' || c == 'o' || c == 'X' || c == 'O'
		point := c == '.' && n+1 < len(rest) && rest[n+1] >= '0' && rest[n+1] <= '9'
		sign := (c == '-' || c == '+') && (rest[n-1] == 'e' || rest[n-1] == 'E') && !strings.HasPrefix(rest, "0x")
		if !digit && !point && !sign {
			break
		}
		n++
	}
	word := strings.ReplaceAll(rest[:n], "_", "")
	p.tok.kind = tokValue
	p.pos += n
	base := 10
	if len(word) > 1 && word[0] == '0' && !strings.ContainsAny(word, ".") && strings.ContainsAny(word[1:2], "xXoObB") {
		base = 0
	}
	if i, err := strconv.ParseInt(word, base, 64); err == nil {
		p.tok.value = i
		return
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || !strings.ContainsAny(word, ".eE") || base == 0 {
		p.fail("%.40q is no number, or out of range: integers have 64 bits", rest[:n])
	}
	p.tok.value = f
}

// text reads a literal text with Python's escapes.
func (p *parser) text(rest string) {
	quote := rest[0]
	n := 1
	for n < len(rest) && rest[n] != quote {
		if rest[n] == '\\' {
			n++
		}
		n++
	}
	if n >= len(rest) {
		p.fail("a text is not closed")
	}
	p.tok.kind, p.tok.value = tokValue, unescape(rest[1:n])
	p.pos += n + 1
}

var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': `"`, 'a': "\a", 'b': "\b",
	'f': "\f", 'v': "\v", '\n': ""}

// unescape replaces Python's escapes. Those that Python does not know stay.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		plain, rest, found := strings.Cut(s, `\`)
		b.WriteString(plain)
		if !found || rest == "" {
			break
		}
		c := rest[0]
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if e, ok := escapes[c]; ok {
			b.WriteString(e)
			s = rest[1:]
		} else if v, ok := hexDigits(rest[1:], digits); ok {
			b.WriteRune(v)
			s = rest[1+digits:]
		} else if c >= '0' && c <= '7' {
			n := 1
			for n < 3 && n < len(rest) && rest[n] >= '0' && rest[n] <= '7' {
				n++
			}
			v, _ := strconv.ParseUint(rest[:n], 8, 32)
			b.WriteRune(rune(v))
			s = rest[n:]
		} else {
			b.WriteByte('\\')
			s = rest
			if c != '\\' {
				b.WriteByte(c)
				s = rest[1:]
			}
		}
	}
	return b.String()
}

// hexDigits reads the first n digits of s. It fails if s has fewer.
func hexDigits(s string, n int) (rune, bool) {
	if n == 0 || len(s) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:n], 16, 32)
	return rune(v), err == nil
}

// plain returns the literal text before the next tag and the tag's opening, "{{", "{%" or "" at the end of the
// template. Comments are skipped, and white space is trimmed as Jinja does with trim_blocks and lstrip_blocks.
func (p *parser) plain() (text, opening string) {
	var b strings.Builder
	for {
		rest := p.src[p.pos:]
		i := tagAt(rest)
		if i < 0 {
			b.WriteString(rest)
			p.pos = len(p.src)
			return b.String(), ""
		}
		before, open := rest[:i], rest[i:i+2]
		p.pos += i + 2
		sign := byte(0)
		if p.pos < len(p.src) && (p.src[p.pos] == '-' || p.src[p.pos] == '+' && open != "{{") {
			sign = p.src[p.pos]
			p.pos++
		}
		switch {
		case sign == '-':
			before = strings.TrimRightFunc(before, unicode.IsSpace)
		case sign == 0 && open != "{{":
			before = p.trimLine(before)
		}
		b.WriteString(before)
		if open != "{#" {
			return b.String(), open
		}
		end := strings.Index(p.src[p.pos:], "#}")
		if end < 0 {
			p.fail("a comment is not closed")
		}
		p.pos += end + 2
		p.after(p.src[p.pos-3], true)
	}
}

// tagAt returns where the next tag begins, or -1.
func tagAt(s string) int {
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], '{')
		if i < 0 || at+i+1 >= len(s) {
			return -1
		}
		if at += i; strings.IndexByte("{%#", s[at+1]) >= 0 {
			return at
		}
	}
}

// trimLine removes white space between the beginning of the line and a tag.
func (p *parser) trimLine(before string) string {
	at := strings.LastIndexByte(before, '\n') + 1
	if (at > 0 || p.lineStart) && strings.TrimFunc(before[at:], unicode.IsSpace) == "" {
		return before[:at]
	}
	return before
}

// after trims what follows a tag: all white space if its last sign is a minus; the end of the line after statements and
// comments, unless the sign is a plus.
func (p *parser) after(sign byte, line bool) {
	from := p.pos
	switch {
	case sign == '-':
		p.pos = len(p.src) - len(strings.TrimLeftFunc(p.src[p.pos:], unicode.IsSpace))
	case line && sign != '+' && strings.HasPrefix(p.src[p.pos:], "\n"):
		p.pos++
	}
	p.lineStart = p.pos > from && p.src[p.pos-1] == '\n'
}

// end expects the end of the tag and skips it.
func (p *parser) end() {
	if p.tok.kind != tokEnd {
		p.fail("unexpected %s", p.tok.describe())
	}
	n := endLength(p.src[p.pos:], p.close)
	sign := p.src[p.pos]
	p.pos += n
	p.after(sign, p.close == "%}")
}

func (t token) describe() string {
	switch t.kind {
	case tokEnd:
		return "end of the tag"
	case tokValue:
		return fmt.Sprintf("%.40q", fmt.Sprint(t.value))
	}
	return fmt.Sprintf("%.40q", t.text)
}
