package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	api "github.com/blevesearch/bleve_index_api"

	"tandem/retrieval/passages"
)

// Finder finds passages by their terms (Terms). An engine has one.
type Finder interface {
	// Count returns how many passages there are, and for each term how many of them have it in their text, or in their title if
	// those are more. A term that neither has may be in the names of their files (NameTerms).
	Count(ctx context.Context, terms []string) (passages uint64, counts []uint64, err error)
	// Find returns up to n passages that have one of the terms in title, text or file name, best first by BM25, where a term counts
	// as much as it weighs. Where an engine can, it also takes terms with that many typing errors.
	Find(ctx context.Context, terms []Term, n int) ([]passages.Passage, error)
}

// Term is a term to find.
type Term struct {
	Text   string
	Weight float64 // 1 for a term of the question, less for another that may stand for it
	Typos  int     // how many typing errors it may have; 0 for a term that passages have
}

// Terms returns the terms of a text, as engines hold them.
func Terms(text string) (out []string) {
	for _, t := range analyzer().Analyze([]byte(text)) {
		out = append(out, string(t.Term))
	}
	return out
}

var analyzer = sync.OnceValue(func() analysis.Analyzer { return indexMapping().AnalyzerNamed(analyzerName) })

// finder is an index as a Finder.
type finder struct{ reader api.IndexReader }

func newFinder(b bleve.Index) (finder, error) {
	advanced, err := b.Advanced()
	if err != nil {
		return finder{}, err
	}
	reader, err := advanced.Reader()
	if err != nil {
		return finder{}, err
	}
	return finder{reader}, nil
}

// Close lets the index free what the finder has read from.
func (f finder) Close() error { return f.reader.Close() }

// Count implements Finder.
func (f finder) Count(ctx context.Context, terms []string) (passages uint64, counts []uint64, err error) {
	if passages, err = f.reader.DocCount(); err != nil {
		return 0, nil, err
	}
	for _, term := range terms {
		most := uint64(0)
		for _, field := range []string{fieldTitle, fieldText} {
			n, err := f.count(ctx, term, field)
			if err != nil {
				return 0, nil, err
			}
			most = max(most, n)
		}
		if most == 0 {
			if most, err = f.count(ctx, term, fieldName); err != nil {
				return 0, nil, err
			}
		}
		counts = append(counts, most)
	}
	return passages, counts, nil
}

// count returns how many passages have a term in a field.
func (f finder) count(ctx context.Context, term, field string) (uint64, error) {
	r, err := f.reader.TermFieldReader(ctx, []byte(term), field, false, false, false)
	if err != nil {
		return 0, err
	}
	return r.Count(), r.Close()
}

