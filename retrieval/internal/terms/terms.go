// Package terms cuts English text into the terms that the lexical scorer counts and compares. The scorer
// and the generator of its statistics share it. Its output is part of the scorer's version: both sides
// must cut alike, so a change here is a new scorer name.
package terms

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTerm bounds a term in bytes; what is longer is cut.
const maxTerm = 40

// Each calls f with every term of text in order: runs of letters or of digits, lower case, without
// accents, stemmed. The slice is only valid during the call.
func Each(text string, f func(term []byte)) {
	var buf [maxTerm]byte
	n, digits := 0, false
	flush := func() {
		if n > 0 {
			term := buf[:n]
			if !digits {
				term = Stem(term)
			}
			f(term)
			n = 0
		}
	}
	put := func(r rune) {
		if n+utf8.UTFMax <= maxTerm {
			n += utf8.EncodeRune(buf[n:], r)
		}
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			c := byte(r)
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			letter, digit := c >= 'a' && c <= 'z', c >= '0' && c <= '9'
			if !letter && !digit || digit != digits {
				flush()
			}
			if letter || digit {
				digits = digit
				if n < maxTerm {
					buf[n] = c
					n++
				}
			}
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if digits {
				flush()
			}
			digits = false
			for _, d := range norm.NFD.String(string(unicode.ToLower(r))) {
				if !unicode.Is(unicode.Mn, d) {
					put(d)
				}
			}
		case r == '\u2019' || r == '\u00ad': // an apostrophe ends a word as ' does; a soft hyphen is not there
			if r == '\u2019' {
				flush()
			}
		default:
			flush()
		}
	}
	flush()
}
