package documents

import (
	"regexp"
	"strings"
	"unicode"
)

// An option at the start of a line as in manuals and in the help of programs: "-x pattern", "--dry-run, -n".
var optionTerm = regexp.MustCompile(`^--?[\pL#?@][^ ]*(?:,? [^ ]+){0,5}$`)

// hanging returns the entry at the start of lines whose term hangs out of what it means, as in manuals, and how many lines that
// takes; 0 if there is none. What it means begins behind the term or in the line below, and is indented more than the term.
func hanging(lines []string) (text string, n int) {
	indent := indentation(lines[0])
	term, rest := strings.TrimSpace(lines[0]), ""
	if at := gap.FindStringIndex(term); at != nil {
		term, rest = term[:at[0]], term[at[1]:]
	}
	if !optionTerm.MatchString(term) && !(rest == "" && indent > 0 && isConstant(term)) {
		return "", 0
	}
	for n = 1; n < len(lines) && strings.TrimSpace(lines[n]) != "" && indentation(lines[n]) > indent+1; n++ {
		rest += " " + strings.TrimSpace(lines[n])
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return "", 0
	}
	return strings.TrimSuffix(term, ":") + ": " + rest, n
}

// indentation returns how far a line is indented.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// isConstant reports whether a term is the name of a variable, a file or a number: "TARN_REPO", "~/.cache", "2".
func isConstant(term string) bool {
	if strings.Contains(term, " ") || strings.HasSuffix(term, ".") {
		return false
	}
	return strings.ContainsAny(term, "_/~") || !strings.ContainsFunc(term, func(r rune) bool { return !unicode.IsUpper(r) && !unicode.IsDigit(r) })
}
