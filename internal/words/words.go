// Package words compares texts by their English words, and gives their letters one form.
package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Content returns the words of text in lower case, without function words. Names such as "opening_hours" and "openingHours" are
// several words.
func Content(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(Divided(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return slices.DeleteFunc(all, Function)
}

// Divided returns text with names such as "openingHours" as words: "opening hours". A name that begins with a capital or with one
// small letter before a capital, as "GitHub", "eBay" and "iPhone" do, stays whole.
func Divided(text string) string {
	var b strings.Builder
	from, small := 0, 0 // small letters of the word so far; negative if it is no such name
	for i, r := range text {
		switch {
		case unicode.IsLower(r):
			if small >= 0 {
				small++
			}
		case small > 1 && unicode.IsUpper(r) && beginsSmall(text[i+utf8.RuneLen(r):]):
			b.WriteString(text[from:i])
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
			from = i + utf8.RuneLen(r)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			small = -1
		default:
			small = 0
		}
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

// beginsSmall reports whether a text begins with a small letter.
func beginsSmall(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}

// Function reports whether a word in lower case is a function word, one that says little about what a text is about.
func Function(word string) bool { return functions[word] }

var functions = Set(`a an the and or but of in on at to for from by with as is are was were be been it its
	this that these those what when where who whom whose which why how does do did has have had can could
	will would should may might must i you he she we they me him her us them my your his our their there
	please tell give know need also not no yes if than then so s t re ve ll d m`)

// Shared counts the words of a that are also in b, perhaps with another ending ("open", "opens", "opening") or hyphen ("wifi",
// "Wi-Fi").
func Shared(a, b []string) (n int) {
	for i := range a {
		if hasAt(b, a, i) {
			n++
		}
	}
	return n
}

// Without returns the words of a that are not in b.
func Without(a, b []string) (left []string) {
	for i := range a {
		if !hasAt(b, a, i) {
			left = append(left, a[i])
		}
	}
	return left
}

// HasAll reports whether words has all of wanted, each perhaps with another ending or hyphen.
func HasAll(words, wanted []string) bool {
	for i := range wanted {
		if !hasAt(words, wanted, i) {
			return false
		}
	}
	return true
}

// hasAt reports whether words has the word at an index of a text's words, perhaps in one word with its neighbour.
func hasAt(words, text []string, i int) bool {
	asOne := func(a, b string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return together(a, b, w) })
	}
	return Has(words, text[i]) || i > 0 && asOne(text[i-1], text[i]) || i+1 < len(text) && asOne(text[i], text[i+1])
}

// Has reports whether words has a word, perhaps with another ending, or as two neighbours: a hyphen divides words.
func Has(words []string, word string) bool {
	for i, w := range words {
		if sameStem(w, word) || i > 0 && together(words[i-1], w, word) {
			return true
		}
	}
	return false
}

// together reports whether a word is two others without the hyphen between them, perhaps with another ending. Two numbers are
// never one.
func together(a, b, word string) bool {
	rest, ok := strings.CutPrefix(word, a)
	return ok && !strings.ContainsAny(a[:1], "0123456789") && sameStem(b, rest)
}

// sameStem reports whether two words are equal, or one is the other plus an ending of up to three letters. "mot" is not the
// stem of "motors", nor "web" that of "web02".
func sameStem(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == b {
		return true
	}
	ending, ok := strings.CutPrefix(b, a)
	switch {
	case !ok || len(a) < 3 || len(ending) > 3 || strings.ContainsAny(ending, "0123456789"):
		return false
	case len(a) > 3 || strings.ContainsAny(a, "0123456789"): // "500" and "500mg"
		return true
	}
	doubled := ending[0] == a[2] && !strings.ContainsRune("aeiou", rune(a[2])) // "dad" and "daddy"
	return inflections[ending] || doubled
}

// inflections are the endings that a word of three letters may have; "day" is that of "fri".
var inflections = Set("s es e ed d ing en er y ly al os day")

// Abbreviated reports whether the last word of a text is a common abbreviation or an initial, so that a full stop behind it
// need not end a sentence.
func Abbreviated(text string) bool {
	word := text[strings.LastIndexAny(text, " \n(\"")+1:]
	if len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' {
		return true
	}
	return abbreviations[strings.ToLower(word)]
}

var abbreviations = Set("mr mrs ms dr st prof no nr e.g i.e etc vs approx ca dept jr sr")

// Parts of patterns for days and months in small letters. May is left out because it is mostly a verb.
const (
	Weekdays     = `(?:mon|tues|wednes|thurs|fri|satur|sun)days?`
	MonthsButMay = `january|february|march|april|june|july|august|september|october|november|december`
)

// Wrote is a part of patterns: what mail programs say of who wrote what they quote, in the languages of these programs.
const Wrote = `wrote|schrieb|écrit|escribió|escreveu|scrisse|scritto|schreef|geschreven|skrev|napisał`

// WithoutPossessive returns a word without the ending of an owner: "Anna" for "Anna's".
func WithoutPossessive(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
}

// Set returns the words of a list, which white space divides.
func Set(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// Composed returns a text in which each letter and its accents are one character, as keyboards write them. File names and notes
// from a Mac and many PDFs have them apart, and a search by bytes would find no "ö" in them. A character that stands alone
// stays as it is: Unicode's NFC would also replace some of these, such as variants of Chinese characters in names.
func Composed(text string) string {
	if norm.NFC.IsNormalString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		end := norm.NFC.NextBoundaryInString(text, true)
		if part := text[:end]; utf8.RuneCountInString(part) > 1 {
			b.WriteString(norm.NFC.String(part))
		} else {
			b.WriteString(part)
		}
		text = text[end:]
	}
	return b.String()
}
