package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// asksCommand matches a question for a command that does not begin with "how".
var asksCommand = lazyregexp.New(`(?i)^\W*(?:and )?(?:what(?:'s| is| are)?|which|with (?:what|which))\b.*\b(?:command|commands|code|snippet)\b`)

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
