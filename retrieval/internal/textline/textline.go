// Package textline says what a line of text looks like: an item of a list, a label with its value, a title, a figure. It knows
// one line at a time, which has text and no white space around it, and nothing of files.
package textline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/sentences"
	"tandem/retrieval/internal/english"
)

// ListMark matches what stands before an item of a list, apart from its text.
var ListMark = regexp.MustCompile(`^([-*•–·‣◦]|\(?([0-9.]{1,8}|[a-zA-Z]|[ivx]{1,5})[.)]|[0-9.]{2,8})$`)

// IsItem reports whether a line begins with a list marker, which may be a letter as in "b) ", or with a box to tick.
func IsItem(line string) bool {
	_, ok := english.CutMarker(line)
	return ok || IsBoxed(line) || len(line) > 3 && 'a' <= line[0] && line[0] <= 'z' && line[1:3] == ") "
}

// box is a box to tick, with or without its tick.
var box = regexp.MustCompile(`^(\[[ xX]?\]|[☐☑☒]) `)

// IsBoxed reports whether a line begins with a box to tick: "[ ] buy milk".
func IsBoxed(line string) bool { return box.MatchString(line) }

// The greatest lengths of a label and its value, in words.
const (
	LabelWords = 5 // of a label before its value,
	AboveWords = 8 // and of one on a line of its own above it
	ValueWords = 12
)

// IsLabel reports whether a line is a short "name: value", as in notes. Such a line is a block.
func IsLabel(line string) bool {
	label, value, ok := strings.Cut(line, ": ")
	return ok && english.CountWords(label) <= LabelWords && english.CountWords(value) <= ValueWords && !strings.ContainsAny(label, ".!?")
}

// stamp is how a line of a chat, a log or a contract begins: a date or time in brackets, a date with a time, or a
// clause's number.
var stamp = regexp.MustCompile(`^(\[[0-9]{1,4}[-./:][0-9]{1,2}[-./:, \]]|[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4},? [0-9]{1,2}[:.][0-9]{2}|\([0-9a-z]{1,2}\) )`)

// IsStamped reports whether a line begins as those of a chat, a log or a contract do, with a time or a clause's number. Such a
// line goes on from none above it.
func IsStamped(line string) bool { return stamp.MatchString(line) }

// LooksLikeTitle reports whether a line between blank lines is a title rather than a sentence.
func LooksLikeTitle(line string) bool {
	return english.CountWords(line) <= 10 && !strings.ContainsAny(line[len(line)-1:], ".,;!") && !isStatement(line) && len(sentences.Split(line)) < 2
}

// isStatement reports whether a line makes a statement though it has no full stop: "Password: 3232", "The orchid is kept
// under the stairs".
func isStatement(line string) bool {
	if _, value, ok := strings.Cut(line, ": "); ok && strings.ContainsAny(value, "0123456789@") {
		return IsLabel(line)
	}
	fields := strings.Fields(line)
	first := strings.ToLower(fields[0])
	return (english.Articles[first] || english.Anaphors[first]) && slices.ContainsFunc(fields, func(f string) bool { return english.Be[f] || f == "has" })
}

// IsMarked reports whether a line that stands apart is a heading by its letters or its sign.
func IsMarked(line string) bool {
	if english.CountWords(line) > 8 || strings.ContainsAny(line[len(line)-1:], ".,;!") || IsItem(line) {
		return false
	}
	capitals, digits := 0, 0
	for _, r := range line {
		switch {
		case unicode.IsUpper(r):
			capitals++
		case unicode.IsLetter(r):
			return section.MatchString(line)
		case unicode.IsDigit(r):
			digits++
		}
	}
	return capitals > 3 && capitals > digits // not "IBAN DE12 5205 …"
}

// section is how a section of a contract or of statutes begins.
var section = regexp.MustCompile(`^§+ ?[0-9]+[a-z]? +\p{Lu}`)

// IsFigure reports whether a cell is a number, date, time, amount or internet address rather than a name.
func IsFigure(cell string) bool {
	digits, letters := 0, 0
	for _, r := range cell {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits > 0 && digits*2 >= letters || strings.ContainsRune(cell, '@') || strings.Contains(cell, "://")
}

// BeginsLower reports whether a line begins in lower case, as the middle of a sentence does.
func BeginsLower(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}

// EndsSentence reports whether a line ends as a sentence may.
func EndsSentence(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, `"'”’)»`))
	return strings.ContainsRune(".!?:…", r)
}

// minBound is the smallest length in characters of a line that a last word such as "by" leaves open. A shorter line may end
// with such a word: "Lights on".
const minBound = 32

// Binds reports whether a line ends with a word that the next line must complete: "… is kept by".
func Binds(line string) bool {
	last := line[strings.LastIndexByte(line, ' ')+1:]
	return utf8.RuneCountInString(line) >= minBound && Links(strings.ToLower(last))
}

// Links reports whether a word in lower case does not end a sentence, and begins no statement in lower case.
func Links(word string) bool { return linking[word] }

var linking = english.Set(`a an the my your his her its our their this that these those and or but nor than as of in on at to for from by with
	without under over near behind before after until about into through between not no very too if when where who which whose because so
	der die das den dem des ein eine einen einem einer und oder aber von in im am an auf aus bei mit nach zu zum zur für über unter vor dass ist
	le la les un une des du de et ou à au aux dans sur pour par avec que qui el los las y o del con`)

// superscripts are the raised figures.
var superscripts = []string{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"}

// Raised returns a raised text, in raised figures if it is a number: "m²", "298 €¹".
func Raised(text string) string {
	if number := strings.TrimSpace(text); number == "" || strings.Trim(number, "0123456789") != "" {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsDigit(r) {
			b.WriteString(superscripts[r-'0'])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
