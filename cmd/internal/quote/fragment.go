package quote

import (
	"strings"
	"unicode"

	"tandem/api"
	"tandem/internal/sentences"
)

// The most words of a heading, with a full stop as in minutes ("3. Water.") and without.
const (
	fewWords     = 3
	headingWords = 5
)

// completed returns a passage whose likeliest sentence, if it is a heading or a fragment, goes on to the end of the sentence
// behind it: alone it says nothing.
func completed(c api.Citation) api.Citation {
	rest := c.Text[c.To:]
	sameLine := !strings.HasPrefix(strings.TrimLeft(rest, " "), "\n")
	if next := sentences.Split(rest); len(next) > 0 && isFragment(c.Text[c.From:c.To], sameLine) {
		line, _, _ := strings.Cut(next[0], "\n")
		c.To += strings.Index(rest, line) + len(line)
	}
	return c
}

// isFragment reports whether a sentence says little without what follows it, on the same line or below. Items of a list do not
// go on.
func isFragment(sentence string, sameLine bool) bool {
	sentence = strings.TrimSpace(sentence)
	text := api.Citation{Text: sentence}.WithoutMark().Text
	item := text != sentence && !unicode.IsDigit(rune(sentence[0]))
	if text == "" || item || strings.ContainsAny(text, "|0123456789") || strings.Contains(text, ": ") {
		return false
	}
	words := len(strings.Fields(text))
	if strings.ContainsAny(text[len(text)-1:], ".!?") {
		return sameLine && words <= fewWords
	}
	return strings.HasSuffix(text, ":") || words <= headingWords
}
