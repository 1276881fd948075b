// Package sentences finds where sentences end, in text as people write it: with abbreviations, initials, ordinals, amounts
// and times, mostly in English and German. It uses no grammar.
package sentences

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
)

// Split returns the sentences of text, without the white space around them.
func Split(text string) []string {
	var out []string
	from := 0
	for _, end := range append(Ends(text), len(text)) {
		if s := strings.TrimSpace(text[from:end]); s != "" {
			out = append(out, s)
		}
		from = end
	}
	return out
}

// Ends returns the offsets at which sentences end, each after the mark that ends the sentence and the quotes and brackets
// that close behind it. A line end is an end, too. What is left after the last end may be a sentence without a mark.
func Ends(text string) []int {
	var ends []int
	begun := 0 // where the current sentence begins, after white space
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if i-size == begun && unicode.IsSpace(r) {
			begun = i
		}
		switch {
		case r == '\n':
			begun = i
			ends = append(ends, i)
		case strings.ContainsRune("。！？", r): // no space follows
			i = skip(text, i, closing)
			begun = i
			ends = append(ends, i)
		case strings.ContainsRune(".!?…؟।", r):
			before := text[begun : i-size]
			for i < len(text) && strings.IndexByte(".!?", text[i]) >= 0 {
				r, i = rune(text[i]), i+1
			}
			i = skip(text, i, closing)
			if endsSentence(before, text[i:], r) {
				begun = i
				ends = append(ends, i)
			}
		}
	}
	return ends
}

// closing reports whether a rune closes a quotation or bracket.
func closing(r rune) bool {
	return strings.ContainsRune("\"'”’“»«)]}*_", r) || unicode.Is(unicode.Pe, r)
}

// opening reports whether a rune opens a quotation or bracket.
func opening(r rune) bool { return strings.ContainsRune("\"'“”„‘‚«»([{*_¿¡", r) }

// skip returns the offset of the first rune at or after i that is not one of some runes.
func skip(text string, i int, of func(rune) bool) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !of(r) {
			break
		}
		i += size
	}
	return i
}

// endsSentence reports whether a mark between before and after ends a sentence: white space follows, and then something that
// can begin a sentence, and a full stop does not belong to an abbreviation or to a number.
func endsSentence(before, after string, mark rune) bool {
	rest := strings.TrimLeftFunc(after, unicode.IsSpace)
	if rest == "" {
		return true
	}
	if rest == after {
		return false
	}
	rest = strings.TrimLeftFunc(rest, opening)
	first, _ := utf8.DecodeRuneInString(rest)
	if unicode.IsLower(first) && !isAddress(rest) && !isIdentifier(rest) {
		return false
	}
	if mark != '.' || before == "" {
		return true
	}
	return !keepsOn(lastWord(before), before, rest) && !inShortCell(before, rest) && !inBrackets(before, rest)
}

// inShortCell reports whether a full stop is the end of a cell of a few words in the row of a table: "| primer conc. | 300 nM".
func inShortCell(before, rest string) bool {
	const most = 4 // words
	if !strings.HasPrefix(rest, "|") {
		return false
	}
	cell := before[max(0, len(before)-nearby):]
	if at := strings.LastIndexByte(cell, '|'); at >= 0 {
		cell = cell[at+1:]
	} else if len(before) > nearby {
		return false
	}
	return len(strings.Fields(cell)) <= most
}

// inBrackets reports whether a full stop stands in brackets after which the sentence goes on in lower case: "The permit (cf.
// Annex B) is void".
func inBrackets(before, rest string) bool {
	before, rest = before[max(0, len(before)-nearby):], rest[:min(len(rest), nearby)]
	open, end := strings.LastIndexByte(before, '('), strings.IndexAny(rest, "()\n")
	if open < 0 || strings.TrimSpace(before[:open]) == "" || strings.Contains(before[open:], ")") || end < 0 || rest[end] != ')' {
		return false
	}
	after := strings.TrimLeft(rest[end+1:], " ")
	next, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLower(next) && len(after) < len(rest[end+1:])
}

// nearby is how many bytes before and after a full stop are searched for brackets and bars.
const nearby = 80

// isAddress reports whether a text begins with an e-mail or web address, which is not capitalised at the start of a sentence.
func isAddress(s string) bool {
	word := firstWord(s)
	return strings.Contains(word, "@") || strings.Contains(word, "://")
}

// isIdentifier reports whether a text begins with the name of something in a program, which is spelt alike everywhere:
// "max_size", "parse()", "crypto/tls", "rowHeight".
func isIdentifier(s string) bool {
	word := firstWord(s)
	inner := strings.IndexFunc(word, unicode.IsUpper) > 0
	return inner || strings.Contains(word, "_") || strings.Contains(word, "(") || strings.Contains(word, "/") && !strings.HasPrefix(word, "and/") && len(word) > 4
}

// firstWord returns the start of s up to white space, without that before it.
func firstWord(s string) string {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if end := strings.IndexFunc(s, unicode.IsSpace); end >= 0 {
		return s[:end]
	}
	return s
}

// lastWord returns the end of s after the last white space, opening mark or dash.
func lastWord(s string) string {
	at := strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || opening(r) || r == '-' || r == '–' || r == '/' })
	if at < 0 {
		return s
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	return s[at+size:]
}

