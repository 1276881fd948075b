package documents

import (
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/textline"
)

// An option at the start of a line as in manuals and in the help of programs: "-x pattern", "--dry-run, -n".
var optionTerm = lazyregexp.New(`^(?:--?[\pL#?@][^ ]*|-\d,?)(?:,? [^ ]+){0,5}$`)

// hanging returns the entry with a hanging indent at line i, as in manuals, and its number of lines, or 0 if there is none.
// The description begins after the term or on the next line, and is indented more than the term. words are the text's words with a hyphen.
func hanging(words textline.Compounds, all []string, i int) (text string, n int) {
	lines := all[i:]
	indent := indentation(lines[0])
	term, rest := strings.TrimSpace(lines[0]), ""
	if term == "" {
		return "", 0
	}
	if at := gap.FindStringIndex(term); at != nil {
		term, rest = term[:at[0]], term[at[1]:]
	}
	named := indent > 0 && isConstant(term) && (rest == "" || listed(all, i))
	defined := indent > 0 && rest == "" && wordTerm.MatchString(term) // only where something below it is indented more
	if !optionTerm.MatchString(term) && !named && !defined {
		return "", 0
	}
	said := []string{rest}
	for n = 1; n < len(lines) && strings.TrimSpace(lines[n]) != "" && indentation(lines[n]) > indent+1; n++ {
		said = append(said, strings.TrimSpace(lines[n]))
	}
	if rest = strings.TrimSpace(words.Join(said)); rest == "" {
		return "", 0
	}
	return strings.TrimSuffix(term, ":") + ": " + rest, n
}

// wordTerm matches a term that is one word, perhaps with its kind behind it: "nofail", "max-depth (number)".
var wordTerm = lazyregexp.New(`^(?:\p{Ll}[\pL\pN._/-]*|[\pL][\pL\pN._/-]* \([^()]{1,30}\))$`)

// listed reports whether the nearest line with text before or after line i is an entry like it: a name or a number, a gap, and
// a description.
func listed(lines []string, i int) bool {
	like := func(line string) bool {
		at := gap.FindStringIndex(strings.TrimSpace(line))
		return at != nil && indentation(line) == indentation(lines[i]) && isConstant(strings.TrimSpace(line)[:at[0]])
	}
	before, after := i-1, i+1
	for before >= 0 && strings.TrimSpace(lines[before]) == "" {
		before--
	}
	for after < len(lines) && strings.TrimSpace(lines[after]) == "" {
		after++
	}
	return before >= 0 && like(lines[before]) || after < len(lines) && like(lines[after])
}

// indentation returns how many columns a line is indented; a tab goes to the next multiple of eight.
func indentation(line string) int { return indentationBy(8, line) }

// indentationBy is indentation with another distance between tab stops.
func indentationBy(tab int, line string) (n int) {
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += tab - n%tab
		default:
			return n
		}
	}
	return n
}

// isConstant reports whether a term is the name of a variable, a file or a number: "TARN_REPO", "~/.cache", "2".
func isConstant(term string) bool {
	if strings.Contains(term, " ") || strings.HasSuffix(term, ".") {
		return false
	}
	return strings.ContainsAny(term, "_/~") || !strings.ContainsFunc(term, func(r rune) bool { return !unicode.IsUpper(r) && !unicode.IsDigit(r) })
}
