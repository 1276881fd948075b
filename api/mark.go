package api

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	listMark = regexp.MustCompile(`^\s*(?:[-*+•–·‣◦]|(\d{1,3})[.)])\s+`)

	// ordinal matches the words behind a number that together with it name a day, a floor or a place, as in German.
	ordinal = regexp.MustCompile(`^(?:Jan|Feb|Mar|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz]|Stock|Etage|Klasse|Platz|Advent)`)
)

// WithoutMark returns the citation as people are shown it: without the bullet or the number of an item at its start. A
// number stays where it may belong to the text, or answers.
func (c Citation) WithoutMark() Citation {
	m := listMark.FindStringSubmatch(c.Text)
	if m == nil {
		return c
	}
	rest := c.Text[len(m[0]):]
	if rest == "" || c.To > c.From && c.To <= len(m[0]) || m[1] != "" && !mayCountItems(rest) {
		return c
	}
	c.Text, c.From, c.To = rest, max(0, c.From-len(m[0])), max(0, c.To-len(m[0]))
	return c
}

// mayCountItems reports whether a number before a text may be that of an item. In languages with other letters, numbers with
// a dot are also ordinals.
func mayCountItems(text string) bool {
	other := strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) })
	return text[0] >= 'A' && text[0] <= 'Z' && !other && !ordinal.MatchString(text)
}
