package english

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Sentences divides a paragraph at the sentence boundaries of UAX #29, with two exceptions: it does not divide after
// abbreviations and initials ("Mr. Oduya", "J. Smith"), where the default rules do, and it divides before figures and
// addresses ("… 14 euros. 806 pounds is …"), where they do not.
func Sentences(s string) []string {
	var out []string
	from, to := 0, 0 // the current sentence, which may have several parts
	for tokens := sentences.FromString(s); tokens.Next(); {
		for part := range beforeFigures(tokens.Value()) {
			to += len(part)
			if trimmed := strings.TrimSpace(s[from:to]); trimmed != "" && !abbreviated(trimmed) {
				out = append(out, trimmed)
				from = to
			}
		}
	}
	if trimmed := strings.TrimSpace(s[from:to]); trimmed != "" {
		out = append(out, trimmed)
	}
	return out
}

// beforeFigures divides s where a full stop after a word comes before a word with a digit, a currency sign or an at
// sign. Abbreviations before a number ("p. 12", "at 6 p.m. 30 people") do not divide it.
func beforeFigures(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i := 1; i+2 < len(s); i++ {
			if s[i] != '.' || s[i+1] != ' ' {
				continue
			}
			last, _ := utf8.DecodeLastRuneInString(s[:i])
			next, _, _ := strings.Cut(s[i+2:], " ")
			word := s[strings.LastIndexByte(s[:i], ' ')+1 : i]
			figure := strings.ContainsFunc(next, func(r rune) bool { return unicode.IsDigit(r) || unicode.Is(unicode.Sc, r) || r == '@' })
			if figure && len(word) > 3 && unicode.In(last, unicode.Letter, unicode.Digit) && !counted[strings.ToLower(word)] {
				if !yield(s[from : i+2]) {
					return
				}
				from = i + 2
			}
		}
		yield(s[from:])
	}
}

// counted are abbreviations of four or more letters that come before a number.
var counted = Set("approx sept chap figs")

// abbreviations end with a full stop within a sentence.
var abbreviations = Set("mr mrs ms dr prof st no nr vs e.g i.e approx ca jr sr rev gen col capt lt sgt fig vol pp")

// abbreviated reports whether the full stop at the end of s more likely marks an abbreviation than the end of a sentence.
func abbreviated(s string) bool {
	if !strings.HasSuffix(s, ".") {
		return false
	}
	word := s[strings.LastIndexAny(s, " (\u00a0")+1 : len(s)-1]
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && unicode.IsUpper(r) && r != 'I' {
		return true
	}
	return abbreviations[strings.ToLower(word)]
}
