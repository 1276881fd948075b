package english

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsVerb reports whether a word is in Verbs. It must be in lower case: "Works" in "Biork Works" is a name.
func IsVerb(word string) bool { return Verbs[TrimWord(word)] }

// TrimPossessive removes the ending of a possessive.
func TrimPossessive(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
}

// TrimWord removes punctuation, quotes and parentheses around a word.
func TrimWord(s string) string { return strings.Trim(s, ".,;:!?'’\"()") }

// IsName reports whether a word is capitalised, and not an acronym.
func IsName(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	next, _ := utf8.DecodeRuneInString(word[size:])
	return unicode.IsUpper(r) && unicode.IsLower(next)
}

// IsPossessive reports whether a word, ignoring punctuation after it, ends as a possessive does.
func IsPossessive(word string) bool {
	word = strings.TrimRight(word, ".,;:!?\")")
	return strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s") || strings.HasSuffix(word, "s'")
}

// Shorten cuts s to at most n words. An ellipsis marks the cut.
func Shorten(s string, n int) string {
	pieces := SplitWords(Collapse(s), n)
	if len(pieces) > 1 {
		return pieces[0] + "…"
	}
	return pieces[0]
}

// FirstBytes returns at most n bytes of s, whole characters.
func FirstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Capitalise returns s with its first letter in upper case.
func Capitalise(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// CutMarker removes a list marker from the start of a line: a bullet, or a number followed by "." or ")".
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

// CountWords returns the number of words in s. A run of characters without white space counts as one word for every
// LongWord characters or fewer, so that junk and languages without spaces also make passages of
// bounded size.
func CountWords(s string) (n int) {
	for field := range strings.FieldsSeq(s) {
		n += (utf8.RuneCountInString(field) + LongWord - 1) / LongWord
	}
	return n
}

// LongWord is the number of characters that count as one word.
const LongWord = 24

// Collapse joins the words of s with single spaces and drops control characters, soft hyphens, zero-width spaces and
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

// Message matches the start of a chat message: "Anna: …", "[10:32] Ben: …", "3/5/2025, 10:32 - Ben: …", "Ben (10:32):
// …". Its groups are the time before the name, the name, and the time after it.
var Message = regexp.MustCompile(`^(\[[\d:., ]+\] |[\d./-]{6,10},? [\d:]{4,8}(?: ?[apAP]\.?[mM]\.?)? - )?([\p{Lu}][\p{L}\p{N}._-]*(?: [\p{Lu}][\p{L}.]*)?)( \([\d:., ]+\))?: `)

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for at := range s {
		if n--; n < 0 {
			return s[:at]
		}
	}
	return s
}

// SplitWords cuts s into pieces of at most limit words and of about the same length. Each piece is a part of s, without the
// white space around it.
func SplitWords(s string, limit int) []string {
	total := CountWords(s)
	if total <= limit {
		return []string{s}
	}
	pieces := (total + limit - 1) / limit
	even := (total + pieces - 1) / pieces
	var out []string
	size, from, at := 0, 0, 0 // words and bounds of the current piece
	for field := range strings.FieldsSeq(s) {
		at += strings.Index(s[at:], field)
		for field != "" {
			part := firstRunes(field, even*LongWord)
			field = field[len(part):]
			if n := CountWords(part); size+n > even && size > 0 {
				out, size, from = append(out, strings.TrimSpace(s[from:at])), 0, at
			}
			size, at = size+CountWords(part), at+len(part)
		}
	}
	return append(out, strings.TrimSpace(s[from:]))
}

// Gap returns what stands in text before its part, and text after that part.
func Gap(text, part string) (gap, rest string) {
	at := max(0, strings.Index(text, part))
	return text[:at], text[at+len(part):]
}
