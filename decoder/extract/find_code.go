package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// asksCommand matches a question for a command that does not begin with "how".
var asksCommand = regexp.MustCompile(`(?i)^\W*(?:and )?(?:what(?:'s| is| are)?|which|with (?:what|which))\b.*\b(?:command|commands|code|snippet)\b`)

// codeBlock returns the block of code that shows how to do what a question asks. The first word of the question, which
// is the verb, stands in the heading above the block, in the line that introduces it or in the code, and the rest of
// the question somewhere in the passage.
func (p passage) codeBlock(q query) (from, to int, ok bool) {
	if q.form != formSteps && !asksCommand.MatchString(q.text) {
		return 0, 0, false
	}
	wanted := excluding(words.Content(q.text), commandWords)
	if len(wanted) == 0 {
		return 0, 0, false
	}
	titled := words.Content(p.title())
	missing := len(unmentioned(wanted, words.Content(p.text)))
	if missing > 1 || missing == 1 && len(wanted) < fewestMissing {
		return 0, 0, false
	}
	most := 0
	for begin := p.body; begin < len(p.text); {
		end := p.codeEnd(begin)
		if end == begin {
			begin = p.lineEnd(begin) + 1
			continue
		}
		near := words.Content(p.headingAbove(begin) + " " + p.sentenceBefore(begin) + " " + p.text[begin:end])
		n := len(wanted) - len(unmentioned(wanted, slices.Concat(near, titled)))
		if does := len(unmentioned(wanted[:1], near)) == 0; does && n > most && 2*n >= len(wanted) {
			most, from, to, ok = n, begin+len(passages.CodeMark), end, true
		}
		begin = end + 1
	}
	return from, to, ok
}

// fewestMissing is how many words a question needs before one of them may stand nowhere in the passage.
const fewestMissing = 4

// commandWords say that a question is for a command, as "line" does, and not for what.
var commandWords = words.Set("command commands line code snippet way")

// sentenceBefore returns the last sentence before a block of code, if that is no code.
func (p passage) sentenceBefore(begin int) string {
	if begin <= p.body {
		return ""
	}
	from, to := p.sentence(begin-1, begin-1)
	if strings.HasPrefix(p.text[p.lineStart(begin-1):], passages.CodeMark) || from >= to {
		return ""
	}
	return p.text[from:to]
}

// dedented returns the lines of a block of code without the mark of windows before them.
func dedented(block string) string { return strings.ReplaceAll(block, "\n"+passages.CodeMark, "\n") }

// unmentioned returns the words of a that are not in b, not even with another ending: "configuration" has "configure".
func unmentioned(a, b []string) []string {
	return slices.DeleteFunc(words.Without(a, b), func(x string) bool {
		return slices.ContainsFunc(append([]string{x}, alike[x]...), func(x string) bool {
			return words.Shared([]string{x}, b) > 0 || slices.ContainsFunc(b, func(y string) bool { return sameRoot(x, y) })
		})
	})
}

// sameRoot reports whether two words begin alike and differ in their endings.
func sameRoot(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= minRoot && n >= min(len(a), len(b))-2 || n >= 3 && n == len(a) && strings.HasSuffix(b, "ing") && len(b) <= n+4
}

// minRoot is how many bytes two words with different endings have in common.
const minRoot = 5

// alike has words for what people do with programs, and other words for the same in headings.
var alike = map[string][]string{
	"use": {"usage", "using", "example", "examples"}, "run": {"usage", "start", "running", "launch"}, "start": {"run", "launch", "starting"},
	"launch": {"run", "start"}, "execute": {"run", "usage"}, "upgrade": {"update", "upgrading", "migrate"}, "update": {"upgrade", "upgrading"},
	"migrate": {"upgrade", "upgrading"}, "delete": {"remove", "rm"}, "remove": {"delete", "rm"}, "compile": {"build"}, "build": {"compile"},
	"setup": {"install", "configure"},
}
