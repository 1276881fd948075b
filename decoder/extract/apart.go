package extract

import (
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/model/span"
)

// leastRelated is the least grade of a word in a passage that is related to one of a question's, for passages that have none of these.
const leastRelated = 0.6

// isApart reports whether a passage has no word of a question, in any form or language, and none that is closely related to one. A search
// for something that no document is about finds such passages.
func (c Config) isApart(q query, p passage) bool {
	asked, said := words.Content(q.text), slices.Concat(p.names, words.Content(p.text))
	if q.language != span.English {
		asked = append(asked, words.Content(c.Reader.English(q.text, q.language))...)
	}
	if p.read.Language() != span.English {
		said = append(said, words.Content(p.read.English())...)
	}
	if len(unmentioned(asked, said)) < len(asked) {
		return false
	}
	for _, w := range asked {
		related := c.Reader.Related(w)
		for _, other := range said {
			if max(related[other], related[strings.TrimSuffix(other, "s")]) >= leastRelated {
				return false
			}
		}
	}
	return len(asked) > 0
}
