package search

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"tandem/retrieval/internal/terms"
	"tandem/retrieval/passages"
)

const (
	answerBonus   = 2.0 // added for a passage that may hold an answer of the right kind, as an idf
	relatedWeight = 0.6 // of a term with the same root or meaning, relative to the term itself
	perSentence   = 6   // candidates for each sentence that is returned
	rootLength    = 5   // bytes that terms of one root share: "directs", "director"
)

// searchSentences returns up to n passages of one sentence for a query, best first (see sortSentences).
func searchSentences(ctx context.Context, f Finder, text string, n int) ([]passages.Passage, error) {
	fields := strings.Fields(text)
	var question []Term
	for _, t := range Terms(strings.Join(fields[:min(len(fields), maxQueryWords)], " ")) {
		question = append(question, Term{Text: t, Weight: 1})
	}
	found, err := f.Find(ctx, question, n*perSentence)
	sortSentences(text, found)
	return found[:min(n, len(found))], err
}

// sortSentences sorts passages by how many of the question's terms they hold in title or text, and by whether they may hold an
// answer of the kind asked for. BM25 counts a word that occurs in both title and text twice, which says little when a
// passage is one sentence. Passages of equal worth keep their order.
func sortSentences(question string, ps []passages.Passage) {
	var q queryTerms
	terms.Each(question, q.add)
	pattern := answerPattern(question)
	worth := make(map[string]float64, len(ps))
	for _, p := range ps {
		var inPassage []string
		terms.Each(p.Title+" "+p.Text, func(t []byte) { inPassage = append(inPassage, string(t)) })
		for _, t := range q.distinct {
			term := q.text[t.from:t.to]
			worth[p.ID] += lexicalOne.weight(term) * similarity(string(term), inPassage)
		}
		if pattern != nil && pattern.MatchString(" "+p.Text) {
			worth[p.ID] += answerBonus
		}
		if strings.HasSuffix(p.Text, "?") {
			worth[p.ID] -= answerBonus
		}
	}
	slices.SortStableFunc(ps, func(a, b passages.Passage) int { return cmp.Compare(worth[b.ID], worth[a.ID]) })
}

// similarity returns 1 if the term is among others, relatedWeight if one with the same root or meaning is, and 0 otherwise.
func similarity(term string, among []string) (most float64) {
	for _, t := range among {
		if t == term {
			return 1
		}
		if len(term) >= rootLength && strings.HasPrefix(t, term[:rootLength]) || shareMeaning(term, t) {
			most = relatedWeight
		}
	}
	return most
}

// answerPatterns matches kinds of questions with the texts that may answer them.
var answerPatterns = []struct{ question, text *regexp.Regexp }{
	{regexp.MustCompile(`(?i)^(who|whose|whom|by whom)\b`), regexp.MustCompile(`\S \p{Lu}\p{Ll}`)},
	{regexp.MustCompile(`(?i)\b(when|what time|year|date|how (much|many|long|far|high|large|big|old|heavy|tall|wide|deep|fast))\b`), regexp.MustCompile(`\d|day\b|\bnoon\b|midnight`)},
	{regexp.MustCompile(`(?i)^where\b`), regexp.MustCompile(`(?i) (in|at|under|behind|beside|above|next|from|to|on) `)},
}

// answerPattern returns a pattern for texts that may answer the question, or nil if the question's words do not tell.
func answerPattern(question string) *regexp.Regexp {
	for _, a := range answerPatterns {
		if a.question.MatchString(question) {
			return a.text
		}
	}
	return nil
}
