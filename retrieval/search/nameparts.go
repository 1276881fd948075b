package search

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/registry"
)

// analyzerName is the analyser of titles and texts: bleve's for English, which also takes names such as "max_upload_size" and
// "openingHours" by their parts.
const analyzerName = "en_names"

func init() {
	err := registry.RegisterAnalyzer(analyzerName, func(_ map[string]any, cache *registry.Cache) (analysis.Analyzer, error) {
		base, err := cache.AnalyzerNamed(en.AnalyzerName)
		if err != nil {
			return nil, err
		}
		analyser := *base.(*analysis.DefaultAnalyzer)
		analyser.TokenFilters = append([]analysis.TokenFilter{nameParts{}}, analyser.TokenFilters...)
		return &analyser, nil
	})
	if err != nil {
		panic(err) // another analyser has this name
	}
}

// nameParts is a filter that adds the parts of names behind each name, at its position.
type nameParts struct{}

// Filter implements analysis.TokenFilter.
func (nameParts) Filter(tokens analysis.TokenStream) analysis.TokenStream {
	if !slices.ContainsFunc(tokens, func(t *analysis.Token) bool { return mayHaveParts(t.Term) }) {
		return tokens
	}
	out := make(analysis.TokenStream, 0, len(tokens))
	for _, t := range tokens {
		out = append(out, t)
		if !mayHaveParts(t.Term) {
			continue
		}
		parts := partsOf(t.Term)
		if len(parts) == 1 && len(parts[0]) == len(t.Term) { // no underscore around it
			continue
		}
		for _, p := range parts {
			if utf8.RuneCount(p) > 1 { // no "e" of "eBay"
				part := *t
				part.Term = slices.Clone(p) // the filters behind this one change terms in place
				out = append(out, &part)
			}
		}
	}
	return out
}

// mayHaveParts reports whether a term has a sign by which partsOf may divide it. Most have none.
func mayHaveParts(term []byte) bool {
	for i, c := range term {
		if c == '_' || i > 0 && 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// partsOf divides a name where it has an underscore, and before a capital that follows a lower-case letter.
func partsOf(name []byte) (parts [][]byte) {
	for word := range bytes.SplitSeq(name, []byte("_")) {
		from, before := 0, ' '
		for i, r := range string(word) {
			if unicode.IsUpper(r) && unicode.IsLower(before) {
				parts, from = append(parts, word[from:i]), i
			}
			before = r
		}
		if from < len(word) {
			parts = append(parts, word[from:])
		}
	}
	return parts
}
