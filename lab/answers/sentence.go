package answers

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentenceEnds divides text into lines and the lines into sentences. It returns their ends as byte offsets. It is not the
// product's own division, so that a set does not change with the product.
func sentenceEnds(text string) []int {
	var ends []int
	for i, r := range text {
		switch {
		case r == '\n':
			ends = append(ends, i+1)
		case r == '.' || r == '!' || r == '?':
			rest := strings.TrimLeft(text[i+1:], `"'”’)]`) // belongs to this sentence
			if endsSentence(text[:i], rest, r) {
				ends = append(ends, len(text)-len(rest))
			}
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(text) {
		ends = append(ends, len(text))
	}
	return ends
}

// endsSentence reports whether a mark ends a sentence: a blank and the beginning of another follow, and before a full stop
// stands neither an initial nor a common abbreviation.
func endsSentence(before, after string, mark rune) bool {
	rest := strings.TrimLeft(after, " \t")
	if rest == after || rest == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(rest)
	if unicode.IsLower(first) {
		return false
	}
	if mark != '.' {
		return true
	}
	word := strings.ToLower(before[strings.LastIndexAny(before, " \t\n(")+1:])
	return utf8.RuneCountInString(word) > 1 && !abbreviations[word] && !strings.HasSuffix(word, "str")
}

var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "no": true, "nr": true, "vs": true, "jr": true, "sr": true,
	"hr": true, "fr": true, "ing": true, "e.g": true, "i.e": true, "approx": true, "ca": true, "fig": true, "vol": true, "u.s": true, "co": true, "inc": true,
	"tel": true, "str": true, "cad": true, "mt": true, "ft": true, "lt": true, "col": true, "gen": true, "rev": true, "hon": true,
}

// sentenceAt returns the sentence around a byte offset.
func sentenceAt(text string, at int) string {
	from := 0
	for _, end := range sentenceEnds(text) {
		if at < end {
			return strings.TrimSpace(text[from:end])
		}
		from = end
	}
	return strings.TrimSpace(text[from:])
}

// sentencesOf returns the sentences of a text without the blank ones.
func sentencesOf(text string) []string {
	var out []string
	from := 0
	for _, end := range sentenceEnds(text) {
		if s := strings.TrimSpace(text[from:end]); s != "" {
			out = append(out, s)
		}
		from = end
	}
	return out
}
