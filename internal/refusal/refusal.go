// Package refusal recognises answers that say that they do not know.
package refusal

import (
	"regexp"
	"strings"
)

var refusal = regexp.MustCompile(`(?i)\b(unknown|not known|(do|does) not (know|say|mention)|don't know|cannot be answered|no information|not (mentioned|stated|provided|specified))\b`)

// In reports whether an answer, or a part of it, says that it does not know.
func In(answer string) bool { return refusal.MatchString(answer) }

// Unsupported reports whether no document says a sentence: more than half of its weight comes from the contexts without
// a document or, if the sentence itself says that it does not know, more than a fifth. The weight stays low when a
// document says "the author is unknown".
func Unsupported(sentence string, nothing float64) bool {
	return nothing > 0.5 || nothing > 0.2 && In(sentence)
}

// Unknown reports whether a sentence gives no answer: it ends as the reader's refusals do, or no document supports it.
// The documents that it cites are then those that were read in vain.
func Unknown(sentence string, nothing float64) bool {
	return strings.HasSuffix(strings.TrimRight(sentence, ".!? \n"), " unknown") || Unsupported(sentence, nothing)
}
