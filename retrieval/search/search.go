package search

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/terms"
	"tandem/retrieval/passages"
)

// Bounds of a search, which may come from the other side. A longer query is cut; k is cut.
const (
	maxParts      = 8  // of a question
	maxAhead      = 64 // words that are looked at to see whether another begins
	maxQueryWords = 64
	maxHits       = 256
	titleBoost    = 2
	perHit        = 6 // found for each that is returned
)

// Search returns up to k passages that may answer the question, best first (see Compound). A question without a known
// word finds nothing, which is not an error.
func (x *Index) Search(ctx context.Context, question string, k int) ([]passages.Passage, error) {
	var found []passages.Passage
	err := x.view(func(b bleve.Index) (err error) {
		found, err = Compound(ctx, question, k, func(ctx context.Context, text string, n int) ([]passages.Passage, error) {
			return bm25(ctx, b, text, n)
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// Compound answers a search with several queries to an engine. Engines share it, so that they treat questions alike.
// find returns up to n passages for one query, best first.
//
// A compound question ("…, and …?") is searched as a whole and by its parts (Clauses). Of what find returns for each,
// the passages that hold most of the query come first, and the queries take turns, so that each finds its passages. A
// question of two lines is a follow-up: the first line is the question before it. Every part is then searched alone and
// together with that line, which may name what the part leaves out.
func Compound(ctx context.Context, question string, k int, find func(ctx context.Context, query string, n int) ([]passages.Passage, error)) ([]passages.Passage, error) {
	if k <= 0 {
		return nil, nil
	}
	k = min(k, maxHits)
	queries := queriesOf(question)
	found := make([][]passages.Passage, len(queries))
	for i, query := range queries {
		err := ctx.Err()
		if err == nil {
			found[i], err = find(ctx, query, perHit*k)
		}
		if err != nil {
			return nil, err
		}
		covering(query, found[i])
		found[i] = found[i][:min(len(found[i]), k)]
	}
	return interleave(found, k), nil
}

// queriesOf returns what to search for to answer a question.
func queriesOf(question string) []string {
	question = strings.TrimSpace(question)
	line := strings.LastIndexByte(question, '\n')
	parts := Clauses(question[line+1:])
	switch {
	case line >= 0:
		for _, part := range parts {
			parts = append(parts, question[:line]+" "+part)
		}
	case len(parts) != 1:
		parts = append(parts, question)
	}
	return parts
}

// bm25 is one analysed OR query over title and text, ranked by BM25.
func bm25(ctx context.Context, b bleve.Index, text string, k int) ([]passages.Passage, error) {
	fields := strings.Fields(text)
	text = strings.Join(fields[:min(len(fields), maxQueryWords)], " ")
	or := make([]query.Query, 0, 2)
	for field, boost := range map[string]float64{fieldTitle: titleBoost, fieldText: 1} {
		m := bleve.NewMatchQuery(text)
		m.SetField(field)
		m.SetBoost(boost)
		or = append(or, m)
	}
	request := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(or...), k, 0, false)
	request.Fields = []string{fieldTitle, fieldText, fieldSource}
	request.SortBy([]string{"-_score", "_id"}) // ties in the same order everywhere
	result, err := b.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	hits := make([]passages.Passage, 0, len(result.Hits))
	for _, h := range result.Hits {
		hits = append(hits, hitOf(h))
	}
	return hits, nil
}

// covering orders hits by how much of the question they hold, in title or text, and by whether they hold what might
// answer it. BM25 counts a word twice that stands in both, which tells little of passages of a sentence each. Ties
// stay in BM25's order.
func covering(question string, hits []passages.Passage) {
	var q queryTerms
	terms.Each(question, q.add)
	wanted := sought(question)
	worth := make(map[string]float64, len(hits))
	for _, h := range hits {
		var held []string
		terms.Each(h.Title+" "+h.Text, func(t []byte) { held = append(held, string(t)) })
		for _, t := range q.distinct {
			term := q.text[t.from:t.to]
			worth[h.ID] += lexicalOne.weight(term) * likest(string(term), held)
		}
		if wanted != nil && wanted.MatchString(" "+h.Text) {
			worth[h.ID] += soughtWorth
		}
		if strings.HasSuffix(h.Text, "?") {
			worth[h.ID] -= soughtWorth
		}
	}
	slices.SortStableFunc(hits, func(a, b passages.Passage) int { return cmp.Compare(worth[b.ID], worth[a.ID]) })
}

// soughtWorth is what a passage gains that holds an answer of the kind that is asked for, and loses that asks itself; akin
// is what a word of the same root ("directs", "director") or meaning counts for.
const (
	soughtWorth = 2.0 // as an idf
	akin        = 0.6
	root        = 5 // bytes that words of one root share
)

// likest returns 1 if the term is among others, akin if one of its root or of its meaning is, else 0.
func likest(term string, among []string) (most float64) {
	for _, t := range among {
		if t == term {
			return 1
		}
		if len(term) >= root && strings.HasPrefix(t, term[:root]) || alike(term, t) {
			most = akin
		}
	}
	return most
}

var answers = []struct{ question, text *regexp.Regexp }{
	{regexp.MustCompile(`(?i)^(who|whose|whom|by whom)\b`), regexp.MustCompile(`\S \p{Lu}\p{Ll}`)},
	{regexp.MustCompile(`(?i)\b(when|what time|year|date|how (much|many|long|far|high|large|big|old|heavy|tall|wide|deep|fast))\b`), regexp.MustCompile(`\d|day\b|\bnoon\b|midnight`)},
	{regexp.MustCompile(`(?i)^where\b`), regexp.MustCompile(`(?i) (in|at|under|behind|beside|above|next|from|to|on) `)},
}

// sought matches the texts that hold an answer of the kind that is asked for, as far as the question's words say; else nil.
func sought(question string) *regexp.Regexp {
	for _, a := range answers {
		if a.question.MatchString(question) {
			return a.text
		}
	}
	return nil
}

func hitOf(h *search.DocumentMatch) passages.Passage {
	str := func(field string) string { s, _ := h.Fields[field].(string); return s }
	return passages.Passage{ID: h.ID, Source: str(fieldSource), Title: str(fieldTitle), Text: str(fieldText)}
}

// interleave takes hits from the lists in turn, without repeats, until it has k.
func interleave(lists [][]passages.Passage, k int) []passages.Passage {
	taken := make(map[string]bool)
	var out []passages.Passage
	for rank := 0; len(out) < k; rank++ {
		more := false
		for _, list := range lists {
			if rank >= len(list) {
				continue
			}
			more = true
			if h := list[rank]; !taken[h.ID] && len(out) < k {
				taken[h.ID] = true
				out = append(out, h)
			}
		}
		if !more {
			break
		}
	}
	return out
}

// Clauses divides a compound question into its parts: at the end of a sentence, and at "and" before what asks
// (asks) or names (ofSomething) another thing. A part that leans on another by
// a pronoun ("and when does it open?") keeps the first part's words. A simple question is one clause; the last of maxParts
// holds all the rest.
func Clauses(question string) []string {
	fields := strings.Fields(question)
	var parts []string
	start := 0
	cut := func(end, next int) {
		if end > start {
			parts = append(parts, strings.TrimRight(strings.Join(fields[start:end], " "), ",;"))
		}
		start = next
	}
	for i, f := range fields {
		if len(parts) == maxParts-1 {
			break
		}
		ahead := fields[i+1 : min(len(fields), i+1+maxAhead)]
		more := len(ahead) > 0
		switch {
		case i > start && more && joins[strings.ToLower(f)] && (asks(ahead) || f != "&" && ofSomething(ahead, fields[i-1])):
			cut(i, i+1)
		case strings.HasSuffix(f, "?"), strings.HasSuffix(f, ";"), strings.HasSuffix(f, ".") && more && (asks(ahead) || ahead[0] == "Also,"):
			cut(i+1, i+1)
		}
	}
	cut(len(fields), len(fields))
	for i := 1; i < len(parts); i++ {
		if leans(parts[i]) {
			parts[i] = parts[0] + " " + parts[i]
		}
	}
	return parts
}

var joins = map[string]bool{"and": true, "also": true, "&": true}

var questionWords = map[string]bool{
	"what": true, "what's": true, "when": true, "where": true, "where's": true, "which": true, "who": true,
	"who's": true, "whom": true, "whose": true, "why": true, "how": true, "is": true, "are": true,
	"does": true, "do": true, "did": true, "was": true, "were": true, "can": true, "tell": true, "give": true, "i": true,
}

var prepositions = map[string]bool{
	"at": true, "on": true, "in": true, "from": true, "for": true, "to": true, "by": true, "since": true, "until": true,
}

// asks reports whether a new question begins here: a question word, or one after a preposition ("at
// which pier") or after what it is about ("for the old mill, what").
func asks(fields []string) bool {
	first := strings.ToLower(strings.Trim(fields[0], ",?"))
	if !prepositions[first] {
		return questionWords[first]
	}
	for i, f := range fields[1:] {
		next := strings.ToLower(strings.Trim(f, ",?"))
		if (i == 0 || strings.HasSuffix(fields[i], ",")) && questionWords[next] {
			return true
		}
		if strings.HasSuffix(f, "?") {
			break
		}
	}
	return false
}

// ofSomething reports whether the words after "and" are short for a question: "Contact of the old mill?", or after a comma "the
// old mill's contact?".
func ofSomething(fields []string, before string) bool {
	r, _ := utf8.DecodeRuneInString(fields[0])
	if end := slices.IndexFunc(fields, func(f string) bool { return strings.ContainsAny(f[len(f)-1:], ",?") }); end >= 0 {
		fields = fields[:end+1]
	}
	of := slices.Index(fields, "of") > 0
	if strings.HasSuffix(before, ",") {
		return of || slices.ContainsFunc(fields, english.IsPossessive)
	}
	return of && unicode.IsUpper(r)
}

var pronouns = map[string]bool{
	"it": true, "its": true, "they": true, "them": true, "their": true, "he": true, "his": true, "him": true,
	"she": true, "her": true, "there": true, "that": true, "this": true, "these": true, "those": true,
}

func leans(clause string) bool {
	for f := range strings.FieldsSeq(strings.ToLower(clause)) {
		if pronouns[strings.Trim(f, ",?.;")] {
			return true
		}
	}
	return false
}
