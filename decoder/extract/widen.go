package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// widen moves the ends of a span outwards until it cuts no word and no number: "20" in "D20" becomes "D20", "9" in "9:40"
// becomes "9:40".
func widen(text string, from, to int) (int, int) {
	for from > 0 && from < len(text) && joined(text[:from], text[from:]) {
		_, n := utf8.DecodeLastRuneInString(text[:from])
		from -= n
	}
	for to > 0 && to < len(text) && joined(text[:to], text[to:]) {
		_, n := utf8.DecodeRuneInString(text[to:])
		to += n
	}
	return from, to
}

// joined reports whether a word or a number goes on from the end of before to the start of after.
func joined(before, after string) bool {
	last, n := utf8.DecodeLastRuneInString(before)
	first, m := utf8.DecodeRuneInString(after)
	switch {
	case inWord(last) && inWord(first):
		return true
	case unicode.IsDigit(last) && joins(first):
		next, _ := utf8.DecodeRuneInString(after[m:])
		return unicode.IsDigit(next)
	case joins(last) && unicode.IsDigit(first):
		previous, _ := utf8.DecodeLastRuneInString(before[:len(before)-n])
		return unicode.IsDigit(previous)
	}
	return false
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// joins reports whether r holds the digits of a number together.
func joins(r rune) bool { return strings.ContainsRune(".,:'’", r) }
