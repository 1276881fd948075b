package ground

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is the role of a character in words.
type class uint8

const (
	mark   class = iota // punctuation, and symbols of mathematics
	space               // white space
	letter              // all that words consist of, except:
	digit               // digits and other numbers
	sign                // what belongs to an amount: currencies, %, ‰, °
)

func (c class) inWord() bool { return c >= letter }

// classOf returns the class of a character of size bytes.
func classOf(r rune, size int) class {
	switch {
	case r == utf8.RuneError && size == 1: // a byte that is not UTF-8
		return letter
	case unicode.IsNumber(r):
		return digit
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsSpace(r):
		return space
	case r == '%' || r == '‰' || r == '°' || unicode.Is(unicode.Sc, r):
		return sign
	case r == '+' || r == '#' || r == '\u00ad' || r == '\u200c' || r == '\u200d': // soft hyphen and joiners
		return letter
	case r >= utf8.RuneSelf && (unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r)):
		return letter
	}
	return mark
}

// char is a character of a text.
type char struct {
	r     rune
	at    int // offset of its first byte
	class class
}

// charsOf returns the characters of a text.
func charsOf(text string) []char {
	var out []char
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		out = append(out, char{r, at, classOf(r, n)})
		at += n
	}
	return out
}

// joins reports whether the characters between two characters of words make one word of both. With amounts, so does white
// space between a number and its sign on one line.
func joins(before char, between []char, after char, amounts bool) bool {
	numbers := before.class == digit && after.class == digit
	switch {
	case len(between) == 0:
		return true
	case len(between) == 1:
		switch between[0].r {
		case '-', '\'', '’', '.', '_', '/', '&', '@', '\u2010', '\u2011':
			return true
		case ',', ':', '\u00a0', '\u2007', '\u2009', '\u202f':
			if numbers {
				return true
			}
		}
	case len(between) == 3 && between[0].r == ':' && between[1].r == '/' && between[2].r == '/':
		return true
	}
	if !amounts || !(before.class == digit && after.class == sign || before.class == sign && after.class == digit) {
		return false
	}
	for _, c := range between {
		if c.class != space || c.r == '\n' {
			return false
		}
	}
	return true
}

// Inside returns, for each offset in a text and its end, whether the text must not be cut there: within a character, a word, a
// number or a telephone number, between a number and its sign, or between a name or code and the @ or * that it begins or ends
// with.
func Inside(text string) []bool {
	chars := charsOf(text)
	inside := within(chars, len(text), true)
	for i, c := range chars {
		if prefixes(chars, i) {
			inside[chars[i+1].at] = true
		}
		if suffixes(chars, i) {
			inside[c.at] = true
		}
	}
	for _, r := range telephones(text) {
		for at := r[0] + 1; at < r[1]; at++ {
			inside[at] = true
		}
	}
	return inside
}

// prefixes reports whether chars[i] is the @ before a name, or a single star before a code of digits.
func prefixes(chars []char, i int) bool {
	if i+1 == len(chars) || i > 0 && (chars[i-1].class.inWord() || chars[i-1].r == chars[i].r) {
		return false
	}
	next := chars[i+1]
	return chars[i].r == '@' && next.class.inWord() || chars[i].r == '*' && (next.class == digit || next.r == '#')
}

// suffixes reports whether chars[i] is a single star after a code of digits.
func suffixes(chars []char, i int) bool {
	if i == 0 || chars[i].r != '*' || i+1 < len(chars) && (chars[i+1].class.inWord() || chars[i+1].r == '*') {
		return false
	}
	return chars[i-1].class == digit || chars[i-1].r == '#'
}

// within returns, for each offset in a text of the given characters, whether the text must not be cut there. With amounts, a
// number and its sign are not parted either.
func within(chars []char, size int, amounts bool) []bool {
	out := make([]bool, size+1)
	join := func(from, to int) { // no cut behind from, up to to
		for at := from + 1; at <= to; at++ {
			out[at] = true
		}
	}
	last := -1 // index of the last character of a word
	for i, c := range chars {
		if !c.class.inWord() {
			continue
		}
		if last >= 0 && joins(chars[last], chars[last+1:i], c, amounts) {
			join(chars[last].at, c.at)
		} else if c.class == digit && hasPrefix(chars[:i]) {
			join(chars[i-1].at, c.at)
		}
		last = i
	}
	for i, c := range chars { // characters are not cut
		join(c.at, endOf(chars, i, size)-1)
	}
	return out
}

// hasPrefix reports whether the number after the characters has a minus sign or begins with its decimal point.
func hasPrefix(before []char) bool {
	n := len(before)
	if n == 0 || n > 1 && before[n-2].class.inWord() {
		return false
	}
	r := before[n-1].r
	return r == '-' || r == '−' || r == '.'
}

// possessive reports whether chars[i] begins an "'s" at the end of a word, given the offsets within words.
func possessive(chars []char, i int, within []bool) bool {
	if chars[i].r != '\'' && chars[i].r != '’' || !within[chars[i].at] || i+1 == len(chars) || chars[i+1].r != 's' {
		return false
	}
	return !within[chars[i+1].at+1]
}

// wordsOf returns the words of a text, those without "'s" too, and the parts of words that consist of letters alone.
func wordsOf(text string) []string {
	chars := charsOf(text)
	joined := within(chars, len(text), false)
	var out []string
	from := 0 // of the word, or of what is between two words
	for i, c := range chars {
		if !joined[c.at] {
			from = c.at
		}
		if possessive(chars, i, joined) {
			out = append(out, text[from:c.at])
		}
		if end := endOf(chars, i, len(text)); !joined[end] && c.class.inWord() {
			out = append(out, text[from:end])
			out = append(out, lettersOf(text[from:end])...)
		}
	}
	return out
}

// endOf returns where chars[i] ends in a text of size bytes.
func endOf(chars []char, i, size int) int {
	if i+1 < len(chars) {
		return chars[i+1].at
	}
	return size
}

// lettersOf returns the parts of a word if it is joined of parts without digits and signs.
func lettersOf(word string) []string {
	plain := true
	parts := strings.FieldsFunc(word, func(r rune) bool {
		c := classOf(r, utf8.RuneLen(r))
		plain = plain && (c == mark || c == letter)
		return c != letter
	})
	if !plain || len(parts) < 2 {
		return nil
	}
	return parts
}

// bothCases returns a word as it is and with its first letter in the other case.
func bothCases(word string) []string {
	r, n := utf8.DecodeRuneInString(word)
	if r == utf8.RuneError {
		return []string{word}
	}
	return []string{word, string(unicode.ToUpper(r)) + word[n:], string(unicode.ToLower(r)) + word[n:]}
}
