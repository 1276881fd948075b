package cli

import (
	"cmp"
	"fmt"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// PassageFlags say how files are cut into passages.
type PassageFlags struct {
	PassageWords int `help:"Cut files into passages of about this many words; 0 for 64, or for one sentence each if the built-in decoder reads them." default:"0"`

	Related search.Related `kong:"-"` // of search.Options
	Rerank  search.Rerank  `kong:"-"` // likewise
	waiting func()
}

// Validate is called by kong.
func (f PassageFlags) Validate() error {
	if f.PassageWords < 0 {
		return fmt.Errorf("--passage-words %d: want 0 (the default) or more", f.PassageWords)
	}
	return nil
}

// BySentence returns the flags with another default: a sentence each, which the built-in decoder was trained on.
func (f PassageFlags) BySentence() PassageFlags {
	f.PassageWords = cmp.Or(f.PassageWords, passages.SentenceWords)
	return f
}

func (f PassageFlags) options() search.Options {
	return search.Options{Words: f.PassageWords, Related: f.Related, Rerank: f.Rerank, Waiting: f.waiting}
}
