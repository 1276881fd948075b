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
	var buf [maxTerm]byte
	n, digits := 0, false
	flush := func() {
		if n > 0 {
			term := buf[:n]
			if !digits {
				term = stem(term)
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
		case r == '\u2019' || r == '\u00ad': // an apostrophe ends a word, as ' does; a soft hyphen is dropped
			if r == '\u2019' {
				flush()
			}
		default:
			flush()
		}
	}
	flush()
}
