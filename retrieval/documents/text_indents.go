package documents

import (
	"maps"
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// indents says how lines are indented.
type indents struct {
	left int // of the least indented line
	text int // the smallest indentation that at least a seventh of the lines have, not counting short lines, which may be headings
}

// indentsOf returns how a text's lines are indented.
func indentsOf(lines []string) (in indents) {
	in.left = -1
	count, all := map[int]int{}, 0
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		n := indentation(line)
		if in.left < 0 || n < in.left {
			in.left = n
		}
		if len(strings.Fields(line)) >= minWords {
			count[n]++
			all++
		}
	}
	in.text = max(0, in.left)
	for _, n := range slices.Sorted(maps.Keys(count)) {
		if 7*count[n] >= all {
			in.text = n
			break
		}
	}
	return in
}

// inBody reports whether a line is indented at least like the text itself, where headings are not.
func (in indents) inBody(line string) bool {
	n := indentation(line)
	return n > in.left && n >= in.text
}

// hangs reports whether line i is a heading that hangs out of the text below it, as in manuals: "   Special users".
func (in indents) hangs(lines []string, i int) bool {
	line, n := strings.TrimSpace(lines[i]), indentation(lines[i])
	if n <= in.left || n >= in.text || i == 0 || i+1 == len(lines) || strings.TrimSpace(lines[i-1]) != "" || indentation(lines[i+1]) < n+2 || strings.TrimSpace(lines[i+1]) == "" {
		return false
	}
	words := english.CountWords(line)
	return words > 1 && words <= 8 && !strings.ContainsAny(line[len(line)-1:], ",;:!") && !textline.IsItem(line)
}

// indentedCode returns the number of lines of code from line i on. Code follows an empty line after a text that ends with a
// colon, is indented more than the text, and looks like code.
func indentedCode(lines []string, i int) (n int) {
	if i < 2 || strings.TrimSpace(lines[i-1]) != "" || !strings.HasSuffix(strings.TrimSpace(lines[i-2]), ":") {
		return 0
	}
	like := 0
	for i+n < len(lines) && strings.TrimSpace(lines[i+n]) != "" && indentation(lines[i+n]) > indentation(lines[i-2])+1 {
		line := strings.TrimSpace(lines[i+n])
		if strings.ContainsAny(line[len(line)-1:], ".!?") || textline.IsItem(line) {
			return 0
		}
		if codeLike.MatchString(line) {
			like++
		}
		n++
	}
	if 2*like < n {
		return 0
	}
	return n
}

// codeLike matches a line that may be code: it begins with a lower-case letter or a symbol, or contains symbols that do
// not occur in prose.
var codeLike = lazyregexp.New(`^[a-z./~$#-]|[_=$<>|{}\\]|(?:^| )--?\pL|\p{Ll}\p{Lu}`)
