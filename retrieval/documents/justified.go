package documents

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Lines count as justified if at least minJustified of them, with at most maxBlanks blanks between words, end in the
// same column.
const (
	minJustified = 8
	minWords     = 6
	maxBlanks    = 3
)

var blanks = regexp.MustCompile(` {2,}`)

// justified returns the lines of text that a program has padded to equal length with blanks between words, as in manual pages.
// Without this check they look like rows of a table.
func justified(lines []string) map[int]bool {
	ends, wide, single := map[int]int{}, map[int]int{}, map[int]int{}
	for _, line := range lines {
		if w, s, ok := stretched(line); ok && w > 0 {
			at := utf8.RuneCountInString(line)
			ends[at]++
			wide[at] += w
			single[at] += s
		}
	}
	out := map[int]bool{}
	for i, line := range lines {
		at := utf8.RuneCountInString(line)
		if _, _, ok := stretched(line); ok && at >= minWidth && ends[at] >= minJustified && single[at] >= wide[at] {
			out[i] = true
		}
	}
	return out
}

// stretched reports whether a line may be justified, and how many places between words have several blanks and one.
func stretched(line string) (wide, single int, ok bool) {
	text := strings.TrimSpace(line)
	words := strings.Fields(text)
	if len(words) < minWords || strings.Contains(text, "\t") {
		return 0, 0, false
	}
	for _, at := range blanks.FindAllStringIndex(text, -1) {
		if at[1]-at[0] > maxBlanks {
			return 0, 0, false
		}
		wide++
	}
	return wide, len(words) - 1 - wide, true
}

// joined joins the lines of a paragraph, and the words that a hyphen (U+2010) divides at their ends.
func joined(lines []string) string { return divided.ReplaceAllString(strings.Join(lines, " "), "$1$2") }

var divided = regexp.MustCompile(`(\pL)‐ +(\p{Ll})`)
