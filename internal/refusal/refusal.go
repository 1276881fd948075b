// Package refusal recognises answers that refuse: those that say that they do not know something.
package refusal

import (
	"regexp"
	"strings"
)

var refusal = regexp.MustCompile(`(?i)\b(unknown|not known|(do|does) not (know|say|mention)|don't know|cannot be answered|no information|not (mentioned|stated|provided|specified))\b`)

// In reports whether an answer contains a refusal.
func In(answer string) bool { return refusal.MatchString(answer) }

// Unsupported reports whether no document supports a sentence. This is so if the contexts without a document have more than
// half of its weight or, if the sentence contains a refusal, more than a fifth. Their weight stays low when a document says
// "the author is unknown".
func Unsupported(sentence string, nothing float64) bool {
	return nothing > 0.5 || nothing > 0.2 && In(sentence)
}

// Unknown reports whether a sentence gives no answer: it ends like the reader's refusals, or no document supports it. The
// documents that it cites were then read without finding an answer.
func Unknown(sentence string, nothing float64) bool {
	return strings.HasSuffix(strings.TrimRight(sentence, ".!? \n"), " unknown") || Unsupported(sentence, nothing)
}
