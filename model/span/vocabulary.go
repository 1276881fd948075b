package span

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"tandem/internal/spelling"
	"tandem/model/gguf"
)

// A Vocabulary is the words that a span reader knows, all in lower case. It is immutable.
type Vocabulary struct {
	words []string // the most frequent first
	rank  map[string]int
	stop  map[string]bool // English words that say nothing by themselves
}

// VocabularyOf reads the words of a span reader's file, without the network.
func VocabularyOf(f *gguf.File) (*Vocabulary, error) {
	l := &loader{f: f}
	v := NewVocabulary(l.strings("words"))
	v.stop = map[string]bool{}
	for _, w := range l.strings("stop_words") {
		v.stop[w] = true
	}
	if err := l.err(); err != nil {
		return nil, fmt.Errorf("span: %w", err)
	}
	return v, nil
}

// NewVocabulary returns a vocabulary of words in lower case, the most frequent first.
func NewVocabulary(words []string) *Vocabulary {
	v := &Vocabulary{words: words, rank: make(map[string]int, len(words))}
	for i, w := range words {
		v.rank[w] = i + 1
	}
	return v
}

// Rank returns the place of a word by its frequency, from 1, or 0 for an unknown word.
func (v *Vocabulary) Rank(low string) int { return v.rank[low] }

// Foreign reports whether words in lower case are of another language that the reader has a list for: two or more of its articles
// and the like, and fewer English ones.
func (v *Vocabulary) Foreign(words []string) bool {
	for t := German; t <= Spanish; t++ {
		speaks, against := 0, 0
		for _, low := range words {
			switch {
			case v.stop[low]:
				against++
			case v.stop[dictionaries()[t][low]]:
				speaks++
			}
		}
		if speaks >= minForeign && speaks > against {
			return true
		}
	}
	return false
}

// A Neighbour is a word near another one.
type Neighbour struct {
	Word     string
	Distance int // letters left out, put in, replaced or swapped with the next (Damerau 1964)
}

// Near returns up to n words of at least two letters at a distance of 1 to maxDistance from a word in lower case: the
// nearest first, and of these the most frequent. They begin with the same letter, or with the first two swapped.
func (v *Vocabulary) Near(low string, maxDistance, n int) (list []Neighbour) {
	of := []rune(low)
	for _, w := range v.words {
		if len(w)-len(low) > maxDistance*utf8.UTFMax || len(low)-len(w) > maxDistance*utf8.UTFMax || len(of) < 2 || !letters(w) {
			continue
		}
		to := []rune(w)
		if len(to) < 2 || of[0] != to[0] && (of[0] != to[1] || of[1] != to[0]) {
			continue
		}
		if d := spelling.Distance(of, to, maxDistance); d > 0 && d <= maxDistance {
			list = append(list, Neighbour{w, d})
		}
	}
	slices.SortStableFunc(list, func(a, b Neighbour) int { return cmp.Compare(a.Distance, b.Distance) })
	return list[:min(n, len(list))]
}