// keepsOn reports whether the full stop after word does not end the sentence that rest would continue. before is the
// sentence so far, with the word.
func keepsOn(word, before, rest string) bool {
	next := rest
	if end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' }); end >= 0 {
		next = rest[:end]
	}
	first, _ := utf8.DecodeRuneInString(rest)
	lower := strings.ToLower(word)
	starts := starters[strings.ToLower(next)]
	switch {
	case dayMonth.MatchString(word) && clock.MatchString(rest): // an 22.12. 11:17
		return true
	case isNumber(word):
		return len(before) == len(word) || isOrdinal(word, before, next)
	case beforeNames[lower]:
		return true
	case counting[lower] && strings.ContainsAny(firstWord(rest), "0123456789"): // part no. AD-07
		return true
	case unicode.IsDigit(first) && (beforeNumbers[lower] || beforeWords[lower] || strings.HasSuffix(lower, "str") || isDotted(lower) || isClipped(word)):
		return true
	case labels[lower] && len(before) == len(word): // Max. Teilnehmerzahl: 12
		return !starts
	case utf8.RuneCountInString(word) == 1:
		return !starts && isInitial(word, strings.TrimSuffix(before, word), rest)
	case afterTimes[lower]:
		return false
	}
	return !starts && (isDotted(lower) || beforeWords[lower] || isClipped(word))
}

// A day and month, and a time.
var (
	dayMonth = lazyregexp.New(`^(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])$`)
	clock    = lazyregexp.New(`^(?:[01]?\d|2[0-3]):[0-5]\d\b`)
)

// isInitial reports whether one character before a full stop is an initial, or one letter of "z. B.". before is what
// stands before it, rest what follows the full stop. A sign of money, a unit behind a number and what letters count
// ("vitamin C") are none.
func isInitial(word, before, rest string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	if !unicode.IsLetter(r) || word == "I" || unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
		return false
	}
	if strings.HasSuffix(before, "/") || codeBefore(before) { // 50 km/h, 4711-B
		return false
	}
	number := lastWord(strings.TrimRightFunc(before, unicode.IsSpace))
	last, _ := utf8.DecodeLastRuneInString(number)
	switch {
	case !unicode.IsNumber(last):
		return !lettered[strings.ToLower(number)]
	case unicode.IsLower(r):
		return strings.HasPrefix(rest, "Chr.") // 44 v. Chr.
	case !unitLetters[word]:
		return true
	}
	next := firstWord(rest)
	return isYear(number) || len(next) == 2 && next[1] == '.' // In 1721 J. S. Bach
}

// codeBefore reports whether a text ends with a digit and a dash, behind which a letter is the end of a code.
func codeBefore(before string) bool {
	digit, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(before, "-"))
	return strings.HasSuffix(before, "-") && unicode.IsDigit(digit)
}

// isYear reports whether a number may be a year.
func isYear(number string) bool {
	return isNumber(number) && len(number) == 4 && number >= "1500" && number < "2100"
}

// BreaksOff reports whether a text up to an offset breaks off at an abbreviation, an initial or an ordinal that the words
// after it complete, as after "Hr" or "Hr." in "Hr. Weber" and after "3" in "3. Mai". The number of an item is none of these.
func BreaksOff(text string, at int) bool {
	dot := at
	if !strings.HasPrefix(text[at:], ".") {
		dot--
	}
	if dot < 0 || text[dot] != '.' {
		return false
	}
	before := strings.TrimLeftFunc(text[strings.LastIndexByte(text[:dot], '\n')+1:dot], unicode.IsSpace)
	rest, _, _ := strings.Cut(text[dot+1:], "\n")
	word := lastWord(before)
	lower := strings.ToLower(word)
	after := strings.TrimLeftFunc(rest, unicode.IsSpace)
	switch {
	case after == "" || lower == "":
		return false
	case rest[0] == '-': // Dipl.-Ing.
		return beforeNames[lower]
	case rest[0] == ',': // Di., 5. März
		return beforeNumbers[lower]
	case after == rest, isDotted(lower), afterTimes[lower]:
		return false
	case isNumber(word) && len(before) == len(word):
		next, _, _ := strings.Cut(after, " ")
		return months[strings.ToLower(next)]
	}
	return keepsOn(word, before, strings.TrimLeftFunc(after, opening))
}

// isNumber reports whether a word is a number of at most four digits.
func isNumber(word string) bool {
	return len(word) > 0 && len(word) <= 4 && strings.Trim(word, "0123456789") == ""
}

// isOrdinal reports whether a number before a full stop is an ordinal, as in "3. Mai" or "im 2. Stock".
func isOrdinal(number, before, next string) bool {
	if len(number) > 2 {
		return false
	}
	rest := strings.TrimRightFunc(strings.TrimSuffix(before, number), unicode.IsSpace)
	next = strings.ToLower(next)
	return months[next] || numbered[next] || determiners[strings.ToLower(lastWord(rest))]
}

// isDotted reports whether a word has full stops between single letters, as in "e.g" or "a.m".
func isDotted(word string) bool {
	parts := strings.Split(word, ".")
	for _, p := range parts {
		if utf8.RuneCountInString(p) != 1 {
			return false
		}
	}
	return len(parts) > 1
}

// isClipped reports whether a word looks like an abbreviation: short, with no vowel, and neither an acronym nor a unit.
func isClipped(word string) bool {
	if n := utf8.RuneCountInString(word); n < 2 || n > 4 || word == strings.ToUpper(word) || units[word] {
		return false
	}
	return !strings.ContainsFunc(strings.ToLower(word), func(r rune) bool {
		return !unicode.IsLetter(r) || strings.ContainsRune("aeiouyäöüáéíóúàèìòùâêîôûåæøœ", r)
	})
}