// Find implements Finder.
func (f finder) Find(ctx context.Context, terms []Term, n int) ([]passages.Passage, error) {
	sums, err := f.bm25(ctx, terms)
	if err != nil {
		return nil, err
	}
	matches, err := f.best(sums, n)
	if err != nil {
		return nil, err
	}
	found := make([]passages.Passage, len(matches))
	for i, m := range matches {
		if found[i], err = f.passage(m.id); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// A searchedField is a field that a query looks in.
type searchedField struct {
	name    string
	average float64 // about how many terms it has
	weight  float64 // of a term there
}

// searchedFields are in a fixed order, in which the weights of terms are added up. The lengths are those of default passages of
// lab/answers/testdata, and about those of names. They are fixed because an index knows none that does not depend on its segments.
var searchedFields = []searchedField{{fieldTitle, 5, 1}, {fieldText, 40, 1}, {fieldName, 2, nameCount}}

// bm25 returns the BM25 of each passage by its number in the index, 0 for one that has no term. It depends only on the documents:
// bleve's own would depend on how they are divided into segments, and in its last bits on the numbers.
func (f finder) bm25(ctx context.Context, terms []Term) (sums []float64, err error) {
	total, err := f.reader.DocCount()
	if err != nil {
		return nil, err
	}
	sums = make([]float64, 0, total) // deleted passages have numbers, too
	for _, field := range searchedFields {
		for _, t := range terms {
			like, err := f.like(t, field.name)
			if err != nil {
				return nil, err
			}
			for _, l := range like {
				if sums, err = f.addTerm(ctx, sums, l, field, total); err != nil {
					return nil, err
				}
			}
		}
	}
	return sums, nil
}

// like returns the terms of a field that a term may be if it is misspelt, in alphabetical order, or else the term.
func (f finder) like(t Term, field string) (out []Term, err error) {
	fuzzy, ok := f.reader.(api.IndexReaderFuzzy)
	if t.Typos == 0 || !ok {
		return []Term{t}, nil
	}
	dictionary, err := fuzzy.FieldDictFuzzy(field, t.Text, t.Typos, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dictionary.Close()) }()
	for {
		entry, err := dictionary.Next()
		if entry == nil || err != nil {
			return out, err
		}
		out = append(out, Term{Text: entry.Term, Weight: t.Weight / float64(1+entry.EditDistance)})
	}
}

// addTerm adds what a term in a field weighs in each passage to the sums, and makes them longer where necessary.
func (f finder) addTerm(ctx context.Context, sums []float64, t Term, field searchedField, total uint64) (_ []float64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := f.reader.TermFieldReader(ctx, []byte(t.Text), field.name, true, true, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	weight := t.Weight * field.weight * idf(total, r.Count())
	for at := new(api.TermFieldDoc); ; {
		if at, err = r.Next(at.Reset()); at == nil || err != nil {
			return sums, err
		}
		number := int(at.ID.Value())
		if more := number + 1 - len(sums); more > 0 {
			sums = append(sums, make([]float64, more)...)
		}
		length := 1 / (at.Norm * at.Norm)
		sums[number] += weight * saturated(float64(at.Freq), length/field.average)
	}
}

// A match is a passage that has a term of a query.
type match struct {
	number int
	score  float64
	id     string
}

// best returns up to n passages with the greatest scores, given by number, best first, and equal ones in the order of their IDs.
// Which of them it returns does not depend on the order in which files were added. If there is no room for all that are as good as
// the worst, it leaves these out, or chooses by their IDs if few are better.
func (f finder) best(scores []float64, n int) (best []match, err error) {
	if n <= 0 {
		return nil, nil
	}
	var worst []match
	bound := nthGreatest(scores, n+1)
	for number, score := range scores {
		switch {
		case score > bound:
			best = append(best, match{number: number, score: score})
		case score == bound && score > 0:
			worst = append(worst, match{number: number, score: score})
		}
	}
	if len(best)*leastBetter < n { // to look up the IDs of many matches takes most of the time
		best = append(best, worst...)
	}
	for i := range best {
		if best[i].id, err = f.reader.ExternalID(api.NewIndexInternalID(nil, uint64(best[i].number))); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(best, func(a, b match) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	return best[:min(n, len(best))], nil
}

// leastBetter is which part of the passages that it was asked for a search returns at least, where there are as many.
const leastBetter = 4

// nthGreatest returns the nth greatest of numbers that are not negative, or 0 if there are fewer.
func nthGreatest(xs []float64, n int) float64 {
	greatest := make([]float64, 1, n+1) // in ascending order
	for _, x := range xs {
		if x <= greatest[0] {
			continue
		}
		at, _ := slices.BinarySearch(greatest, x)
		if greatest = slices.Insert(greatest, at, x); len(greatest) > n {
			greatest = slices.Delete(greatest, 0, 1)
		}
	}
	if len(greatest) < n {
		return 0
	}
	return greatest[0]
}

// passage returns the passage with an ID.
func (f finder) passage(id string) (passages.Passage, error) {
	doc, err := f.reader.Document(id)
	if err != nil || doc == nil {
		return passages.Passage{}, cmp.Or(err, fmt.Errorf("the index has no passage %s", id))
	}
	p := passages.Passage{ID: id}
	doc.VisitFields(func(field api.Field) {
		switch field.Name() {
		case fieldSource:
			p.Source = string(field.Value())
		case fieldTitle:
			p.Title = string(field.Value())
		case fieldText:
			p.Text = string(field.Value())
		}
	})
	return p, nil
}
