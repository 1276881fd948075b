package english

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// splitSentences divides a paragraph at UAX #29 sentence bounds, except after abbreviations and initials,
// where that standard's default rules end a sentence ("Mr. Oduya", "J. Smith"), and before figures and addresses,
// where they do not ("… 14 euros. 806 pounds is …").
func Sentences(s string) []string {
	var out []string
	from, to := 0, 0 // the parts that may go on lie side by side in s
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

// beforeFigures divides s where a full stop after a word is followed by a word with a digit, a currency sign or an
// address in it. What abbreviates before a number ("p. 12", "at 6 p.m. 30 people") stays.
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

// counted are abbreviations of four letters and more that stand before a number.
var counted = map[string]bool{"approx": true, "sept": true, "chap": true, "figs": true}

var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "no": true, "nr": true,
	"vs": true, "e.g": true, "i.e": true, "approx": true, "ca": true, "jr": true, "sr": true, "rev": true,
	"gen": true, "col": true, "capt": true, "lt": true, "sgt": true, "fig": true, "vol": true, "pp": true,
}

// abbreviated reports whether s ends in a full stop that more likely abbreviates than ends a sentence.
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
