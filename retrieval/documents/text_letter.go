package documents

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
)

// salutation matches the salutation of a letter.
var salutation = lazyregexp.New(`^(Dear|Sehr geehrte[rs]?|Liebe[rs]?|Guten Tag|Chère?s?|Madame|Monsieur|Estimad[oa]s?|Geachte|Beste) ?.{0,60},$`)

// addressee matches the beginning of the line that names a letter's addressee.
var addressee = lazyregexp.New(`^(Mr|Mrs|Ms|Miss|Dr|Prof|Herrn?|Frau|Familie|Family|Mme|M|Sra?|To|An|An die|An den)\b`)

// Where a letter's salutation and the name of its sender stand.
const (
	letterHead  = 24 // blocks before the salutation at most,
	senderWords = 6  // and words of the name
)

// sender returns the sender of a letter: its first line, if other lines and a salutation follow. It returns "" if the
// document is not a letter.
func sender(doc Document) string {
	for i, b := range doc.Blocks[:min(len(doc.Blocks), letterHead)] {
		if !salutation.MatchString(b.Text) {
			continue
		}
		first := doc.Blocks[0]
		r, _ := utf8.DecodeRuneInString(first.Text)
		if i < 3 || first.Apart || first.Kind == TableHead || first.Kind == TableRow || !unicode.IsUpper(r) || english.CountWords(first.Text) > senderWords ||
			strings.ContainsAny(first.Text, "0123456789:@") || addressee.MatchString(first.Text) || shareName(first.Text, b.Text) {
			return ""
		}
		return first.Text
	}
	return ""
}

// shareName reports whether a line and a salutation have a name in common, which is then the addressee's.
func shareName(line, salutation string) bool {
	names := strings.FieldsFunc(salutation, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	return slices.ContainsFunc(strings.Fields(line), func(word string) bool {
		return utf8.RuneCountInString(word) > 2 && slices.Contains(names, word)
	})
}
