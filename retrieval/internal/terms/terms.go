// Package terms cuts English text into the terms that the lexical scorer counts and compares, and knows how common each
// term is. The scorer and the generator of the statistics share it. Both sides of a pair must cut alike, so a change to
// the output makes a new scorer, which needs a new name.
package terms

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTerm is the greatest length of a term in bytes. Longer ones are cut.
const maxTerm = 40

// Each calls f with every term of text in order. Terms are runs of letters or of digits, in lower case, without accents,
// and stemmed. The slice is valid only during the call.
func Each(text string, f func(term []byte)) {
	c := cutter{f: f}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			c.ascii(byte(r))
		case unicode.Is(unicode.Mn, r), r == '\u00ad': // accents, and soft hyphens
		case unicode.IsLetter(r), unicode.IsDigit(r):
			c.other(r)
		default:
			c.flush()
		}
	}
	c.flush()
}

// cutter has the term that has not ended.
type cutter struct {
	f      func(term []byte)
	buf    [maxTerm]byte
	n      int
	digits bool // it consists of digits
}

// flush ends the term.
func (c *cutter) flush() {
	if c.n == 0 {
		return
	}
	term := c.buf[:c.n]
	if !c.digits {
		term = stem(term)
	}
	c.f(term)
	c.n = 0
}

// ascii adds an ASCII character, or ends the term.
func (c *cutter) ascii(b byte) {
	if b >= 'A' && b <= 'Z' {
		b += 'a' - 'A'
	}
	letter, digit := b >= 'a' && b <= 'z', b >= '0' && b <= '9'
	if !letter && !digit || digit != c.digits {
		c.flush()
	}
	if !letter && !digit {
		return
	}
	c.digits = digit
	if c.n < maxTerm {
		c.buf[c.n] = b
		c.n++
	}
}

// other adds a letter or a digit that is not ASCII, without its accents.
func (c *cutter) other(r rune) {
	if c.digits {
		c.flush()
	}
	c.digits = false
	for _, d := range norm.NFD.String(string(unicode.ToLower(r))) {
		if !unicode.Is(unicode.Mn, d) && c.n+utf8.UTFMax <= maxTerm {
			c.n += utf8.EncodeRune(c.buf[c.n:], d)
		}
	}
}
