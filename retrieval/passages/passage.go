package passages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"tandem/retrieval/documents"
)

// DefaultWords is the default length of passages. The span reader reads windows of this length best (docs/answers.md).
const DefaultWords = 64

// SentenceWords is a length of passages so small that each sentence becomes a passage. A small generative model reads a
// fact most reliably when it stands alone, and the relevance weights then choose between similar passages, which the
// model's attention would confuse.
const SentenceWords = 4

// MaxWords is the greatest length of passages that can be asked for.
const MaxWords = 1000

// Passage is a piece of a document, small enough to be one of several contexts for a model.
type Passage struct {
	ID     string // hash of source, title and text; it stays the same when the file is read again
	Source string // path of the file it was read from
	Title  string // the document's title with the headings above the passage: "title: section: subsection"
	Text   string // whole sentences; lines and headings of the document are lines of the text
}

// FromFile parses the contents of a file and cuts the document into passages of about the given number of words. Its
// errors are those of documents.Parse.
func FromFile(ctx context.Context, name string, data []byte, words int) (title string, ps []Passage, err error) {
	if words < 1 || words > MaxWords {
		return "", nil, fmt.Errorf("passages of %d words: want 1 to %d", words, MaxWords)
	}
	doc, err := documents.Parse(ctx, name, data)
	if err != nil {
		return "", nil, err
	}
	return doc.Title, Cut(doc, name, words), nil
}

// Cut divides a document into passages of about the given number of words, in order: into single sentences up to
// SentenceWords, and into windows above.
func Cut(doc documents.Document, source string, words int) []Passage {
	all := cutWindows
	if words <= SentenceWords {
		all = cutSentences
	}
	var out []Passage
	seen := make(map[string]bool)
	for _, p := range all(doc, source, words) {
		if !seen[p.ID] {
			seen[p.ID] = true
			out = append(out, p)
		}
	}
	return out
}

// passageID hashes the source, title and text of a passage. It includes their lengths, so that fields cannot run into each
// other. The result does not depend on the machine.
func passageID(p Passage) string {
	h := sha256.New()
	for _, s := range []string{p.Source, p.Title, p.Text} {
		var n [8]byte
		for i := range n {
			n[i] = byte(len(s) >> (8 * i))
		}
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
