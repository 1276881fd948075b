package documents

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// longestList is how many lines are searched for the end of a list, which may be within another.
const longestList = 400

// leadsOnlyList reports whether line i ends with a colon before a list, and text that belongs neither to the list nor
// below another heading follows: as a heading the line would take that text in.
func leadsOnlyList(lines []string, i int) bool {
	if !strings.HasSuffix(strings.TrimSpace(lines[i]), ":") {
		return false
	}
	listed := false
	for at := i + 1; at < min(len(lines), i+longestList); at++ {
		line := strings.TrimSpace(lines[at])
		switch {
		case line == "":
		case textline.IsItem(line):
			listed = true
		case !listed:
			return false
		case lines[at] != strings.TrimLeft(lines[at], " \t"), strings.TrimSpace(lines[at-1]) != "" && textline.BeginsLower(line): // goes on with an item
		default:
			return !headsNext(lines, at)
		}
	}
	return false
}

// headsNext reports whether line i may be a heading of its own, in plain text or in Markdown.
func headsNext(lines []string, i int) bool {
	line := strings.TrimSpace(lines[i])
	level, _ := atxHeading(line)
	_, bold := boldLine(lines, i)
	underlined := i+1 < len(lines) && isUnderline(strings.TrimSpace(lines[i+1]))
	alone := textline.LooksLikeTitle(line) && standsAlone(lines, i)
	return level > 0 || bold || underlined || alone || isRule(line) || isLead(line) || isMarkedHeading(lines, i) || isPlainHeading(lines, i)
}

// numbered matches a heading with a number: "3. Rent", or with a word before it, as in "Article 3 - Boats" and "Week 3".
var numbered = lazyregexp.New(`^(?:\d{1,2}[.)] +\p{Lu}.*|(\p{Lu}\pL+) (?:\d{1,3}|[IVXLC]{1,6})(?::|(?:[.:]| *[-–—]) *\p{Lu}.*)?)$`)

// numberedHeadings returns the lines that are headings with a number, if there are several with the same word or with
// none: each stands after an empty line and ends as no sentence does, and text begins in the line below, or below an
// empty line. That text is not the next of a list: no item below a mere number, and no other such line below a word.
func numberedHeadings(lines []string) map[int]bool {
	out := map[int]bool{}
	byWord := map[string][]int{}
	for i, line := range lines {
		if m := numbered.FindStringSubmatch(line); m != nil && headsText(lines, i, m[1]) {
			byWord[m[1]] = append(byWord[m[1]], i)
		}
	}
	for _, at := range byWord {
		for _, i := range at {
			if len(at) > 1 {
				out[i] = true
			}
		}
	}
	return out
}

// headsText reports whether line i, which has a number and perhaps a word before it, stands as a heading does.
func headsText(lines []string, i int, word string) bool {
	if i+1 == len(lines) || i > 0 && strings.TrimSpace(lines[i-1]) != "" || !textline.LooksLikeTitle(strings.TrimSpace(lines[i])) {
		return false
	}
	below := lines[i+1]
	if strings.TrimSpace(below) == "" && i+2 < len(lines) {
		below = lines[i+2]
	}
	if word != "" {
		m := numbered.FindStringSubmatch(below)
		return strings.TrimSpace(below) != "" && (m == nil || m[1] != word)
	}
	r, _ := utf8.DecodeRuneInString(below)
	return unicode.IsUpper(r) || unicode.IsDigit(r) && !textline.IsItem(below)
}

// hasText reports whether any line has text.
func hasText(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { l = strings.TrimSpace(l); return l != "" && !isRule(l) })
}

// isLead reports whether a line introduces those below it: "Kitchen:".
func isLead(line string) bool {
	name, ok := strings.CutSuffix(line, ":")
	return ok && english.CountWords(name) <= 10 && !textline.IsItem(line) && !strings.ContainsAny(name, ".:;!?")
}

// isMarkedHeading reports whether line i, after a blank line and before text, is a heading by its letters, which are all
// capitals, or by its sign: "§ 3 Membership".
func isMarkedHeading(lines []string, i int) bool {
	line := strings.TrimSpace(lines[i])
	if i+1 == len(lines) || i > 0 && strings.TrimSpace(lines[i-1]) != "" {
		return false
	}
	if strings.TrimSpace(lines[i+1]) == "" && !hasText(lines[i+1:min(i+4, len(lines))]) {
		return false
	}
	return textline.IsMarked(line)
}

// isPlainHeading reports whether line i, among others, is a heading without marks: a few words that form no sentence,
// before an item or before a line that begins with a pronoun or an article. It may end in a colon, or in the kind of
// text that follows: "The mill: overview".
func isPlainHeading(lines []string, i int) bool {
	line, colon := strings.CutSuffix(strings.TrimSpace(lines[i]), ":")
	if i+1 >= len(lines) || english.CountWords(line) > 6 || textline.IsItem(line) || strings.ContainsAny(line, ".!?;") || !english.IsName(line) || strings.HasPrefix(line, "As ") || slices.ContainsFunc(strings.Fields(line), english.IsVerb) {
		return false
	}
	if colon {
		return true
	}
	if strings.Contains(line, ":") && !textKinds[lastWord(line)] {
		return false
	}
	below := strings.TrimSpace(lines[i+1])
	next := firstWord(below)
	return english.Anaphors[strings.ToLower(next)] || next == "The" || textline.IsItem(below)
}

// textKinds are words for kinds of text.
var textKinds = english.Set("overview details information guide notes history facts plan profile contact summary handbook list introduction")

// standsAlone reports whether line i is between blank lines, and more text follows.
func standsAlone(lines []string, i int) bool {
	blank := func(at int) bool { return at < 0 || at >= len(lines) || strings.TrimSpace(lines[at]) == "" }
	return blank(i-1) && blank(i+1) && hasText(lines[i+1:])
}

// isRule reports whether a line consists of punctuation, or of lines as in frames, that draws a rule.
func isRule(line string) bool {
	line = unframed(line)
	return len(line) >= 3 && strings.Trim(line, "-=*_~# ") == "" && strings.Count(line, line[:1]) >= 3
}
