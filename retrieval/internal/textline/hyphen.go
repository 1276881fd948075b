package textline

import (
	"strings"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
)

// Compounds are the words with a hyphen that stand within lines of a document, in lower case. A hyphen at the end of a line
// may belong to such a word, or only divide one.
type Compounds map[string]bool

// Add adds the words with a hyphen within a line.
func (c Compounds) Add(line string) {
	if !strings.Contains(line, "-") {
		return
	}
	for word := range strings.FieldsSeq(line) {
		if word = english.TrimWord(strings.ToLower(word)); strings.Contains(strings.Trim(word, "-"), "-") {
			c[word] = true
		}
	}
}

// suspended are words after which the rest of a word with a hyphen comes: "lunch- and dinnertime".
var suspended = english.Set("and or to und oder bis bzw. sowie u. et ou y o e")

// Hyphen returns what stands between the last word of a line, which ends with a hyphen, and the first word of the next line:
// "-", "- ", or "" if the hyphen only divides a word. last is without the hyphen, and not empty.
func (c Compounds) Hyphen(last, next string) string {
	whole := english.TrimWord(strings.ToLower(last + "-" + next))
	switch {
	case suspended[next]:
		return "- "
	case !BeginsLower(next), utf8.RuneCountInString(english.TrimWord(last)) == 1, strings.ContainsAny(last+english.TrimWord(next), "@/:.0123456789"), strings.ContainsRune(last, '-'), c[whole]:
		return "-"
	}
	return ""
}

// Join joins the lines of a paragraph, and the words that hyphens divide at their ends.
func (c Compounds) Join(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i+1 == len(lines) {
			b.WriteString(line)
			break
		}
		part := cutHyphen(line)
		if last := part[strings.LastIndexByte(part, ' ')+1:]; part == line || last == "" {
			b.WriteString(line + " ")
		} else {
			next, _, _ := strings.Cut(lines[i+1], " ")
			b.WriteString(part + c.Hyphen(last, next))
		}
	}
	return b.String()
}

// cutHyphen returns a line without the hyphen at its end. Two of them are a dash, which stays.
func cutHyphen(line string) string {
	r, size := utf8.DecodeLastRuneInString(line)
	if strings.HasSuffix(line, "--") {
		return line
	}
	if r == '-' || r == '\u2010' || r == '\u00ad' { // a hyphen, as people type it and as manuals have it, and a soft one
		return line[:len(line)-size]
	}
	return line
}

// EndsDivided reports whether a line ends with a word and a hyphen.
func EndsDivided(line string) bool {
	part := cutHyphen(line)
	return part != line && part != "" && !strings.HasSuffix(part, " ")
}
