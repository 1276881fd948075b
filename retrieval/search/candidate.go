package search

import (
	"tandem/internal/sentences"
	"tandem/retrieval/passages"
)

// A candidate holds the terms of a passage.
type candidate struct {
	title     map[string]bool
	count     map[string]float64
	length    float64
	sentences []map[string]bool
}

func newCandidate(p passages.Passage) candidate {
	c := candidate{title: map[string]bool{}, count: map[string]float64{}}
	for _, t := range Terms(p.Title) {
		c.title[t] = true
		c.count[t] += titleCount
		c.length += titleCount
	}
	for _, t := range NameTerms(p) {
		c.count[t] = nameCount
	}
	for _, text := range sentences.Split(p.Text) {
		sentence := map[string]bool{}
		for _, t := range Terms(text) {
			sentence[t] = true
			c.count[t]++
			c.length++
		}
		c.sentences = append(c.sentences, sentence)
	}
	return c
}

// A termGroup is a term of the question, with the terms that can replace it and the weight of an occurrence of each.
type termGroup struct {
	idf   float64
	terms []weightedTerm // the question's term first, the others in alphabetical order
}

// weightedTerm is a term and the weight of an occurrence of it.
type weightedTerm struct {
	term   string
	weight float64
}

// bm25 returns the passage's BM25, where the occurrences of all that stand for a term count together.
func (c candidate) bm25(groups []termGroup, average float64) (sum float64) {
	for _, g := range groups {
		n := 0.0
		for _, t := range g.terms {
			n += t.weight * c.count[t.term]
		}
		sum += g.idf * saturated(n, c.length/average)
	}
	return sum
}

// saturated returns what n occurrences weigh in BM25, given the length of the text, relative to the average.
func saturated(n, length float64) float64 {
	return n * (saturation + 1) / (n + saturation*(1-lengthWeight+lengthWeight*length))
}

// bestSentence returns the weight of the terms in that sentence which has most of those that are not in the title, with
// those in the title.
func (c candidate) bestSentence(groups []termGroup) (best float64) {
	for _, sentence := range c.sentences {
		sum := 0.0
		for _, g := range groups {
			most := 0.0
			for _, t := range g.terms {
				if t.weight > most && (sentence[t.term] || c.title[t.term]) {
					most = t.weight
				}
			}
			sum += g.idf * most
		}
		best = max(best, sum)
	}
	return best
}
