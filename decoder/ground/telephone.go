package ground

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a telephone number's digits: shorter runs may be several numbers, and E.164 has no longer ones.
const (
	minPhoneDigits = 6
	maxPhoneDigits = 15
)

var (
	// phoneNumber matches what a telephone number looks like: "+49 (0)561/12 34-56", "(555) 123-4567", "0561 555 7310".
	phoneNumber = regexp.MustCompile(`(?:\+|\(\+?\d|0\d)[\d()/.\-]*(?: [\d()/.\-]+)*`)
	date        = regexp.MustCompile(`^\d{1,2}\.\d{1,2}\.\d{2}`)
)

// telephones returns the ranges of bytes of the telephone numbers in a text.
func telephones(text string) (out [][2]int) {
	for _, at := range phoneNumber.FindAllStringIndex(text, -1) {
		from, to := at[0], at[1]
		if before, _ := utf8.DecodeLastRuneInString(text[:from]); inNumber(before) || startsNumber(text[to:]) {
			continue
		}
		from, to = trimmed(text, from, to)
		if isDialled(text[from:to]) {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// isDialled reports whether a run of digits and the marks between them is one telephone number, and no date or list.
func isDialled(run string) bool {
	digits := 0
	for group := range strings.FieldsSeq(run) {
		n := strings.IndexFunc(group, func(r rune) bool { return !unicode.IsDigit(r) })
		if date.MatchString(group) || n < 0 && len(group) == 1 && run[0] != '+' {
			return false
		}
		for _, r := range group {
			if unicode.IsDigit(r) {
				digits++
			}
		}
	}
	return digits >= minPhoneDigits && digits <= maxPhoneDigits
}

// trimmed drops what does not belong to the number at the ends of a range: marks, brackets around all of it, and a bracket
// that does not close or open within it.
func trimmed(text string, from, to int) (int, int) {
	for from < to {
		run := text[from:to]
		open, close := strings.Count(run, "("), strings.Count(run, ")")
		switch last := run[len(run)-1]; {
		case strings.IndexByte(" (/.-", last) >= 0, last == ')' && close > open:
			to--
		case run[0] == '(' && (open > close || open == 1 && last == ')'):
			from++
		default:
			return from, to
		}
	}
	return from, to
}

// inNumber reports whether a character before a run says that the run is part of something else.
func inNumber(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(":,.-/", r)
}

// startsNumber reports whether a text goes on with the number before it, as in "06:00" and "0,5".
func startsNumber(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	if r == ':' || r == ',' {
		return after[size:] != "" && unicode.IsDigit(rune(after[size]))
	}
	return unicode.IsLetter(r)
}
