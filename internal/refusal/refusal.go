// Package refusal recognises answers that refuse: those that say that they do not know something.
package refusal

import (
	"regexp"
	"slices"
	"strings"
)

var refusal = regexp.MustCompile(`(?i)\b(unknown|not known|(do|does) not (know|say|mention)|don't know|cannot be answered|no information|not (mentioned|stated|provided|specified))\b`)

// Sentences are what a span reader says if it does not know, in the languages of package span, in its order.
var Sentences = [...]string{"I don't know.", "Das weiß ich nicht.", "Je ne sais pas.", "No lo sé."}

// In reports whether an answer contains a refusal.
func In(answer string) bool {
	says := func(sentence string) bool { return strings.Contains(answer, sentence) }
	return refusal.MatchString(answer) || slices.ContainsFunc(Sentences[:], says)
}

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
