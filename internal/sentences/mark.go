package sentences

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ItemMark returns the length of the bullet or the number of an item at the start of a text, with the white space around it: 3 of
// "4. Bonfires are forbidden." It is 0 if there is none, if nothing follows, or if the number may belong to the text, as in "3.
// Oktober ist Feiertag".
func ItemMark(text string) int {
	marked := strings.TrimLeftFunc(text, unicode.IsSpace)
	number := strings.TrimLeft(marked, "0123456789")
	digits := len(marked) - len(number)
	_, size := utf8.DecodeRuneInString(number)
	switch {
	case digits == 0 && !strings.ContainsRune(bullets, first(number)), digits > 3, digits > 0 && !strings.ContainsRune(".)", first(number)):
		return 0
	}
	behind := number[size:]
	rest := strings.TrimLeftFunc(behind, unicode.IsSpace)
	if rest == behind || rest == "" || digits > 0 && !mayCountItems(rest) {
		return 0
	}
	return len(text) - len(rest)
}

// bullets stand before items.
const bullets = "-*+•–·‣◦"

func first(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// mayCountItems reports whether a number before a text may be that of an item: not the day of a month, a floor or a class, as
// ordinals are written in German. In languages with other letters, too, numbers with a dot are ordinals.
func mayCountItems(text string) bool {
	other := strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) })
	return text[0] >= 'A' && text[0] <= 'Z' && !other && !slices.ContainsFunc(ordinals, func(o string) bool { return strings.HasPrefix(text, o) })
}

// ordinals begin what an ordinal stands before.
var ordinals = strings.Fields("Jan Feb Mar Apr Mai May Jun Jul Aug Sep Oct Okt Nov Dec Dez Stock Etage Klasse Platz Advent")
