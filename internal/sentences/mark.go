package sentences

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
)

// ItemMark returns the length of the bullet or the number of an item at the start of a text, with the white space behind it: of
// "4. " in "4. Bonfires are forbidden." It is 0 if there is none, if nothing follows, or if the number may belong to the text, as
// in "3. Oktober ist Feiertag".
func ItemMark(text string) int {
	m := itemMark.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	rest := text[len(m[0]):]
	if rest == "" || m[1] != "" && !mayCountItems(rest) {
		return 0
	}
	return len(m[0])
}

var (
	itemMark = lazyregexp.New(`^\s*(?:[-*+•–·‣◦]|(\d{1,3})[.)])\s+`)

	// ordinal matches the words behind a number that together with it name a day, a floor or a place, as in German.
	ordinal = lazyregexp.New(`^(?:Jan|Feb|Mar|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz]|Stock|Etage|Klasse|Platz|Advent)`)
)

// mayCountItems reports whether a number before a text may be that of an item. In languages with other letters, numbers with
// a dot are also ordinals.
func mayCountItems(text string) bool {
	other := strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) })
	return text[0] >= 'A' && text[0] <= 'Z' && !other && !ordinal.MatchString(text)
}
