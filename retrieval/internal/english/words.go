package english

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

func IsVerb(word string) bool { return Verbs[TrimWord(word)] } // not "Biork Works"

// bare cuts the ending of a possessive off.
func TrimPossessive(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
}

func TrimWord(s string) string { return strings.Trim(s, ".,;:!?'’\"()") }

func IsName(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	next, _ := utf8.DecodeRuneInString(word[size:])
	return unicode.IsUpper(r) && unicode.IsLower(next)
}

// possessive reports whether a word, with the marks behind it, is a genitive.
func IsPossessive(word string) bool {
	word = strings.TrimRight(word, ".,;:!?\")")
	return strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s") || strings.HasSuffix(word, "s'")
}

// shorten cuts s to at most n words.
func Shorten(s string, n int) string {
	pieces := SplitWords(Collapse(s), n)
	if len(pieces) > 1 {
		return pieces[0] + "…"
	}
	return pieces[0]
}

func Capitalise(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// cutMarker cuts a bullet or a number with "." or ")" off a line.
func CutMarker(line string) (rest string, ok bool) {
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, ok := strings.CutPrefix(line, bullet); ok {
			return strings.TrimSpace(rest), true
		}
	}
	i := 0
	for i < len(line) && i < 4 && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i > 0 && i+1 < len(line) && (line[i] == '.' || line[i] == ')') && line[i+1] == ' ' {
		return strings.TrimSpace(line[i+1:]), true
	}
	return line, false
}

// words counts the words of s. A run of characters without white space counts for one per started
// longWord, so that languages written without spaces, and junk, make passages of bounded size too.
func CountWords(s string) (n int) {
	for field := range strings.FieldsSeq(s) {
		n += (utf8.RuneCountInString(field) + LongWord - 1) / LongWord
	}
	return n
}

const LongWord = 24

// collapse joins the words of s by single spaces and drops what cannot be read: control characters and
// invalid UTF-8.
func Collapse(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
		case r == utf8.RuneError, r == '\u00ad', r == '\u200b', r == '\ufeff', unicode.IsControl(r):
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// said matches a message of a chat: "Anna: …", "[10:32] Ben: …", "Ben (10:32): …".
var Message = regexp.MustCompile(`^(\[[\d:., ]+\] )?([\p{Lu}][\p{L}\p{N}._-]*(?: [\p{Lu}][\p{L}.]*)?)( \([\d:., ]+\))?: `)

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for at := range s {
		if n--; n < 0 {
			return s[:at]
		}
	}
	return s
}

// splitWords cuts s into pieces of at most limit words, of about even length.
func SplitWords(s string, limit int) []string {
	total := CountWords(s)
	if total <= limit {
		return []string{s}
	}
	pieces := (total + limit - 1) / limit
	even := (total + pieces - 1) / pieces
	var out []string
	var piece []string
	size := 0
	for field := range strings.FieldsSeq(s) {
		for field != "" {
			part := firstRunes(field, even*LongWord)
			field = field[len(part):]
			if n := CountWords(part); size+n > even && size > 0 {
				out, piece, size = append(out, strings.Join(piece, " ")), nil, 0
			}
			piece, size = append(piece, part), size+CountWords(part)
		}
	}
	return append(out, strings.Join(piece, " "))
}
