package extract

import (
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/model/span"
)

// leastRelated is the least mean grade, over the words of a question, of the related words in a passage that has none of its words.
const leastRelated = 0.4

// isApart reports whether a passage has no word of a question, in any form or language, and few that are related to those. A search
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
	sum := 0.0
	for _, w := range asked {
		related, most := c.Reader.Related(w), 0.0
		for _, other := range said {
			most = max(most, related[other], related[strings.TrimSuffix(other, "s")])
		}
		sum += most
	}
	return sum < leastRelated*float64(len(asked))
}
